"""A curl line that repeats a request; the key stays in its variable."""

from __future__ import annotations

import json
import re
import shlex

from toolcert.core.exchanges import Exchange
from toolcert.core.targets import EndpointSpec
from toolcert.endpoints.api_url import is_azure

_TOKEN_VARIABLE = "WATSONX_TOKEN"  # noqa: S105 - the name of a variable
_OBEYED = re.compile(r'["\\`]|\$(?!\w|\{\w+\})')
"""Characters that a shell interprets inside double quotes, except variables: a run folder may come from a stranger."""


def curl_line(exchange: Exchange, spec: EndpointSpec, *, body_file: str | None = None) -> str:
    """The command for a POSIX shell; paste it where the variable is set. `body_file` holds a body too long to show."""
    words = ["curl", "-sS", *(["-N"] if exchange.request.stream else [])]
    # In a run from a stranger the address may be an option, such as one that writes a file.
    words += [*(["--url"] if exchange.url.startswith("-") else []), shlex.quote(exchange.url)]
    words += ["-H", "'Content-Type: application/json'"]
    for header in _headers(spec):
        words += ["-H", _with_variables(header)]
    if spec.ca_bundle:
        words += ["--cacert", shlex.quote(spec.ca_bundle)]
    return " ".join([*words, "-d", shlex.quote(f"@{body_file}" if body_file else _body(exchange))])


def _body(exchange: Exchange) -> str:
    body = exchange.sent if exchange.sent is not None else exchange.request.body
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def token_line(spec: EndpointSpec) -> str | None:
    """The command that gets the token which the curl lines of a watsonx.ai endpoint need; None elsewhere."""
    if spec.dialect != "watsonx":
        return None
    from toolcert.endpoints.dialects.ibm_cloud import token_url
    from toolcert.endpoints.dialects.watsonx import region_for

    region = region_for(spec)
    address, form = token_url(spec, region), not region.saas
    key = _harmless(f"${spec.key_env or 'WATSONX_API_KEY'}")
    data = (
        f'-H \'Content-Type: application/json\' -d "{{\\"apikey\\":\\"{key}\\"}}"'
        if not form
        else f'-d grant_type=urn:ibm:params:oauth:grant-type:apikey --data-urlencode "apikey={key}"'
    )
    field = "access_token" if form else "token"
    read = f"python3 -c 'import json,sys; print(json.load(sys.stdin)[\"{field}\"])'"
    return f"{_TOKEN_VARIABLE}=$(curl -sS {shlex.quote(address)} {data} | {read})"


def _headers(spec: EndpointSpec) -> list[str]:
    """Every header but the content type; credentials as variables."""
    headers = [f"{name}: {value}" for name, value in spec.headers.items()]
    organisation = spec.options.get("organization")
    if organisation:
        headers.append(f"OpenAI-Organization: {organisation}")
    if spec.dialect == "watsonx":
        if spec.options.get("gateway"):
            from toolcert.endpoints.dialects.watsonx import place_header

            headers += [f"{name}: {value}" for name, value in place_header(spec).items()]
        return [*headers, f"Authorization: Bearer ${_TOKEN_VARIABLE}"]
    if spec.key_env is None:
        return headers
    azure = spec.dialect == "azure" or is_azure(spec.base_url)
    return [*headers, f"api-key: ${spec.key_env}" if azure else f"Authorization: Bearer ${spec.key_env}"]


def _with_variables(header: str) -> str:
    """Quoted so that variables are filled in by the shell and nothing else is."""
    if "$" not in header:
        return shlex.quote(header)
    return f'"{_harmless(header)}"'


def _harmless(text: str) -> str:
    return _OBEYED.sub(r"\\\g<0>", text)
