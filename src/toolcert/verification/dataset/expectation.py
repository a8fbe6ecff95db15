"""What a row itself expects: a call or none, of which tool, with which accepted values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from toolcert.core.text.json_value import same_value
from toolcert.core.values import JsonObject, Value


class ExpectedCall(Value, forbid_unknown_fields=True):
    """A call that the answer must contain."""

    name: str
    arguments: JsonObject = {}


class Expected(Value, forbid_unknown_fields=True):
    """What the answer to a row should be."""

    call: bool | None = None
    calls: tuple[ExpectedCall, ...] = ()

    @property
    def wants_call(self) -> bool:
        return bool(self.calls) if self.call is None else self.call


class MadeCall(Value):
    """A call from an answer: its name and its parsed arguments."""

    name: Any
    arguments: Any


class Notes(Value, forbid_unknown_fields=True):
    """The content of the row key `toolcert`, which is never sent."""

    id: str | None = None
    tags: tuple[str, ...] = ()
    expected: Expected | None = None


_decode_notes = msgspec.json.Decoder(Notes).decode


def read_notes(text: bytes | msgspec.Raw) -> Notes:
    """Read the notes of a row; raises msgspec.ValidationError if they are malformed."""
    notes = _decode_notes(text)
    expected = notes.expected
    if expected is not None and expected.call is None and not expected.calls:
        raise msgspec.ValidationError("`expected` says neither `call` nor `calls`")
    if expected is not None and expected.call is False and expected.calls:
        raise msgspec.ValidationError("`expected` wants calls and no call at once")
    return notes


def unmet(expected: Expected, made: Sequence[MadeCall]) -> str:
    """Why the calls do not meet the expectation; empty if they do."""
    if not expected.wants_call:
        return f"called {_names(made)} where no call is expected" if made else ""
    if not made:
        return "answered in text where a call is expected"
    if not expected.calls:
        return ""
    if len(made) != len(expected.calls):
        return f"made {len(made)} calls where {len(expected.calls)} are expected"
    return _first_unmatched(expected.calls, made)


def _first_unmatched(wanted: Sequence[ExpectedCall], made: Sequence[MadeCall]) -> str:
    """Match every expected call to a different call of the answer; name those without a match."""
    partner: dict[int, int] = {}
    for place in range(len(wanted)):
        if not _match(place, wanted, made, partner, set()):
            call = wanted[place]
            near = next((other for other in made if other.name == call.name), None)
            return _difference(call, near) if near is not None else f"no call of {call.name}; made {_names(made)}"
    return ""


def _match(
    place: int, wanted: Sequence[ExpectedCall], made: Sequence[MadeCall], partner: dict[int, int], tried: set[int]
) -> bool:
    """Find a match for one expected call, reassigning earlier matches if needed (augmenting paths)."""
    for number, call in enumerate(made):
        if number in tried or not fits(wanted[place], call):
            continue
        tried.add(number)
        if number not in partner or _match(partner[number], wanted, made, partner, tried):
            partner[number] = place
            return True
    return False


def fits(wanted: ExpectedCall, made: MadeCall) -> bool:
    """Whether a call meets one expected call."""
    if made.name != wanted.name:
        return False
    if not wanted.arguments:
        return True
    return isinstance(made.arguments, dict) and all(
        _accepts(accepted, made.arguments, name) for name, accepted in wanted.arguments.items()
    )


def _accepts(accepted: Any, arguments: JsonObject, name: str) -> bool:
    values = accepted if isinstance(accepted, list) else [accepted]
    if name not in arguments:
        return None in values
    return any(same_value(arguments[name], value) for value in values)


def _difference(wanted: ExpectedCall, made: MadeCall) -> str:
    arguments = made.arguments if isinstance(made.arguments, dict) else {}
    for name, accepted in wanted.arguments.items():
        if not _accepts(accepted, arguments, name):
            got = msgspec.json.encode(arguments[name]).decode() if name in arguments else "left out"
            return f"{wanted.name}: {name} is {got[:80]}, not as expected"
    return f"{wanted.name} was not called as often as expected"


def _names(made: Sequence[MadeCall]) -> str:
    return ", ".join(str(call.name)[:64] for call in made) or "nothing"
