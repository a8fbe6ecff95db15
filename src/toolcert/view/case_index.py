"""The index of a run: its cases as rows of SQLite with a full-text search, kept in the user's cache.

It is made from the log alone, grows as the log grows, and is made again when the log is not the one that it knows.
Several viewers may share one: each step of growth is one transaction that begins where the last one ended.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import time
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from toolcert.core.records import Record
from toolcert.core.values import Value
from toolcert.protocol.unicode import NOT_JSON, well_formed
from toolcert.runs.encoding import decode_head
from toolcert.runs.reader import GONE, settled
from toolcert.runs.writer import RECORDS
from toolcert.view.case_text import called_tools, text_of
from toolcert.view.search_query import LABELS, ORDERS, Condition, spaced

LAYOUT = 2
"""Version of the tables; an index of another one is made again."""
BATCH = 1000
"""Lines of one transaction: others wait for it."""
MOST_LABELS = 64
"""Tools or tags of one case that can be searched."""
LONGEST = 300
"""Characters of a name or reason in the list."""
MOST_FACETS = 200
"""Words of a field that are counted for display."""
KEPT_RESULTS = 16
BUSY_SECONDS = 30.0
"""How long to wait for another thread or viewer that writes."""
_PROOF = 512
"""Bytes before the place where growth goes on; they prove that the log is still the same."""
# A case that is entered again gets an id that was never used: the text of its earlier line stays under the old one.
_TABLES = """
CREATE TABLE facts(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE cases(
  id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, place INTEGER, start INTEGER, size INTEGER, settled INTEGER,
  name TEXT, endpoint TEXT, model TEXT, probe TEXT, iteration INTEGER, outcome TEXT, reason TEXT, codes TEXT,
  tools TEXT, seconds REAL, first_token REAL, tokens_in INTEGER, tokens_out INTEGER, attempts INTEGER,
  finish TEXT, called INTEGER, at REAL);
CREATE UNIQUE INDEX case_lines ON cases(start);
CREATE INDEX case_places ON cases(place);
CREATE INDEX case_seconds ON cases(seconds, place);
CREATE TABLE words(id INTEGER PRIMARY KEY, kind INTEGER, value TEXT, UNIQUE(kind, value));
CREATE TABLE labels(case_id INTEGER, label INTEGER, PRIMARY KEY(case_id, label)) WITHOUT ROWID;
CREATE INDEX label_cases ON labels(label, case_id);
CREATE VIRTUAL TABLE texts USING fts5(body, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2');
"""
COLUMNS = (
    "id",
    "key",
    "place",
    "name",
    "endpoint",
    "model",
    "probe",
    "iteration",
    "outcome",
    "reason",
    "codes",
    "tools",
    "seconds",
    "first_token",
    "tokens_in",
    "tokens_out",
    "attempts",
    "finish",
    "called",
    "at",
)
_INSERT = f"""INSERT INTO cases(key, place, start, size, settled, name, endpoint, model, probe, iteration, outcome,
 reason, codes, tools, seconds, first_token, tokens_in, tokens_out, attempts, finish, called, at)
 VALUES ({", ".join("?" * 22)})"""  # noqa: S608 - columns of our own

_COVERED = """SELECT key FROM cases WHERE key = ?
 OR (key >= ? AND key < ? AND probe IS NOT NULL AND outcome != 'passed')"""  # "0" follows "/"


class IndexState(Value):
    """How far an index has come."""

    cases: int = 0
    lines: int = 0
    damaged: int = 0
    """Lines that are not records."""
    size: int = 0
    """Bytes of the log that are listed."""
    searchable: int = 0
    """Bytes of the log whose text can be searched."""
    seconds: float = 0.0
    """What it took to make."""


class CaseIndex:
    """The index of one run folder."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.log = folder / RECORDS
        name = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self.path = cache / f"{name}.sqlite"
        self._results: OrderedDict[tuple[Condition, str, int], array[int]] = OrderedDict()
        self._lock = Lock()

    def grow(self, most: float = 0.25) -> bool:
        """Take in what the log has gained, for about this many seconds; whether there is more to do."""
        until = time.monotonic() + most
        with self._guarded() as database:
            while self._step(database):
                if time.monotonic() >= until:
                    return True
        return False

    def state(self) -> IndexState:
        """How far it has come."""
        with self._guarded() as database:
            return _state(database)

    def found(self, condition: Condition, order: str = "place") -> array[int]:
        """The ids of all cases that fit, in order: `latency`, or `-latency` for the largest first."""
        with self._guarded() as database:
            version = _state(database).lines
            wanted = (condition, order, version)
            with self._lock:
                if wanted in self._results:
                    self._results.move_to_end(wanted)
                    return self._results[wanted]
            column, way = ORDERS.get(order.lstrip("-"), "place"), "DESC" if order.startswith("-") else "ASC"
            ids = array("q")
            for known_only, order_by in (
                ("NOT NULL", f"{column} {way}, place"),
                ("NULL", "place"),
            ):  # missing ones last
                sql = f"SELECT id FROM cases WHERE ({condition.sql}) AND {column} IS {known_only} ORDER BY {order_by}"  # noqa: S608 - columns of our own
                ids.extend(row[0] for row in database.execute(sql, condition.values))
            with self._lock:
                self._results[wanted] = ids
                while len(self._results) > KEPT_RESULTS:
                    self._results.popitem(last=False)
            return ids

    def rows(self, ids: Sequence[int]) -> list[dict[str, Any]]:
        """Cases of the list, in the order of `ids`."""
        marks = ", ".join("?" * len(ids))
        with self._guarded() as database:
            sql = f"SELECT {', '.join(COLUMNS)} FROM cases WHERE id IN ({marks})"  # noqa: S608 - columns of our own
            rows = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in database.execute(sql, tuple(ids))}
        return [rows[one] for one in ids if one in rows]

    def facets(self, ids: array[int] | None) -> dict[str, list[tuple[str, int]]]:
        """How often each word occurs in these cases, most frequent first; None means all cases."""
        sql = "SELECT kind, value, counted FROM (SELECT label, COUNT(*) AS counted FROM labels {} GROUP BY label)"
        sql += " JOIN words ON words.id = label ORDER BY kind, counted DESC, value"
        with self._guarded() as database:
            if ids is not None:
                database.execute("CREATE TEMP TABLE hits(id INTEGER PRIMARY KEY)")
                database.executemany("INSERT INTO temp.hits VALUES (?)", zip(ids, strict=False))
            only = "" if ids is None else "WHERE case_id IN temp.hits"
            facets: dict[str, list[tuple[str, int]]] = {name: [] for name in LABELS}
            for kind, value, counted in database.execute(sql.format(only)):
                facet = facets[LABELS[kind]]
                if len(facet) < MOST_FACETS:
                    facet.append((value, counted))
        return facets

    def by_model(self) -> list[tuple[str, str, str, int, float | None]]:
        """Endpoint, model, outcome, cases and mean seconds, for runs that are not finished."""
        sql = (
            "SELECT endpoint, model, outcome, COUNT(*), AVG(seconds) FROM cases"
            " GROUP BY endpoint, model, outcome ORDER BY MIN(id)"
        )
        with self._guarded() as database:
            return list(database.execute(sql))

    def line(self, key: str) -> bytes | None:
        """The line of the log that counts for a case."""
        with self._guarded() as database:
            place = database.execute("SELECT start, size FROM cases WHERE key = ?", (key,)).fetchone()
        if place is None:
            return None
        with self.log.open("rb") as file:
            file.seek(place[0])
            return file.read(place[1])

    def covered(self, marked: Iterable[str]) -> frozenset[str]:
        """The keys of these cases; the beginning of keys, up to a slash, stands for all below it that did not pass."""
        found: set[str] = set()
        with self._guarded() as database:
            for case in marked:
                found.update(key for (key,) in database.execute(_COVERED, (case, f"{case}/", f"{case}0")))
        return frozenset(found)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        """A connection; a damaged index is made again by the next call."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        opened = _file_number(self.path)
        try:
            _prepare(database)
            yield database
        except sqlite3.DatabaseError as error:
            same = opened is not None and _file_number(self.path) == opened  # others may have made it again
            database.close()
            if same and not _is_busy(error):
                _discard(self.path)
            raise
        finally:
            database.close()

    def _step(self, database: sqlite3.Connection) -> bool:
        """Take in one batch: first all cases, because the list shows them, then their texts."""
        begun = time.monotonic()
        database.execute("BEGIN IMMEDIATE")
        try:
            self._forget_another_log(database)
            state = _state(database)
            grown = self._list(database, state) or self._read_texts(database, state)
            if grown:
                _note(database, seconds=state.seconds + time.monotonic() - begun)
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
        return grown

    def _forget_another_log(self, database: sqlite3.Connection) -> None:
        """Empty the tables if the log was replaced: by a run with --fresh, or because rows were taken out."""
        state = _state(database)
        known = database.execute("SELECT value FROM facts WHERE name = 'proof'").fetchone()
        if state.size and (known is None or known[0] != self._proof(state.size)):
            for table in ("cases", "words", "labels", "facts"):
                database.execute(f"DELETE FROM {table}")  # noqa: S608 - tables of our own
            database.execute("INSERT INTO texts(texts) VALUES ('delete-all')")
            _note(database, layout=LAYOUT)

    def _proof(self, end: int) -> str:
        return hashlib.sha256(b"".join(self._bytes(max(0, end - _PROOF), end))).hexdigest()

    def _bytes(self, start: int, end: int) -> Iterator[bytes]:
        if self.log.exists():
            with self.log.open("rb") as file:
                file.seek(start)
                yield file.read(end - start)

    def _lines(self, start: int) -> Iterator[bytes]:
        """At most a batch of whole lines."""
        if not self.log.exists():
            return
        with self.log.open("rb") as file:
            file.seek(start)
            for _ in range(BATCH):
                line = file.readline()
                if not line.endswith(b"\n"):
                    return
                yield line

    def _list(self, database: sqlite3.Connection, state: IndexState) -> bool:
        start, lines, damaged, cases = state.size, state.lines, state.damaged, state.cases
        entries = _Entries(database)
        for line in self._lines(start):
            try:
                cases += entries.enter(decode_head(line), start, len(line), lines)
            except NOT_JSON:
                damaged += 1
            start += len(line)
            lines += 1
        if start == state.size:
            return False
        _note(database, size=start, cases=cases, lines=lines, damaged=damaged, proof=self._proof(start))
        return True

    def _read_texts(self, database: sqlite3.Connection, state: IndexState) -> bool:
        start, entries = state.searchable, _Entries(database)
        for line in self._lines(start):
            known = database.execute("SELECT id, probe FROM cases WHERE start = ?", (start,)).fetchone()
            if known is not None:
                if known[1] is not None:  # its head does not name the tools that a probe saw called
                    entries.label(known[0], ((LABELS.index("tool"), name) for name in called_tools(line)))
                database.execute("INSERT INTO texts(rowid, body) VALUES (?, ?)", (known[0], spaced(text_of(line))))
            start += len(line)
        if start == state.searchable:
            return False
        _note(database, searchable=start)
        return True


def _prepare(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA cache_size = -8000")
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("PRAGMA synchronous = OFF")  # what a power cut costs can be made again
    if database.execute("PRAGMA user_version").fetchone()[0] == LAYOUT:
        return
    _use_write_ahead_log(database)
    database.execute("BEGIN IMMEDIATE")
    try:
        if database.execute("PRAGMA user_version").fetchone()[0] != LAYOUT:
            for kind, name in list(database.execute("SELECT type, name FROM sqlite_master WHERE sql LIKE 'CREATE%'")):
                if kind == "table" and not name.startswith(("sqlite_", "texts_")):
                    database.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in filter(str.strip, _TABLES.split(";")):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {LAYOUT}")
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _use_write_ahead_log(database: sqlite3.Connection) -> None:
    """SQLite does not wait here for one that writes, whatever its timeout: it may be making the same index."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _is_busy(error: sqlite3.DatabaseError) -> bool:
    return "locked" in str(error) or "locking protocol" in str(error)


def _file_number(path: Path) -> int | None:
    with contextlib.suppress(OSError):
        return path.stat().st_ino
    return None


def _discard(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(OSError):
            path.with_name(path.name + ending).unlink()


def _state(database: sqlite3.Connection) -> IndexState:
    facts = dict(database.execute("SELECT name, value FROM facts"))
    return IndexState(**{name: facts[name] for name in IndexState.__struct_fields__ if name in facts})


def _note(database: sqlite3.Connection, **facts: Any) -> None:
    database.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())


class _Entries:
    """Enters records; the number of each label is remembered for one batch."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._known: dict[tuple[int, str], int] = {}

    def enter(self, record: Record, start: int, size: int, number: int) -> bool:
        """Enter a record, and say whether its case is new; of several lines of one the last settled counts."""
        if record.row is not None and record.row.index == GONE:
            return False
        key = well_formed(record.case)
        execute = self._database.execute
        before = execute("SELECT id, settled, place FROM cases WHERE key = ?", (key,)).fetchone()
        if before is not None:
            if before[1] and not settled(record):
                return False
            execute("DELETE FROM cases WHERE id = ?", (before[0],))
            execute("DELETE FROM labels WHERE case_id = ?", (before[0],))
        place = number + 1 if before is None else before[2]
        made = execute(_INSERT, (key, *_values(record, place, start, size))).lastrowid
        self.label(made, _labels(record))
        return before is None

    def label(self, case: int | None, words: Iterable[tuple[int, str]]) -> None:
        """Say what a case can be found by."""
        labels = {self._label(kind, _short(word)) for kind, word in words}
        self._database.executemany("INSERT INTO labels VALUES (?, ?)", ((case, label) for label in labels))

    def _label(self, kind: int, value: str) -> int:
        known = self._known.get((kind, value))
        if known is None:
            self._database.execute("INSERT OR IGNORE INTO words(kind, value) VALUES (?, ?)", (kind, value))
            row = self._database.execute("SELECT id FROM words WHERE kind = ? AND value = ?", (kind, value)).fetchone()
            known = self._known[kind, value] = row[0]
        return known


def _values(record: Record, place: int, start: int, size: int) -> tuple[Any, ...]:
    row, probe = record.row, record.probe
    seconds = row.seconds if row else (sum(probe.seconds) if probe and probe.seconds else None)
    names = row.names if row else ()
    return (
        place if row is None or _whole(row.index) is None else row.index,
        start,
        size,
        settled(record),
        _short(row.id) if row and row.id is not None else None,
        _short(record.endpoint),
        _short(record.model),
        _short(probe.probe) if probe else None,
        _whole(probe.iteration) if probe else None,
        record.outcome.value,
        _short(record.reason),
        "\n".join(_short(code) for code in record.codes[:MOST_LABELS]),
        "\n".join(_short(name) for name in dict.fromkeys(names[:MOST_LABELS])),
        seconds,
        row.first_token if row else probe.first_token if probe else None,
        _whole(row.prompt_tokens if row else probe.tokens_in or None if probe else None),
        _whole(row.completion_tokens if row else probe.tokens_out if probe and probe.tokens_in else None),
        _whole(row.attempts if row else probe.requests if probe else None),
        _short(row.finish) if row and row.finish is not None else None,
        None if (called := row.called if row else probe.called if probe else None) is None else int(called),
        record.at,
    )


def _labels(record: Record) -> Iterator[tuple[int, str]]:
    row, probe = record.row, record.probe
    words = {
        "outcome": [record.outcome.value],
        "finding": record.codes,
        "tool": (row.names or row.offered) if row else (),
        "tag": row.tags if row else (),
        "model": [record.model],
        "endpoint": [record.endpoint],
        "probe": [probe.probe] if probe else (),
        "finish": [row.finish] if row and row.finish is not None else (),
    }
    for kind, name in enumerate(LABELS):
        for word in words[name][:MOST_LABELS]:
            yield kind, word


def _short(text: str, most: int = LONGEST) -> str:
    short: str = well_formed(text[:most])
    return short


def _whole(number: int | None) -> int | None:
    """A number that SQLite can hold."""
    return number if number is None or abs(number) < 1 << 62 else None
