"""Probes without Python: scenarios in YAML or TOML files."""

from __future__ import annotations

from pathlib import Path

from toolcert.core.errors import ScenarioError
from toolcert.probes.base import all_probes
from toolcert.probes.scenarios.document import read_document, read_scenarios
from toolcert.probes.scenarios.script import Scenario, ScenarioProbe

__all__ = ["Scenario", "ScenarioProbe", "load_scenarios"]


def load_scenarios(path: Path) -> tuple[ScenarioProbe, ...]:
    """The scenarios of one file as probes."""
    scenarios = read_scenarios(read_document(path))
    taken = {probe.name for probe in all_probes()}
    for scenario in scenarios:
        if scenario.name in taken:
            raise ScenarioError(f"{path}: the name {scenario.name} is taken already.", remedy="Choose another name.")
        taken.add(scenario.name)
    return tuple(ScenarioProbe(scenario) for scenario in scenarios)
