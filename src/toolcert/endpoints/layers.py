"""One endpoint's options, by who said them: flag > environment > its own table > [defaults] > preset > default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcert.core.errors import ConfigurationError
from toolcert.core.secrets import Secret
from toolcert.endpoints.presets import Preset
from toolcert.settings import OPTIONS, Resolved, Settings, Source
from toolcert.settings.options import BY_KEY

IDENTITY = frozenset({"base_url", "dialect", "preset", "region", "deployment", "gateway", "iam_url"})
"""What makes an endpoint this one and no other. Who names an endpoint on the command line has said these with a flag:
a variable left over from elsewhere must not send its key to another address."""
_RANK = {source: rank for rank, source in enumerate(reversed(Source))}


class Layers:
    """Looks an option up for one endpoint."""

    def __init__(self, settings: Settings, table: Mapping[str, Any], preset: Preset, *, explicit: bool) -> None:
        self._settings = settings
        self._table = table
        self._preset = preset
        self._explicit = explicit
        self.environment = settings.environment
        self.ignored: list[str] = []

    def value(self, key: str) -> Any:
        return self._find(key)[0]

    def flag(self, key: str) -> Secret | None:
        """A secret given on the command line itself."""
        if key not in self._settings:
            return None
        resolved = self._settings.resolved(key)
        return resolved.value if resolved.source is Source.FLAG else None

    def outranks(self, key: str, other: str) -> bool:
        """Whether one option was said by somebody stronger than the other was."""
        return _RANK[self._find(key)[1]] > _RANK[self._find(other)[1]]

    def _find(self, key: str) -> tuple[Any, Source]:
        said = self._said(key)
        if said.source is Source.FLAG:
            return said.value, said.source
        if said.source is Source.ENVIRONMENT:
            if not (self._explicit and key in IDENTITY and self._of_endpoint(key) is not None):
                return said.value, said.source
            self._note_ignored(said.where)
        if key in self._table:
            return self._table[key], Source.FILE
        if said.source is Source.FILE:
            return said.value, said.source
        usual = self._usual(key)
        return (said.value if usual is None else usual), Source.DEFAULT

    def _said(self, key: str) -> Resolved:
        if key in self._settings:
            return self._settings.resolved(key)
        return Resolved(value=OPTIONS[BY_KEY[key].name].fallback, source=Source.DEFAULT, where="default")

    def _of_endpoint(self, key: str) -> Any:
        return self._table.get(key, self._usual(key))

    def _usual(self, key: str) -> Any:
        """What the preset says, in its variables or itself."""
        variable = self._preset.variables.get(key)
        if variable and self.environment.get(variable):
            return self._read(key, variable)
        return getattr(self._preset, key, None) if key in ("base_url", "dialect") else None

    def _read(self, key: str, variable: str) -> Any:
        try:
            return BY_KEY[key].read_text(self.environment[variable])
        except ValueError as error:
            raise ConfigurationError(f"{variable}: {error}.") from None

    def _note_ignored(self, variable: str) -> None:
        if variable not in self.ignored:
            self.ignored.append(variable)
