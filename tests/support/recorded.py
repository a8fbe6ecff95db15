"""The recorded facts of tests/data, unpacked into the files that the older tools write."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "data"
FOLDERS = ("watsonx-history", "vendor-results", "older-pages")
RUNS = ("official-run1", "official-run2", "vendor-a")


def content(name: str) -> bytes:
    """What a file of tests/data holds; its name is given without `.xz`."""
    return lzma.decompress((DATA / f"{name}.xz").read_bytes())


def names() -> list[str]:
    """The files of tests/data that hold recorded facts, without `.xz`."""
    return [f"{folder}/{path.stem}" for folder in FOLDERS for path in sorted((DATA / folder).glob("*.xz"))]


def facts(run: str) -> list[dict[str, Any]]:
    """The rows of a run; what was asked is in the requests, under the same number."""
    return [json.loads(line) for line in content(f"vendor-results/{run}.jsonl").splitlines()]


def unpack(folder: Path) -> None:
    """Put all files where the tests look for them; the rows of a run get their requests."""
    for name in names():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content(name))
    requests = facts("requests")
    for run in RUNS:
        rows = [row | {"request": requests[row["data_index"] - 1] | row["request"]} for row in facts(run)]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"vendor-results/{run}.jsonl").write_text(lines, encoding="utf-8")
