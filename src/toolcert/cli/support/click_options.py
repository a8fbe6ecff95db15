"""Options of the settings table as click options: `@use("base-url", "model")` gives a command its settings.

The argument `[ENDPOINT]...` and the endpoints that it stands for are here too.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from click.core import ParameterSource

from toolcert.cli.support.exit import echo, warn
from toolcert.core.errors import ConfigurationError, UsageError
from toolcert.core.secrets import passwords_in
from toolcert.core.text.spelling import question
from toolcert.core.text.visible_text import visible
from toolcert.settings import OPTIONS, Option, Settings, Source, load_config, resolve
from toolcert.settings.credentials import KEY_VARIABLE
from toolcert.settings.option import Address, Choice, InputFile, OutputFile, Switch
from toolcert.settings.precedence import misspelt_variables

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from toolcert.api.endpoint import Endpoint
    from toolcert.core.targets import EndpointSpec
    from toolcert.endpoints.spec import ChosenEndpoint

Completer: TypeAlias = "Callable[[click.Context, click.Parameter, str], list[CompletionItem]]"


def endpoint_names() -> list[str]:
    """The names of toolcert.toml, then the presets."""
    from toolcert.endpoints.presets import presets

    try:
        configured = list(load_config().endpoints)
    except ConfigurationError:
        configured = []  # the command itself reports the mistake in the file
    return list(dict.fromkeys([*configured, *presets()]))


def _preset_names() -> Iterable[str]:
    from toolcert.endpoints.presets import presets

    return presets()


def _suite_names() -> Iterable[str]:
    from toolcert.probes.suites import SUITES

    return SUITES


def _probe_names() -> Iterable[str]:
    from toolcert.probes.base import all_probes

    return [probe.name for probe in all_probes()]


_NAMES_OFFERED: dict[str, Callable[[], Iterable[str]]] = {
    "endpoint": endpoint_names,
    "preset": _preset_names,
    "suite": _suite_names,
    "probe": _probe_names,
}


def complete_from(names: Callable[[], Iterable[str]]) -> Completer:
    """Complete to the names that begin with what is typed."""

    def complete(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]

    return complete


def _complete_file(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def completer_of(option: Option) -> Completer | None:
    """What completes the value of an option; None if nothing is known about it."""
    kind = option.kind
    if isinstance(kind, Choice):
        return complete_from(lambda: kind.words)
    if isinstance(kind, InputFile | OutputFile):
        return _complete_file
    return complete_from(_NAMES_OFFERED[option.name]) if option.name in _NAMES_OFFERED else None


_EXTRA_WORDS = "Got unexpected extra argument"
EPILOG = (
    "Every option has one name everywhere: --base-url is also the environment variable TOOLCERT_BASE_URL and the key "
    "base_url in toolcert.toml. A flag beats the environment, which beats the file."
)


class SettingOption(click.Option):
    """A click option made from the table. Its value comes from `resolve`, which also reads variables and the file."""

    def __init__(self, *args: Any, setting: Option, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.setting = setting

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Hide the `--no-...` half of switches that are off by default: it is only needed to overrule a variable."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        left = record[0].partition(" / ")[0] if not self.setting.default else record[0]
        return left, self.help or ""


class SettingsCommand(click.Command):
    """A command whose help groups its options, and which says where an unexpected word belongs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if not error.message.startswith(_EXTRA_WORDS):
                raise
            raise click.UsageError(error.message + self._hint_for_extra_words(), error.ctx) from None

    def _hint_for_extra_words(self) -> str:
        """What people usually mean by an extra word, if this command has an option for it."""
        known = {parameter.name for parameter in self.params}
        if "baseline" in known:
            return ". Name the runs with --baseline RUN... --vendor RUN..."
        return ". Name the endpoint with --endpoint (-e) or --base-url." if "endpoint" in known else ""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):  # arguments are explained in the text
                title = parameter.setting.group if isinstance(parameter, SettingOption) else "Options"
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(EPILOG)


def use(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these options of the table; it gets their resolved values as the argument `settings`."""
    options = [OPTIONS[name] for name in dict.fromkeys(("config", *names))]

    def decorate(callback: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(callback)
        def call(**parameters: Any) -> Any:
            given = _take_given(options, parameters)
            settings = resolve([option.name for option in options], given)
            _warn_of_visible_key(settings)
            _warn_of_misspelt_variables(settings)
            return callback(settings=settings, **parameters)

        decorated: Callable[..., Any] = call
        for option in reversed(options):
            decorated = _click_option(option)(decorated)
        return decorated

    return decorate


def _take_given(options: list[Option], parameters: dict[str, Any]) -> dict[str, Any]:
    """The values that were written on the command line; all options are removed from the callback's parameters."""
    context = click.get_current_context()
    values = {option.key: _single(option, parameters.pop(option.key)) for option in options}
    return {
        key: value for key, value in values.items() if context.get_parameter_source(key) is ParameterSource.COMMANDLINE
    }


def _single(option: Option, value: Any) -> Any:
    """The value of an option. An address given twice is refused: click would silently use the second."""
    if not _refuses_repetition(option) or value is None:
        return value
    if len(value) > 1:
        raise UsageError(
            f"{option.flag} is given {len(value)} times.",
            remedy="Name several endpoints with --endpoint, once for each address." if option.key == "base_url" else "",
        )
    return value[0] if value else None


def _refuses_repetition(option: Option) -> bool:
    return isinstance(option.kind, Address) and not option.multiple


def _click_option(option: Option) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    switch = isinstance(option.kind, Switch)
    flags = f"{option.flag}/--no-{option.name}" if switch else option.flag
    declarations = [*([option.short] if option.short and not switch else []), flags, option.key]
    if option.short and switch:
        declarations = [f"{option.short}/ ", *declarations]
    # click keeps the last of several values; only a repeatable option shows us that there were more.
    repeatable = option.multiple or _refuses_repetition(option)
    details: dict[str, Any] = {} if switch else {"metavar": option.kind.metavar, "multiple": repeatable}
    details["shell_complete"] = completer_of(option)
    return click.option(*declarations, cls=SettingOption, setting=option, help=_help(option), default=None, **details)


def _help(option: Option) -> str:
    if option.default is None or option.default is False:
        return option.help
    shown = f"{option.default:g}" if isinstance(option.default, float) else option.default
    return f"{option.help}  [default: {shown}]"


def _warn_of_misspelt_variables(settings: Settings) -> None:
    for name, meant in misspelt_variables(settings.environment):
        warn(f"{name} is set, but no option reads it. {question([meant])}")


def _warn_of_visible_key(settings: Settings) -> None:
    if "api_key" in settings and settings.resolved("api_key").source is Source.FLAG:
        warn(
            "other users of this machine can see a key on the command line, and it stays in the shell's history; "
            f"set {KEY_VARIABLE} instead."
        )
    if "history" in settings and settings.resolved("history").source is Source.FLAG and passwords_in(settings.history):
        warn("other users of this machine can see a password on the command line; set TOOLCERT_HISTORY instead.")


def endpoint_arguments(callback: Any) -> Any:
    """The argument `[ENDPOINT]...` of commands that talk to endpoints: names of toolcert.toml, presets or addresses."""
    argument = click.argument(
        "endpoints", nargs=-1, metavar="[ENDPOINT]...", shell_complete=complete_from(endpoint_names)
    )
    return argument(callback)


def chosen_endpoints(settings: Settings, endpoints: Sequence[str] = ()) -> list[Endpoint]:
    """The endpoints that a command talks to; warns of variables that the command line overrules."""
    from toolcert.api.endpoint import Endpoint
    from toolcert.endpoints.spec import choose_endpoints

    chosen = choose_endpoints(settings, endpoints, _ask_key if can_ask() else None)
    for choice in chosen:
        _announce_choice_of_file(choice, settings)
    for choice in chosen:
        for variable in choice.ignored:
            warn(f"{variable} is set and not used: endpoint {choice.spec.name} was named on the command line.")
    specs = _with_enough_descriptors([choice.spec for choice in chosen])
    return [
        Endpoint.of(spec, choice.key, choice.model, choice.exclude) for spec, choice in zip(specs, chosen, strict=True)
    ]


def _with_enough_descriptors(specs: Sequence[EndpointSpec]) -> Sequence[EndpointSpec]:
    """Lower the concurrency where this system allows fewer open files, and say so."""
    import msgspec

    from toolcert.http.connection import allow_connections

    wanted = sum(spec.concurrency for spec in specs)
    allowed = allow_connections(wanted)
    if allowed == wanted:
        return specs
    shares = [max(1, spec.concurrency * allowed // wanted) for spec in specs]
    lowered = ", ".join(map(str, shares))
    warn(
        f"this system allows too few open files for {wanted} connections: concurrency is {lowered}. "
        "`ulimit -n` raises the limit."
    )
    return [msgspec.structs.replace(spec, concurrency=share) for spec, share in zip(specs, shares, strict=True)]


def can_ask() -> bool:
    """Whether the command runs at a terminal, so that the user can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def described(spec: EndpointSpec, key_source: str | None = None) -> str:
    """Where requests go, and where the secrets that go with them come from; never a value."""
    from toolcert.endpoints.trust import hosts_of, variables_of

    sources = variables_of(spec, key_source)
    with_what = f"with {' and '.join(sources)}" if sources else "without a key"
    return visible(f"{' and '.join(hosts_of(spec)) or spec.dialect}, {with_what}")


def _announce_choice_of_file(choice: ChosenEndpoint, settings: Settings) -> None:
    """Name what the configuration file chose, and ask before it sends the key of a preset to another host."""
    if not choice.by_file:
        return
    file = visible(settings.config.path)
    key_source = None if choice.key is None else choice.key.source
    echo(f"{file}: endpoint {visible(choice.spec.name)} at {described(choice.spec, key_source)}", err=True)
    if not choice.misdirected or settings.trust_config:
        return
    told = f"{file} sends {visible(' and '.join(choice.misdirected))} to a host that it does not belong to"
    if not can_ask():
        raise UsageError(
            f"{told}.",
            remedy="If you trust the file, add --trust-config; or give the address yourself: --base-url URL.",
        )
    if not click.confirm(f"{told}. Go on?", err=True):
        raise click.Abort


def _ask_key(endpoint: str) -> str:
    """Ask for a key without showing what is typed."""
    return str(click.prompt(f"Key for {endpoint}", hide_input=True, err=True))
