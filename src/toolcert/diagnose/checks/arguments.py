"""Findings about the arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.schema.judge import Bucket, Violation
from toolcert.core.text.excerpt import around, shown
from toolcert.core.text.json_text import NotJson, keys_in, leading_json, repeated_keys
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare
from toolcert.diagnose.judgement import CallJudgement, Damage
from toolcert.diagnose.request_facts import conversation_text, last_question

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
TOO_LARGE = FindingKind(
    code="args.too_large",
    severity=Severity.ERROR,
    title="The arguments are too large to be checked.",
    meaning="Checking them against the tool's schema takes more than a million steps, although arguments of ordinary "
    "size are checked at once; or they break it, and listing where takes that long. They count as invalid.",
    cause="The model repeats itself inside a value until it is stopped, or nests values without end.",
    remedy="Limit the size of arguments before they are parsed, and answer the call with an error result.",
)
DOUBLED = FindingKind(
    code="args.doubled",
    severity=Severity.ERROR,
    title="The same arguments come twice in one string.",
    meaning="The text is no longer JSON and the call is lost, although the model did well.",
    cause="At the end of a stream the server sends the whole arguments once more, after having sent them in pieces.",
    remedy="Ask without streaming, or update the server. A client may keep the first copy where both are equal.",
    seen_in=("vllm PR #13826",),
)
KEY_DUPLICATE = FindingKind(
    code="args.key_duplicate",
    severity=Severity.ERROR,
    title="The arguments name the same key twice.",
    meaning="Some parsers keep the first value, some the last, and some refuse the text: agents run different calls. "
    "Where both values are equal it is a warning.",
    cause="The model corrects itself inside the arguments, or a parser merges two calls or two pieces of a stream.",
    remedy="Refuse such arguments with an error result, so that the model writes them again.",
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
        code="schema.name_rejected",
        severity=Severity.ERROR,
        title="The server refuses a tool for the length of its name.",
        meaning="The protocol allows 64 characters. Agents put the name of a server in front of the names of its "
        "tools; one with such tools cannot use this endpoint, because every request that offers them is refused.",
        cause="A limit of the server's own on names, or of the grammar it makes of them.",
        remedy="Shorten the names to the length in the case's detail, and map them back in the agent.",
    )
)
declare(
    FindingKind(
        code="schema.size_limit",
        severity=Severity.WARNING,
        title="The server refuses tools for the bytes of their schemas.",
        meaning="As many bytes in a message are taken, and so are as many tools with shorter schemas. An agent that "
        "joins the tools of several servers works with few of them, and breaks with one more.",
        cause="A limit of the server or of a gateway before it on the schemas, or a grammar that grows too large.",
        remedy="Offer fewer tools at a time, or shorten their descriptions below the size in the evidence.",
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


@check(TOO_LARGE, When.FLAWED)
def too_large(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.judgement.bucket is Bucket.TOO_LARGE:
            text = f"{shown(call.call.arguments, 120)}: {call.judgement.message}"
            yield Evidence(text=text, call=call.position)


@check(DOUBLED, When.FLAWED)
def doubled(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.damage is Damage.DOUBLED:
            yield Evidence(text=shown(call.call.arguments), call=call.position)


@check(KEY_DUPLICATE, When.CALLED)
def key_duplicate(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        text, value = call.call.arguments, call.judgement.arguments
        # Every key has a colon; most arguments have no other, and are not parsed a second time.
        if not isinstance(text, str) or not isinstance(value, dict | list):
            continue
        colons = text.count(":")
        if colons > (len(value) if isinstance(value, dict) else 0) and colons > keys_in(value):
            for key, equal in repeated_keys(text):
                severity = Severity.WARNING if equal else None
                yield Evidence(text=f"key {shown(key, 60)} twice", call=call.position, severity=severity)
                break


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
_ESCAPED = lazy_pattern(r"(?<!\\)(?:\\\\)*(\\u([0-9a-fA-F]{4}))")
"""An escape that the JSON parser will undo."""
_TWICE_ESCAPED = lazy_pattern(r"(?<!\\)(?:\\\\)*(\\\\u([0-9a-fA-F]{4}))")
"""An escape that will still be there after parsing."""

_SHY = "\"\\/<>&'=+"
"""Characters that careful encoders escape for the sake of HTML or of JSON itself."""

ESCAPED = FindingKind(
    code="args.escaped",
    severity=Severity.WARNING,
    title="Characters in the arguments are escaped without need.",
    meaning="Two grades. Printable text written as `\\uXXXX` is correct JSON and only a note: it costs tokens "
    "when it goes back into the history and confuses small models. Text escaped twice reaches the tool as "
    "backslashes and digits, which is a warning.",
    cause="A JSON encoder left at its ASCII default, or an encoder applied twice.",
    remedy="Nothing needs to be done where a real JSON parser reads escapes. Report text that is escaped twice.",
    seen_in=("vllm PR #46308",),
)


@check(ESCAPED, When.CALLED)
def escaped(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        text = call.call.arguments
        if isinstance(text, str) and "\\u" in text:
            evidence = _escaped_twice(view, text) or _escaped_once(text)
            if evidence is not None:
                yield Evidence(text=evidence.text, severity=evidence.severity, call=call.position)


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
        if (
            code >= 0x20
            and code != 0xFFFD
            and (0xD800 <= code <= 0xDFFF or chr(code).isprintable())
            and chr(code) not in _SHY
        ):
            where = around(text, match.start(1), match.end(1))
            return Evidence(text=f"printable text escaped: {where}", severity=Severity.NOTE)
    return None


_MISREAD = lazy_pattern(r"[\u0080-\u00ff\u0152-\u0192\u02c6-\u02dc\u2013-\u2122]{2,}")
"""Runs of the characters that UTF-8 becomes when it is read as Windows-1252 or Latin-1."""
_WORD = lazy_pattern(r"\w+")
_PHRASE = lazy_pattern(r'["“„«]([^"“”„«»\n]{3,})["”»]')
_SHORTEST_REST = 3

ALTERED = FindingKind(
    code="args.altered",
    severity=Severity.ERROR,
    title="Characters of the arguments are lost or replaced by others.",
    meaning="The tool is run with other text than the user gave: `ZÃ¼rich`, `Z?rich` or `Zrich` "
    "for `Zürich`. Names are not found, files get a wrong name, and messages arrive garbled.",
    cause="The server reads UTF-8 as another encoding, decodes a stream piece by piece in the middle of a character, "
    "or drops what its tokenizer or grammar does not know.",
    remedy="Ask without streaming and compare. Report it with both texts; a client cannot restore what was lost.",
)


@check(ALTERED, When.CALLED)
def altered(view: View) -> Iterator[Evidence]:
    question = last_question(view.request)
    for call in view.calls:
        written = call.call.arguments
        if question.isascii() and isinstance(written, str) and written.isascii() and "\\u" not in written:
            continue  # nothing could be lost, and nothing else came in its place
        for text in _texts(written):
            evidence = _destroyed(view, text) or _misread(view, text) or _thinned(question, text)
            if evidence:
                yield Evidence(text=evidence, call=call.position)
                break


def _texts(arguments: object) -> Iterator[str]:
    """Every string in the arguments; their own text where they are not JSON."""
    try:
        value = leading_json(arguments)[0] if isinstance(arguments, str) else arguments
    except NotJson:
        value = arguments
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict | list):
            waiting.extend(one.values() if isinstance(one, dict) else one)


def _destroyed(view: View, text: str) -> str | None:
    place = text.find(_REPLACEMENT)
    if place < 0 or _REPLACEMENT in conversation_text(view.request):
        return None
    return f"replacement character: {around(text, place, place + 1)}"


def _misread(view: View, text: str) -> str | None:
    """UTF-8 that was read in another encoding: only what reads as sound text when this is undone."""
    if text.isascii():
        return None
    for run in _MISREAD.finditer(text):
        try:
            right = b"".join(map(_byte, run[0])).decode()
        except UnicodeError:
            continue
        said = conversation_text(view.request)
        usual = all("\u00a0" <= letter <= "\u017f" for letter in right) or run[0].startswith(("â€", "ðŸ"))
        if run[0] not in said and (usual or right in said):
            return f"{around(text, run.start(), run.end())}, which is UTF-8 misread ({right})"
    return None


def _byte(character: str) -> bytes:
    try:
        return character.encode("cp1252")
    except UnicodeEncodeError:
        return character.encode("latin-1")


def _thinned(question: str, text: str) -> str | None:
    """A word or a quoted phrase of the question without its letters beyond ASCII, or with `?` for them."""
    if question.isascii():
        return None
    words = set(_WORD.findall(text))
    for wanted in (*_PHRASE.findall(question), *_WORD.findall(question)):
        if wanted.isascii() or wanted in text:
            continue
        asked = re.sub(r"[^\x00-\x7f]", "?", wanted)
        rest = asked.replace("?", "")
        spelt = any(letter.isalpha() for letter in wanted if not letter.isascii())
        dropped = len(rest) >= _SHORTEST_REST and (text == rest or rest in words) and rest not in question
        if spelt and any(letter.isalnum() for letter in rest) and (asked in text or dropped):
            return f"{shown(text, 80)} for {shown(wanted, 60)}"
    return None
