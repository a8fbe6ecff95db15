"""Findings about calls: their shape, name and id, and whether they come when the request demands or forbids them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from toolcert.core.exchanges import CallsField
from toolcert.core.findings import FindingKind, Severity
from toolcert.core.text.excerpt import shown
from toolcert.core.text.json_value import identity
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.diagnose.checks.registry import Evidence, View, When, check, declare
from toolcert.diagnose.judgement import CallJudgement, Damage
from toolcert.diagnose.markup import call_in
from toolcert.diagnose.request_facts import choice_of, last_question, named_tool

_KIMI = lazy_pattern(r"kimi|moonshot", re.IGNORECASE)
_REPETITION = lazy_pattern(
    r"\b(?:twice|thrice|times|again|repeat\w*|two|three|four|five|six|seven|eight|nine|ten|several|multiple|many|each)\b"
    r"|(?<![\w.:#/-])(?:[2-9]|[1-9]\d)\s*(?:[x×]\b|[^\W\d_]+s\b)|[\d两二三四五六七八九十]\s*[次遍份张封个]",
    re.IGNORECASE,
)
"""Words of a question that may ask for the same call more than once: a number counts before what it counts only."""
_KIMI_ID = lazy_pattern(r"functions\.(.+):\d+")

declare(
    FindingKind(
        code="call.server_error",
        severity=Severity.ERROR,
        title="The server answers with an error where a call is due.",
        meaning="The agent gets an error and no call, and asking again does not help: the same request fails every "
        "time, and works without tools. It looks like an outage and is none.",
        cause="The model writes a malformed call, and the server's parser fails on it instead of handing it over; or "
        "the server's support for tools is broken altogether.",
        remedy="Ask in other words or without tools where that will do, and report it to the operator with the "
        "evidence. On a server of your own, look for the parser's traceback in its log.",
    )
)
UNKNOWN_TOOL = FindingKind(
    code="call.unknown_tool",
    severity=Severity.ERROR,
    title="The call names a tool that was not offered.",
    meaning="The agent has nothing to run. It crashes, or spends a turn telling the model so.",
    cause="The model invents a tool, calls one from its training or from earlier in the conversation, or the "
    "server lost the tool list on its way into the prompt.",
    remedy="Answer the call with an error result that lists the tools there are. If it happens often with a model "
    "that does well elsewhere, suspect the server's chat template.",
    seen_in=("hermes-agent PR #24411",),
)
MANGLED_NAME = FindingKind(
    code="call.mangled_name",
    severity=Severity.ERROR,
    title="The tool's name comes out prefixed, cut, extended or respelt.",
    meaning="The agent does not know the tool, although the model meant the right one. The call is lost unless "
    "the agent guesses.",
    cause="A parser leaves a namespace (`functions.`, `default_api.`) or markup in the name, cuts long names, or "
    "adds the pieces of a repeated name.",
    remedy="Report it to the operator with the evidence. A client may map such names back, but should say that "
    "it does.",
    seen_in=("hermes-agent PR #24411",),
)
ID_MISSING = FindingKind(
    code="call.id_missing",
    severity=Severity.ERROR,
    title="A call has no id.",
    meaning="A tool's result is tied to its call by the id. Without one the agent cannot answer, or invents an id "
    "that the server may refuse in the next turn.",
    cause="The model's own format has no ids, and the server does not make them up as the protocol wants.",
    remedy="Let the client make an id and use it in both the assistant turn and the result.",
    seen_in=("continue #13225",),
)
ID_DUPLICATE = FindingKind(
    code="call.id_duplicate",
    severity=Severity.ERROR,
    title="Two calls have the same id.",
    meaning="Results cannot be distinguished: the agent answers the wrong call, or the next request is refused "
    "because an id is repeated. Ids repeated from an earlier turn are a warning: strict servers refuse "
    "the history.",
    cause="The server restarts the numbering of calls in every turn or derives the id from the name alone.",
    remedy="Give the calls ids of your own before they enter the history.",
    seen_in=("claude-code #20693",),
)
ID_FORMAT = FindingKind(
    code="call.id_format",
    severity=Severity.WARNING,
    title="The id does not have the form that this family of models needs.",
    meaning="Kimi models read the id back in the next turn and expect `functions.NAME:INDEX`. With ids of another "
    "form later turns of a conversation call tools less reliably.",
    cause="The server makes ids of the usual `call_…` form instead of keeping the model's own.",
    remedy="Use a server version that keeps the model's ids, or rewrite them into the expected form in the history.",
    seen_in=("vllm PR #27565",),
)
TYPE_MISSING = FindingKind(
    code="call.type_missing",
    severity=Severity.WARNING,
    title='A call has no `type: "function"`.',
    meaning="Typed clients choose the kind of call by this field and refuse or skip one without it.",
    cause="A hand-written response, or a gateway that drops constant fields.",
    remedy="Fill the field in before the answer reaches a strict client; report it to the operator.",
    seen_in=("home-llm #349",),
)
EMPTY_LIST = FindingKind(
    code="call.empty_list",
    severity=Severity.WARNING,
    title="An answer without calls carries an empty list of calls.",
    meaning="Some clients take the presence of `tool_calls` for a call: they enter their tool branch with nothing "
    "to run, or send the empty list back and are refused.",
    cause="The server serialises its default value instead of leaving the field out.",
    remedy="Test for a non-empty list, and drop an empty one before it enters the history.",
    seen_in=("openai-node PR #1341",),
)
INDEX_BOGUS = FindingKind(
    code="call.index_bogus",
    severity=Severity.NOTE,
    title="A call in a plain answer carries a nonsensical `index`.",
    meaning="The field belongs to streams. Clients that order calls by it put them in a wrong order or fail on a "
    "number that is none.",
    cause="A gateway turns stream pieces into a plain answer and leaves its placeholder in.",
    remedy="Ignore `index` in answers that were not streamed.",
)
DUPLICATE = FindingKind(
    code="call.duplicate",
    severity=Severity.ERROR,
    title="The same call comes twice in one answer.",
    meaning="The agent does everything twice: it pays, sends or deletes a second time. Where the question itself asks "
    "for repetition and the ids differ, it is a warning.",
    cause="A parser finds a call in two places, or sends it once while streaming and once at the end; or the model "
    "repeats itself.",
    remedy="Run identical calls of one answer once, unless the tool is meant to be repeated. Report it with both ids.",
)


@check(UNKNOWN_TOOL, When.FLAWED)
def unknown_tool(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if not call.known and call.meant is None:
            yield Evidence(text=f"name {shown(call.call.name, 100)} is not offered", call=call.position)


@check(MANGLED_NAME, When.FLAWED)
def mangled_name(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.meant is not None:
            yield Evidence(
                text=f"name {shown(call.call.name, 80)}, offered {shown(call.meant, 60)}", call=call.position
            )


@check(ID_MISSING, When.ODD_CALL)
def id_missing(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if not isinstance(call.call.id, str) or not call.call.id.strip():
            yield Evidence(text=f"id {shown(call.call.id, 60)}", call=call.position)


@check(ID_DUPLICATE, When.CALLED)
def id_duplicate(view: View) -> Iterator[Evidence]:
    seen: set[str] = set()
    earlier = _earlier_ids(view)
    for call in view.calls:
        call_id = call.call.id
        if not isinstance(call_id, str) or not call_id:
            continue
        if call_id in seen:
            yield Evidence(text=f"id {shown(call_id, 80)} twice in one answer", call=call.position)
        elif call_id in earlier:
            text = f"id {shown(call_id, 80)} was used in an earlier turn"
            yield Evidence(text=text, call=call.position, severity=Severity.WARNING)
        seen.add(call_id)


@check(DUPLICATE, When.SEVERAL)
def duplicate(view: View) -> Iterator[Evidence]:
    seen: dict[tuple[str, str | bytes], CallJudgement] = {}
    for call in view.calls:
        arguments = call.judgement.arguments
        first = seen.setdefault(_sameness(call), call)
        if first is call:
            continue
        again = isinstance(call.call.id, str) and call.call.id == first.call.id
        # A tool without arguments (roll_dice) may well be wanted several times.
        if not again and not arguments:
            continue
        wanted = not again and _REPETITION.search(last_question(view.request)) is not None
        text = f"{shown(call.call.name, 60)} {shown(call.call.arguments, 80)} again"
        yield Evidence(text=text, call=call.position, severity=Severity.WARNING if wanted else None)


def _sameness(call: CallJudgement) -> tuple[str, str | bytes]:
    """Equal for calls of the same tool with the same arguments; as written where they could not be read."""
    arguments = call.judgement.arguments
    return repr(call.call.name), repr(call.call.arguments) if arguments is None else identity(arguments)


@lru_cache(maxsize=256)  # a run asks few models
def _is_kimi(model: str) -> bool:
    return _KIMI.search(model) is not None


@check(ID_FORMAT, When.CALLED)
def id_format(view: View) -> Iterator[Evidence]:
    if not _is_kimi(view.request.model):
        return
    for call in view.calls:
        call_id = call.call.id
        if isinstance(call_id, str) and call_id.strip():
            match = _KIMI_ID.fullmatch(call_id)
            if match is None or (call.known and match[1] != call.call.name):
                yield Evidence(text=f"id {shown(call_id, 80)} for {shown(call.call.name, 60)}", call=call.position)


@check(TYPE_MISSING, When.ODD_CALL)
def type_missing(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.call.type != "function":
            yield Evidence(text=f"type {shown(call.call.type, 60)}", call=call.position)


@check(EMPTY_LIST, When.NOT_CALLED)
def empty_list(view: View) -> Iterator[Evidence]:
    if view.reply.calls_field is CallsField.EMPTY and view.reply.finish_reason != "tool_calls":
        yield Evidence(text='"tool_calls": []')


@check(INDEX_BOGUS, When.ODD_CALL, When.PLAIN)
def index_bogus(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        index = call.call.index
        if index is not None and (type(index) is not int or index < 0):
            yield Evidence(text=f"index {shown(index, 60)}", call=call.position)


def _earlier_ids(view: View) -> set[str]:
    """The ids of calls that the conversation already holds."""
    ids: set[str] = set()
    listed = view.request.body.get("messages")
    for message in listed if isinstance(listed, list) else ():
        earlier = message.get("tool_calls") if isinstance(message, dict) else None
        for call in earlier if isinstance(earlier, list) else ():
            if isinstance(call, dict) and isinstance(call.get("id"), str):
                ids.add(call["id"])
    return ids


IN_TEXT = FindingKind(
    code="call.in_text",
    severity=Severity.ERROR,
    title="The call was left in the text instead of in `tool_calls`.",
    meaning="The agent sees no call. The user sees raw markup or JSON, and nothing is done.",
    cause="No tool parser is switched on, it is the wrong one for this model, or it gave up on a call that the "
    "model wrote slightly differently.",
    remedy="On a server of your own, choose the tool parser and chat template made for this model. Elsewhere, "
    "report it: the evidence shows the markup.",
    seen_in=("sglang PR #21377", "vllm #36654"),
)
IN_REASONING = FindingKind(
    code="call.in_reasoning",
    severity=Severity.ERROR,
    title="The call was left in the reasoning instead of in `tool_calls`.",
    meaning="The agent sees no call and often no text either: the turn is lost.",
    cause="The reasoning parser takes everything up to a closing tag that the model did not write, so that the tool "
    "parser never sees the call.",
    remedy="Use a server version in which both parsers work together, or switch thinking off for tool use.",
    seen_in=("vllm #39885",),
)
TWICE = FindingKind(
    code="call.twice",
    severity=Severity.WARNING,
    title="The same call is in `tool_calls` and as markup in the text.",
    meaning="Users see raw markup beside the answer; clients with a text fallback run the tool twice; the markup "
    "goes back into the history and teaches the model to write calls as text.",
    cause="The tool parser finds the call and does not remove it from the text.",
    remedy="Drop the text of such turns from what is shown and from the history; report it to the operator.",
    seen_in=("mistral.rs #2427",),
)


@check(IN_TEXT, When.TEXT, chat_only=True)
def in_text(view: View) -> Iterator[Evidence]:
    for excerpt in _found(view, view.reply.content):
        if not _repeats_a_call(view, excerpt):
            yield Evidence(text=excerpt)


@check(IN_REASONING, When.NOT_CALLED, When.REASONING, chat_only=True)
def in_reasoning(view: View) -> Iterator[Evidence]:
    for excerpt in _found(view, view.reply.reasoning, thought=True):
        yield Evidence(text=excerpt)


@check(TWICE, When.CALLED, When.TEXT, chat_only=True)
def twice(view: View) -> Iterator[Evidence]:
    for excerpt in _found(view, view.reply.content):
        if _repeats_a_call(view, excerpt):
            yield Evidence(text=excerpt)


def _found(view: View, text: str | None, *, thought: bool = False) -> Iterator[str]:
    place = call_in(text, view.request, thought=thought)
    if text and place:
        yield text[place.start : place.end]


def _repeats_a_call(view: View, excerpt: str) -> bool:
    return any(isinstance(call.name, str) and call.name and call.name in excerpt for call in view.reply.tool_calls)


_UNFINISHED = frozenset({"length", "content_filter"})
"""Reasons that explain why no call came."""

CHOICE_REQUIRED_IGNORED = FindingKind(
    code="choice.required_ignored",
    severity=Severity.ERROR,
    title="`tool_choice: required` was accepted, and no tool was called.",
    meaning="An agent that forces a call (to route, to extract, to end with a structured answer) gets prose and "
    "has nothing to run.",
    cause="The server accepts the field and only hints at it in the prompt, or drops it: forcing a call takes "
    "constrained decoding that is not there or not switched on.",
    remedy="Do not rely on `required` here: check for a call and ask again. On a server of your own, enable guided "
    "decoding for tools.",
    seen_in=("vllm #44216",),
)
CHOICE_NONE_IGNORED = FindingKind(
    code="choice.none_ignored",
    severity=Severity.ERROR,
    title="`tool_choice: none` was accepted, and a tool was called.",
    meaning="An agent that wants words (a summary, the last turn before its budget ends) gets a call instead, and "
    "may loop or act where it was told not to.",
    cause="The field is ignored, and the tools are put into the prompt all the same.",
    remedy="Leave `tools` out of requests that must not call.",
    seen_in=("ollama #17921",),
)
CHOICE_NAMED_IGNORED = FindingKind(
    code="choice.named_ignored",
    severity=Severity.ERROR,
    title="`tool_choice` names a function, and the answer does not call it.",
    meaning="The agent asked for one function and gets another one, or none: a forced step of its plan is skipped.",
    cause="The server treats a named choice like `required` or like `auto`.",
    remedy="Offer only the wanted tool in such requests, and check the name of the call.",
    seen_in=("vllm #50477",),
)
PARALLEL_FLAG_IGNORED = FindingKind(
    code="parallel.flag_ignored",
    severity=Severity.WARNING,
    title="`parallel_tool_calls: false` was accepted, and several calls came.",
    meaning="An agent that handles one call at a time runs the first and forgets the rest, or leaves calls "
    "unanswered in its history, which the next request may be refused for.",
    cause="The field is accepted and ignored.",
    remedy="Answer every call, or drop all but the first from the history before the next turn.",
    seen_in=("sglang #9696",),
)
PARALLEL_MERGED = FindingKind(
    code="parallel.merged",
    severity=Severity.ERROR,
    title="Several calls are glued together into one.",
    meaning="The arguments are several JSON objects in a row, which no client can parse. All of the calls are lost.",
    cause="A streaming parser gives parallel calls the same index, or a client-side assembler in a gateway adds up "
    "the pieces of different calls.",
    remedy="Send `parallel_tool_calls: false`, or ask without streaming, until the server is mended.",
    seen_in=("vllm #48318", "sglang #34677"),
)
declare(
    FindingKind(
        code="choice.rejected",
        severity=Severity.NOTE,
        title="The server refuses a legal `tool_choice`.",
        meaning="This way of steering the model is not available here. That is a missing capability said openly, "
        "not a wrong answer: the same request without the field was answered.",
        cause="The server does not implement the value, or needs an option to be set for it.",
        remedy="Do without it, or switch the server's option on.",
    )
)


@check(CHOICE_REQUIRED_IGNORED, When.NOT_CALLED, When.STEERED, chat_only=True)
def choice_required_ignored(view: View) -> Iterator[Evidence]:
    if choice_of(view.request) == "required" and _could_have_called(view):
        yield Evidence(text=f'tool_choice "required", no call, content {shown(view.reply.content, 80)}')


@check(CHOICE_NONE_IGNORED, When.CALLED, When.STEERED, chat_only=True)
def choice_none_ignored(view: View) -> Iterator[Evidence]:
    if choice_of(view.request) == "none":
        yield Evidence(text=f'tool_choice "none", called {shown(view.reply.tool_calls[0].name, 80)}')


@check(CHOICE_NAMED_IGNORED, When.STEERED, chat_only=True)
def choice_named_ignored(view: View) -> Iterator[Evidence]:
    wanted = named_tool(view.request)
    if wanted is None:
        return
    if not view.calls and _could_have_called(view):
        yield Evidence(text=f"tool_choice names {shown(wanted, 60)}, no call")
    other = next((call for call in view.calls if wanted not in (call.call.name, call.meant)), None)
    if other is not None:
        yield Evidence(text=f"tool_choice names {shown(wanted, 60)}, called {shown(other.call.name, 60)}")


@check(PARALLEL_FLAG_IGNORED, When.SEVERAL, chat_only=True)
def parallel_flag_ignored(view: View) -> Iterator[Evidence]:
    if view.request.body.get("parallel_tool_calls") is False:
        yield Evidence(text=f"parallel_tool_calls false, {len(view.calls)} calls")


@check(PARALLEL_MERGED, When.FLAWED)
def parallel_merged(view: View) -> Iterator[Evidence]:
    for call in view.calls:
        if call.damage is Damage.GLUED:
            yield Evidence(text=shown(call.call.arguments), call=call.position)


def _could_have_called(view: View) -> bool:
    """Whether no call came and no other finding explains why."""
    reply = view.reply
    return (
        reply.complete
        and reply.finish_reason not in _UNFINISHED
        and call_in(reply.content, view.request) is None
        and call_in(reply.reasoning, view.request, thought=True) is None
    )


declare(
    FindingKind(
        code="trigger.over",
        severity=Severity.WARNING,
        title="Tools are called where none fits, or more often than at the baseline.",
        meaning="A probe asks what no offered tool can help with, and gets a call; or, on the same requests, the "
        "vendor calls where the baseline answers in words, more often than the other way round. Agents act where they "
        "should talk: needless calls, costs and side effects.",
        cause="A small or quantised model, another chat template, other sampling settings, or weights that differ from "
        "the reference.",
        remedy="Compare with the model's own vendor, and ask about template and quantisation. Offer tools only in "
        "turns that may need them.",
    )
)
declare(
    FindingKind(
        code="trigger.under",
        severity=Severity.WARNING,
        title="Tools are called less often than at the baseline.",
        meaning="On the same requests the vendor answers in words where the baseline calls, more often than the other "
        "way round. Agents talk where they should act: tasks are left undone, or answers are made up.",
        cause="Tools that do not reach the prompt as the model learnt them, calls lost in a parser, or weights that "
        "differ from the reference.",
        remedy="Look for call.in_text and finish.calls_missing first: lost calls look like calls never made.",
    )
)
