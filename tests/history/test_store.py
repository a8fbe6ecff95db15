"""The store: whole runs or none, many writers, old schemas, and both databases alike."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import text

from toolcert.core.errors import ConfigurationError, InputError
from toolcert.core.findings import Severity
from toolcert.history.database import SCHEMA_VERSION, bring_up_to_date, open_engine, shown
from toolcert.history.observation import Observation, SeenFinding, StoredRun
from toolcert.history.store import HistoryStore


def run(name: str, day: str = "2026-01-02") -> StoredRun:
    return StoredRun(run=name, day=day, started_at=1.0, source="probe", versions={"python": "3.11"})


def observation(name: str, model: str = "m", day: str = "2026-01-02") -> Observation:
    found = SeenFinding(code="call.in_text", severity=Severity.ERROR, count=3, evidence="<tool_call>")
    return Observation(
        run=name, endpoint="e", model=model, probe="hello_world", day=day, at=1.0, passed=4, failed=1, called=5,
        callable=5, handled=4, handleable=5, call_p50=0.5, original={"date": day}, findings=(found,),
    )  # fmt: skip


def test_what_goes_in_comes_out(location: str) -> None:
    with HistoryStore(location) as store:
        store.add(run("r1"), [observation("r1"), observation("r1", "other")])
        assert store.runs() == [run("r1")]
        assert list(store.observations(findings=True, originals=True)) == [
            observation("r1"),
            observation("r1", "other"),
        ]
        assert [one.model for one in store.observations(model="other")] == ["other"]


def test_the_same_run_again_replaces_itself(location: str) -> None:
    with HistoryStore(location) as store:
        store.add(run("r1"), [observation("r1"), observation("r1", "gone")])
        store.add(run("r1"), [observation("r1")])
        assert [one.model for one in store.observations()] == ["m"]


def test_an_add_is_whole_or_not_at_all(location: str) -> None:
    """The second of two equal rows breaks the key; the run that would hold them leaves no trace."""
    with HistoryStore(location) as store:
        store.add(run("r1"), [observation("r1")])
        with pytest.raises(Exception, match=r"UNIQUE|unique"):
            store.add(run("r2"), [observation("r2"), observation("r2")])
        assert [one.run for one in store.runs()] == ["r1"]
        assert [one.run for one in store.observations()] == ["r1"]


_ADD = """
import sys
from toolcert.history.store import HistoryStore
from toolcert.history.observation import Observation, StoredRun
with HistoryStore(sys.argv[1]) as store:
    for number in range(int(sys.argv[3])):
        name = f"{sys.argv[2]}-{number}"
        store.add(
            StoredRun(run=name, day="2026-01-02", started_at=1.0, source="probe"),
            [
                Observation(run=name, endpoint="e", model=f"m{n}", probe="p", day="2026-01-02", at=1.0)
                for n in range(40)
            ],
        )
        print(name, flush=True)
"""


def add_in_processes(location: str, names: list[str], runs: int) -> None:
    """A process for each name, all at once; each adds so many runs."""
    writers = [
        subprocess.Popen([sys.executable, "-c", _ADD, location, name, str(runs)], stdout=subprocess.DEVNULL)
        for name in names
    ]
    assert [writer.wait(240) for writer in writers] == [0] * len(names)


@pytest.mark.heavy
def test_eight_processes_at_once_lose_nothing(location: str) -> None:
    """They even create the store at the same time."""
    add_in_processes(location, [f"writer-{number}" for number in range(8)], 20)
    with HistoryStore(location) as store:
        assert len(store.runs()) == 160
        assert sum(1 for _ in store.observations()) == 160 * 40


@pytest.mark.heavy
def test_eight_processes_that_add_the_same_runs_at_once_add_each_once(location: str) -> None:
    """As jobs do that were started twice, and those that try again."""
    add_in_processes(location, ["same"] * 8, 20)
    with HistoryStore(location) as store:
        assert sorted(one.run for one in store.runs()) == sorted(f"same-{number}" for number in range(20))
        assert sum(1 for _ in store.observations()) == 20 * 40


@pytest.mark.heavy
def test_a_kill_in_the_middle_of_an_add_leaves_whole_runs(location: str) -> None:
    writer = subprocess.Popen([sys.executable, "-c", _ADD, location, "w", "5000"], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    said = [writer.stdout.readline().strip() for _ in range(5)]
    time.sleep(0.05)
    os.kill(writer.pid, signal.SIGKILL)
    writer.communicate()
    with HistoryStore(location) as store:
        names = {one.run for one in store.runs()}
        assert set(said) <= names
        counts = dict.fromkeys(names, 0)
        for one in store.observations():
            counts[one.run] += 1
        assert set(counts.values()) == {40}
        store.add(run("after"), [observation("after")])


def test_forgetting_drops_runs_by_their_day(location: str) -> None:
    with HistoryStore(location) as store:
        for day in ("2026-01-01", "2026-01-02", "2026-01-03"):
            store.add(run(day, day), [observation(day, day=day)])
        assert store.forget_before("2026-01-03") == 2
        assert [one.day for one in store.observations(findings=True)] == ["2026-01-03"]


def test_a_store_of_the_version_before_is_brought_up_to_date(location: str) -> None:
    with HistoryStore(location) as store:
        store.add(run("old"), [observation("old")])
    engine = open_engine(location)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE toolcert_observations DROP COLUMN first_token_p50"))
        connection.execute(text("ALTER TABLE toolcert_runs DROP COLUMN partial"))
        connection.execute(text("DROP TABLE toolcert_registry"))
        connection.execute(text("UPDATE toolcert_meta SET value = '1'"))
    bring_up_to_date(engine)
    engine.dispose()
    with HistoryStore(location) as store:
        assert list(store.observations(findings=True, originals=True)) == [observation("old")]
        assert [one.partial for one in store.runs()] == [False]
        store.keep_registry([{"model_id": "m"}])
        assert store.registry() == [{"model_id": "m"}]


def test_a_store_of_a_newer_toolcert_is_refused(location: str) -> None:
    engine = open_engine(location)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE toolcert_meta SET value = '{SCHEMA_VERSION + 1}'"))
    engine.dispose()
    with pytest.raises(InputError, match="Update toolcert"):
        HistoryStore(location)


def test_a_file_that_is_no_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, long enough to be no database at all" * 20)
    with pytest.raises(InputError, match=r"notes\.txt"):
        HistoryStore(str(path))


def test_a_password_in_the_address_is_never_shown() -> None:
    assert shown("postgresql://me:hunter22@db/x") == "postgresql://me:[secret]@db/x"
    with pytest.raises((InputError, ConfigurationError)) as caught:
        HistoryStore("postgresql://me:hunter22@127.0.0.1:1/x")
    assert "hunter22" not in str(caught.value)
