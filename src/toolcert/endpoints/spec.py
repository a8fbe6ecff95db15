"""From settings to endpoint specs: names, presets and addresses with their keys.

Flag > environment > own table > [defaults] > preset > default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolcert.core.errors import ConfigurationError, UsageError
from toolcert.core.secrets import Secret
from toolcert.core.targets import EndpointSpec, Timeouts
from toolcert.core.text.spelling import did_you_mean
from toolcert.endpoints.api_url import endpoint_name
from toolcert.endpoints.presets import Preset, presets
from toolcert.endpoints.trust import addresses_of, misdirected, variables_of
from toolcert.settings import OPTIONS, Resolved, Settings, Source
from toolcert.settings.credentials import KEY_VARIABLE, KeySources, find_key, split_header
from toolcert.settings.options import BY_KEY
from toolcert.settings.web_address import clean_address, is_loopback, looks_like_address

IDENTITY = frozenset({"base_url", "dialect", "preset", "region", "deployment", "gateway", "iam_url"})
"""Options that identify an endpoint. An endpoint named on the command line takes them from flags only:
a leftover environment variable must not send its key to another address."""
_RANK = {source: rank for rank, source in enumerate(reversed(Source))}


class EndpointOptions:
    """Looks an option up for one endpoint."""

    def __init__(
        self, settings: Settings, table: Mapping[str, Any], preset: Preset, *, explicit: bool, typed: bool = False
    ) -> None:
        """`typed` if the table holds an address of the command line, and is not one of the file."""
        self._typed = typed
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
        """Whether one option comes from a source of higher precedence than the other."""
        return _RANK[self._find(key)[1]] > _RANK[self._find(other)[1]]

    def from_file(self, *keys: str) -> bool:
        """Whether the configuration file says any of these."""
        return any(self._find(key)[1] is Source.FILE for key in keys)

    def _find(self, key: str) -> tuple[Any, Source]:
        said = self._said(key)
        if said.source is Source.FLAG:
            return said.value, said.source
        if said.source is Source.ENVIRONMENT:
            if not (self._explicit and key in IDENTITY and self._of_endpoint(key) is not None):
                return said.value, said.source
            self._note_ignored(said.where)
        if key in self._table:
            return self._table[key], Source.FLAG if self._typed else Source.FILE
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


DIALECT_OPTIONS = (
    "organization",
    "api_version",
    "deployment",
    "region",
    "project_id",
    "space_id",
    "iam_url",
    "gateway",
)
_OWN_HABITS = ("litellm", "watsonx", "azure")
"""Dialects of a single vendor: its preset applies by default. A server that speaks `openai` may be anyone's and must
not receive the key of OpenAI."""
_HOSTS = ("base_url", "iam_url")
AskKey = Callable[[str], str]


class ChosenEndpoint:
    """An endpoint to talk to, and the key that never becomes part of the spec."""

    def __init__(self, spec: EndpointSpec, key: Secret | None, layers: EndpointOptions) -> None:
        self.spec = spec
        self.key = key
        self.model: tuple[str, ...] = layers.value("model") or ()
        self.exclude: tuple[str, ...] = layers.value("exclude") or ()
        self.ignored = layers.ignored
        """Variables that were set and not used, because the endpoint was named on the command line."""
        self.by_file = layers.from_file(*_HOSTS, "api_key_env", "api_key_file", "header", "preset", "dialect")
        """Whether the configuration file chose the host, or what is sent there as a key."""
        self.misdirected: list[str] = []
        """Variables with keys of presets that the file would send to a host that is not the preset's own."""
        if layers.from_file(*_HOSTS):
            sources = variables_of(spec, None if key is None else key.source)
            self.misdirected = misdirected(sources, addresses_of(spec), layers.environment)


def choose_endpoints(
    settings: Settings, names: Sequence[str] = (), ask_key: AskKey | None = None
) -> list[ChosenEndpoint]:
    """The endpoints of a command: those named as arguments or with --endpoint, else what --base-url says."""
    named = [*names, *settings.endpoint]
    explicit = bool(names) or settings.resolved("endpoint").source is Source.FLAG
    if not named:
        return [_unnamed(settings, ask_key)]
    _refuse_second_address(named, settings)
    chosen = [_named(name, settings, explicit=explicit, ask_key=ask_key) for name in dict.fromkeys(named)]
    _refuse_doubles(chosen)
    return chosen


def _refuse_second_address(named: Sequence[str], settings: Settings) -> None:
    """--base-url says where one known endpoint is today; beside an address it would silently take its place."""
    if settings.resolved("base_url").source is not Source.FLAG:
        return
    if len(named) > 1:
        raise UsageError("--base-url goes with one endpoint only.", remedy="Give the addresses as arguments instead.")
    if named[0] not in settings.config.endpoints and named[0] not in presets() and _is_address(named[0]):
        raise UsageError(
            f"{endpoint_name(named[0])} and --base-url are two addresses.",
            remedy="Leave out --base-url and name every address as an endpoint: an argument, or --endpoint.",
        )


def _is_address(name: str) -> bool:
    return looks_like_address(name) or "." in name


def _unnamed(settings: Settings, ask_key: AskKey | None) -> ChosenEndpoint:
    """The endpoint that options alone describe, or the only one of the configuration file."""
    if any(settings.given(key) for key in ("base_url", "preset", "dialect")):
        return _choose("", {}, _preset(settings.preset), settings, ask_key=ask_key)
    configured = list(settings.config.endpoints)
    if len(configured) == 1:
        return _named(configured[0], settings, explicit=False, ask_key=ask_key)
    known = f"Known: {', '.join(configured)}. " if configured else ""
    raise UsageError(
        "which endpoint?",
        remedy=f"{known}Give an address such as http://localhost:8000/v1, or a name that `toolcert endpoints` lists.",
    )


def _named(name: str, settings: Settings, *, explicit: bool, ask_key: AskKey | None) -> ChosenEndpoint:
    table = settings.config.endpoints.get(name)
    if table is not None:
        preset = _preset(table.get("preset") or settings.preset)
        return _choose(name, table, preset, settings, explicit=explicit, ask_key=ask_key)
    if name in presets():
        return _choose(name, {}, presets()[name], settings, explicit=explicit, ask_key=ask_key)
    if not _is_address(name):
        raise _unknown(name, settings)
    table = {"base_url": _address(name)}
    return _choose("", table, _preset(settings.preset), settings, explicit=True, typed=True, ask_key=ask_key)


def _choose(
    name: str,
    table: dict[str, Any],
    preset: Preset,
    settings: Settings,
    *,
    explicit: bool = False,
    typed: bool = False,
    ask_key: AskKey | None,
) -> ChosenEndpoint:
    layers = EndpointOptions(settings, table, preset, explicit=explicit, typed=typed)
    if preset == Preset() and layers.value("dialect") in _OWN_HABITS:
        preset = presets()[layers.value("dialect")]
        layers = EndpointOptions(settings, table, preset, explicit=explicit, typed=typed)
    base_url: str = layers.value("base_url") or ""
    dialect: str = layers.value("dialect") or "openai"
    name = name or endpoint_name(base_url) or dialect
    key = _key(name, layers, preset, ask_key)
    spec = EndpointSpec(
        name=name,
        dialect=dialect,
        base_url=_wanted(name, dialect, base_url),
        key_env=_key_variable(key, layers, preset, base_url),
        headers=dict(split_header(line) for line in layers.value("header") or ()),
        extra_body=_extra_body(layers),
        ca_bundle=layers.value("ca_bundle"),
        concurrency=layers.value("concurrency"),
        rpm=layers.value("rpm"),
        retries=layers.value("retries"),
        timeouts=_timeouts(layers),
        options={option: value for option in DIALECT_OPTIONS if (value := layers.value(option))},
    )
    return ChosenEndpoint(spec, key, layers)


def _wanted(name: str, dialect: str, base_url: str) -> str:
    if not base_url and dialect != "watsonx":
        raise UsageError(f"{name}: its address is not known.", remedy="Give it with --base-url.")
    return base_url


def _key(name: str, layers: EndpointOptions, preset: Preset, ask_key: AskKey | None) -> Secret | None:
    variable, file = layers.value("api_key_env"), layers.value("api_key_file")
    if file is not None and (variable is None or layers.outranks("api_key_file", "api_key_env")):
        variable = None
    else:
        file = None
    sources = KeySources(
        flag=layers.flag("api_key"),
        prompt=bool(layers.value("ask_key")),
        variable=variable,
        file=file,
        usual=preset.key_env,
    )
    return find_key(sources, layers.environment, (lambda: ask_key(name)) if ask_key is not None else None)


def _key_variable(key: Secret | None, layers: EndpointOptions, preset: Preset, base_url: str) -> str | None:
    """The variable that curl lines show in place of the key; the usual one where a key will be wanted."""
    if key is None:
        return preset.key_env[0] if preset.key_env and not is_loopback(base_url) else None
    return key.source if key.source in layers.environment else KEY_VARIABLE


def _extra_body(layers: EndpointOptions) -> dict[str, Any]:
    body: dict[str, Any] = dict(layers.value("extra_body") or {})
    providers = layers.value("provider")
    if providers:
        body["provider"] = {"only": list(providers), "allow_fallbacks": False} | body.get("provider", {})
    return body


def _timeouts(layers: EndpointOptions) -> Timeouts:
    total: float = layers.value("timeout")
    return Timeouts(
        connect=min(layers.value("connect_timeout"), total),
        read=min(layers.value("read_timeout") or total, total),
        between_chunks=min(layers.value("chunk_timeout"), total),
        total=total,
    )


def _preset(name: str | None) -> Preset:
    if name is None:
        return Preset()
    if name not in presets():
        remedy = did_you_mean(name, presets()) or "`toolcert endpoints` lists them."
        raise UsageError(f"there is no preset {name!r}.", remedy=remedy)
    return presets()[name]


def _address(text: str) -> str:
    try:
        return clean_address(text)
    except ValueError as error:
        raise UsageError(f"the address of an endpoint: {error}.") from None


def _unknown(name: str, settings: Settings) -> UsageError:
    known = list(dict.fromkeys([*settings.config.endpoints, *presets()]))
    others = f"Known: {', '.join(known)}; or give an address. A model is named with --model."
    where = f" in {settings.config.path}" if settings.config.path else ""
    return UsageError(f"there is no endpoint {name!r}{where}.", remedy=did_you_mean(name, known) or others)


def _refuse_doubles(chosen: list[ChosenEndpoint]) -> None:
    names = [choice.spec.name for choice in chosen]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two endpoints would both be called {name}.", remedy="Give them names in toolcert.toml.")
