"""The addresses of a simulated watsonx.ai."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web

from toolcert.core.values import JsonObject, Value
from toolcert.simulate import sending
from toolcert.simulate.answers import Answer, Raw, as_json
from toolcert.simulate.backend import Backend
from toolcert.simulate.server import MOST_BODY, OpenAiFace, decoded
from toolcert.simulate.watsonx.errors import watsonx_error
from toolcert.simulate.watsonx.iam import TokenService
from toolcert.simulate.watsonx.specs import page, specs
from toolcert.simulate.watsonx.translating import answered, understood


class Account(Value):
    """Who may ask, and what for."""

    project_id: str
    space_id: str
    deployments: Mapping[str, str] = {}
    """Deployment id to model id."""
    others: Mapping[str, Sequence[str]] = {}
    """Models that cannot chat, and what they can do."""


class WatsonxFace:
    """Tokens, specs, chat in two forms, deployments, and the gateway."""

    def __init__(self, backend: Backend, tokens: TokenService, account: Account) -> None:
        self.backend = backend
        self.tokens = tokens
        self._account = account

    def app(self) -> web.Application:
        """The application with its routes."""
        app = web.Application(client_max_size=MOST_BODY, middlewares=[_watsonx_errors])
        router = app.router
        router.add_post("/identity/token", self.token)
        router.add_get("/ml/v1/foundation_model_specs", self.model_specs)
        router.add_get("/ml/v4/deployments/{deployment}", self.deployment)
        for folder in ("/ml/v1/text", "/ml/v1/deployments/{deployment}/text"):
            router.add_post(f"{folder}/chat", self.chat)
            router.add_post(f"{folder}/chat_stream", self.chat_stream)
        GatewayFace(self.backend, self.tokens, self._account).add_routes(app)
        return app

    async def token(self, request: web.Request) -> web.StreamResponse:
        """An access token for an API key."""
        self.backend.note(request)
        struck = self.backend.outages.strike("identity/token")
        return await sending.send(request, struck or self.tokens.issue(await request.text()), 0.0)

    async def model_specs(self, request: web.Request) -> web.StreamResponse:
        """A page of models; the reference answers it to everybody, token or not."""
        self.backend.note(request)
        chat_models = [entry["id"] for entry in self.backend.models.listing()]
        address = f"{request.scheme}://{request.host}{request.path}"
        found = page(specs(chat_models, self._account.others), request.query, address)
        wrong = _no_version(request)
        if isinstance(found, str):
            wrong = wrong or watsonx_error(400, "invalid_request_entity", found)
        return sending.plain(wrong or as_json(found))

    async def deployment(self, request: web.Request) -> web.StreamResponse:
        """What is behind a deployment."""
        self.backend.note(request)
        wanted = request.match_info["deployment"]
        refused = self.tokens.refusal(request.headers.get("Authorization", ""))
        if wanted not in self._account.deployments:
            refused = refused or _no_deployment(wanted)
        return sending.plain(refused or as_json(_described(wanted, self._account)))

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """A chat answered whole."""
        return await self._chat(request, stream=False)

    async def chat_stream(self, request: web.Request) -> web.StreamResponse:
        """A chat answered in events."""
        return await self._chat(request, stream=True)

    async def _chat(self, request: web.Request, *, stream: bool) -> web.StreamResponse:
        async with self.backend.working():
            body = decoded(await request.read())
            answer, gap = await self._answer(request, body, stream=stream)
            self.backend.requests.answered(getattr(answer, "status", 200))
            return await sending.send(request, answer, gap)

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
        """The model asked, or the error for asking nobody's model on nobody's account."""
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


class GatewayFace(OpenAiFace):
    """The OpenAI-compatible gateway: IBM's tokens, the project in a header."""

    def __init__(self, backend: Backend, tokens: TokenService, account: Account) -> None:
        super().__init__(backend, prefix="/ml/gateway/v1")
        self._tokens = tokens
        self._account = account

    def at_the_door(self, request: web.Request) -> Raw | None:
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
        return sending.plain(watsonx_error(problem.status, "not_found", text))
    return response
