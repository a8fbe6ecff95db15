"""All commands by name, so that `toolcert --help` need not import one of them.

To add a command: write `NAME.py` in a room of `cli/commands` with a click command, and enter it here under its section.
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
        "probe": Entry(
            "toolcert.cli.commands.measurement.probe:probe",
            "Probe models: do they call tools, rightly, and how surely?",
        ),
        "verify": Entry(
            "toolcert.cli.commands.measurement.verify:verify", "Replay a dataset of requests against one model."
        ),
        "load": Entry(
            "toolcert.cli.commands.measurement.load:load",
            "Do calls that work alone break under load, and from how many requests at a time on?",
        ),
        "replay": Entry(
            "toolcert.cli.commands.measurement.replay:replay", "Send one row of a run again and show both answers."
        ),
        "daily": Entry(
            "toolcert.cli.commands.measurement.daily:daily", "Probe, remember and publish: the run for every day."
        ),
        "demo": Entry(
            "toolcert.cli.commands.measurement.demo:demo",
            "Probe simulated models, and a real small one, on this machine.",
        ),
    },
    "Read results": {
        "compare": Entry(
            "toolcert.cli.commands.results.compare:compare",
            "Is this vendor the same as the baseline, and how sure are we?",
        ),
        "merge": Entry("toolcert.cli.commands.results.merge:merge", "Join the runs of all shards into one."),
        "diff": Entry(
            "toolcert.cli.commands.results.diff:diff", "What changed from one run to another, and is it chance?"
        ),
        "bless": Entry("toolcert.cli.commands.results.bless:bless", "Keep a run as a named baseline to compare with."),
        "runs": Entry(
            "toolcert.cli.commands.results.runs:runs", "List runs, newest first: verdict, target, counts, cost, state."
        ),
        "report": Entry(
            "toolcert.cli.commands.results.report:report", "Write reports about a finished run, in any format."
        ),
        "show": Entry(
            "toolcert.cli.commands.results.show:show", "Show one row of a run: request, answer, findings, curl."
        ),
        "view": Entry(
            "toolcert.cli.commands.results.view:view", "Look at runs in the browser: live, searchable, case by case."
        ),
        "mark": Entry(
            "toolcert.cli.commands.results.mark:mark", "Mark a case of a run as known, or its finding as wrong."
        ),
        "dataset": Entry("toolcert.cli.commands.results.dataset:dataset", "Check or describe a dataset of requests."),
        "history": Entry(
            "toolcert.cli.commands.results.history:history", "What was measured before, what changed, what drifts."
        ),
        "findings": Entry(
            "toolcert.cli.commands.results.findings:findings", "Explain the findings, or one of them by its code."
        ),
    },
    "Endpoints": {
        "models": Entry("toolcert.cli.commands.endpoint.models:models", "List the models of an endpoint."),
        "endpoints": Entry(
            "toolcert.cli.commands.endpoint.endpoints:endpoints", "List the endpoints that are known by name."
        ),
        "doctor": Entry("toolcert.cli.commands.endpoint.doctor:doctor", "Find out why an endpoint does not work."),
    },
    "Set up": {
        "init": Entry(
            "toolcert.cli.commands.setup.init:init", "Write a commented toolcert.toml, and a CI workflow if wanted."
        ),
        "simulate": Entry(
            "toolcert.cli.commands.setup.simulate:simulate",
            "Serve simulated models, faithful and faulty, to test clients with.",
        ),
        "completion": Entry(
            "toolcert.cli.commands.setup.completion:completion", "Print the script that completes toolcert commands."
        ),
    },
}

COMMANDS: dict[str, Entry] = {name: entry for section in SECTIONS.values() for name, entry in section.items()}
