"""Reading YAML and TOML so that every value knows its line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from toolcert.core.errors import ScenarioError
from toolcert.settings.toml_lines import Place, lines_of

MOST_VALUES = 20_000
"""With every alias written out: ten lines of YAML can stand for more values than there is memory."""


class Document:
    """A parsed file and the line of each value in it."""

    def __init__(self, path: Path, value: Any, lines: dict[Place, int]) -> None:
        self.path = path
        self.value = value
        self._lines = lines

    def error(self, place: Place, message: str, remedy: str = "") -> ScenarioError:
        """An error at a value, or at the nearest thing around it whose line is known."""
        while place and place not in self._lines:
            place = place[:-1]
        return ScenarioError(f"{self.path}:{self._lines.get(place, 1)}: {message}", remedy=remedy)


def read_document(path: Path) -> Document:
    """Read a scenario file; the suffix says which language it is in."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(
            f"cannot read {path}: {error}.", remedy="Check the path and the encoding (UTF-8)."
        ) from None
    try:
        return _read_toml(path, text) if path.suffix.lower() == ".toml" else _read_yaml(path, text)
    except RecursionError:
        raise ScenarioError(f"{path}: nested too deeply, or an alias inside itself.") from None


def _read_yaml(path: Path, text: str) -> Document:
    loader = yaml.SafeLoader(text)
    lines: dict[Place, int] = {}
    value = None
    try:
        node = loader.get_single_node()
        if node is not None:
            _mark(path, node, (), lines)  # first, because building the value of a hostile file may never end
            value = loader.construct_document(node)
            _mark(path, node, (), lines)  # again, because merged keys (`<<`) have come to their places
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = mark.line + 1 if mark else 1
        raise ScenarioError(f"{path}:{line}: not valid YAML: {problem or error}.") from None
    finally:
        loader.dispose()
    return Document(path, value, lines)


def _mark(path: Path, node: yaml.Node, place: Place, lines: dict[Place, int]) -> None:
    if len(lines) > MOST_VALUES:
        raise ScenarioError(f"{path}: more than {MOST_VALUES} values, with every alias written out.")
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            lines[*place, name] = key.start_mark.line + 1
            _mark(path, value, (*place, name), lines)
    elif isinstance(node, yaml.SequenceNode):
        for position, value in enumerate(node.value):
            _mark(path, value, (*place, position), lines)


def _read_toml(path: Path, text: str) -> Document:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise ScenarioError(f"{path}:{line[1] if line else 1}: not valid TOML: {error}.") from None
    return Document(path, value, lines_of(text))
