"""Calls put together from the pieces of a stream, as the server labelled them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import msgspec

from toolcert.core.replies import ToolCall
from toolcert.wire.chunks import Function, Piece
from toolcert.wire.misplaced import misplaced_piece
from toolcert.wire.notices import Notices, quoted
from toolcert.wire.texts import NOT_JSON, joined

_NO_FUNCTION = Function()
_TRIVIAL_ARGUMENTS = 2
"""Length of `{}`: arguments as short as that cannot come in more than one piece."""


class Draft:
    """One call, growing."""

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


class Drafts:
    """Sorts pieces into calls by their index, and notes where the index does not do its work."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._by_index: dict[int | None, Draft] = {}
        self._all: list[Draft] = []
        self._by_id: dict[Any, Draft] = {}
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

    def _draft_for(self, piece: Piece, function: Function) -> Draft:
        index = piece.index
        if index is None:
            self._notices.note("stream.index_missing", f"a piece without index: {_shown(piece)}")
            return self._without_index(piece, function)
        draft = self._by_index.get(index)
        if draft is None:
            return self._open(index)
        if piece.id and piece.id != draft.id and self._with_id(piece.id) is not None:
            evidence = f"a piece of {quoted(piece.id)} has the index of {quoted(draft.id)}: {_shown(piece)}"
            self._notices.note("stream.fragment_misplaced", evidence, rule="id")
        elif function.name and _begins_another(draft, piece, function):
            self._notices.note("stream.index_shared", f"index {index} begins a second call: {_shown(piece)}")
            return self._open(index)
        return draft

    def _without_index(self, piece: Piece, function: Function) -> Draft:
        """The call that has this id; otherwise the last one, unless a new one begins."""
        known = self._with_id(piece.id) if piece.id else None
        if known is not None:
            return known
        if not self._all or _begins_another(self._all[-1], piece, function):
            return self._open(None)
        return self._all[-1]

    def _with_id(self, call_id: Any) -> Draft | None:
        """The first call with this id; found without a search, because a stream may hold very many."""
        return self._by_id.get(call_id) if isinstance(call_id, Hashable) else None

    def _open(self, index: int | None) -> Draft:
        draft = Draft(index)
        self._all.append(draft)
        if index is not None:
            self._by_index[index] = draft
        return draft

    def _label(self, draft: Draft, piece: Piece, function: Function) -> None:
        if piece.id and draft.id and piece.id != draft.id:
            if self._with_id(piece.id) is None:
                evidence = f"the id of a call changes from {quoted(draft.id)} to {quoted(piece.id)}"
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

    def _name(self, draft: Draft, function: Function) -> None:
        if not draft.name:
            draft.name = function.name
            draft.name_came_with = function.arguments
        elif function.name == draft.name:
            self._notices.note("stream.name_repeated", f"{quoted(function.name)} again with a later piece")
        elif isinstance(draft.name, str) and isinstance(function.name, str):
            self._notices.note(
                "stream.framing", f"a name in pieces: {quoted([draft.name, function.name])}", rule="name"
            )
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

    def _finished(self, draft: Draft) -> ToolCall:
        whole = draft.name_came_with
        if isinstance(whole, str) and len(whole) > _TRIVIAL_ARGUMENTS and sum(map(bool, draft.pieces)) == 1:
            self._notices.note("stream.one_piece", f"{quoted(draft.name)} with all of its arguments: {quoted(whole)}")
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
            self._notices.note("stream.index_gap", f"the indexes of the calls are {quoted(indexes)}")


def _begins_another(draft: Draft, piece: Piece, function: Function) -> bool:
    """Whether a piece belongs to a new call rather than to `draft`, whose index it carries.

    A new call brings a name. Some servers repeat the name, or invent a new id, with every piece, so
    the same name begins a new call only where the arguments before it are complete or have not begun.
    """
    if not function.name:
        return False
    if piece.id and draft.id:
        return bool(piece.id != draft.id and (function.name != draft.name or draft.is_untouched() or draft.is_whole()))
    return bool(draft.name and function.arguments) and draft.is_whole()


def _trail(draft: Draft) -> list[tuple[int, str]]:
    return [
        (arrival, piece)
        for arrival, piece in zip(draft.arrivals, draft.pieces, strict=True)
        if isinstance(piece, str) and piece
    ]


def _shown(piece: Piece) -> str:
    function = piece.function or _NO_FUNCTION
    fields = {"index": piece.index, "id": piece.id, "name": function.name, "arguments": function.arguments}
    return quoted({field: value for field, value in fields.items() if value is not None})
