"""Suites: which probes are asked, how many points each is worth, and what a score means. Data only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from toolcert.core.errors import UsageError
from toolcert.core.values import Value
from toolcert.probes.base import Probe, all_probes, with_needs

GROUP_WEIGHTS = {"calling": 6.0, "control": 3.0, "format": 3.0, "conversation": 3.0, "server": 1.0, "scenario": 6.0}
"""A group's share of the score, spread evenly over its probes, so that a new probe does not shift the others."""


CORE = ("basic", "result_use")
"""Probes of a call, its arguments and the use of its result, unstreamed: an agent that lacks one of them fails."""
GREETING = "hello_world"
"""Both in one, but it also asks for the right finish reason, which an agent can do without."""

_STREAMING = "streaming"
"""The probe whose points the streamed twins share, so that they take none from the others."""


class Suite(Value):
    """A named choice of probes with its way of scoring."""

    name: str
    title: str
    probes: tuple[str, ...] = ()
    """Names; empty for all but those in `left_out`."""
    left_out: tuple[str, ...] = ()
    weights: dict[str, float] = {}
    """Points by probe; empty for the group weights."""
    by_rates: bool = False
    """The points are the lower of the rates of calling and of handling, so that they agree with the 0.9 rule."""


SUITES = {
    suite.name: suite
    for suite in (
        Suite(
            name="quick",
            title="One request: does the model call at all?",
            probes=("basic",),
        ),
        Suite(
            name="hello",
            title="The two-turn greeting, exact to the letter: call rate and result use",
            probes=("hello_world",),
            by_rates=True,
        ),
        Suite(
            name="agent",
            title="Five weighted tests for agents: call, result, several tools, JSON, streaming",
            probes=("basic", "result_use", "multi_tool", "json_mode", "streaming"),
            weights={"basic": 25, "result_use": 35, "multi_tool": 25, "json_mode": 10, "streaming": 5},
        ),
        Suite(
            name="full",
            title="Every probe: calling, control, format, conversation, server",
            left_out=("json_mode",),  # json_object asks the same without the fallback
        ),
    )
}
CUSTOM = Suite(
    name="custom",
    title="Chosen probes",
)
"""How a free choice of probes is scored: with the weights of `full`, and without a grade."""


def find_suite(name: str | None) -> Suite:
    """The suite of that name; a run over chosen probes has none."""
    if name is None:
        return CUSTOM
    if name not in SUITES:
        raise UsageError(f"there is no suite {name!r}.", remedy=f"Suites: {', '.join(SUITES)}.")
    return SUITES[name]


def choose_probes(suite: str, names: Sequence[str] = (), scenarios: Iterable[str] = ()) -> tuple[Probe, ...]:
    """The chosen probes with what they need, and the scenarios; without a choice those of the suite."""
    from toolcert.probes.scenarios import load_scenarios

    own: dict[str, Probe] = {}
    for path in scenarios:
        for probe in load_scenarios(Path(path)):
            if probe.name in own:
                raise UsageError(f"two scenarios are called {probe.name}.", remedy="Rename one of them.")
            own[probe.name] = probe
    if names or own:
        needed = [need for probe in own.values() for need in probe.needs if need not in own]
        return (*with_needs([*names, *needed]), *own.values())
    chosen = find_suite(suite)
    every = [probe.name for probe in all_probes() if probe.group != "scenario"]
    return with_needs(chosen.probes or [name for name in every if name not in chosen.left_out])


def core_of(names: Sequence[str]) -> tuple[str, ...]:
    """The core probes of a run; the greeting stands in if it is all there is."""
    return tuple(name for name in CORE if name in names) or tuple(name for name in names if name == GREETING)


def weights_of(suite: Suite, probes: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Points by probe (given as name and group), summing to 100."""
    if suite.weights:
        raw = {name: suite.weights.get(name, 0.0) for name, _ in probes}
    else:
        shares = {name: (_STREAMING, "format") if group == "streamed" else (name, group) for name, group in probes}
        raw = {name: GROUP_WEIGHTS.get(group, 1.0) for name, (_, group) in shares.items()}
        for name, (share, group) in shares.items():
            raw[name] /= len({one for one, other in shares.values() if other == group})
            raw[name] /= sum(one == share for one, _ in shares.values())
    total = sum(raw.values()) or 1.0
    return {name: 100 * weight / total for name, weight in raw.items()}
