"""What users install is what the package uses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = {"python-dotenv": "dotenv", "pyyaml": "yaml", "sqlalchemy": "sqlalchemy", "jsonschema-rs": "jsonschema_rs"}
IMPORT = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)


def test_every_dependency_is_imported_somewhere() -> None:
    """A library that only the tests need would cost every user its download."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[<>=;\[ ]", line)[0].lower() for line in declared}
    imported = {name for path in (ROOT / "src").rglob("*.py") for name in IMPORT.findall(path.read_text())}
    assert {name for name in names if MODULES.get(name, name) not in imported} == set()
