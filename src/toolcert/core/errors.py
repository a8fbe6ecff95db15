"""Errors for our users. Findings about a vendor are values and never appear here.

ToolcertError                  base: a message, a remedy, an exit code
├── UsageError                 2  the command line or a call of the library is wrong
├── ConfigurationError         2  toolcert.toml, an environment variable or a file is wrong
│   ├── ScenarioError          2  a scenario file is wrong (file, line)
│   └── MissingExtraError      2  an optional dependency is not installed
├── InputError                 2  a run, dataset or results file cannot be read
├── OutputError                2  a file or folder cannot be written
├── NothingMeasuredError       3  unreachable, unauthorised, or no model to ask
│   ├── UnreachableError       3  no answer from the endpoint
│   ├── UnauthorisedError      3  the endpoint refuses the key
│   ├── ListingError           3  the endpoint answers, but gives no usable model list
│   └── ClusterError           3  no Ray cluster answers, or it has lost all workers
├── GateError                  1  a threshold, gate or regression check was not met
└── TooManyBugsError          70  toolcert failed on so many cases that the run was stopped
"""

from __future__ import annotations

from enum import IntEnum

ISSUES = "https://github.com/toolcert/toolcert/issues"
"""Where bugs of ours are reported."""


class ExitCode(IntEnum):
    """The exit code of the process."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOTHING_MEASURED = 3
    BUG = 70
    """EX_SOFTWARE of sysexits.h: a bug of toolcert, never a fault of a vendor."""
    INTERRUPTED = 130


class ToolcertError(Exception):
    """An error that the user can act on: what happened, where, and what to do."""

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        end = "" if not self.remedy or self.message.endswith((".", "?", "!")) else "."
        return f"{self.message}{end} {self.remedy}".strip()


class UsageError(ToolcertError):
    """The command line or a call of the library is wrong."""


class ConfigurationError(ToolcertError):
    """A configuration file, variable or referenced file is wrong."""


class ScenarioError(ConfigurationError):
    """A scenario file is wrong; the message names file and line."""


class MissingExtraError(ConfigurationError):
    """An optional dependency is needed and not installed."""


def install_line(extra: str) -> str:
    """How to install an optional part: from the source, as a package of this name elsewhere may be a stranger's."""
    return f"In toolcert's source folder: pip install '.[{extra}]'"


class InputError(ToolcertError):
    """A run, dataset or results file cannot be read."""


class OutputError(ToolcertError):
    """A file or folder cannot be written."""


class NothingMeasuredError(ToolcertError):
    """Nothing could be measured at all."""

    exit_code = ExitCode.NOTHING_MEASURED
    folder = ""
    """The run that was stopped, if one had begun; its records say why."""


class UnreachableError(NothingMeasuredError):
    """The endpoint gives no answer."""


class UnauthorisedError(NothingMeasuredError):
    """The endpoint refuses the key."""


class ListingError(NothingMeasuredError):
    """The endpoint gives no usable list of models."""


class ClusterError(NothingMeasuredError):
    """There is no Ray cluster, or no worker of it is left."""


class GateError(ToolcertError):
    """A gate the user set was not met."""

    exit_code = ExitCode.FAILED


class TooManyBugsError(ToolcertError):
    """toolcert failed on so many cases that continuing would only waste requests."""

    exit_code = ExitCode.BUG


class ToolcertWarning(UserWarning):
    """Something that the user should know and that stops nothing; the command prints it on stderr."""
