"""Installed packages, read from the names of their metadata folders.

`importlib.metadata` knows the same and more, but loading it costs a tenth of the start of a short run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache

_SUFFIX = ".dist-info"


def version_of(package: str) -> str | None:
    """The version of an installed package; None where there is none."""
    wanted = package.replace("-", "_").lower()
    for folder in _distributions():
        name, _, version = os.path.basename(folder).removesuffix(_SUFFIX).partition("-")  # noqa: PTH119 - hot at start
        if name.lower() == wanted:
            return version
    return None


def offers_entry_points(group: str) -> bool:
    """Whether any installed package says that it adds something to `group`."""
    heading = f"[{group}]".encode()
    return any(heading in text for text in _entry_point_files())


def _entry_point_files() -> Iterator[bytes]:
    for folder in _distributions():
        try:
            with open(f"{folder}/entry_points.txt", "rb") as file:  # noqa: PTH123 - hot at start
                yield file.read()
        except OSError:
            continue  # most packages have none


@cache
def _distributions() -> tuple[str, ...]:
    """The metadata folders on the import path."""
    return tuple(entry.path for place in sys.path for entry in _entries(place) if entry.name.endswith(_SUFFIX))


def _entries(place: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(place or ".") as entries:
            return list(entries)
    except OSError:
        return []
