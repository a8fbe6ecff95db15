"""Which models are asked, how fast, how often, and with which parameters."""

from __future__ import annotations

from toolcert.settings.kinds import Number, Switch, Text, Whole
from toolcert.settings.option import Option

_MODELS = "Models"
_PACE = "Pace"
_BODY = "Request"
_COST = "Cost"

ASKING: tuple[Option, ...] = (
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
        help="Most requests at a time; overload lowers it for a while.",
    ),
    Option(name="rpm", group=_PACE, kind=Whole(1), per_endpoint=True, help="Most requests per minute."),
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
    Option(name="max-tokens", group=_BODY, kind=Whole(1), help="Most tokens an answer may have."),
    Option(
        name="seed", group=_BODY, kind=Whole(), help="Seed of what is drawn at random; probe sends it to the servers."
    ),
    Option(
        name="dry-run",
        group=_COST,
        kind=Switch(),
        default=False,
        in_file=False,
        help="Say what would be asked, and how many requests it takes; send none.",
    ),
    Option(name="max-requests", group=_COST, kind=Whole(1), help="Stop after this many requests."),
    Option(
        name="yes",
        group=_COST,
        short="-y",
        kind=Switch(),
        default=False,
        help="Do not ask before many requests are sent to somebody else's machine.",
    ),
)
