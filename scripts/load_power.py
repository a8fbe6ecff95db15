"""Measure over real HTTP how often a load run finds planted faults, and how often it says anything without one.

`python scripts/load_power.py --seeds 50` prints one line per vendor; a share of 2 % is planted from 16 requests at a
time on. The vendor without a fault answers with random delays, and with 429 now and then.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time

from toolcert.api.load import LoadOptions, load
from toolcert.core.events import CaseFinished, Event
from toolcert.probes.summary.load_tally import LoadTally
from toolcert.runs.encoding import Keep
from toolcert.simulate import Vendor

LIMITS = {"fault:load.crosstalk": 500, "fault:load.corruption": 1500, "faithful": 1500}
LATENCY = "0.02~0.5"
"""Seconds, with a tail: some answers take several times as long."""
QUEUEING = 0.02
"""Seconds that each other request in flight adds, as on a server that computes them together."""


class FirstFound:
    """Counts the requests until something is found."""

    def __init__(self) -> None:
        self.requests = 0
        self.found: int | None = None
        self._tally = LoadTally(16)

    def __call__(self, event: Event) -> None:
        if isinstance(event, CaseFinished):
            self.requests += 1
            self._tally.add(event.record)
            if self.found is None and self._tally.broken:
                self.found = self.requests


def ask(model: str, seed: int) -> tuple[int | None, tuple[str, ...], int]:
    """After how many requests something was found, what the summary says, and the requests without an answer."""
    watch = FirstFound()
    with (
        Vendor(models=[model], latency=LATENCY, queueing=QUEUEING, seed=seed) as vendor,
        tempfile.TemporaryDirectory() as folder,
    ):
        if model == "faithful":
            vendor.outage("429", share=0.02, seed=seed, retry_after=0.05)
            vendor.outage("500", share=0.01, seed=seed)
        options = LoadOptions(output=folder, seed=seed, bisect=False, keep=Keep.VERDICTS)
        summary = load(vendor.url, options, [watch]).summary
    return watch.found, tuple(found.code for found in summary.findings), sum(one.unanswered for one in summary.levels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--model", choices=list(LIMITS), action="append")
    given = parser.parse_args()
    for model in given.model or LIMITS:
        started, hits, said, places = time.monotonic(), 0, 0, []
        for seed in range(given.first, given.first + given.seeds):
            found, codes, unanswered = ask(model, seed)
            hits += found is not None and found <= LIMITS[model]
            said += bool(codes)
            places.append(found)
            print(f"  {model} seed {seed}: found after {found}, says {codes}, {unanswered} unanswered", file=sys.stderr)
        known = sorted(place for place in places if place is not None)
        middle = known[len(known) // 2] if known else None
        print(
            f"{model}: found within {LIMITS[model]} requests in {hits} of {given.seeds} seeds (median {middle}); "
            f"says anything in {said}; {time.monotonic() - started:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
