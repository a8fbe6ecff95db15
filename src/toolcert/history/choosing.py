"""Which models of the history are meant by a name."""

from __future__ import annotations

from collections.abc import Iterable

from toolcert.core.errors import InputError
from toolcert.settings.patterns import Patterns


def matching(names: Iterable[str], wanted: str | None) -> list[str]:
    """All of them, or those with this id, this last part of an id, matching this pattern, or holding these letters."""
    known = sorted(set(names))
    if wanted is None:
        return known
    patterns = Patterns([wanted])
    tries = (
        [name for name in known if patterns.match(name)],
        [name for name in known if patterns.match(name.rpartition("/")[2])],
        [name for name in known if wanted.casefold() in name.casefold()],
    )
    found = next((names for names in tries if names), [])
    if not found:
        raise InputError(
            f"the history knows no model {wanted!r} in this time.", remedy="`toolcert history show` lists its models."
        )
    return found
