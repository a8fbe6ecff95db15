"""JUnit XML as GitHub, GitLab and Jenkins read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from xml.sax.saxutils import escape, quoteattr

from toolcert.core.text.visible_text import visible_block
from toolcert.core.values import Value

# Characters XML 1.0 cannot hold in any form; a reader would refuse the whole file.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LONGEST_MESSAGE = 500
LONGEST_TEXT = 4000


class Tag(StrEnum):
    """The tag of a case that did not pass."""

    FAILURE = "failure"
    ERROR = "error"
    """Not measured: says nothing about the model."""
    SKIPPED = "skipped"


_COUNTERS = {Tag.FAILURE: "failures", Tag.ERROR: "errors", Tag.SKIPPED: "skipped"}


class Case(Value):
    """One test; it passed when it has no tag."""

    classname: str
    name: str
    seconds: float = 0.0
    tag: Tag | None = None
    message: str = ""
    text: str = ""


def junit(suites: Iterable[tuple[str, float, Sequence[Case]]]) -> bytes:
    """The file; a suite is its name, when it began (Unix time) and its cases."""
    parts = [(_opening("testsuite", name, cases, began), cases) for name, began, cases in suites]
    every = [case for _, cases in parts for case in cases]
    lines = ['<?xml version="1.0" encoding="utf-8"?>', _opening("testsuites", "toolcert", every)]
    for opening, cases in parts:
        lines += [f"  {opening}", *(line for case in cases for line in _case(case)), "  </testsuite>"]
    return "\n".join([*lines, "</testsuites>", ""]).encode()


def _opening(tag: str, name: str, cases: Sequence[Case], began: float | None = None) -> str:
    counts = " ".join(f'{word}="{sum(case.tag is kind for case in cases)}"' for kind, word in _COUNTERS.items())
    seconds = sum(case.seconds for case in cases)
    when = "" if began is None else f' timestamp="{datetime.fromtimestamp(began, UTC):%Y-%m-%dT%H:%M:%S}"'
    return f'<{tag} name={_attribute(name)} tests="{len(cases)}" {counts} time="{seconds:.3f}"{when}>'


def _case(case: Case) -> Iterator[str]:
    head = (
        f'    <testcase classname={_attribute(case.classname)} name={_attribute(case.name)} time="{case.seconds:.3f}"'
    )
    if case.tag is None:
        yield f"{head}/>"
        return
    yield f"{head}>"
    message = _attribute(_cut(case.message, LONGEST_MESSAGE))
    kind = "" if case.tag is Tag.SKIPPED else f' type="{"not measured" if case.tag is Tag.ERROR else "failed"}"'
    text = escape(_clean(_cut(case.text, LONGEST_TEXT)))
    yield (
        f"      <{case.tag} message={message}{kind}>{text}</{case.tag}>"
        if text
        else (f"      <{case.tag} message={message}{kind}/>")
    )
    yield "    </testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})


def _clean(text: str) -> str:
    return visible_block(_FORBIDDEN.sub("\ufffd", text))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
