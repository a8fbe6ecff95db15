"""What an option is, and the names derived from its one name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolcert.core.values import Value
from toolcert.settings.kinds import Kind, Text

PREFIX = "TOOLCERT_"


class Option(Value):
    """One setting: a flag, an environment variable, a key of toolcert.toml and a keyword argument."""

    name: str
    """In the flag's form: `base-url`."""
    help: str
    group: str
    """The heading it stands under in the help."""
    kind: Kind = Text()
    default: Any = None
    multiple: bool = False
    separator: str = ","
    """Between the values of a repeatable option in an environment variable."""
    secret: bool = False
    """Its value is never shown or kept, and not allowed in toolcert.toml."""
    per_endpoint: bool = False
    """May stand in an [endpoints.NAME] table."""
    short: str = ""
    """A one-letter flag such as `-m`."""
    in_file: bool = True
    """May stand in toolcert.toml."""

    @property
    def flag(self) -> str:
        return f"--{self.name}"

    @property
    def variable(self) -> str:
        return PREFIX + self.key.upper()

    @property
    def key(self) -> str:
        return self.name.replace("-", "_")

    @property
    def fallback(self) -> Any:
        """The value when nobody said anything."""
        return () if self.multiple and self.default is None else self.default

    def read(self, raw: Any, folder: Path = Path()) -> Any:
        """The value that `raw` means; ValueError says what was expected."""
        if not self.multiple:
            return self.kind.read(raw, folder)
        items = raw if isinstance(raw, list | tuple) else [raw]
        return tuple(self.kind.read(item, folder) for item in items)

    def read_text(self, text: str) -> Any:
        """The value of an environment variable."""
        if not self.multiple:
            return self.read(text)
        return self.read([part for part in text.split(self.separator) if part.strip()])
