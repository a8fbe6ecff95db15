"""Findings about the requests themselves: the dataset's fault, never a vendor's."""

from __future__ import annotations

from collections.abc import Iterator

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.schema.judge import Bucket
from toolcert.core.text.excerpt import shown
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare

BAD_SCHEMA = FindingKind(
    code="dataset.bad_schema",
    severity=Severity.WARNING,
    title="The schema of an offered tool is broken.",
    meaning="Nothing can be said about arguments for this tool, so the row is left out of schema accuracy. Strict "
    "servers refuse the request, and are right to.",
    cause="The tool was written by hand or generated: `required` as an object, a type that does not exist, a "
    "reference that leads nowhere.",
    remedy="Mend the schema in the dataset; the evidence says what is wrong with it.",
)
SCHEMA_TOO_COMPLEX = FindingKind(
    code="dataset.schema_too_complex",
    severity=Severity.WARNING,
    title="The schema of an offered tool is too complex to judge by.",
    meaning="Judging one value could take minutes or gigabytes, so nothing is said about arguments for this tool and "
    "the row is left out of schema accuracy. It is not the vendor's fault.",
    cause="References that multiply (`allOf` of references to `allOf` of references), or a pattern with a repeat "
    "inside a repeat.",
    remedy="Simplify the schema in the dataset; the evidence names the tool.",
)
declare(
    FindingKind(
        code="dataset.not_json",
        severity=Severity.ERROR,
        title="A line of the dataset is not JSON.",
        meaning="Nothing can be asked from it. It is counted and left out; the other lines are asked.",
        cause="A line was cut, two lines were joined, or the file holds NaN, which JSON does not know.",
        remedy="Mend or remove the line; `toolcert dataset check` lists all of them.",
    )
)
declare(
    FindingKind(
        code="dataset.not_object",
        severity=Severity.ERROR,
        title="A line of the dataset is JSON, but not an object.",
        meaning="A request body is an object, so nothing can be asked from this line. It is counted and left out.",
        cause="The file is one JSON list written over several lines, or a list of strings.",
        remedy="Write one request body per line.",
    )
)
declare(
    FindingKind(
        code="dataset.no_messages",
        severity=Severity.ERROR,
        title="A row has no messages.",
        meaning="There is nothing to ask. The row is counted and left out.",
        cause="The rows are of another format: a prompt, a conversation under another name, or finished results.",
        remedy="Write each row as the body of a chat completions request.",
    )
)
declare(
    FindingKind(
        code="dataset.not_rendered",
        severity=Severity.ERROR,
        title="The chat template cannot render a row.",
        meaning="For a raw completion the model's own template puts the messages into one prompt, and it gave none. "
        "The row is counted and left out.",
        cause="The template wants user and assistant to take turns, knows no tool results, or fails on a message "
        "without text.",
        remedy="Write the row as the template wants it; the evidence says what it misses. Or ask chat completions.",
    )
)
declare(
    FindingKind(
        code="dataset.wrong_type",
        severity=Severity.WARNING,
        title="A field of a row has the wrong type.",
        meaning="The row is sent as it is, unless its messages are no list. A server may refuse it, and is right to.",
        cause="Numbers or booleans written as text, a tool outside its `function` wrapper, or our own key `toolcert` "
        "with something it does not know.",
        remedy="Mend the field; the evidence names it.",
    )
)
declare(
    FindingKind(
        code="dataset.duplicate_tool",
        severity=Severity.WARNING,
        title="A row offers two tools of the same name.",
        meaning="A call cannot say which of them is meant, so it is judged by the one that it satisfies.",
        cause="Tools were merged from several places.",
        remedy="Give each tool its own name.",
    )
)
declare(
    FindingKind(
        code="dataset.duplicate",
        severity=Severity.NOTE,
        title="A row asks the same as an earlier one.",
        meaning="Both are asked and both count, so this request weighs more than others.",
        cause="The dataset was put together from parts that overlap, or repeats are meant.",
        remedy="Remove the repetition where it is not meant.",
    )
)


@check(BAD_SCHEMA, When.FLAWED)
def bad_schema(view: View) -> Iterator[Evidence]:
    return _unusable(view, Bucket.BAD_SCHEMA)


@check(SCHEMA_TOO_COMPLEX, When.FLAWED)
def schema_too_complex(view: View) -> Iterator[Evidence]:
    return _unusable(view, Bucket.TOO_COMPLEX)


def _unusable(view: View, bucket: Bucket) -> Iterator[Evidence]:
    for call in view.calls:
        if call.judgement.bucket is bucket:
            text = f"tool {shown(call.call.name, 60)}: {call.judgement.message}"
            yield Evidence(text=text, call=call.position)
