"""What a user probably meant by a name that does not exist."""

from __future__ import annotations

from collections.abc import Iterable

_MANY = 5000


def close_names(name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The known names that are spelt most like `name`, best first; `cutoff` 1 accepts only the same name."""
    # Loaded only after a mistake: the start of every command should not pay for it.
    from difflib import get_close_matches

    candidates = list(known)
    if len(candidates) > _MANY:  # comparing with each would take longer than anybody waits
        candidates = [one for one in candidates if one[:1] == name[:1] and abs(len(one) - len(name)) < 4][:_MANY]
    return get_close_matches(name, candidates, n=most, cutoff=cutoff)


def did_you_mean(name: str, known: Iterable[str], *, most: int = 1, cutoff: float = 0.6) -> str:
    """The question to ask back, as in `Did you mean litellm?`; empty where no known name is close."""
    return question(close_names(name, known, most=most, cutoff=cutoff))


def question(meant: Iterable[str]) -> str:
    """`Did you mean a or b?`; empty without any."""
    names = " or ".join(meant)
    return f"Did you mean {names}?" if names else ""
