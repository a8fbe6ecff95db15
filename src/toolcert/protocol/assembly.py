"""The message and the calls of a streamed answer, assembled from its chunks.

Every departure from the protocol is noted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import pairwise, permutations
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from toolcert.core.exchanges import CallsField, Reply, ToolCall
from toolcert.core.requests import Request, RequestKind
from toolcert.core.text.excerpt import shown
from toolcert.core.values import JsonObject
from toolcert.protocol.chunk import WRONG_CALLS, Chunk, Delta, Function, Identity, Piece, StreamChoice
from toolcert.protocol.irregularity import Notices, leaves_nothing, legacy_call
from toolcert.protocol.unicode import NOT_JSON, joined

Trail: TypeAlias = list[tuple[int, str]]
"""The pieces of one call's arguments, each with its time of arrival."""
_MOST_PIECES = 500
"""Beyond this the search would take too long."""


def misplaced_piece(trails: list[Trail]) -> str | None:
    """Evidence that pieces belong elsewhere, or None.

    The search looks only at calls whose arguments are broken, and claims nothing unless moving
    pieces from one of them to another makes both complete JSON.
    """
    broken = [number for number, trail in enumerate(trails) if not _is_json(trail)]
    if len(broken) < 2 or sum(map(len, trails)) > _MOST_PIECES:
        return None
    for giver, taker in permutations(broken, 2):
        for start, end in _runs(len(trails[giver])):
            if _mends(trails[giver], trails[taker], start, end):
                text = "".join(piece for _, piece in trails[giver][start:end])
                return f"{shown(text)} came with call {giver} and belongs to call {taker}"
    return None


def _runs(length: int) -> Iterator[tuple[int, int]]:
    """Single pieces, and runs from the beginning or to the end."""
    for position in range(length):
        yield position, position + 1
    for position in range(1, length):
        yield position, length
        yield 0, position


def _mends(giver: Trail, taker: Trail, start: int, end: int) -> bool:
    return _is_json(giver[:start] + giver[end:]) and _is_json(sorted(taker + giver[start:end]))


def _is_json(trail: Trail) -> bool:
    if not trail or trail[0][1][0] != "{" or trail[-1][1][-1] != "}":
        return False  # arguments are objects: most candidates are refused here without joining
    try:
        msgspec.json.decode("".join(piece for _, piece in trail))
    except NOT_JSON:
        return False
    return True


_FEWEST_REPEATS = 4
_NO_FUNCTION = Function()
_TRIVIAL_ARGUMENTS = 2
"""Length of `{}`: arguments as short as that cannot come in more than one piece."""


def repeats_itself(pieces: list[Any]) -> bool:
    """Whether each piece is everything so far and not what is new; a few equal beginnings prove nothing."""
    texts = [piece for piece in pieces if piece]
    return (
        len(texts) >= _FEWEST_REPEATS
        and all(isinstance(text, str) for text in texts)
        and all(two.startswith(one) for one, two in pairwise(texts))
        and len(texts[0]) < len(texts[-1])
    )


def grows_to_json(pieces: list[Any]) -> bool:
    """Whether each piece repeats those before it up to a last one that is the whole: two of them prove it then."""
    texts = [piece for piece in pieces if piece]
    return (
        1 < len(texts) < _FEWEST_REPEATS
        and all(isinstance(text, str) for text in texts)
        and all(two.startswith(one) and two != one for one, two in pairwise(texts))
        and texts[0].lstrip().startswith(("{", "["))  # 1 and 12 may be 112
        and _is_json([(0, texts[-1])])
    )


def swapped_piece(pieces: list[Any]) -> str | None:
    """Evidence that the arguments came in the wrong order: two neighbours that make them JSON when exchanged."""
    if not 1 < len(pieces) <= _MOST_PIECES or not all(isinstance(piece, str) for piece in pieces):
        return None
    trail = [(place, piece) for place, piece in enumerate(pieces) if piece]
    if _is_json(trail):
        return None
    for place in range(len(trail) - 1):
        exchanged = [*trail[:place], trail[place + 1], trail[place], *trail[place + 2 :]]
        if _is_json(exchanged):
            return f"{shown(trail[place + 1][1])} belongs before {shown(trail[place][1])}"
    return None


class PartialCall:
    """One call, while its pieces arrive."""

    __slots__ = ("arrivals", "id", "index", "name", "name_came_with", "pieces", "type")

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id: Any = None
        self.type: Any = None
        self.name: Any = None
        self.pieces: list[Any] = []
        self.arrivals: list[int] = []
        """When each piece came, counted over all calls."""
        self.name_came_with: Any = None
        """The arguments in the piece that brought the name."""

    def is_whole(self) -> bool:
        """Whether the arguments so far are a complete JSON object."""
        if not self.pieces or not str(self.pieces[-1]).endswith("}"):
            return False  # asked with every piece where a server repeats the name, so the common answer is quick
        try:
            msgspec.json.decode("".join(self.pieces))
        except (*NOT_JSON, TypeError):
            return False
        return True

    def is_untouched(self) -> bool:
        return not any(self.pieces)


class PartialCalls:
    """Sorts pieces into calls by their index, and notes where the index is wrong."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._by_index: dict[int | None, PartialCall] = {}
        self._all: list[PartialCall] = []
        self._by_id: dict[Any, PartialCall] = {}
        self._arrived = 0

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, pieces: list[Piece]) -> None:
        """Add the pieces of one delta."""
        for piece in pieces:
            function = piece.function or _NO_FUNCTION
            arguments = function.arguments
            draft = self._by_index.get(piece.index)
            if draft is None or piece.id is not None or function.name is not None or piece.type is not None:
                draft = self._draft_for(piece, function)
                self._label(draft, piece, function)
            if arguments is not None:
                self._arrived += 1
                draft.pieces.append(arguments)
                draft.arrivals.append(self._arrived)

    def _draft_for(self, piece: Piece, function: Function) -> PartialCall:
        index = piece.index
        if index is None:
            self._notices.note("stream.index_missing", f"a piece without index: {_shown(piece)}")
            return self._without_index(piece, function)
        draft = self._by_index.get(index)
        if draft is None:
            return self._open(index)
        if piece.id and piece.id != draft.id and self._with_id(piece.id) is not None:
            evidence = f"a piece of {shown(piece.id)} has the index of {shown(draft.id)}: {_shown(piece)}"
            self._notices.note("stream.fragment_misplaced", evidence, rule="id")
        elif function.name and _begins_another(draft, piece, function):
            self._notices.note("stream.index_shared", f"index {index} begins a second call: {_shown(piece)}")
            return self._open(index)
        return draft

    def _without_index(self, piece: Piece, function: Function) -> PartialCall:
        """The call that has this id; otherwise the last one, unless a new one begins."""
        known = self._with_id(piece.id) if piece.id else None
        if known is not None:
            return known
        if not self._all or _begins_another(self._all[-1], piece, function):
            return self._open(None)
        return self._all[-1]

    def _with_id(self, call_id: Any) -> PartialCall | None:
        """The first call with this id; found without a search, because a stream may hold very many."""
        return self._by_id.get(call_id) if isinstance(call_id, Hashable) else None

    def _open(self, index: int | None) -> PartialCall:
        draft = PartialCall(index)
        self._all.append(draft)
        if index is not None:
            self._by_index[index] = draft
        return draft

    def _label(self, draft: PartialCall, piece: Piece, function: Function) -> None:
        if piece.id and draft.id and piece.id != draft.id:
            if self._with_id(piece.id) is None:
                evidence = f"the id of a call changes from {shown(draft.id)} to {shown(piece.id)}"
                self._notices.note("stream.framing", evidence, rule="call id")
        elif not draft.id and piece.id is not None:
            draft.id = piece.id
            if isinstance(piece.id, Hashable):
                self._by_id.setdefault(piece.id, draft)
        if draft.type is None:
            draft.type = piece.type
        if function.name:
            self._name(draft, function)
        elif draft.name is None:
            draft.name = function.name

    def _name(self, draft: PartialCall, function: Function) -> None:
        if not draft.name:
            if not draft.is_untouched():
                evidence = (
                    f"arguments {shown(''.join(map(str, draft.pieces)))} before their call {shown(function.name)}"
                )
                self._notices.note("stream.order", evidence, rule="head")
            draft.name = function.name
            draft.name_came_with = function.arguments
        elif function.name == draft.name:
            self._notices.note("stream.name_repeated", f"{shown(function.name)} again with a later piece")
        elif isinstance(draft.name, str) and isinstance(function.name, str):
            self._notices.note("stream.framing", f"a name in pieces: {shown([draft.name, function.name])}", rule="name")
            draft.name += function.name

    def finish(self) -> tuple[ToolCall, ...]:
        """The calls, in the order in which they began."""
        if not self._all:
            return ()
        self._check_indexes()
        calls = tuple(self._finished(draft) for draft in self._all)
        if len(calls) > 1 and (evidence := misplaced_piece([_trail(draft) for draft in self._all])):
            self._notices.note("stream.fragment_misplaced", evidence, rule="arguments")
        return calls

    def _finished(self, draft: PartialCall) -> ToolCall:
        whole = draft.name_came_with
        if isinstance(whole, str) and len(whole) > _TRIVIAL_ARGUMENTS and sum(map(bool, draft.pieces)) == 1:
            self._notices.note("stream.one_piece", f"{shown(draft.name)} with all of its arguments: {shown(whole)}")
        if repeats_itself(draft.pieces) or grows_to_json(draft.pieces):
            self._notices.note("stream.cumulative", f"arguments: {shown(draft.pieces[:3])}, ...", rule="arguments")
        elif evidence := swapped_piece(draft.pieces):
            self._notices.note("stream.order", evidence, rule="arguments")
        arguments = self._arguments(draft.pieces)
        return ToolCall(id=draft.id, type=draft.type, name=draft.name, arguments=arguments, index=draft.index)

    def _arguments(self, pieces: list[Any]) -> Any:
        """Text as one; anything else as the server wrote it, a list of the pieces where there are several."""
        if not pieces:
            return None
        try:
            return joined(pieces, "arguments", self._notices)
        except TypeError:
            others = [piece for piece in pieces if piece != ""]
            return others[0] if len(others) == 1 else others

    def _check_indexes(self) -> None:
        indexes = [index for index in self._by_index if index is not None]
        if indexes and sorted(indexes) != list(range(len(indexes))):
            self._notices.note("stream.index_gap", f"the indexes of the calls are {shown(indexes)}")


def _begins_another(draft: PartialCall, piece: Piece, function: Function) -> bool:
    """Whether a piece belongs to a new call rather than to `draft`, whose index it carries.

    A new call brings a name. Some servers repeat the name, or invent a new id, with every piece, so
    the same name begins a new call only where the arguments before it are complete or have not begun.
    """
    if not function.name:
        return False
    if piece.id and draft.id:
        return bool(piece.id != draft.id and (function.name != draft.name or draft.is_untouched() or draft.is_whole()))
    return bool(draft.name and function.arguments) and draft.is_whole()


def _trail(draft: PartialCall) -> list[tuple[int, str]]:
    return [
        (arrival, piece)
        for arrival, piece in zip(draft.arrivals, draft.pieces, strict=True)
        if isinstance(piece, str) and piece
    ]


def _shown(piece: Piece) -> str:
    function = piece.function or _NO_FUNCTION
    fields = {"index": piece.index, "id": piece.id, "name": function.name, "arguments": function.arguments}
    return shown({field: value for field, value in fields.items() if value is not None})


class Assembly:
    """The first choice of a stream, while its chunks arrive."""

    def __init__(self, notices: Notices, request: Request) -> None:
        self.finish_reasons: list[str] = []
        self.failed = False
        """Whether the choice carried an upstream error."""
        self.has_choice = False
        """Whether any chunk brought the choice that is judged."""
        self.usage: JsonObject | None = None
        self._notices = notices
        self._request = request
        self._completions = request.kind is RequestKind.COMPLETIONS
        self._role: str | None = None
        self._content: list[str] = []
        self._reasoning_content: list[str] = []
        self._reasoning: list[str] = []
        self._drafts = PartialCalls(notices)
        self._calls_field = CallsField.ABSENT
        self._choice_usage: JsonObject | None = None
        self._early_usages = 0
        self._others: set[int] = set()

    def add(self, chunk: Chunk) -> None:
        """Add one chunk."""
        if chunk.usage is not None:
            self._add_usage(chunk.usage)
        if not chunk.choices:
            self._without_choice(chunk)
            return
        for choice in chunk.choices:
            if choice.index:
                self._others.add(choice.index)
            elif choice.delta is None or choice.finish_reason is not None or choice.usage is not None or choice.error:
                self._add_choice(choice)
            else:
                self._add_delta(choice.delta)

    def _add_choice(self, choice: StreamChoice) -> None:
        if choice.delta is not None:
            self._add_delta(choice.delta)
        self.has_choice = True
        if choice.error:
            self.failed = True
            self._notices.note("stream.error_inside", shown(choice.error))
        if choice.text is not None and self._completions and choice.delta is None:
            self._content.append(choice.text)
        elif choice.delta is None and not leaves_nothing(choice.error, choice.finish_reason):
            self._notices.note("stream.framing", "a choice without delta", rule="delta")
        if choice.finish_reason is not None:
            self._finish(choice.finish_reason)
        if choice.usage is not None:
            self._choice_usage = choice.usage

    def _add_delta(self, delta: Delta) -> None:
        calls = delta.tool_calls
        if calls:
            self._drafts.add(calls)
        elif calls is None or calls is not UNSET:
            self._mark_calls(calls)
        if delta.content is not None:
            self._content.append(delta.content)
        if delta.reasoning_content is not None:
            self._reasoning_content.append(delta.reasoning_content)
        if delta.reasoning is not None:
            self._reasoning.append(delta.reasoning)
        if delta.role or delta.function_call is not None or self.finish_reasons or not self.has_choice:
            self._look_closer(delta)

    def _look_closer(self, delta: Delta) -> None:
        """What is not in the middle of a regular stream: its first delta, its last, and its irregular ones."""
        self.has_choice = True
        if self.finish_reasons and (delta.content or delta.tool_calls):
            self._notices.note("stream.order", "content or calls after the finish reason", rule="after finish")
        if delta.role:
            self._add_role(delta.role)
        if evidence := legacy_call(delta.function_call, self._request.body):
            self._notices.note("envelope.not_openai", evidence, rule="function_call")

    def _mark_calls(self, calls: list[Piece] | None) -> None:
        """Remember how a `tool_calls` without calls was written; the worst form wins."""
        if calls is WRONG_CALLS:
            self._calls_field = CallsField.WRONG
        elif calls is None and self._calls_field is CallsField.ABSENT:
            self._calls_field = CallsField.NULL
        elif calls is not None and self._calls_field is not CallsField.WRONG:
            self._calls_field = CallsField.EMPTY

    def _add_role(self, role: str) -> None:
        if self._role is not None:
            self._notices.note("stream.framing", f"the role {shown(role)} comes again", rule="role")
        self._role = self._role or role

    def _finish(self, reason: str) -> None:
        if reason:
            self.finish_reasons.append(reason)
        else:
            self._notices.note("stream.framing", 'finish_reason "" where null is meant', rule="empty finish")

    def _add_usage(self, usage: JsonObject) -> None:
        self.usage = usage
        if not self.finish_reasons:
            self._early_usages += 1

    def _without_choice(self, chunk: Chunk) -> None:
        if chunk.choices != []:
            self._notices.note("stream.framing", "a chunk without choices", rule="choices")

    def note_usage(self, *, running_totals_expected: bool) -> None:
        """Note usage in an unexpected place; running totals that the server sends by design are expected."""
        if self.usage is None and self._choice_usage is not None:
            self.usage = self._choice_usage
            self._notices.note("stream.usage_nonstandard", f"only inside a choice: {shown(self.usage)}")
        elif self._early_usages > 1 and not running_totals_expected:
            self._notices.note("stream.usage_nonstandard", f"on {self._early_usages} chunks before the finish reason")

    def note_other_choices(self, asked: int) -> None:
        """Note choices that were not asked for: an agent does not see what they hold."""
        if len(self._others) >= asked:
            evidence = f"{asked} choice asked for, also indexes {shown(sorted(self._others))}"
            self._notices.note("envelope.not_openai", evidence, rule="choices")

    def reply(self, identity: Identity, *, complete: bool) -> Reply:
        """The answer as far as it was received."""
        calls = self._drafts.finish()
        reasoning = self._reasoning_content or self._reasoning
        for what, texts in (("content", self._content), ("reasoning", reasoning)):
            if repeats_itself(texts) or grows_to_json(texts):
                self._notices.note("stream.cumulative", f"{what}: {shown(texts[:3])}, ...", rule=what)
        return Reply(
            role=self._role,
            content=joined(self._content, "content", self._notices) if self._content else None,
            reasoning=joined(reasoning, "reasoning", self._notices) if reasoning else None,
            tool_calls=calls,
            calls_field=CallsField.LIST if calls else self._calls_field,
            finish_reason=self.finish_reasons[-1] if self.finish_reasons else None,
            finish_reasons=tuple(self.finish_reasons),
            usage=self.usage,
            id=identity.id,
            model=identity.model if identity.model is not None else identity.model_id,
            provider=identity.provider,
            system_fingerprint=identity.system_fingerprint,
            streamed=True,
            complete=complete,
            irregularities=self._notices.irregularities(),
        )
