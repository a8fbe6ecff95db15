"""Which of an endpoint's models are asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase, translate

import msgspec

from toolcert.core.errors import ListingError, NothingMeasuredError, UsageError
from toolcert.core.targets import ModelInfo
from toolcert.core.text.number_text import plural
from toolcert.core.text.spelling import close_names, question
from toolcert.core.values import Value
from toolcert.endpoints.session import EndpointSession

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


class ModelSelection(Value):
    """The models of one endpoint: those to ask, and those that cannot be asked."""

    asked: tuple[ModelInfo, ...]
    unsupported: tuple[ModelInfo, ...] = ()
    """Wanted, but listed as unable to chat; each says why."""


async def select_models(
    session: EndpointSession, include: Iterable[str] = (), exclude: Iterable[str] = (), *, every: bool = False
) -> ModelSelection:
    """List the models and choose; if there is no list, models named by id are accepted as they are."""
    wanted, unwanted = Patterns(include), Patterns(exclude)
    try:
        listed = await session.models()
    except ListingError:
        if not wanted.plain:
            raise
        return ModelSelection(asked=tuple(ModelInfo(id=name) for name in wanted.plain if not unwanted.match(name)))
    return choose(session.spec.name, listed, wanted, unwanted, every=every)


def choose(
    endpoint: str, listed: Sequence[ModelInfo], wanted: Patterns, unwanted: Patterns, *, every: bool = False
) -> ModelSelection:
    """Sort the wanted models into those to ask and those that cannot be asked."""
    listed = list({info.id: info for info in listed}.values())  # some servers list a model once per deployment
    models = [*listed, *_behind_wildcards(listed, wanted)]
    chosen = [info for info in models if (not wanted or wanted.match(info.id)) and not unwanted.match(info.id)]
    if not chosen:
        raise _nothing(endpoint, listed, wanted, unwanted)
    asked: list[ModelInfo] = []
    unsupported: list[ModelInfo] = []
    for info in chosen:
        (asked if info.can_chat or every or wanted.names(info.id) else unsupported).append(info)
    return ModelSelection(asked=tuple(asked), unsupported=tuple(unsupported))


def _behind_wildcards(listed: Sequence[ModelInfo], wanted: Patterns) -> list[ModelInfo]:
    """Models named by the user that a listed pattern such as `openai/*` stands for."""
    ids = {info.id for info in listed}
    globs = [info for info in listed if "*" in info.id]
    return [
        msgspec.structs.replace(globs[0], id=name, can_chat=True, why_not="")
        for name in wanted.plain
        if name not in ids and any(fnmatchcase(name, pattern.id) for pattern in globs)
    ]


def _nothing(endpoint: str, listed: Sequence[ModelInfo], wanted: Patterns, unwanted: Patterns) -> NothingMeasuredError:
    ids = [info.id for info in listed]
    if not ids:
        return NothingMeasuredError(f"{endpoint} lists no model.", remedy="Check what the endpoint serves.")
    close = [match for name in wanted.plain for match in close_names(name, ids, most=3)]
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    remedy = question(dict.fromkeys(close)) or f"It lists {', '.join(ids[:5])}{more}."
    given = [f"--model {text}" for text in wanted.texts] + [f"--exclude {text}" for text in unwanted.texts]
    return NothingMeasuredError(f"{endpoint}: with {' '.join(given)} no model is left to ask.", remedy=remedy)


def model_counts(listed: int, able: int) -> str:
    """How many models an endpoint lists, and how many of them can chat."""
    return f"{plural(listed, 'model')}, {able} can chat"
