"""The history in our own form: one observation a line as JSON, or a Parquet file."""

from __future__ import annotations

from pathlib import Path

import msgspec

from toolcert.core.errors import MissingExtraError, install_line
from toolcert.history import tables
from toolcert.history.observation import Observation
from toolcert.history.store import HistoryStore
from toolcert.runs.files import write_whole


def export_jsonl(store: HistoryStore, path: Path, *, since: str | None = None) -> int:
    """Every observation with its findings, one a line; says how many."""
    found = store.observations(since=since, findings=True, originals=True)
    lines = [msgspec.json.encode(msgspec.structs.asdict(one)) + b"\n" for one in found]
    write_whole(path, lines)
    return len(lines)


def export_parquet(store: HistoryStore, path: Path, *, since: str | None = None) -> int:
    """Every observation as a row of a Parquet file; nested values as JSON text."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise MissingExtraError("Parquet needs pyarrow.", remedy=install_line("parquet")) from None
    rows = [_flat(one) for one in store.observations(since=since, findings=True, originals=True)]
    kinds = {int: arrow.int64(), float: arrow.float64()}
    columns = [(column.name, kinds.get(column.type.python_type, arrow.string())) for column in tables.observations.c]
    table = arrow.Table.from_pylist(rows, schema=arrow.schema([*columns, ("findings", arrow.string())]))
    file = arrow.BufferOutputStream()
    parquet.write_table(table, file)
    write_whole(path, [file.getvalue()])
    return len(rows)


def _flat(one: Observation) -> dict[str, object]:
    return {
        name: msgspec.json.encode(value).decode() if isinstance(value, dict | tuple) else value
        for name, value in msgspec.structs.asdict(one).items()
    }
