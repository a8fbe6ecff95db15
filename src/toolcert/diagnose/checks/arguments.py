"""Findings about the arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcert.core.excerpt import around, shown
from toolcert.core.findings import FindingKind, Severity
from toolcert.core.schema import Bucket, Violation
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare
from toolcert.diagnose.judgement import CallJudgement, Damage
from toolcert.diagnose.request_facts import conversation_text

INVALID_JSON = FindingKind(
    code="args.invalid_json",
    severity=Severity.ERROR,
    title="The arguments are not JSON.",
    meaning="The tool cannot be run. Agents that repair such text guess, and may run the tool with something the "
    "model did not mean.",
    cause="The model writes Python-like or otherwise loose JSON and the server neither constrains nor checks it; "
    "or a parser cut the text in the wrong place.",
    remedy="Answer the call with an error result so that the model tries again; on a server of your own, switch on "
    "guided decoding for tool arguments.",
    seen_in=("OpenRouter InvalidJson",),
)
EMPTY = FindingKind(
    code="args.empty",
    severity=Severity.ERROR,
    title="The arguments are empty.",
    meaning="Where parameters are required the call cannot be run. Where none are, it is a warning: clients that "
    'parse the text as JSON fail on `""`, and others take it for `{}`.',
    cause="The model's format has no arguments for a tool without parameters and the server does not write `{}`; "
    "or a streaming parser lost the arguments on the way.",
    remedy="Take empty arguments for `{}` where the tool requires nothing, and answer with an error result where it "
    "does.",
    seen_in=("vercel/ai #6687",),
)
NOT_STRING = FindingKind(
    code="args.not_string",
    severity=Severity.ERROR,
    title="The arguments are a JSON value instead of a string that holds JSON.",
    meaning="Clients parse `arguments` as text and fail on an object, usually with a type error deep inside a library.",
    cause="A server or gateway follows another protocol, in which arguments are objects.",
    remedy="Encode the value before it reaches the client; report it to the operator.",
)
DOUBLE_ENCODED = FindingKind(
    code="args.double_encoded",
    severity=Severity.ERROR,
    title="An object or array arrives as JSON inside a string.",
    meaning="The tool gets text where it expects a structure. Lenient agents decode it a second time; strict ones "
    "refuse the call.",
    cause="Arguments are encoded once by the model and again by the server, or the chat template showed the model "
    "encoded values.",
    remedy="Decode once more only where the schema wants a structure and the text holds one. On a server of your "
    "own, look at how the template writes earlier calls.",
    seen_in=("kimi-cli PR #2513",),
)
SCHEMA = FindingKind(
    code="args.schema",
    severity=Severity.ERROR,
    title="The arguments break the tool's schema.",
    meaning="The tool refuses the call or works on wrong input. The last part of the code is the keyword that was "
    "broken (`args.schema.required`, `args.schema.enum`, …); the evidence says where, and whether the usual "
    'coercion ("5" to 5) would mend it.',
    cause="The model is not sure of the schema: it is too small for the task, quantised too far, or did not see the "
    "schema as it was sent. A vendor that does worse than the reference on the same requests has a problem in "
    "its template, parser or weights.",
    remedy="Validate before running a tool and return the violation as the tool's result. Compare with the model's "
    "own vendor to tell the model from the server.",
)
DOUBLED = FindingKind(
    code="args.doubled",
    severity=Severity.ERROR,
    title="The same arguments come twice in one string.",
    meaning="The text is no JSON any more and the call is lost, although the model did well.",
    cause="At the end of a stream the server sends the whole arguments once more, after having sent them in pieces.",
    remedy="Ask without streaming, or update the server. A client may keep the first copy where both are equal.",
    seen_in=("vllm PR #13826",),
)
declare(
    FindingKind(
        code="args.lost",
        severity=Severity.ERROR,
        title="The arguments are empty in one mode and there in the other.",
        meaning="The same request gives a full call without streaming and an empty one with it, or the other way "
        "round. The tool is run with nothing.",
        cause="Streamed and plain answers go through different parsers in the server, and one of them drops the "
        "arguments.",
        remedy="Use the mode that works, and report both answers to the operator.",
        seen_in=("vllm #47901", "vllm #9693"),
    )
)
declare(
    FindingKind(
        code="schema.valid_rejected",
        severity=Severity.ERROR,
        title="The server refuses a tool whose schema is legal.",
        meaning="An agent with such a tool cannot use this endpoint at all: every request fails before the model is "
        "asked.",
        cause="The server turns schemas into a grammar that knows only part of JSON Schema (`$ref`, `anyOf`, "
        "`pattern`, …), or sets limits on names, nesting or the number of tools.",
        remedy="Simplify the schema to the highest rung that passes: inline references, replace unions, shorten names.",
        seen_in=("llama.cpp #27619",),
    )
)
declare(
    FindingKind(
        code="schema.strict_unenforced",
        severity=Severity.WARNING,
        title="`strict: true` is accepted and not enforced.",
        meaning="An agent that leaves validation to the server gets arguments that break the schema.",
        cause="The field is passed over: constrained decoding is not there or not switched on.",
        remedy="Validate arguments yourself, whatever `strict` promises.",
        seen_in=("llama.cpp #19051",),
    )
)


@check(INVALID_JSON, When.FLAWED)
def invalid_json(view: View) -> Iterator[Evidence]:
    if view.noticed("stream.fragment_misplaced"):
        return  # which breaks the arguments of two calls, and says so
    for call in view.calls:
        if call.damage is Damage.BROKEN:
            text = f"{shown(call.call.arguments, 100)}: {call.judgement.message}"
            yield Evidence(text=text, call=call.position)


@check(EMPTY, When.FLAWED)
def empty(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.judgement.bucket is Bucket.EMPTY:
            harmless = call.judgement.ok is True
            wanted = "no parameter is required" if harmless else "parameters are required"
            yield Evidence(
                text=f"arguments {shown(call.call.arguments, 40)}, {wanted}",
                call=call.position,
                severity=Severity.WARNING if harmless else None,
            )


@check(NOT_STRING, When.FLAWED)
def not_string(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.judgement.bucket is Bucket.NOT_STRING:
            yield Evidence(text=f"arguments {shown(call.call.arguments, 120)}", call=call.position)


@check(DOUBLE_ENCODED, When.FLAWED)
def double_encoded(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.judgement.bucket is Bucket.DOUBLE_ENCODED:
            places = ", ".join(path or "the whole" for path in call.judgement.double_encoded)
            yield Evidence(text=f"{places}: {shown(call.call.arguments, 120)}", call=call.position)


@check(SCHEMA, When.FLAWED)
def schema(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.judgement.bucket is Bucket.SCHEMA_MISMATCH:
            yield from _by_keyword(call)


@check(DOUBLED, When.FLAWED)
def doubled(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.damage is Damage.DOUBLED:
            yield Evidence(text=shown(call.call.arguments), call=call.position)


def _by_keyword(call: CallJudgement) -> Iterator[Evidence]:
    """One piece of evidence for each keyword that was broken."""
    by_keyword: dict[str, list[Violation]] = {}
    for violation in call.judgement.violations:
        by_keyword.setdefault(violation.keyword, []).append(violation)
    mendable = "; coercion would mend it" if call.judgement.coercible else ""
    for keyword, violations in by_keyword.items():
        first = violations[0]
        more = f" and {len(violations) - 1} more" if len(violations) > 1 else ""
        text = f"{first.path or '/'}: {first.message}{more}{mendable}"
        yield Evidence(text=text, call=call.position, code=f"args.schema.{keyword}")


_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*(\\u([0-9a-fA-F]{4}))")
"""An escape that the JSON parser will undo."""
_TWICE_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*(\\\\u([0-9a-fA-F]{4}))")
"""An escape that will still be there after parsing."""

_SHY = "\"\\/<>&'=+"
"""Characters that careful encoders escape for the sake of HTML or of JSON itself."""

ESCAPED = FindingKind(
    code="args.escaped",
    severity=Severity.WARNING,
    title="Characters in the arguments are escaped without need, or corrupted.",
    meaning="Three grades. Printable text written as `\\uXXXX` is correct JSON and only a note: it costs tokens "
    "when it goes back into the history and confuses small models. Text escaped twice reaches the tool as "
    "backslashes and digits, and replacement characters (U+FFFD) mean that text was destroyed: both are warnings.",
    cause="A JSON encoder left at its ASCII default, an encoder applied twice, or a stream that was decoded piece by "
    "piece in the middle of multi-byte characters.",
    remedy="For escapes, nothing needs to be done where a real JSON parser reads them. For lost characters, ask "
    "without streaming and report it.",
    seen_in=("vllm PR #46308",),
)


@check(ESCAPED, When.CALLED)
def escaped(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        text = call.call.arguments
        if isinstance(text, str) and ("\\u" in text or _REPLACEMENT in text):
            evidence = _corrupted(view, text) or _escaped_twice(view, text) or _escaped_once(text)
            if evidence is not None:
                yield Evidence(text=evidence.text, severity=evidence.severity, call=call.position)


def _corrupted(view: View, text: str) -> Evidence | None:
    place = text.find(_REPLACEMENT)
    if place < 0:
        match = re.search(r"\\ufffd", text, re.IGNORECASE)
        place = match.start() if match else -1
    if place < 0 or _REPLACEMENT in conversation_text(view.request):
        return None
    return Evidence(text=f"replacement character: {around(text, place, place + 1)}")


def _escaped_twice(view: View, text: str) -> Evidence | None:
    """Only where the conversation shows the character itself: code may well spell an escape."""
    said: str | None = None
    for match in _TWICE_ESCAPED.finditer(text):
        character = chr(int(match[2], 16))
        if ord(character) > 0x7F and character.isprintable():
            said = conversation_text(view.request) if said is None else said
            if character in said:
                return Evidence(text=f"escaped twice: {around(text, match.start(1), match.end(1))}")
    return None


def _escaped_once(text: str) -> Evidence | None:
    for match in _ESCAPED.finditer(text):
        code = int(match[2], 16)
        if code >= 0x20 and (0xD800 <= code <= 0xDFFF or chr(code).isprintable()) and chr(code) not in _SHY:
            where = around(text, match.start(1), match.end(1))
            return Evidence(text=f"printable text escaped: {where}", severity=Severity.NOTE)
    return None
