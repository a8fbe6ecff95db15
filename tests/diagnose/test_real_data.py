"""Public results of a real vendor and its copy: every finding on them is known and right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolcert.core.exchanges import Exchange, Reply
from toolcert.core.requests import Request
from toolcert.diagnose import examine, judge_calls

pytestmark = pytest.mark.needs("material")


def answered(material: Path, run: str) -> Iterator[tuple[int, Request, Reply]]:
    """The answered rows of a run, each read as if it came over the wire."""
    reading = pytest.importorskip("toolcert.protocol.reply")
    with (material / "data/vendor-results" / f"{run}.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["status"] == "success":
                request = Request(body=row["request"])
                payload = json.dumps(row["response"]).encode()
                exchange = Exchange(request=request, status=200, payload=payload)
                yield row["data_index"], request, reading.read_reply(exchange)


def all_found(material: Path, run: str) -> list[tuple[int, str]]:
    return [
        (index, finding.code)
        for index, request, reply in answered(material, run)
        for finding in examine(Exchange(request=request, status=200), reply)
    ]


def validity(material: Path, run: str) -> Counter[Any]:
    """How many answers with calls are valid, invalid, or not to be judged."""
    counts: Counter[Any] = Counter()
    for _, request, reply in answered(material, run):
        verdicts = {judgement.valid for judgement in judge_calls(request, reply)}
        if verdicts:
            counts[False if False in verdicts else None if None in verdicts else True] += 1
    return counts


def test_official_run_1(material: Path) -> None:
    assert all_found(material, "official-run1") == [
        (13, "args.empty"),
        (44, "args.empty"),
        (176, "args.schema.required"),
        (365, "args.empty"),
    ]
    assert validity(material, "official-run1") == {True: 452, False: 1}


def test_official_run_2_answered_as_another_model(material: Path) -> None:
    counts = Counter(code for _, code in all_found(material, "official-run2"))
    assert counts == {"identity.model_differs": 511, "args.empty": 3, "args.schema.required": 1}


def test_vendor_a(material: Path) -> None:
    """Row 344 is the dataset's own fault; the vendor escapes Chinese in some calls, which is a note."""
    found = all_found(material, "vendor-a")
    assert Counter(code for _, code in found) == {"args.escaped": 22, "dataset.bad_schema": 1}
    assert (344, "dataset.bad_schema") in found
    assert validity(material, "vendor-a") == {True: 434, None: 1}
