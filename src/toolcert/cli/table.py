"""All commands by name, so that `toolcert --help` need not import one of them.

To add a command: write `cli/NAME.py` with a click command, and enter it here under its section.
The short help must equal the command's own; a test compares them.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """Where a command lives and what it does."""

    target: str
    """`module:attribute`, imported when the command is called."""
    help: str


SECTIONS: dict[str, dict[str, Entry]] = {
    "Measure": {
        "probe": Entry("toolcert.cli.probe:probe", "Probe models: do they call tools, rightly, and how surely?"),
        "verify": Entry("toolcert.cli.verify:verify", "Replay a dataset of requests against one model."),
        "replay": Entry("toolcert.cli.replay:replay", "Send one row of a run again and show both answers."),
        "daily": Entry("toolcert.cli.daily:daily", "Probe, remember and publish: the run for every day."),
        "demo": Entry("toolcert.cli.demo:demo", "Probe simulated models, and a real small one, on this machine."),
    },
    "Read results": {
        "compare": Entry(
            "toolcert.cli.compare:compare", "Is this vendor the same as the baseline, and how sure are we?"
        ),
        "bless": Entry("toolcert.cli.bless:bless", "Keep a run as a named baseline to compare with."),
        "report": Entry("toolcert.cli.report:report", "Write reports about a finished run, in any format."),
        "show": Entry("toolcert.cli.show:show", "Show one row of a run: request, answer, findings, curl."),
        "dataset": Entry("toolcert.cli.dataset:dataset", "Check or describe a dataset of requests."),
        "history": Entry("toolcert.cli.history:history", "What was measured before, what changed, what drifts."),
        "findings": Entry("toolcert.cli.findings:findings", "Explain the findings, or one of them by its code."),
    },
    "Endpoints": {
        "models": Entry("toolcert.cli.models:models", "List the models of an endpoint."),
        "endpoints": Entry("toolcert.cli.endpoints:endpoints", "List the endpoints that are known by name."),
        "doctor": Entry("toolcert.cli.doctor:doctor", "Find out why an endpoint does not work."),
    },
    "Set up": {
        "init": Entry("toolcert.cli.init:init", "Write a commented toolcert.toml, and a CI workflow if wanted."),
        "simulate": Entry(
            "toolcert.cli.simulate:simulate", "Serve simulated models, faithful and faulty, to test clients with."
        ),
        "completion": Entry("toolcert.cli.completion:completion", "Print the script that completes toolcert commands."),
    },
}

COMMANDS: dict[str, Entry] = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
