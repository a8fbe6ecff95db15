"""Select the listed models that are tested."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from toolcert.core.errors import ConfigurationError, InputError
from toolcert.core.targets import ModelInfo
from watsonx_tool_tester.config import Config

LOGGER = logging.getLogger("watsonx_tool_tester")


def select(listed: Sequence[ModelInfo], config: Config, filter_model: str | None = None) -> list[ModelInfo]:
    """The models whose id contains the wanted text and that are not excluded."""
    wanted = (filter_model or config.model or "").lower()
    ids = {info.id for info in listed}
    unwanted = excluded([*config.exclude_models, *patterns_in(config.exclude_file)], ids)
    chosen = [info for info in listed if wanted in info.id.lower() and info.id not in unwanted]
    if not chosen:
        raise ConfigurationError(
            f"none of the {len(ids)} listed models is left to test.", remedy="Check --model and --exclude."
        )
    return chosen


def excluded(patterns: Sequence[str], ids: Collection[str]) -> set[str]:
    """The ids that a pattern excludes: an exact id, otherwise a regular expression."""
    found: set[str] = set()
    for pattern in patterns:
        compiled = compile_pattern(pattern)
        matching = {pattern} if pattern in ids else {one for one in ids if compiled.search(one)}
        if not matching:
            LOGGER.warning("the exclusion %r matches none of the %d listed models", pattern, len(ids))
        found |= matching
    return found


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile the pattern, or raise an error that names it."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigurationError(
            f"the exclusion {pattern!r} is not a regular expression: {error}.", remedy="Correct or escape it."
        ) from None


def patterns_in(file: str | None) -> list[str]:
    """Read one pattern per line; a # at the start of a line or after a space begins a comment."""
    if file is None:
        return []
    try:
        lines = Path(file).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the exclude file {file} cannot be read: {error}.") from None
    stripped = (re.split(r"(?:^|\s)#", line)[0].strip() for line in lines)
    return [line for line in stripped if line]
