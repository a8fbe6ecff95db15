"""A simulated watsonx.ai: tokens, model specs, chat, streams, deployments and the gateway, over TLS."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Unpack
from urllib.parse import parse_qs, urlencode

import msgspec
from aiohttp import web

from toolcert.core.values import JsonObject, Value
from toolcert.simulate import server
from toolcert.simulate.backend import Backend
from toolcert.simulate.certificate_authority import Authority
from toolcert.simulate.chat_completion import DONE
from toolcert.simulate.server import MOST_BODY, OpenAiApi, decoded
from toolcert.simulate.traffic import Answer, Events, Raw, as_json
from toolcert.simulate.vendor import Behaviour, Simulation, make_backend

_GRANT = "urn:ibm:params:oauth:grant-type:apikey"


class TokenService:
    """Issues access tokens and checks them."""

    def __init__(self, api_key: str, lifetime: float, clock: Callable[[], float] = time.time) -> None:
        self.issued = 0
        """Number of tokens issued."""
        self.asked = 0
        """Number of requests for a token, including refused ones."""
        self._api_key = api_key
        self._lifetime = lifetime
        self._clock = clock
        self._good: dict[str, float] = {}

    def issue(self, form: str) -> Raw:
        """The answer to a request for a token."""
        self.asked += 1
        fields = {name: values[0] for name, values in parse_qs(form).items()}
        if fields.get("grant_type") != _GRANT:
            return iam_error(400, "BXNIM0120E", "Invalid grant type in the body.")
        if not hmac.compare_digest(fields.get("apikey", "").encode(), self._api_key.encode()):
            return iam_error(400, "BXNIM0415E", "Provided API key could not be found.")
        self.issued += 1
        expiration = self._clock() + self._lifetime
        token = _jwt(int(self._clock()), int(expiration))
        self._good[token] = expiration
        return as_json(
            {
                "access_token": token,
                "refresh_token": "not_supported",
                "token_type": "Bearer",
                "expires_in": int(self._lifetime),
                "expiration": int(expiration),
                "scope": "ibm openid",
            }
        )

    def refusal(self, authorization: str) -> Raw | None:
        """The error for a missing, unknown or expired token, or None."""
        token = authorization.removeprefix("Bearer ").removeprefix("bearer ").strip()
        if not token:
            return watsonx_error(401, "authentication_token_missing", "Missing or malformed authorization header")
        expiration = self._good.get(token)
        if expiration is None:
            return watsonx_error(401, "authentication_token_not_valid", "Failed to authenticate the request")
        if expiration <= self._clock():
            text = "Failed to authenticate the request due to an expired token"
            return watsonx_error(401, "authentication_token_expired", text)
        return None

    def expire_all(self) -> None:
        """Revoke every token issued so far."""
        self._good = dict.fromkeys(self._good, 0.0)


def _jwt(issued: int, expiration: int) -> str:
    """A token in the usual form; its middle part avoids the two characters that some clients decode wrongly."""
    while True:
        claims = {"iam_id": "IBMid-sim", "id": secrets.token_hex(6), "iat": issued, "exp": expiration, "scope": "ibm"}
        middle = _encoded(claims)
        if not set("-_") & set(middle):
            return f"{_encoded({'alg': 'RS256', 'typ': 'JWT'})}.{middle}.{secrets.token_hex(32)}"


def _encoded(value: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


class Account(Value):
    """What requests may use: project, space, deployments and models."""

    project_id: str
    space_id: str
    deployments: Mapping[str, str] = {}
    """Deployment id to model id."""
    others: Mapping[str, Sequence[str]] = {}
    """Models that cannot chat, and what they can do."""


class WatsonxApi:
    """Serves tokens, model specs, chat plain and streamed, deployments, and the gateway."""

    def __init__(self, backend: Backend, tokens: TokenService, account: Account) -> None:
        self.backend = backend
        self.tokens = tokens
        self._account = account

    def app(self) -> web.Application:
        """The web application."""
        app = web.Application(client_max_size=MOST_BODY, middlewares=[_watsonx_errors])
        router = app.router
        router.add_post("/identity/token", self.token)
        router.add_get("/ml/v1/foundation_model_specs", self.model_specs)
        router.add_get("/ml/v4/deployments/{deployment}", self.deployment)
        for folder in ("/ml/v1/text", "/ml/v1/deployments/{deployment}/text"):
            router.add_post(f"{folder}/chat", self.chat)
            router.add_post(f"{folder}/chat_stream", self.chat_stream)
        GatewayApi(self.backend, self.tokens, self._account).add_routes(app)
        return app

    async def token(self, request: web.Request) -> web.StreamResponse:
        """An access token for an API key."""
        self.backend.note(request)
        failure = self.backend.outages.failure("identity/token")
        return await server.send(request, failure or self.tokens.issue(await request.text()), 0.0)

    async def model_specs(self, request: web.Request) -> web.StreamResponse:
        """A page of models; like the real service, it needs no token."""
        self.backend.note(request)
        chat_models = [entry["id"] for entry in self.backend.models.listing()]
        address = f"{request.scheme}://{request.host}{request.path}"
        found = page(specs(chat_models, self._account.others), request.query, address)
        wrong = _no_version(request)
        if isinstance(found, str):
            wrong = wrong or watsonx_error(400, "invalid_request_entity", found)
        return server.plain(wrong or as_json(found))

    async def deployment(self, request: web.Request) -> web.StreamResponse:
        """Describe a deployment."""
        self.backend.note(request)
        wanted = request.match_info["deployment"]
        refused = self.tokens.refusal(request.headers.get("Authorization", ""))
        if wanted not in self._account.deployments:
            refused = refused or _no_deployment(wanted)
        return server.plain(refused or as_json(_described(wanted, self._account)))

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer a chat in one piece."""
        return await self._chat(request, stream=False)

    async def chat_stream(self, request: web.Request) -> web.StreamResponse:
        """Answer a chat as a stream."""
        return await self._chat(request, stream=True)

    async def _chat(self, request: web.Request, *, stream: bool) -> web.StreamResponse:
        async with self.backend.working():
            body = decoded(await request.read())
            answer, gap = await self._answer(request, body, stream=stream)
            self.backend.requests.answered(getattr(answer, "status", 200))
            return await server.send(request, answer, gap)

    async def _answer(self, request: web.Request, body: JsonObject | Raw, *, stream: bool) -> tuple[Answer, float]:
        if isinstance(body, Raw):
            return watsonx_error(400, "json_validation_error", "Json document validation error: not valid JSON"), 0.0
        self.backend.note(request, body)
        refused = self.tokens.refusal(request.headers.get("Authorization", "")) or _no_version(request)
        model = self._model(request, body) if refused is None else refused
        if isinstance(model, Raw):
            return model, 0.0
        asked = understood(body, model, stream=stream)
        if isinstance(asked, Raw):
            return asked, 0.0
        answer, gap = await self.backend.answer(asked)
        return answered(answer, model), gap

    def _model(self, request: web.Request, body: JsonObject) -> str | Raw:
        """The model that is asked, or the error for an unknown model, project or deployment."""
        deployment = request.match_info.get("deployment")
        if deployment is not None:
            return self._account.deployments.get(deployment) or _no_deployment(deployment)
        model = body.get("model_id")
        if not isinstance(model, str) or not model:
            return watsonx_error(400, "json_validation_error", "Json document validation error: 'model_id' is required")
        if wrong := wrong_place(body.get("project_id"), body.get("space_id"), self._account):
            return wrong
        if model in self._account.others:
            text = f"Model '{model}' does not support function 'text_chat'"
            return watsonx_error(400, "model_no_support_for_function", text)
        return model


class GatewayApi(OpenAiApi):
    """The OpenAI-compatible gateway: it takes IBM's tokens, and the project in a header."""

    def __init__(self, backend: Backend, tokens: TokenService, account: Account) -> None:
        super().__init__(backend, prefix="/ml/gateway/v1")
        self._tokens = tokens
        self._account = account

    def key_error(self, request: web.Request) -> Raw | None:
        project, space = request.headers.get("X-IBM-PROJECT-ID"), request.headers.get("X-IBM-SPACE-ID")
        refused = self._tokens.refusal(request.headers.get("Authorization", ""))
        return refused or wrong_place(project, space, self._account)


def wrong_place(project: Any, space: Any, account: Account) -> Raw | None:
    """The error for a missing or foreign project or space."""
    if not project and not space:
        return watsonx_error(400, "invalid_request_entity", "Missing either space_id or project_id in the request")
    for name, given, known in (("project_id", project, account.project_id), ("space_id", space, account.space_id)):
        if given and given != known:
            text = f"Failed to find an instance associated with {name} {given}"
            return watsonx_error(403, "no_associated_service_instance_error", text)
    return None


def _no_version(request: web.Request) -> Raw | None:
    if request.query.get("version"):
        return None
    return watsonx_error(400, "invalid_request_entity", "Missing required query parameter 'version'")


def _no_deployment(wanted: str) -> Raw:
    return watsonx_error(404, "deployment_id_or_serving_name_invalid", f"Deployment '{wanted}' does not exist")


def _described(deployment: str, account: Account) -> JsonObject:
    return {
        "metadata": {"id": deployment, "name": deployment, "space_id": account.space_id},
        "entity": {
            "base_model_id": account.deployments[deployment],
            "deployed_asset_type": "foundation_model",
            "online": {"parameters": {}},
            "status": {"state": "ready", "inference": [{"url": f"/ml/v1/deployments/{deployment}/text/chat"}]},
        },
    }


@web.middleware
async def _watsonx_errors(request: web.Request, handler: Any) -> web.StreamResponse:
    try:
        response: web.StreamResponse = await handler(request)
    except (web.HTTPNotFound, web.HTTPMethodNotAllowed) as problem:
        text = f"{request.method} {request.path} is not part of this service"
        return server.plain(watsonx_error(problem.status, "not_found", text))
    return response


DEPLOYMENT = "55555555-abcd-4abc-8abc-666666666666"
"""The default deployment; it serves the first model."""


PUBLIC_KEY = "simulated-watsonx-key"
"""The default key; it is not a secret."""


class WatsonxVendor(Simulation):
    """watsonx.ai on a free loopback port, by https with a CA of its own.

    with WatsonxVendor() as watsonx:
        ask(watsonx.url, key=watsonx.api_key, project=watsonx.project_id, ca_bundle=watsonx.ca_bundle)
    """

    def __init__(
        self,
        models: Sequence[str] | Mapping[str, str] | None = None,
        *,
        others: Mapping[str, Sequence[str]] | None = None,
        deployments: Mapping[str, str] | None = None,
        api_key: str | None = None,
        project_id: str = "11111111-aaaa-4bbb-8ccc-222222222222",
        space_id: str = "33333333-dddd-4eee-8fff-444444444444",
        token_lifetime: float = 3600.0,
        host: str = "127.0.0.1",
        port: int = 0,
        **behaviour: Unpack[Behaviour],
    ) -> None:
        served = DEFAULT_MODELS if models is None else models
        self.api_key = api_key or PUBLIC_KEY
        self.project_id = project_id
        self.space_id = space_id
        self.tokens = TokenService(self.api_key, token_lifetime)
        self._authority = Authority()
        account = Account(
            project_id=project_id,
            space_id=space_id,
            deployments={DEPLOYMENT: next(iter(served))} if deployments is None else deployments,
            others=OTHER_MODELS if others is None else others,
        )
        backend = make_backend(served, **behaviour)
        api = WatsonxApi(backend, self.tokens, account)
        super().__init__(backend, api, host=host, port=port, tls=self._authority.context())

    @property
    def url(self) -> str:
        """The address of the service."""
        return self.root

    def hints(self) -> list[str]:
        """Headers and other settings that a client needs besides the address."""
        key = [f"API key     {PUBLIC_KEY}"] if self.api_key == PUBLIC_KEY else []
        return [
            f"IAM URL     {self.iam_url}",
            f"CA bundle   {self.ca_bundle}",
            f"project id  {self.project_id}",
            *key,
        ]

    @property
    def iam_url(self) -> str:
        """The address of its token service."""
        return f"{self.root}/identity/token"

    @property
    def ca_bundle(self) -> str:
        """The CA file that clients must trust."""
        return str(self._authority.bundle)

    def stop(self) -> None:
        """Close all connections, end the thread and delete the certificate."""
        super().stop()
        self._authority.close()


DEFAULT_MODELS = {
    "ibm/granite-3-3-8b-instruct": "faithful",
    "meta-llama/llama-3-3-70b-instruct": "never-reads-results",
    "mistralai/mistral-medium-2505": "text-caller",
    "openai/gpt-oss-120b": "reasoner",
    "ibm/granite-guardian-3-8b": "no-tools",
}
"""Chat models and the personas behind them."""
OTHER_MODELS = {
    "ibm/slate-125m-english-rtrvr-v2": ("embedding",),
    "cross-encoder/ms-marco-minilm-l-12-v2": ("rerank",),
    "ibm/granite-ttm-1024-96-r2": ("time_series_forecast",),
    "google/flan-ul2": ("text_generation",),
}
"""Listed models that cannot chat."""
_LARGEST_PAGE = 200


def spec(model: str, functions: Sequence[str], *, withdrawn: bool = False) -> JsonObject:
    """The entry of one model."""
    chat = "text_chat" in functions
    lifecycle = [{"id": "available", "start_date": "2024-11-20"}]
    if withdrawn:
        lifecycle.append({"id": "withdrawn", "start_date": "2025-01-15"})
    return {
        "model_id": model,
        "label": model.rpartition("/")[2],
        "provider": model.partition("/")[0].upper() if model.startswith("ibm/") else model.partition("/")[0],
        "source": "Hugging Face",
        "functions": [{"id": function} for function in functions],
        "short_description": "A simulated model.",
        "task_ids": ["generation", "function_calling"] if chat else [],
        "tasks": [{"id": "generation"}, {"id": "function_calling"}] if chat else [],
        "input_tier": "class_c1",
        "output_tier": "class_c1",
        "number_params": "8b",
        "model_limits": {"max_sequence_length": 131072, "max_output_tokens": 8192},
        "lifecycle": lifecycle,
        "versions": [{"version": "1.0.0", "available_date": "2024-11-20"}],
    }


def specs(chat_models: Sequence[str], others: Mapping[str, Sequence[str]]) -> list[JsonObject]:
    """All entries, by id."""
    entries = [spec(model, ("text_chat", "text_generation")) for model in chat_models]
    entries += [spec(model, functions) for model, functions in others.items()]
    return sorted(entries, key=lambda entry: str(entry["model_id"]))


def page(entries: list[JsonObject], query: Mapping[str, str], address: str) -> JsonObject | str:
    """One page of the list, or the error for a bad query."""
    limit, start = query.get("limit", "100"), query.get("start", "0")
    if not limit.isdecimal() or not 1 <= int(limit) <= _LARGEST_PAGE:
        return f"Query parameter 'limit' must be between 1 and {_LARGEST_PAGE}"
    if not start.isdecimal():
        return "Query parameter 'start' is not one that was given out"
    wanted = [entry for entry in entries if _passes(entry, query.get("filters", ""))]
    first, after = int(start), int(start) + int(limit)
    found: JsonObject = {
        "total_count": len(wanted),
        "limit": int(limit),
        "first": {"href": _link(address, query, {})},
        "resources": wanted[first:after],
    }
    if after < len(wanted):
        found["next"] = {"href": _link(address, query, {"start": str(after)})}
    return found


def _link(address: str, query: Mapping[str, str], more: Mapping[str, str]) -> str:
    kept = {name: value for name, value in query.items() if name != "start"}
    return f"{address}?{urlencode({**kept, **more})}"


def _passes(entry: JsonObject, filters: str) -> bool:
    """Whether the entry matches a filter such as `a,!b:and` or `a,b:or`."""
    wanted, _, way = filters.partition(":") if filters.endswith((":and", ":or")) else (filters, "", "and")
    verdicts = [_meets(entry, one.removeprefix("!")) is not one.startswith("!") for one in wanted.split(",") if one]
    return any(verdicts) if way == "or" and verdicts else all(verdicts)


def _meets(entry: JsonObject, one: str) -> bool:
    kind, _, value = one.partition("_")
    if kind == "function":
        return value in [function["id"] for function in entry["functions"]]
    if kind == "lifecycle":
        return bool(entry["lifecycle"][-1]["id"] == value)
    if kind == "task":
        return value in entry["task_ids"]
    fields = {"modelid": "model_id", "provider": "provider", "source": "source"}
    return bool(entry.get(fields.get(kind, kind)) == value)


_MORE = "https://cloud.ibm.com/apidocs/watsonx-ai#text-chat"
_BY_STATUS = {
    400: "invalid_request_entity",
    401: "authentication_token_not_valid",
    404: "model_not_supported",
    429: "consumption_limit_reached",
}


def watsonx_error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Raw:
    """One error in watsonx.ai's envelope."""
    body = {
        "errors": [{"code": code, "message": message, "more_info": _MORE}],
        "trace": secrets.token_hex(16),
        "status_code": status,
    }
    return Raw(content=msgspec.json.encode(body), status=status, headers=headers or {})


def iam_error(status: int, code: str, message: str) -> Raw:
    """One error of the token service."""
    body = {
        "errorCode": code,
        "errorMessage": message,
        "context": {"requestId": secrets.token_hex(12), "requestType": "incoming.Identity_Token"},
    }
    return Raw(content=msgspec.json.encode(body), status=status)


def in_watsonx_words(answer: Raw, model: str) -> Raw:
    """Translate an error of the protocol into one of watsonx.ai."""
    said = msgspec.json.decode(answer.content).get("error", {})
    code, message, param = said.get("code"), said.get("message", ""), said.get("param")
    if param == "tools" and code == "unsupported_parameter":
        text = f"Model '{model}' does not support function 'function_calling'"
        return watsonx_error(400, "model_no_support_for_function", text)
    if answer.status == 404:
        text = f"Model '{model}' is not supported for this environment."
        return watsonx_error(404, "model_not_supported", text)
    if code in ("invalid_type", "missing_required_parameter"):
        return watsonx_error(400, "json_validation_error", f"Json document validation error: {message}")
    if answer.status == 429:
        message = "The maximum number of concurrent or rate-limited requests is reached. Try again later."
    return watsonx_error(answer.status, _BY_STATUS.get(answer.status, "internal_error"), message, answer.headers)


_OPTIONS = ("none", "auto", "required")
_WARNING = {"message": "This model is simulated.", "id": "disclaimer_warning"}


def understood(body: JsonObject, model: str, *, stream: bool) -> JsonObject | Raw:
    """Translate a request, or return the error for fields that watsonx.ai does not accept."""
    if isinstance(body.get("tool_choice"), str):
        text = "Json field type error: 'tool_choice' must be an object; use 'tool_choice_option' for a word"
        return watsonx_error(400, "json_type_error", text)
    option = body.get("tool_choice_option")
    if option is not None and option not in _OPTIONS:
        return watsonx_error(
            400, "json_validation_error", f"Json document validation error: 'tool_choice_option' {option!r}"
        )
    if option is not None and body.get("tool_choice") is not None:
        text = "Only one of 'tool_choice' and 'tool_choice_option' can be given"
        return watsonx_error(400, "invalid_request_entity", text)
    dropped = ("model_id", "project_id", "space_id", "tool_choice_option", "time_limit", "stream", "stream_options")
    plain = {name: value for name, value in body.items() if name not in dropped}
    if option is not None:
        plain["tool_choice"] = option
    if stream:
        plain |= {"stream": True, "stream_options": {"include_usage": True}}
    return {"model": model, **plain}


def answered(answer: Answer, model: str) -> Answer:
    """Translate an answer."""
    if isinstance(answer, Events):
        return Events(frames=_frames(answer.frames), breaks=answer.breaks)
    if not isinstance(answer, Raw):
        return answer
    if answer.status >= 400:
        return in_watsonx_words(answer, model)
    value = _object(answer.content)
    if value is None or "choices" not in value:
        return answer
    return Raw(content=msgspec.json.encode(_with_ids(value)), headers=answer.headers)


def _with_ids(value: JsonObject) -> JsonObject:
    """Add and remove the fields in which a completion or chunk of watsonx.ai differs."""
    kept = {name: one for name, one in value.items() if name not in ("object", "system_fingerprint")}
    kept["choices"] = [_without_empty(choice) for choice in value["choices"]]
    created = datetime.fromtimestamp(value.get("created", 0), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    extra = {"model_id": value.get("model"), "model_version": "1.0.0", "created_at": created}
    return {**kept, **extra, "system": {"warnings": [_WARNING]}} if "usage" in value else {**kept, **extra}


def _without_empty(choice: JsonObject) -> JsonObject:
    """Remove empty fields that only the reference API sends."""
    plain = {name: one for name, one in choice.items() if name != "logprobs"}
    for part in ("message", "delta"):
        if isinstance(plain.get(part), dict):
            plain[part] = {name: one for name, one in plain[part].items() if name != "refusal"}
    return plain


def _object(content: bytes) -> JsonObject | None:
    try:
        value: Any = msgspec.json.decode(content)
    except msgspec.DecodeError:
        return None
    return value if isinstance(value, dict) else None


def _frames(frames: list[bytes]) -> list[bytes]:
    """Translate a stream: events have an id, a type and running usage, and the end is an event too."""
    chunks = [_object(one.removeprefix(b"data: ")) for one in frames]
    total = next((chunk["usage"] for chunk in reversed(chunks) if chunk and chunk.get("usage")), None)
    written: list[bytes] = []
    for frame, chunk in zip(frames, chunks, strict=True):
        if frame == DONE:
            written.append(_event(len(written) + 1, "close", {}))
        elif chunk is None:
            written.append(frame)
        elif "error" in chunk:
            written.append(_event(len(written) + 1, "error", _trouble(chunk["error"])))
        elif chunk.get("choices"):
            written.append(_event(len(written) + 1, "message", _with_usage(chunk, total, len(written))))
    return written


def _with_usage(chunk: JsonObject, total: JsonObject | None, so_far: int) -> JsonObject:
    """Add the usage so far to a chunk; the last one has the total."""
    plain = {name: value for name, value in chunk.items() if name != "usage"}
    converted = _with_ids(plain)
    if total is None:
        return converted
    last = bool(chunk["choices"][0].get("finish_reason"))
    spent = total["completion_tokens"] if last else min(so_far, total["completion_tokens"])
    prompt = total["prompt_tokens"]
    usage = {"completion_tokens": spent, "prompt_tokens": prompt, "total_tokens": prompt + spent}
    return {**converted, "usage": usage}


def _trouble(said: Any) -> JsonObject:
    message = said.get("message", "") if isinstance(said, dict) else str(said)
    return {"errors": [{"code": "internal_error", "message": message}], "status_code": 500}


def _event(number: int, kind: str, data: JsonObject) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind.encode(), msgspec.json.encode(data))
