"""What a shell offers after an option or in place of an endpoint; imported work happens only when TAB is pressed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from toolcert.core.errors import ConfigurationError
from toolcert.settings import Option, load_config
from toolcert.settings.kinds import Choice, InputFile, OutputFile

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def endpoint_names() -> list[str]:
    """The names of toolcert.toml, then the presets."""
    from toolcert.endpoints.presets import presets

    try:
        configured = list(load_config().endpoints)
    except ConfigurationError:
        configured = []  # the command itself will tell
    return list(dict.fromkeys([*configured, *presets()]))


def _presets() -> Iterable[str]:
    from toolcert.endpoints.presets import presets

    return presets()


def _suites() -> Iterable[str]:
    from toolcert.probes.suites import SUITES

    return SUITES


def _probes() -> Iterable[str]:
    from toolcert.probes.registry import all_probes

    return [probe.name for probe in all_probes()]


_NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "endpoint": endpoint_names,
    "preset": _presets,
    "suite": _suites,
    "probe": _probes,
}


def offering(names: Callable[[], Iterable[str]]) -> Completer:
    """Offer those names that begin with what is typed."""

    def complete(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]

    return complete


def completer_of(option: Option) -> Completer | None:
    """What to offer as the value of an option, where anything can be known."""
    kind = option.kind
    if isinstance(kind, Choice):
        return offering(lambda: kind.words)
    if isinstance(kind, InputFile | OutputFile):
        return lambda _ctx, _parameter, incomplete: [CompletionItem(incomplete, type="file")]
    return offering(_NAMES[option.name]) if option.name in _NAMES else None
