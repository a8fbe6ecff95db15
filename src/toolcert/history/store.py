"""Read and write the history: finished runs by day, model and probe."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
from sqlalchemy import Connection, Row, case, delete, func, select

from toolcert.core.errors import InputError
from toolcert.core.findings import Severity
from toolcert.core.values import JsonObject
from toolcert.history import database
from toolcert.history.database import is_url, open_engine, transaction
from toolcert.history.observation import Observation, SeenFinding, Shortcomings, Span, StoredRun

_BATCH = 500
"""Rows per INSERT statement; well below the limits of databases on parameters."""


class HistoryStore:
    """The history of finished runs; use it as a context manager."""

    def __init__(self, location: str) -> None:
        self._engine = open_engine(location)

    @classmethod
    def existing(cls, location: str) -> Self:
        """Open a store that must exist: reading under a misspelt name must not create an empty file."""
        if not is_url(location) and not Path(location).exists():
            raise InputError(
                f"there is no history at {location}.",
                remedy="Give its name with --history, or start one with --save-history or `toolcert history add RUN`.",
            )
        return cls(location)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._engine.dispose()

    def add(self, run: StoredRun, observations: Iterable[Observation]) -> None:
        """Add a run in one transaction. A run that is already stored is replaced."""
        self.add_all([(run, observations)])

    def add_all(self, runs: Iterable[tuple[StoredRun, Iterable[Observation]]]) -> None:
        """Add several runs in one transaction."""
        with transaction(self._engine, write=True) as connection:
            for run, observations in runs:
                _replace(connection, run, list(observations))

    def runs(self, since: str | None = None) -> list[StoredRun]:
        """The runs since a day, oldest first."""
        query = select(database.runs).order_by(database.runs.c.started_at)
        if since is not None:
            query = query.where(database.runs.c.day >= since)
        with transaction(self._engine, write=False) as connection:
            return [StoredRun(**_fields(row)) for row in connection.execute(query)]

    def observations(
        self,
        *,
        model: str | None = None,
        models: Collection[str] | None = None,
        endpoint: str | None = None,
        probe: str | None = None,
        runs: Collection[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        findings: bool = False,
        originals: bool = False,
    ) -> Iterator[Observation]:
        """Matching observations, oldest first; with their findings and original CSV rows on request."""
        table = database.observations
        columns = [column for column in table.c if originals or column.name != "original"]
        query = select(*columns).order_by(table.c.at, table.c.endpoint, table.c.model, table.c.probe)
        for column, value in ((table.c.model, model), (table.c.endpoint, endpoint), (table.c.probe, probe)):
            if value is not None:
                query = query.where(column == value)
        for column, values in ((table.c.model, models), (table.c.run, runs)):
            if values is not None:
                query = query.where(column.in_(values))
        if since is not None:
            query = query.where(table.c.day >= since)
        if until is not None:
            query = query.where(table.c.day <= until)
        with transaction(self._engine, write=False) as connection:
            seen = _findings(connection, since) if findings else {}
            names = [str(column.name) for column in columns]  # SQLAlchemy has a type of text of its own
            # In batches and without one mapping object per row: a report may read years of many models.
            for part in connection.execute(query).partitions(_BATCH):
                for row in part:
                    found = tuple(seen.get((row.run, row.endpoint, row.model, row.probe), ())) if seen else ()
                    one = msgspec.convert(dict(zip(names, row, strict=True)), Observation)
                    if one.called > one.callable or one.handled > one.handleable:
                        raise ValueError(f"more calls of {one.model} were right than were made")
                    yield msgspec.structs.replace(one, findings=found) if found else one

    def sightings(
        self, *, models: Collection[str], since: str, until: str
    ) -> list[tuple[str, Severity, str, str, int]]:
        """How often each finding was seen: code, severity, day, model, count."""
        table, runs = database.findings, database.runs
        query = (
            select(table.c.code, table.c.severity, runs.c.day, table.c.model, func.sum(table.c.count))
            .join(runs, runs.c.run == table.c.run)
            .where(runs.c.day.between(since, until), table.c.model.in_(models))
            .group_by(table.c.code, table.c.severity, runs.c.day, table.c.model)
        )
        with transaction(self._engine, write=False) as connection:
            return [
                (code, Severity(severity), day, model, int(number))
                for code, severity, day, model, number in connection.execute(query)
            ]

    def shortcomings(
        self, *, models: Collection[str], since: str, until: str, probe: str | None = None
    ) -> dict[tuple[str, str, str], Shortcomings]:
        """By endpoint, model and day: what counts against the model in all probes, or in one.

        Imported rows have only rates: what their texts suggest was not reproduced.
        """
        table, found, runs = database.observations, database.findings, database.runs
        keys = (table.c.endpoint, table.c.model, table.c.day)
        counts = [func.sum(table.c[name]) for name in ("passed", "failed", "unsupported", "not_measured")]
        rates = select(*keys, table.c.probe, *counts).group_by(*keys, table.c.probe)
        rates = rates.where(table.c.day.between(since, until), table.c.model.in_(models))
        errors = (
            select(found.c.endpoint, found.c.model, runs.c.day, found.c.probe, found.c.code, func.sum(found.c.count))
            .join(runs, runs.c.run == found.c.run)
            .where(runs.c.day.between(since, until), found.c.model.in_(models), runs.c.source != "csv")
            .where(found.c.severity == Severity.ERROR.value)
            .group_by(found.c.endpoint, found.c.model, runs.c.day, found.c.probe, found.c.code)
        )
        if probe is not None:
            rates, errors = rates.where(table.c.probe == probe), errors.where(found.c.probe == probe)
        days: dict[tuple[str, str, str], Shortcomings] = {}
        with transaction(self._engine, write=False) as connection:
            for endpoint, model, day, name, *numbers in connection.execute(rates):
                days.setdefault((endpoint, model, day), Shortcomings()).add_rate(name, *map(int, numbers))
            for endpoint, model, day, name, code, number in connection.execute(errors):
                days.setdefault((endpoint, model, day), Shortcomings()).add_error(name, code, int(number))
        return days

    def forget_before(self, day: str) -> int:
        """Delete the runs before a day and return their number."""
        with transaction(self._engine, write=True) as connection:
            old = list(connection.execute(select(database.runs.c.run).where(database.runs.c.day < day)).scalars())
            for run in old:
                _remove(connection, run)
        return len(old)

    def keep_registry(self, rows: Iterable[JsonObject]) -> None:
        """Store rows of an imported models_registry.csv unchanged."""
        with transaction(self._engine, write=True) as connection:
            for row in rows:
                model = row["model_id"]
                connection.execute(delete(database.registry).where(database.registry.c.model == model))
                connection.execute(database.registry.insert().values(model=model, original=row))

    def registry(self) -> list[JsonObject]:
        """The imported rows of models_registry.csv."""
        with transaction(self._engine, write=False) as connection:
            return list(connection.execute(select(database.registry.c.original)).scalars())

    def spans(self, probe: str) -> dict[tuple[str, str], Span]:
        """By endpoint and model: the days it was first seen, last seen, and first called a tool."""
        table = database.observations
        called = case((table.c.called > 0, table.c.day))
        query = (
            select(
                table.c.endpoint,
                table.c.model,
                func.min(table.c.day).label("first_seen"),
                func.max(table.c.day).label("last_seen"),
                func.min(called).label("first_called"),
            )
            .where(table.c.probe == probe)
            .group_by(table.c.endpoint, table.c.model)
        )
        with transaction(self._engine, write=False) as connection:
            return {
                (row.endpoint, row.model): Span(
                    first_seen=row.first_seen, last_seen=row.last_seen, first_called=row.first_called
                )
                for row in connection.execute(query)
            }

    def best_probe(self, preferred: Sequence[str], day: str) -> str:
        """The first preferred probe that was run on the last day up to `day`, else the most frequent one then."""
        table = database.observations
        last = select(func.max(table.c.day)).where(table.c.day <= day).scalar_subquery()
        query = select(table.c.probe, func.count().label("number")).where(table.c.day == last).group_by(table.c.probe)
        with transaction(self._engine, write=False) as connection:
            counts = {row.probe: row.number for row in connection.execute(query)}
        known = [probe for probe in preferred if probe in counts]
        return known[0] if known else max(counts, key=lambda probe: counts[probe], default=preferred[0])

    def last_day(self, endpoint: str | None = None) -> str | None:
        """The newest day with a run, of all endpoints or of one."""
        query = select(func.max(database.runs.c.day))
        if endpoint is not None:
            query = select(func.max(database.observations.c.day)).where(database.observations.c.endpoint == endpoint)
        with transaction(self._engine, write=False) as connection:
            day: str | None = connection.execute(query).scalar()
            return None if day is None else date.fromisoformat(day).isoformat()


def _replace(connection: Connection, run: StoredRun, observations: list[Observation]) -> None:
    database.lock_run(connection, run.run)
    _remove(connection, run.run)
    connection.execute(database.runs.insert().values(**msgspec.structs.asdict(run)))
    rows = [_row(observation) for observation in observations]
    seen = [_seen(observation, found) for observation in observations for found in observation.findings]
    for table, values in ((database.observations, rows), (database.findings, seen)):
        for start in range(0, len(values), _BATCH):
            connection.execute(table.insert(), values[start : start + _BATCH])


def _remove(connection: Connection, run: str) -> None:
    for table in (database.findings, database.observations, database.runs):
        connection.execute(delete(table).where(table.c.run == run))


def _row(observation: Observation) -> dict[str, Any]:
    fields = msgspec.structs.asdict(observation)
    del fields["findings"]
    return fields


def _seen(observation: Observation, found: SeenFinding) -> dict[str, Any]:
    place = {name: getattr(observation, name) for name in ("run", "endpoint", "model", "probe")}
    return {**place, **msgspec.structs.asdict(found), "severity": found.severity.value}


def _findings(connection: Connection, since: str | None) -> dict[tuple[str, ...], list[SeenFinding]]:
    table = database.findings
    query = select(table)
    if since is not None:
        query = query.join(database.runs, database.runs.c.run == table.c.run).where(database.runs.c.day >= since)
    seen: dict[tuple[str, ...], list[SeenFinding]] = {}
    for row in connection.execute(query):
        fields = _fields(row)
        kept = {name: fields[name] for name in ("code", "count", "evidence")}
        found = SeenFinding(severity=Severity(fields["severity"]), **kept)
        seen.setdefault((row.run, row.endpoint, row.model, row.probe), []).append(found)
    return seen


def _fields(row: Row[Any]) -> dict[str, Any]:
    return dict(row._mapping)
