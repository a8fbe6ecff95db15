"""Where the models are and how to be let in."""

from __future__ import annotations

from toolcert.settings.key_kinds import KeyFile, VariableName
from toolcert.settings.kinds import Address, HeaderLine, InputFile, JsonBody, Switch, Text
from toolcert.settings.option import Option

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
        help="How the server is spoken to: openai (most servers), azure, litellm, watsonx, or one that a plugin adds.",
    ),
    Option(
        name="preset",
        group=_WHERE,
        kind=Text("NAME"),
        per_endpoint=True,
        help="Take what is not given from this preset (see `toolcert endpoints`).",
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
        help="OpenRouter: let only these upstream providers answer. Repeatable.",
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
        help="The key itself; better in TOOLCERT_API_KEY, where other users and the shell's history do not see it.",
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
