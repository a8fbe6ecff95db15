"""Findings about who answered, and whether it answers the same again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from toolcert.core.findings import FindingKind, Severity
from toolcert.core.requests import Request
from toolcert.core.text.excerpt import shown
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.diagnose.checks.registry import Evidence, View, check, declare
from toolcert.endpoints.api_url import names_a_deployment

_ALIAS_ENDINGS = lazy_pattern(r"(?:-latest|-preview|:(?:free|nitro|floor|online|latest|beta|extended))+$")
_SNAPSHOT = lazy_pattern(r"[-@_](?:\d{3,8}(?:-\d\d){0,2}|v\d[\d.]*|preview-\d\d[\d-]*)")
"""A date or a number of a version: three digits at least, for `-3-5` and `-70` are names of other models."""
_DATE = lazy_pattern(r"[-@_]\d{4}-?\d\d-?\d\d(?=$|:)")
_MODES = frozenset(
    {"reasoning", "non", "thinking", "high", "medium", "low", "minimal", "instruct", "chat", "it", "preview", "exp"}
)
"""Words that name a mode of one model, not another model."""
_FILE = lazy_pattern(r"\.gguf$")

MODEL_DIFFERS = FindingKind(
    code="identity.model_differs",
    severity=Severity.WARNING,
    title="The answer comes from another model or provider than was asked for.",
    meaning="What is measured is not what was meant: a fallback, a cheaper model under the same name, or a routing "
    "rule. Dated snapshots of the model asked for (`gpt-4o` answered as `gpt-4o-2024-08-06`), provider prefixes, "
    "letter case, file endings and variants such as `:free` are taken for the same model, and so is whatever a "
    "deployment with a name of its own (Azure, watsonx.ai) answers as; other names of the same model are "
    "`identity.alias`. A gateway's alias with another name cannot be told from another model, and is reported.",
    cause="Aliases in a gateway, automatic fallback when a model is busy, or a retired id that is redirected.",
    remedy="Ask the operator what the name stands for, or ask for the exact model that answered.",
)
declare(
    FindingKind(
        code="identity.alias",
        severity=Severity.NOTE,
        title="The answer names the same model in another way than it was asked for.",
        meaning="The name says which route or mode answered (`grok-4-fast` as `grok-4-fast-reasoning`, "
        "`claude-haiku-4.5` as `claude-4.5-haiku-20251001`). Programs that compare names exactly stumble over it.",
        cause="An alias that stands for a dated, routed or configured version of the model.",
        remedy="Ask for the name that answered, if results have to be comparable over months.",
    )
)
declare(
    FindingKind(
        code="identity.fingerprint_changed",
        severity=Severity.NOTE,
        title="The model's `system_fingerprint` changes within one run.",
        meaning="Not one deployment answers but several, or it was replaced meanwhile: figures of the run are of a "
        "mixture, and the same request may be answered differently.",
        cause="A balancer before servers of different builds or settings, or an update during the run.",
        remedy="Run again at another time. If it stays, judge by rates over many tries, and ask the operator.",
    )
)
declare(
    FindingKind(
        code="model.unknown_accepted",
        severity=Severity.WARNING,
        title="A made-up model id is answered as if it existed.",
        meaning="A misspelt or retired id is answered by some other model, and nobody notices.",
        cause="A server with one model that does not look at the field, or a gateway with a default.",
        remedy="Compare `model` in the answer with what was asked, and take ids only from the server's list.",
    )
)
declare(
    FindingKind(
        code="nondeterministic",
        severity=Severity.NOTE,
        title="The same request at temperature 0 gives different answers.",
        meaning="One answer proves little: tests against this endpoint need several tries, and a cached expectation "
        "will break now and then.",
        cause="Batching changes the order of floating-point sums, several deployments answer in turn, or the "
        "temperature is not passed on.",
        remedy="Judge rates over many tries instead of single answers. A fixed `seed` helps only where the server says "
        "that it does.",
        seen_in=("vllm #23138",),
    )
)


@check(MODEL_DIFFERS)
def model_differs(view: View) -> Iterator[Evidence]:
    asked, answered = view.request.model, view.reply.model
    if isinstance(answered, str) and answered != asked and asked and answered:
        yield from _swapped(asked, answered, view.exchange.url)
    provider = view.reply.provider
    if not isinstance(provider, str) or not provider:
        return
    allowed = _allowed_providers(view.request)
    if allowed and _plain(provider) not in allowed:
        yield Evidence(text=f"asked for provider {', '.join(sorted(allowed))}, answered by {shown(provider, 70)}")


@lru_cache(maxsize=256)  # an alias answers every request alike
def _swapped(asked: str, answered: str, url: str) -> tuple[Evidence, ...]:
    """That another model answered, unless its name may be one of the model asked for or of a deployment."""
    if same_model(asked, answered) or names_a_deployment(url):
        return ()
    alias = "identity.alias" if another_name(asked, answered) else None
    return (Evidence(text=f"asked {shown(asked, 70)}, answered {shown(answered, 70)}", code=alias),)


def another_name(asked: str, answered: str) -> bool:
    """Whether the answer's id has the words of the one asked for, in any order, and beside them only a mode or date."""
    wanted, given = _words(asked), _words(_DATE.sub("", _bare(answered)))
    return bool(wanted) and not wanted - given and set(given - wanted) <= _MODES


def _words(model: str) -> Counter[str]:
    """The parts of an id without its route (`:groq`)."""
    return Counter(word for word in re.split(r"[-_.@ ]+", _bare(model).partition(":")[0]) if word)


def same_model(asked: str, answered: str) -> bool:
    """Whether two ids may be names of one model."""
    first, second = _bare(asked), _bare(answered)
    if first == second:
        return True
    stem = _ALIAS_ENDINGS.sub("", first)
    other = _ALIAS_ENDINGS.sub("", second)
    if stem == other:
        return True
    return other.startswith(stem) and _SNAPSHOT.fullmatch(other[len(stem) :]) is not None


def _bare(model: str) -> str:
    """The id without provider, folder, file ending and letter case."""
    return _FILE.sub("", re.split(r"[/\\]", model.strip().lower())[-1])


def _allowed_providers(request: Request) -> set[str]:
    """The providers that a routing gateway was told to use, and no others."""
    routing = request.body.get("provider")
    only = routing.get("only") if isinstance(routing, dict) else None
    return {_plain(str(name).partition("/")[0]) for name in only} if isinstance(only, list) else set()


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
