"""Patterns that choose models: globs, and regular expressions after `re:`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate

from toolcert.core.errors import UsageError

_REGULAR = "re:"
_GLOB_CHARACTERS = frozenset("*?[")


class Patterns:
    """Matches a model id when one of the patterns does; a plain id matches itself."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.texts = tuple(patterns)
        self._compiled = tuple(_compile(pattern) for pattern in self.texts)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def match(self, model: str) -> bool:
        return self.names(model) or any(pattern.search(model) for pattern in self._compiled)

    def names(self, model: str) -> bool:
        """Whether the id itself is one of the patterns."""
        return model in self.texts

    @property
    def plain(self) -> tuple[str, ...]:
        """The patterns without wildcards, which can only be model ids."""
        return tuple(text for text in self.texts if not text.startswith(_REGULAR) and not _GLOB_CHARACTERS & set(text))


def _compile(pattern: str) -> re.Pattern[str]:
    if not pattern.startswith(_REGULAR):
        return re.compile(r"\A" + translate(pattern))
    try:
        return re.compile(pattern.removeprefix(_REGULAR))
    except re.error as error:
        raise UsageError(
            f"{pattern!r} is not a regular expression: {error}.",
            remedy="Without `re:` it would be a glob such as 'gpt-*'.",
        ) from None
