"""A simulated LiteLLM proxy: the same models behind a gateway that changes errors and streams."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import msgspec
from aiohttp import web

from toolcert.core.values import JsonObject
from toolcert.simulate import server
from toolcert.simulate.backend import Backend
from toolcert.simulate.chat_completion import DONE, frame
from toolcert.simulate.server import OpenAiApi
from toolcert.simulate.traffic import Answer, Disruption, Events, Raw, Silence, as_json
from toolcert.simulate.vendor import Behaviour, Simulation, make_backend

_EXCEPTIONS = {
    400: ("BadRequestError", "invalid_request_error"),
    401: ("AuthenticationError", "auth_error"),
    404: ("NotFoundError", None),
    429: ("RateLimitError", "throttling_error"),
    503: ("ServiceUnavailableError", None),
}


class LiteLlmVendor(Simulation):
    """A LiteLLM proxy without a database, in front of simulated models."""

    def __init__(
        self,
        models: Sequence[str] | Mapping[str, str] | None = None,
        *,
        master_key: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        **behaviour: Unpack[Behaviour],
    ) -> None:
        backend = make_backend(models, **behaviour)
        super().__init__(backend, LiteLlmApi(backend, master_key), host=host, port=port)


class LiteLlmApi(OpenAiApi):
    """Serves chat under `/v1` and model information under `/model/info`."""

    def __init__(self, backend: Backend, master_key: str | None) -> None:
        super().__init__(backend, api_key=master_key)
        self._master_key = master_key

    def add_routes(self, app: web.Application) -> None:
        super().add_routes(app)
        for prefix in ("", "/v1"):
            app.router.add_get(f"{prefix}/model/info", self.model_info)
        app.router.add_get("/health/liveliness", _alive)

    async def model_info(self, request: web.Request) -> web.StreamResponse:
        """Provider and declared abilities of every model."""
        self.backend.note(request)
        data = [_info(str(entry["id"])) for entry in self.backend.models.listing()]
        return await server.send(request, self.key_error(request) or as_json({"data": data}), 0.0)

    async def answer(self, request: web.Request, body: JsonObject | Raw, *, raw: bool = False) -> tuple[Answer, float]:
        answer, gap = await super().answer(request, body, raw=raw)
        model = str(body.get("model")) if isinstance(body, dict) else ""
        return proxied(answer, model), gap

    def key_error(self, request: web.Request) -> Disruption | None:
        """The error for a wrong key. Without a database LiteLLM answers 400 to a wrong key and 500 to none."""
        if self._master_key is None:
            return None
        given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if not given:
            return Raw(content=b"Internal Server Error", status=500, content_type="text/plain; charset=utf-8")
        if given == self._master_key:
            return None
        return _error(400, "No connected db.", "no_db_connection")


def _error(status: int, message: str, kind: str | None, param: str | None = None, headers: Any = None) -> Raw:
    """An error in the proxy's form, whose code is always a string."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": str(status)}}
    return Raw(content=msgspec.json.encode(body), status=status, headers=headers or {})


def proxied(answer: Answer, model: str) -> Answer:
    """Change an upstream answer as the proxy does."""
    if isinstance(answer, Events):
        return Events(frames=_mended(answer.frames))
    if isinstance(answer, Silence):
        text = "litellm.Timeout: APITimeoutError - Request timed out. Error_str: Request timed out."
        return _error(408, text, "timeout_error")
    if not isinstance(answer, Raw):
        text = "litellm.InternalServerError: InternalServerError: OpenAIException - Connection error."
        return _error(500, text, None)
    return answer if answer.status < 400 else _wrapped(answer, model)


def _wrapped(answer: Raw, model: str) -> Raw:
    """Wrap an upstream error in one of the proxy; Retry-After moves to another header."""
    try:
        said: JsonObject = msgspec.json.decode(answer.content).get("error", {})
    except msgspec.DecodeError:
        return answer
    if said.get("type") == "no_db_connection":
        return answer
    if said.get("code") == "model_not_found":
        text = (
            f"/chat/completions: Invalid model name passed in model={model}. "
            "Call `/v1/models` to view available models for your key."
        )
        return _error(400, text, "invalid_request_error", "model")
    name, kind = _EXCEPTIONS.get(answer.status, ("InternalServerError", None))
    text = f"litellm.{name}: {name}: OpenAIException - {said.get('message')}. Received Model Group={model}"
    headers = {f"llm_provider-{key}": value for key, value in answer.headers.items()}
    return _error(answer.status, text, kind, headers=headers)


def _mended(frames: list[bytes]) -> list[bytes]:
    """Change a stream as the proxy does: usage gets a choice, and a truncated stream gets an end."""
    kept = [_with_choice(one) for one in frames if one != DONE]
    if DONE not in frames and kept:
        last = _chunk(kept[-1]) or {}
        kept.append(frame({**last, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    return [*kept, DONE]


def _with_choice(one: bytes) -> bytes:
    chunk = _chunk(one)
    if chunk is None or chunk.get("choices") != []:
        return one
    return frame({**chunk, "choices": [{"index": 0, "delta": {}}]})


def _chunk(one: bytes) -> JsonObject | None:
    try:
        value = msgspec.json.decode(one.removeprefix(b"data: "))
    except msgspec.DecodeError:
        return None
    return value if isinstance(value, dict) else None


def _info(model: str) -> JsonObject:
    embedding = "embedding" in model
    return {
        "model_name": model,
        "litellm_params": {"model": f"openai/{model}", "api_base": "http://upstream.invalid/v1"},
        "model_info": {
            "id": f"{zlib.crc32(model.encode()):08x}",
            "db_model": False,
            "mode": "embedding" if embedding else "chat",
            "litellm_provider": "openai",
            "supports_function_calling": None if embedding else model != "no-tools",
        },
    }


async def _alive(_request: web.Request) -> web.Response:
    return web.json_response("I'm alive!")
