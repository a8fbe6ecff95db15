"""Cell P10: three years of sixty models, daily: the views and the page in a second or two."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import measure
from kit import Kit, Row
from toolcert.history.observation import Observation, StoredRun
from toolcert.history.store import HistoryStore

MODELS, DAYS, TRIES = 60, 1095, 50
LAST = date(2026, 6, 24)
GOAL = 2.0
"""Seconds a reader waits without wondering, start of Python included; of CPU, which other work disturbs less."""


def views(kit: Kit) -> Iterator[Row]:
    """`show` and `drift` of all three years, and the page."""
    store = _filled(kit.folder / "history.sqlite")
    common = ("--history", store, "--days", str(DAYS))
    commands: dict[str, measure.Command] = {
        "history show": [kit.toolcert, "history", "show", *common],
        "history drift": [kit.toolcert, "history", "drift", *common],
        "history html": [kit.toolcert, "history", "html", kit.folder / "history.html", *common],
    }
    for name, command in commands.items():
        best = min(measure.run(command).cpu for _ in range(measure.ROUNDS))
        what = f"{name}, {MODELS} models x {DAYS} days"
        yield Row("P10", what, f"{best:.2f} s CPU", f"<= {GOAL:g} s", "<= 1 s", best <= GOAL)


def _filled(path: Path) -> Path:
    """A store with a run a day, written fast: it is thrown away afterwards."""
    chance = random.Random(7)
    fitness = [chance.choice((0.0, 0.7, 0.95, 0.99, 1.0)) for _ in range(MODELS)]
    with HistoryStore(str(path)) as store:
        store.add_all(
            (StoredRun(run=f"r{day}", day=day, started_at=0.0, source="probe"), _day(day, fitness, chance))
            for day in ((LAST - timedelta(days=number)).isoformat() for number in range(DAYS))
        )
    with sqlite3.connect(path) as connection:
        (rows,) = connection.execute("SELECT count(*) FROM toolcert_observations").fetchone()
    assert rows == MODELS * DAYS
    return path


def _day(day: str, fitness: list[float], chance: random.Random) -> list[Observation]:
    rows = []
    for number, rate in enumerate(fitness):
        called = sum(chance.random() < rate for _ in range(TRIES))
        rows.append(
            Observation(
                run=f"r{day}",
                endpoint="e",
                model=f"publisher/model-{number}",
                probe="hello_world",
                day=day,
                at=0.0,
                passed=called,
                failed=TRIES - called,
                called=called,
                callable=TRIES,
                handled=called,
                handleable=called,
                call_p50=chance.uniform(0.4, 0.6),
                answer_p50=chance.uniform(0.4, 0.6),
            )
        )
    return rows
