"""What options about keys may be: where to find one, never the key itself."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from toolcert.settings.kinds import InputFile, Text, text_of_path

_VARIABLE_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LONGEST_WORD = 16


class KeyFile(InputFile):
    """A file to read a key from; a pipe such as `<(pass show key)` will do."""

    def read(self, raw: Any, folder: Path) -> str:
        path = folder / Path(text_of_path(raw)).expanduser()
        return str(path) if path.is_fifo() else super().read(raw, folder)


class VariableName(Text):
    """The name of an environment variable, where people put the key itself by mistake."""

    def __init__(self) -> None:
        super().__init__("VARIABLE")

    def read(self, raw: Any, folder: Path) -> str:
        name = super().read(raw, folder)
        if not _VARIABLE_NAME.fullmatch(name) or (name not in os.environ and _looks_like_key(name)):
            raise ValueError("expected the NAME of the environment variable that holds the key, not the key")
        return name


def _looks_like_key(name: str) -> bool:
    """Whether a word of the name is long and of several kinds of characters, as no word that people choose is."""
    kinds = (str.islower, str.isupper, str.isdigit)
    return any(
        len(word) >= _LONGEST_WORD and sum(any(map(kind, word)) for kind in kinds) > 1 for word in name.split("_")
    )
