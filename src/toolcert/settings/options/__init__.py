"""Every option, defined once. Flag, variable, config key and keyword argument are derived from its name.

To add one: enter it in the module of its job below; commands take it with `use("its-name")`.
"""

from __future__ import annotations

from toolcert.settings.option import Option
from toolcert.settings.options.compare import COMPARE
from toolcert.settings.options.endpoint import CONNECTION, REQUESTS
from toolcert.settings.options.history import HISTORY
from toolcert.settings.options.output import MARKS, OUTPUT, SHARDS, VIEW
from toolcert.settings.options.probe import LOAD, PROBE
from toolcert.settings.options.verify import VERIFY


def _table(*groups: tuple[Option, ...]) -> dict[str, Option]:
    table: dict[str, Option] = {}
    for option in (option for group in groups for option in group):
        if option.name in table:
            raise ValueError(f"option {option.name} is defined twice")
        table[option.name] = option
    return table


OPTIONS: dict[str, Option] = _table(
    CONNECTION, REQUESTS, PROBE, LOAD, VERIFY, COMPARE, OUTPUT, MARKS, SHARDS, HISTORY, VIEW
)
BY_KEY: dict[str, Option] = {option.key: option for option in OPTIONS.values()}
ENDPOINT_KEYS: frozenset[str] = frozenset(option.key for option in OPTIONS.values() if option.per_endpoint)


def names(*groups: tuple[Option, ...]) -> tuple[str, ...]:
    """The names of whole groups, for commands that take all of one."""
    return tuple(option.name for group in groups for option in group)
