"""How a command ends: one clear line on stderr, an exit code, and a traceback only for a bug of ours."""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from toolcert.core.errors import ISSUES, ExitCode, ToolcertError, ToolcertWarning, UsageError
from toolcert.core.text.visible_text import visible_json, visible_lines
from toolcert.version import __version__

OUTPUT_CLOSED = 141
"""The code of a program that SIGPIPE killed: the reader of our output has closed it."""
_LOST = (errno.EIO, errno.ESTALE, errno.ENXIO, errno.ENODEV)
"""A disk that fails, or a network folder that went away, in the middle of a file."""
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


class OutputClosed(Exception):  # noqa: N818 - an event of the outside world, not an error of ours
    """The reader of our output has closed it, as `head` does."""


def run_guarded(call: Callable[[], Any]) -> int:
    """Run a command; return the exit code of the process and say on stderr why it is not 0.

    A command returns its ExitCode, or nothing for 0.
    """
    warnings.showwarning = _show_warning
    try:
        result = _with_system_errors_explained(call)
    except ToolcertError as error:
        show_error(error)
        return int(error.exit_code)
    except click.ClickException as error:
        _show_click_error(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say("Interrupted.")
        return int(ExitCode.INTERRUPTED)
    except OutputClosed:
        _silence_stdout()
        return OUTPUT_CLOSED
    except Exception:  # noqa: BLE001 - not hidden: shown with its traceback as our bug
        return _show_bug()
    return int(result) if isinstance(result, int) else int(ExitCode.OK)


def _show_click_error(error: click.ClickException) -> None:
    """As click shows it, with what the user or a file said made visible."""
    shown = io.StringIO()
    error.show(shown)
    click.echo(visible_lines(shown.getvalue()), err=True, nl=False)


def show_error(error: ToolcertError) -> None:
    """Print the message on one line and the remedy on the next."""
    _say(error.message, click.style("Error: ", fg="red", bold=True))
    if error.remedy:
        _say(error.remedy, click.style("Remedy: ", fg="cyan"))


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Warnings of the library as lines of the command; those of other libraries are for developers."""
    if issubclass(category, ToolcertWarning):
        warn(str(message))


def warn(message: str) -> None:
    """Print a warning on stderr."""
    _say(message, click.style("Warning: ", fg="yellow"))


def echo(text: str = "", *, err: bool = False) -> None:
    """Print lines that may hold other people's text; control characters are shown, not executed."""
    click.echo(visible_lines(text), err=err)


def echo_json(text: str | bytes) -> None:
    """Print JSON, unchanged in meaning."""
    click.echo(visible_json(text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")))


def wants_color() -> bool | None:
    """False where NO_COLOR is set to anything; None leaves it to the terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _say(text: str, head: str = "") -> None:
    """Print on stderr; the head may have a colour, the text is of any origin."""
    click.echo(head + visible_lines(text), err=True, color=wants_color())


def _with_system_errors_explained(call: Callable[[], Any]) -> Any:
    """Run a command; a file that cannot be opened, or a full disk, becomes a UsageError instead of a bug report."""
    try:
        return call()
    except OSError as error:
        refused = _refused(error)
        if refused is None:
            raise
        raise UsageError(f"cannot {refused}: {error.strerror}.") from None


def _refused(error: OSError) -> str | None:
    """What could not be done; None if the error does not name a file or a disk, because then it is a bug of ours."""
    if error.filename is not None:
        file = Path(os.fsdecode(error.filename))
        unreadable = file.is_dir() or not os.access(file, os.R_OK)
        return f"read {file}" if file.exists() and unreadable else f"open {file}"
    if error.errno in _LOST:
        return "read or write a file"
    if error.errno not in _NO_ROOM:
        return None
    return "write to standard output" if _stdout_is_full() else "write"


def _stdout_is_full() -> bool:
    """Whether it is stdout that cannot be written. Its buffer no longer holds what failed before, so we try again."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        _silence_stdout()
        return True
    return False


def _show_bug() -> int:
    import traceback

    _say(traceback.format_exc().rstrip())
    _say(f" {__version__}, not in what it tested.", click.style("This is a bug in toolcert", fg="red", bold=True))
    _say(f"Please report it with the lines above: {ISSUES}")
    return int(ExitCode.BUG)


def _silence_stdout() -> None:
    """Keep the interpreter from complaining when it flushes the closed pipe at exit."""
    # The interpreter flushes stdout once more at exit; into /dev/null that cannot fail.
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
