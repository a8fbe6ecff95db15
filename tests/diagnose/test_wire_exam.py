"""Recorded exchanges with real vendors: no error is found in them that a person who reads the answer would not find."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Finding, Severity
from toolcert.core.requests import Request
from toolcert.diagnose import examine
from toolcert.protocol.reply import read_reply

pytestmark = pytest.mark.needs("material")

ERRORS: dict[tuple[str, int, str], str] = {}
"""Every error in the recordings (file, number, code), with the reason why it is right. None of the 296 has one."""
WARNINGS = {
    "finish.repeated": "the gateway's last chunk, which brings the usage, says the finish reason once more",
    "stream.framing": "the id of the stream changes from the gateway's to the backend's with the second chunk",
}
"""Kinds of warnings in the recordings, with what is really there."""
NOTES = {
    "identity.alias": "claude-haiku-4.5 answers as claude-4.5-haiku-20251001, grok-4-fast as grok-4-fast-reasoning",
    "stream.framing": "the role comes with every chunk",
    "stream.one_piece": "short arguments come whole",
}


def chat_exchanges(material: Path) -> Iterator[tuple[dict[str, Any], Exchange]]:
    with lzma.open(material / "data/wire-exam/fantasy.jsonl.xz", "rt", encoding="utf-8") as lines:
        for recorded in map(json.loads, lines):
            if recorded["kind"] == "chat":
                yield (
                    recorded,
                    Exchange(
                        request=Request(body=recorded["rq"]),
                        url=recorded["url"],
                        status=recorded["status"],
                        headers={"content-type": recorded["ct"]},
                        payload=recorded["body"].encode(),
                        event_stream=recorded["ct"].startswith("text/event-stream"),
                    ),
                )


@pytest.fixture(scope="module")
def findings(material: Path) -> list[tuple[str, int, Finding]]:
    return [
        (recorded["file"], recorded["i"], found)
        for recorded, exchange in chat_exchanges(material)
        for found in examine(exchange, read_reply(exchange))
    ]


def test_all_exchanges_are_judged(material: Path) -> None:
    assert sum(1 for _ in chat_exchanges(material)) == 296


def test_every_error_is_read_and_defended(findings: list[tuple[str, int, Finding]]) -> None:
    errors = {(file, place, one.code) for file, place, one in findings if one.severity is Severity.ERROR}
    assert errors == set(ERRORS)


def test_warnings_and_notes_are_of_known_kinds(findings: list[tuple[str, int, Finding]]) -> None:
    kinds = Counter((one.severity, one.code) for _, _, one in findings)
    assert {code for severity, code in kinds if severity is Severity.WARNING} == set(WARNINGS)
    assert {code for severity, code in kinds if severity is Severity.NOTE} == set(NOTES)


def test_no_recorded_vendor_answers_as_another_model(findings: list[tuple[str, int, Finding]]) -> None:
    """One answer in six gives another name of the same model; not one comes from another model."""
    counts = Counter(one.code for _, _, one in findings)
    assert (counts["identity.alias"], counts["identity.model_differs"]) == (52, 0)
