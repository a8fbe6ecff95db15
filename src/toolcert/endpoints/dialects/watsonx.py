"""IBM watsonx.ai: tokens instead of keys, its own addresses, fields and errors; and its OpenAI-compatible gateway."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin

import msgspec

from toolcert.core.errors import ConfigurationError, ListingError
from toolcert.core.exchanges import Fault, FaultKind
from toolcert.core.requests import Request, RequestKind, encode_body
from toolcert.core.secrets import Eraser, Secret
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.core.values import JsonObject
from toolcert.endpoints.dialects.base import Dialect
from toolcert.endpoints.dialects.error_answer import ErrorText, kind_of_error, read_error_text
from toolcert.endpoints.dialects.ibm_cloud import DEFAULT_REGION, Region, TokenSource, region_named, region_of
from toolcert.endpoints.dialects.model_list import fetch_json
from toolcert.endpoints.dialects.openai import OpenAiDialect, facts
from toolcert.http.base import HttpClient, HttpRequest, HttpResponse

DEFAULT_VERSION = "2023-05-29"
_PAGE = 200
_MOST_PAGES = 50
_CHAT_FUNCTION = "text_chat"
_WRONG_PLACE = ("project", "space")


def watsonx_dialect(spec: EndpointSpec, key: Secret | None, eraser: Eraser) -> Dialect:
    """watsonx.ai's own API, or its gateway where that is wanted."""
    if key is None:
        variable = spec.key_env or "WATSONX_API_KEY"
        raise ConfigurationError(f"{spec.name}: watsonx.ai needs an API key.", remedy=f"Set {variable}.")
    region = region_for(spec)
    tokens = TokenSource(spec, region, key, eraser)
    placed = msgspec.structs.replace(spec, base_url=region.url.rstrip("/"))
    kind = GatewayDialect if spec.options.get("gateway") else WatsonxDialect
    return kind(placed, key, eraser, tokens)


def region_for(spec: EndpointSpec) -> Region:
    """The region of an explicit address, or the named one."""
    return region_of(spec.base_url) if spec.base_url else region_named(spec.options.get("region", DEFAULT_REGION))


class WatsonxDialect(OpenAiDialect):
    """`/ml/v1/text/chat`, one model or deployment per request, charged to a project or space."""

    def __init__(self, spec: EndpointSpec, key: Secret, eraser: Eraser, tokens: TokenSource) -> None:
        self._version = spec.options.get("api_version", DEFAULT_VERSION)
        self._tokens = tokens
        super().__init__(spec, key, eraser)

    async def authorise(self, client: HttpClient, *, renew: bool = False) -> dict[str, str]:  # noqa: ARG002 - see TokenSource
        return await self._tokens.header(renew=renew)

    def compose(self, request: Request) -> HttpRequest:
        if request.kind is not RequestKind.CHAT:
            raise ConfigurationError("watsonx.ai is asked through its chat API only.")
        body = self.body(request)
        return HttpRequest(
            method="POST",
            url=self._chat_url(stream=request.stream),
            headers=self._headers,
            content=encode_body(body),
            body=body,
            timeouts=self.spec.timeouts,
        )

    def body(self, request: Request) -> JsonObject:
        """The fields by watsonx.ai's names: `stream` is in the address, a word as tool_choice has its own field."""
        body = {
            name: value for name, value in request.body.items() if name not in ("model", "stream", "stream_options")
        }
        if isinstance(body.get("tool_choice"), str):
            body["tool_choice_option"] = body.pop("tool_choice")
        body.setdefault("time_limit", int(self.spec.timeouts.total * 1000))
        if not self.spec.options.get("deployment"):
            body["model_id"] = request.model
            body |= self._needed_place()
        return body | self.spec.extra_body

    async def models(self, client: HttpClient) -> list[ModelInfo]:
        deployment = self.spec.options.get("deployment")
        if deployment:
            return [ModelInfo(id=str(deployment), label="deployment")]
        found = [_model_info(entry) for entry in await self._specs(client)]
        if not found:
            raise ListingError(f"{self.spec.name}: watsonx.ai lists no model.", remedy="Check region and project.")
        return found

    def read_error(self, response: HttpResponse) -> Fault:
        error = read_error_text(response.payload)
        kind = _kind(response.status or 0, error)
        if kind is FaultKind.CONFIGURATION:
            return Fault(kind=kind, message=f"{self._blame_place()}: {error.message}", status=response.status)
        return self.fault(response, error, kind)

    def _chat_url(self, *, stream: bool) -> str:
        deployment = self.spec.options.get("deployment")
        folder = f"/ml/v1/deployments/{deployment}/text" if deployment else "/ml/v1/text"
        return f"{self.spec.base_url}{folder}/{'chat_stream' if stream else 'chat'}?version={self._version}"

    def _place(self) -> JsonObject:
        """The project, or else the space, that a request is charged to; a deployment may do without."""
        given = [name for name in ("project_id", "space_id") if self.spec.options.get(name)]
        return {name: self.spec.options[name] for name in given[:1]}

    def _needed_place(self) -> JsonObject:
        place = self._place()
        if not place:
            raise ConfigurationError(
                f"{self.spec.name}: watsonx.ai wants to know which project or space is charged.",
                remedy="Give --project-id or --space-id.",
            )
        return place

    def _blame_place(self) -> str:
        for name, value in self._place().items():
            return f"watsonx.ai does not accept {name.replace('_', ' ')} {value} (--{name.replace('_', '-')})"
        return "watsonx.ai wants another project or space (--project-id, --space-id)"

    async def _specs(self, client: HttpClient) -> list[JsonObject]:
        """All pages of the model specs."""
        url: str | None = f"{self.spec.base_url}/ml/v1/foundation_model_specs?version={self._version}&limit={_PAGE}"
        entries: list[JsonObject] = []
        for _ in range(_MOST_PAGES):
            if url is None:
                return entries
            page = await fetch_json(self, client, url, self.own_headers)
            resources = page.get("resources") if isinstance(page, dict) else None
            if not isinstance(resources, list):
                raise ListingError(f"{self.spec.name}: {url} answers with JSON that is no list of models.")
            entries += [
                entry for entry in resources if isinstance(entry, dict) and isinstance(entry.get("model_id"), str)
            ]
            url = self._next_page(page, url)
        raise ListingError(f"{self.spec.name}: the list of models does not end after {_MOST_PAGES} pages.")

    def _next_page(self, page: JsonObject, url: str) -> str | None:
        link = page.get("next")
        href = link.get("href") if isinstance(link, dict) else None
        if not isinstance(href, str):
            return None
        following = urljoin(url, href)
        if not following.startswith(f"{self.spec.base_url}/"):
            raise ListingError(f"{self.spec.name}: the next page of the list is on another server ({following}).")
        return following if "version=" in following else f"{following}&version={self._version}"


class GatewayDialect(OpenAiDialect):
    """The gateway speaks OpenAI's dialect, with IBM's tokens and the project in a header."""

    def __init__(self, spec: EndpointSpec, key: Secret, eraser: Eraser, tokens: TokenSource) -> None:
        root = msgspec.structs.replace(spec, base_url=f"{spec.base_url}/ml/gateway/v1")
        super().__init__(root, key, eraser)
        self._tokens = tokens

    async def authorise(self, client: HttpClient, *, renew: bool = False) -> dict[str, str]:  # noqa: ARG002 - see TokenSource
        return await self._tokens.header(renew=renew)

    def _organisation(self) -> dict[str, str]:
        return place_header(self.spec)


def place_header(spec: EndpointSpec) -> dict[str, str]:
    """The project, or else the space, that the gateway charges."""
    places = {"X-IBM-PROJECT-ID": "project_id", "X-IBM-SPACE-ID": "space_id"}
    given = {header: spec.options.get(name) for header, name in places.items()}
    return next(({header: str(place)} for header, place in given.items() if place), {})


def _model_info(entry: JsonObject) -> ModelInfo:
    functions = _ids(entry.get("functions"))
    why_not = ""
    if functions and _CHAT_FUNCTION not in functions:
        why_not = f"has no chat function (only {', '.join(sorted(functions))})"
    elif _withdrawn(entry):
        why_not = "withdrawn"
    label = entry.get("label")
    provider = entry.get("provider")
    return ModelInfo(
        id=entry["model_id"],
        owned_by=provider if isinstance(provider, str) else None,
        can_chat=not why_not,
        why_not=why_not,
        declares_tools=_declares_tools(entry),
        label=label if isinstance(label, str) else None,
        raw=facts(entry),
    )


def _declares_tools(entry: JsonObject) -> bool | None:
    tasks = _ids(entry.get("tasks")) | _texts(entry.get("task_ids"))
    return "function_calling" in tasks if tasks else None


def _withdrawn(entry: JsonObject) -> bool:
    """Whether the last stage of its life has begun."""
    today = datetime.now(UTC).date().isoformat()
    stages = entry.get("lifecycle")
    withdrawals = [
        stage
        for stage in (stages if isinstance(stages, list) else [])
        if isinstance(stage, dict) and stage.get("id") == "withdrawn"
    ]
    return any(str(stage.get("start_date", "9999")) <= today for stage in withdrawals)


def _ids(entries: Any) -> set[str]:
    listed = entries if isinstance(entries, list) else []
    return _texts([entry.get("id") for entry in listed if isinstance(entry, dict)])


def _texts(values: Any) -> set[str]:
    return {value for value in values if isinstance(value, str)} if isinstance(values, list) else set()


def _kind(status: int, error: ErrorText) -> FaultKind:
    """A wrong project or space is the user's mistake, whatever the status; other errors are read as usual."""
    text = f"{error.code} {error.message}".lower()
    if status in (400, 403, 404) and any(f"{place}_id" in text or f"{place} id" in text for place in _WRONG_PLACE):
        return FaultKind.CONFIGURATION
    return kind_of_error(status, error)
