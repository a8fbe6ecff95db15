"""Options of a verify run: which rows of the dataset are sent, and how."""

from __future__ import annotations

from toolcert.settings.option import Choice, Option, Switch, Text, Whole

_ROWS = "Rows"
_FORM = "Request"
_ENGINE = "Engine"
_SHOWN = "Result"

VERIFY: tuple[Option, ...] = (
    Option(name="limit", group=_ROWS, kind=Whole(1), help="Only the first N rows."),
    Option(name="sample", group=_ROWS, kind=Whole(1), help="Only N rows, drawn at random with --seed."),
    Option(
        name="where",
        group=_ROWS,
        multiple=True,
        separator=";",
        kind=Text("TEST"),
        help="Only these rows: tool=NAME, tag=NAME (patterns, commas between alternatives) or index=A-B. Repeatable.",
    ),
    Option(
        name="only-failed",
        group=_ROWS,
        kind=Switch(),
        default=False,
        in_file=False,
        help="Ask again only the rows that the run in --output has as failed or not measured.",
    ),
    Option(
        name="stream",
        group=_FORM,
        kind=Switch(),
        help="Stream every answer, or none with --no-stream; otherwise as each row says.",
    ),
    Option(
        name="as-recorded",
        group=_FORM,
        kind=Switch(),
        default=False,
        help="Stream as each row says, whatever --stream is set to elsewhere.",
    ),
    Option(
        name="model-type",
        group=_FORM,
        kind=Text("NAME"),
        help="Adapter for the model's family: generic, kimi or a plugin's; otherwise by the model's name.",
    ),
    Option(name="adapter", group=_FORM, kind=Text("FILE.py:CLASS"), help="An adapter of your own."),
    Option(
        name="use-raw-completions",
        group=_FORM,
        kind=Switch(),
        default=False,
        help="Render the chat template here and ask /completions; needs --tokenizer-model.",
    ),
    Option(
        name="tokenizer-model",
        group=_FORM,
        kind=Text("NAME|DIR"),
        help="Tokenizer whose chat template is rendered: a model's name or a local folder.",
    ),
    Option(
        name="engine",
        group=_ENGINE,
        kind=Choice("local", "ray"),
        default="local",
        help="Who asks: this process, or workers of a Ray cluster.",
    ),
    Option(
        name="ray-address",
        group=_ENGINE,
        kind=Text("HOST:PORT|auto"),
        help="Head of the Ray cluster (otherwise RAY_ADDRESS, or a Ray of this machine for this run alone).",
    ),
    Option(
        name="ray-workers",
        group=_ENGINE,
        kind=Whole(1, 1024),
        help="Number of Ray workers (otherwise one for each CPU of the cluster, with 4 requests at a time or more).",
    ),
    Option(
        name="slice",
        group=_SHOWN,
        multiple=True,
        kind=Choice("tool", "n_tools", "turns", "stream", "tag"),
        help="Also show the figures for each tool, number of tools, number of turns, stream or tag. Repeatable.",
    ),
)
