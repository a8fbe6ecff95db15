"""The command line as a run may keep it: without the values of secret options and without passwords in addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolcert.core.secrets import HIDDEN, without_password
from toolcert.settings.headers import names_credential
from toolcert.settings.options import OPTIONS

_SECRET_FLAGS = frozenset(option.flag for option in OPTIONS.values() if option.secret)


def without_secrets(argv: Iterable[str]) -> tuple[str, ...]:
    """`argv` with each secret value replaced, in both spellings (`--flag value`, `--flag=value`)."""
    return tuple(_hide(argv))


def _hide(argv: Iterable[str]) -> Iterator[str]:
    hide_next = False
    for word in argv:
        flag, equals, value = word.partition("=")
        if hide_next:
            yield HIDDEN
        elif equals and _is_secret(flag):
            yield f"{flag}={HIDDEN}"
        else:
            # Only in `--flag=value` does the value begin behind the first "="; an address may have its own.
            yield f"{flag}={without_password(value)}" if equals and word.startswith("-") else without_password(word)
        hide_next = not hide_next and not equals and _is_secret(word)


def _is_secret(flag: str) -> bool:
    """Ours by their definition, those of the front doors by their names."""
    return flag in _SECRET_FLAGS or (flag.startswith("--") and names_credential(flag))
