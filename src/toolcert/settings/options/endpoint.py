"""Options of every command that sends requests: where, with which key, which models, how fast."""

from __future__ import annotations

from toolcert.settings.option import (
    Address,
    HeaderLine,
    InputFile,
    JsonBody,
    KeyFile,
    Number,
    Option,
    Switch,
    Text,
    VariableName,
    Whole,
)

_WHERE = "Endpoint"
_KEY = "Key"
_WATSONX = "Endpoint, watsonx.ai"

CONNECTION: tuple[Option, ...] = (
    Option(
        name="config",
        group=_WHERE,
        kind=InputFile(),
        in_file=False,
        help="Configuration file (otherwise toolcert.toml in the working directory, where there is one).",
    ),
    Option(
        name="trust-config",
        group=_WHERE,
        kind=Switch(),
        default=False,
        in_file=False,
        help="Let the configuration file send the key of a preset to another host than the preset's own.",
    ),
    Option(
        name="endpoint",
        group=_WHERE,
        short="-e",
        multiple=True,
        kind=Text("NAME|URL"),
        help="An endpoint of toolcert.toml, a preset (see `toolcert endpoints`), or an address. Repeatable.",
    ),
    Option(
        name="base-url",
        group=_WHERE,
        kind=Address(),
        per_endpoint=True,
        help="Address of the API, with or without /v1.",
    ),
    Option(
        name="dialect",
        group=_WHERE,
        kind=Text("NAME"),
        per_endpoint=True,
        help="API of the server: openai (most servers), azure, litellm, watsonx, or one that a plugin adds.",
    ),
    Option(
        name="preset",
        group=_WHERE,
        kind=Text("NAME"),
        per_endpoint=True,
        help="Preset for whatever is not given (see `toolcert endpoints`).",
    ),
    Option(
        name="header",
        group=_WHERE,
        kind=HeaderLine(),
        multiple=True,
        separator="\n",
        per_endpoint=True,
        help="Extra request header; credentials as 'X-Api-Key: ${MY_VARIABLE}'. Repeatable.",
    ),
    Option(
        name="extra-body",
        group=_WHERE,
        kind=JsonBody(),
        per_endpoint=True,
        help="JSON object merged into every request body last.",
    ),
    Option(
        name="provider",
        group=_WHERE,
        multiple=True,
        kind=Text("NAME"),
        per_endpoint=True,
        help="OpenRouter: allow only these upstream providers. Repeatable.",
    ),
    Option(
        name="organization",
        group=_WHERE,
        kind=Text("ID"),
        per_endpoint=True,
        help="Sent as the OpenAI-Organization header.",
    ),
    Option(
        name="api-version",
        group=_WHERE,
        kind=Text("VERSION"),
        per_endpoint=True,
        help="`api-version` of Azure, or `version` of watsonx.ai.",
    ),
    Option(
        name="deployment",
        group=_WHERE,
        kind=Text("ID"),
        per_endpoint=True,
        help="Deployment to ask instead of a model (Azure, watsonx.ai).",
    ),
    Option(
        name="ca-bundle",
        group=_WHERE,
        kind=InputFile("PEM"),
        per_endpoint=True,
        help="Certificates to trust besides the usual ones.",
    ),
    Option(
        name="api-key-env",
        group=_KEY,
        kind=VariableName(),
        per_endpoint=True,
        help="Name of the environment variable that holds the key.",
    ),
    Option(name="api-key-file", group=_KEY, kind=KeyFile(), per_endpoint=True, help="File or pipe that holds the key."),
    Option(name="ask-key", group=_KEY, kind=Switch(), default=False, help="Ask for the key on the terminal."),
    Option(
        name="api-key",
        group=_KEY,
        kind=Text("KEY"),
        secret=True,
        in_file=False,
        help="The key itself; better use TOOLCERT_API_KEY, which other users and the shell's history do not see.",
    ),
    Option(
        name="region", group=_WATSONX, kind=Text("NAME"), per_endpoint=True, help="Region, such as us-south or eu-de."
    ),
    Option(name="project-id", group=_WATSONX, kind=Text("ID"), per_endpoint=True, help="Project that is charged."),
    Option(
        name="space-id",
        group=_WATSONX,
        kind=Text("ID"),
        per_endpoint=True,
        help="Deployment space, instead of a project.",
    ),
    Option(name="iam-url", group=_WATSONX, kind=Address(), per_endpoint=True, help="Address that issues tokens."),
    Option(
        name="gateway",
        group=_WATSONX,
        kind=Switch(),
        default=False,
        per_endpoint=True,
        help="Use the OpenAI-compatible model gateway.",
    ),
)


_MODELS = "Models"
_PACE = "Pace"
_BODY = "Request"
_COST = "Cost"

REQUESTS: tuple[Option, ...] = (
    Option(
        name="model",
        group=_MODELS,
        short="-m",
        multiple=True,
        kind=Text("PATTERN"),
        per_endpoint=True,
        help="Only these models: a glob, or a regular expression after `re:`. Repeatable. In verify the one id.",
    ),
    Option(
        name="exclude",
        group=_MODELS,
        short="-x",
        multiple=True,
        kind=Text("PATTERN"),
        per_endpoint=True,
        help="Not these models: a glob, or a regular expression after `re:`. Repeatable.",
    ),
    Option(
        name="all-models",
        group=_MODELS,
        kind=Switch(),
        default=False,
        help="Also ask models that are listed as unable to chat.",
    ),
    Option(
        name="concurrency",
        group=_PACE,
        short="-c",
        kind=Whole(1, 4096),
        default=8,
        per_endpoint=True,
        help="Maximum number of requests at a time; overload lowers it for a while.",
    ),
    Option(name="rpm", group=_PACE, kind=Whole(1), per_endpoint=True, help="Maximum number of requests per minute."),
    Option(
        name="timeout",
        group=_PACE,
        kind=Number(0.01, metavar="SECONDS"),
        default=120.0,
        per_endpoint=True,
        help="Longest time one attempt may take.",
    ),
    Option(
        name="connect-timeout",
        group=_PACE,
        kind=Number(0.01, metavar="SECONDS"),
        default=10.0,
        per_endpoint=True,
        help="Longest wait for a connection.",
    ),
    Option(
        name="read-timeout",
        group=_PACE,
        kind=Number(0.01, metavar="SECONDS"),
        per_endpoint=True,
        help="Longest wait for the first byte of an answer (otherwise --timeout).",
    ),
    Option(
        name="chunk-timeout",
        group=_PACE,
        kind=Number(0.01, metavar="SECONDS"),
        default=60.0,
        per_endpoint=True,
        help="Longest silence inside an answer.",
    ),
    Option(
        name="retries",
        group=_PACE,
        kind=Whole(0, 20),
        default=2,
        per_endpoint=True,
        help="How often a request is tried again after overload or a connection fault.",
    ),
    Option(name="temperature", group=_BODY, kind=Number(0, 2), help="Sampling temperature."),
    Option(name="max-tokens", group=_BODY, kind=Whole(1), help="Maximum number of tokens in an answer."),
    Option(
        name="seed", group=_BODY, kind=Whole(), help="Seed of everything random; probe also sends it to the servers."
    ),
    Option(
        name="dry-run",
        group=_COST,
        kind=Switch(),
        default=False,
        in_file=False,
        help="Print what would be asked and how many requests it takes; send none.",
    ),
    Option(name="max-requests", group=_COST, kind=Whole(1), help="Stop after this many requests."),
    Option(
        name="yes",
        group=_COST,
        short="-y",
        kind=Switch(),
        default=False,
        help="Do not ask for confirmation before many requests to another machine.",
    ),
)
