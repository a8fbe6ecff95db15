"""Which models a vendor serves, and under which names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from toolcert.core.errors import UsageError
from toolcert.core.values import JsonObject
from toolcert.simulate.asking import Ask
from toolcert.simulate.faults.base import Switch
from toolcert.simulate.personas import DEMO, Persona, names, persona

_ACCEPTS_ALL = "fault:model.unknown_accepted"
_CREATED = 1_750_000_000


class Models:
    """The models of one vendor, and how often each was asked."""

    def __init__(self, served: Sequence[str] | Mapping[str, str] | None, seed: int) -> None:
        given = DEMO if served is None else served
        aliases = dict(given) if isinstance(given, Mapping) else {model: model for model in given}
        self._served = {model: _known(name) for model, name in aliases.items()}
        self._lenient = next((model for model, name in aliases.items() if name == _ACCEPTS_ALL), None)
        self._seed = seed
        self._asked: Counter[tuple[str, bool]] = Counter()
        self._numbers: Counter[str] = Counter()

    def find(self, model: str) -> Persona | None:
        """The persona behind a model id: one that is listed, or any that this simulation knows."""
        return self._served.get(model) or persona(model) or self._lenient_one(model)

    def _lenient_one(self, model: str) -> Persona | None:
        """A vendor that accepts unknown ids does so for those made from its own, or when it has no other model."""
        known = self._lenient is not None and (self._lenient in model or len(self._served) == 1)
        return self._served[self._lenient] if known and self._lenient else None

    def listing(self) -> list[JsonObject]:
        """The entries of the model list."""
        return [
            {"id": model, "object": "model", "created": _CREATED, "owned_by": "simulated"} for model in self._served
        ]

    def number(self, model: str) -> int:
        """How many requests the model had before this one."""
        self._numbers[model] += 1
        return self._numbers[model] - 1

    def switches(self, ask: Ask, found: Persona) -> tuple[Switch, ...]:
        """The faults that show in this answer; a flaky model has its good turns.

        First turns and turns after a result are counted apart, so that `flaky:45/50` makes
        exactly 45 good calls in 50 conversations, however the requests interleave.
        """
        if found.flakiness is None:
            return found.switches
        key = (ask.model, ask.after_result)
        number = self._asked[key]
        self._asked[key] += 1
        return found.switches if found.flakiness.fails(number, f"{self._seed}/{ask.model}") else ()


def _known(name: str) -> Persona:
    found = persona(name)
    if found is None:
        raise UsageError(
            f"There is no simulated model {name!r}.",
            remedy=f"Choose from {', '.join(names())}, fault:CODE, flaky:K/N:PERSONA or slow:SECONDS:PERSONA.",
        )
    return found
