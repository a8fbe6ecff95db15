"""The recorded facts of tests/data: what they say, that they hold no text, and that they follow from the texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import facts
from support import recorded as files
from toolcert.verification.rejudgement import rejudged

ONLY_IN_TEXT = {"args.escaped"}
"""Findings about how a text is written, which its digest does not show."""


OF_REQUESTS = {"dataset.bad_schema": 1, "dataset.duplicate_tool": 4}
OF_THE_MODEL = {"args.empty": 3, "args.schema.required": 1, "transport.rejected": 1}


@pytest.mark.parametrize(
    ("run", "older", "ours", "findings"),
    [
        ("official-run1", (449, 4), (452, 1), OF_THE_MODEL),
        ("official-run2", (447, 4), (450, 1), OF_THE_MODEL | {"identity.model_differs": 511}),
        ("vendor-a", (434, 1), (434, 0), {"args.escaped": 22}),
    ],
)
def test_the_recorded_verdicts_by_both_rules(
    run: str, older: tuple[int, int], ours: tuple[int, int], findings: dict[str, int]
) -> None:
    rows = files.facts(run)
    for verdict, wanted in (("tool_calls_valid", older), ("valid_by_our_rules", ours)):
        counts = Counter(row[verdict] for row in rows)
        assert (counts[True], counts[False], counts.total()) == (*wanted, 512)
    assert Counter(code for row in rows for code in row["findings"]) == OF_REQUESTS | findings


@pytest.mark.sampled
@pytest.mark.parametrize("run", files.RUNS)
def test_judging_the_facts_gives_the_verdict_of_every_text(run: str, recorded: Path) -> None:
    """Digests stand for names and values, so a parameter that is missing in a text is missing here."""
    judged = {
        one.record.row.index: (one.record.row.valid, [finding.code for finding in one.record.detail.findings])
        for one in rejudged(recorded / f"vendor-results/{run}.jsonl")
        if one.record.row
    }
    assert judged == {
        row["data_index"]: (row["valid_by_our_rules"], [code for code in row["findings"] if code not in ONLY_IN_TEXT])
        for row in files.facts(run)
    }


def texts(value: Any) -> Iterator[str]:
    """All that a request or an answer says: its contents, names, descriptions and arguments."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("content", "name", "description", "arguments") and isinstance(inner, str):
                yield inner
            else:
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


@pytest.mark.parametrize("name", ["requests", *files.RUNS])
def test_no_text_is_recorded_but_its_digest(name: str) -> None:
    found = set(texts(files.facts(name)))
    assert len(found) > 500
    words = {word for text in found for word in re.findall(r'[^\s{}":,]+', text)}
    assert [word for word in words if not re.fullmatch("[0-9a-f]{10}", word)] == []


@pytest.mark.needs("material")
@pytest.mark.heavy
def test_the_facts_are_those_of_the_texts(material: Path) -> None:
    made = dict(facts.made(material))
    assert set(made) == set(files.names())
    assert [name for name, content in made.items() if files.content(name) != content] == []
