"""What a new run records about itself: its id, folder, package versions, and the command line without secrets."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolcert.core.secrets import HIDDEN, names_secret, without_password
from toolcert.settings.credentials import names_credential
from toolcert.settings.options import OPTIONS
from toolcert.settings.packages import version_of

_SECRET_FLAGS = frozenset(option.flag for option in OPTIONS.values() if option.secret)


def without_secrets(argv: Iterable[str]) -> tuple[str, ...]:
    """`argv` with each secret value replaced, in both spellings (`--flag value`, `--flag=value`)."""
    return tuple(_hide_secrets(argv))


def _hide_secrets(argv: Iterable[str]) -> Iterator[str]:
    hide_next = False
    for word in argv:
        flag, equals, value = word.partition("=")
        if hide_next:
            yield HIDDEN
        elif equals and _is_secret(flag):
            yield f"{flag}={HIDDEN}"
        elif equals and word.startswith("-"):
            # Only in `--flag=value` does the value begin behind the first "="; an address may have its own.
            yield f"{flag}={_shown(value)}"
        else:
            yield _shown(word)
        hide_next = not hide_next and not equals and _is_secret(word)


def _shown(word: str) -> str:
    """A word without the secrets of an address, or of a header whose name says that it carries one."""
    name, colon, value = word.partition(":")
    if colon and "$" not in value and not value.startswith("//") and names_secret(name):
        return f"{name}: {HIDDEN}"
    return without_password(word)


def _is_secret(flag: str) -> bool:
    """Our own flags are declared secret; those of the front doors are recognised by name."""
    return flag in _SECRET_FLAGS or (flag.startswith("--") and names_credential(flag))


RUNS = Path("toolcert-runs")
"""Where runs go when no folder is named."""


MEASURING_PACKAGES = ("aiohttp", "jsonschema-rs", "msgspec")
"""Packages whose version can change a result."""


def new_run_id() -> str:
    """A random id, short enough to read out loud."""
    return os.urandom(4).hex()


def run_folder(output: Path | None, run: str) -> Path:
    """The folder asked for, or a new one named by time."""
    return output or RUNS / f"{time.strftime('%Y%m%d-%H%M%S')}-{run}"


def versions() -> dict[str, str]:
    """The interpreter and the packages behind a measurement."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    found = {name: version_of(name) for name in MEASURING_PACKAGES}
    return {"python": python} | {name: version for name, version in found.items() if version is not None}
