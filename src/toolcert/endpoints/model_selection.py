"""Which of an endpoint's models are asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import msgspec

from toolcert.core.errors import ListingError, NothingMeasuredError
from toolcert.core.targets import ModelInfo
from toolcert.core.text.number_text import plural
from toolcert.core.text.spelling import close_names, question
from toolcert.core.values import Value
from toolcert.endpoints.session import EndpointSession
from toolcert.settings.patterns import Patterns


class ModelSelection(Value):
    """The models of one endpoint: those to ask, and those that cannot be asked."""

    asked: tuple[ModelInfo, ...]
    unsupported: tuple[ModelInfo, ...] = ()
    """Wanted, but listed as unable to chat; each says why."""


async def select_models(
    session: EndpointSession, include: Iterable[str] = (), exclude: Iterable[str] = (), *, every: bool = False
) -> ModelSelection:
    """List the models and choose; where there is no list, models named by id are accepted as they are."""
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
    more = ", ..." if len(ids) > 5 else ""
    remedy = question(dict.fromkeys(close)) or f"It lists {', '.join(ids[:5])}{more}."
    given = [f"--model {text}" for text in wanted.texts] + [f"--exclude {text}" for text in unwanted.texts]
    return NothingMeasuredError(f"{endpoint}: with {' '.join(given)} no model is left to ask.", remedy=remedy)


def told_models(listed: int, able: int) -> str:
    """How many models an endpoint lists, and how many of them can chat."""
    return f"{plural(listed, 'model')}, {able} can chat"
