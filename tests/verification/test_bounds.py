"""What is huge takes bounded memory and time, or is refused with a sentence."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import msgspec
import pytest
import zstandard

from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError
from toolcert.core.exchanges import Exchange
from toolcert.core.records import Detail, Manifest, Record, RowFacts
from toolcert.core.requests import Request
from toolcert.core.targets import ModelInfo
from toolcert.endpoints.model_selection import Patterns, choose
from toolcert.reports.console.style import Screen
from toolcert.reports.display_text import listed
from toolcert.reports.verify.console import print_verify
from toolcert.runs.encoding import CUT_TO, MOST_KEPT, Keep, decode_record, decode_replies, encode_record
from toolcert.verification.dataset.source import LONGEST_LINE, Source
from toolcert.verification.summary.tally import Tally, summary_of

MANY = 50_000


def record(index: int, names: tuple[str, ...]) -> Record:
    row = RowFacts(
        index=index,
        content="c",
        called=True,
        names=names,
        verdicts=(True,) * len(names),
        valid=True,
        seconds=0.1,
        tags=names[:1],
    )
    return Record(case=str(index), endpoint="e", model="m", outcome=Outcome.PASSED, row=row, at=1.0)


def timed(started: float) -> float:
    return time.process_time() - started


@pytest.mark.heavy
def test_fifty_thousand_tool_names_in_one_answer_take_seconds() -> None:
    started = time.process_time()
    tally = Tally()
    tally.add(record(1, tuple(f"tool_{number}" for number in range(MANY))))
    assert len(tally.settle().tools.result()) < MANY
    assert timed(started) < 5


@pytest.mark.heavy
def test_fifty_thousand_answers_with_a_tool_of_their_own_take_seconds() -> None:
    started = time.process_time()
    tally = Tally()
    for number in range(MANY):
        tally.add(record(number, (f"tool_{number}",)))
    assert sum(line.called for line in tally.settle().tools.result()) == MANY
    assert timed(started) < 10


def test_a_vendor_that_ends_each_answer_for_another_reason_fills_neither_memory_nor_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tally = Tally()
    for number in range(1000):
        one = record(number, ("tool",))
        assert one.row is not None
        row = msgspec.structs.replace(one.row, finish=f"{number} {'x' * 1000}")
        tally.add(msgspec.structs.replace(one, row=row))
    manifest = Manifest(run="r", job="verify", started_at=1.0, toolcert="0", finished_at=2.0)
    summary = summary_of(tally, manifest)
    assert len(summary.finish) < 300
    print_verify(summary, Screen())
    assert len(capsys.readouterr().out) < 5000


@pytest.mark.parametrize("name", ["²", "9" * 5000, "9" * 5000 + " tools", "٣", ""])
def test_a_tool_may_have_any_name(name: str) -> None:
    tally = Tally()
    tally.add(record(1, (name,)))
    tally.settle()
    assert [line.name for line in tally.tools.result()] == [name]
    assert name in {line.value for line in tally.slices.result()}


@pytest.mark.heavy
def test_a_hundred_thousand_models_are_chosen_from_in_seconds() -> None:
    started = time.process_time()
    listed = [ModelInfo(id=f"model-{number}", can_chat=number % 2 == 0) for number in range(2 * MANY)]
    chosen = choose("e", listed, Patterns(["model-*"]), Patterns(["*-7"]))
    assert (len(chosen.asked), len(chosen.unsupported)) == (MANY, MANY - 1)
    assert timed(started) < 5


def blocks_of(size: int, block: bytes = b"a" * (1 << 20)) -> list[bytes]:
    return [block] * (size // len(block))


@pytest.mark.heavy
@pytest.mark.parametrize("packed", ["gzip", "zstd"])
def test_a_packed_line_without_end_is_refused_with_a_sentence(packed: str, tmp_path: Path) -> None:
    """The archive is small, and refused before it is unpacked."""
    file = tmp_path / "bomb.jsonl"
    line = [b'{"messages": []}\n{"messages": "', *blocks_of(3 * LONGEST_LINE)]
    if packed == "gzip":
        with gzip.open(file, "wb", compresslevel=1) as archive:
            archive.writelines(line)
    else:
        with file.open("wb") as raw, zstandard.ZstdCompressor().stream_writer(raw) as stream:
            for block in line:
                stream.write(block)
    assert file.stat().st_size < LONGEST_LINE // 50
    source = Source(str(file))
    assert source.count() == 1
    with pytest.raises(InputError, match=r"line 2 of the dataset .*bomb.jsonl is longer than 64 MiB"):
        list(source.lines())


def kept(payload: bytes, keep: Keep) -> tuple[bytes, Record]:
    exchange = Exchange(request=Request(body={"stream": False}), payload=payload, status=200)
    whole = Record(case="c", endpoint="e", model="m", outcome=Outcome.FAILED, detail=Detail(exchanges=(exchange,)))
    line = encode_record(whole, keep)
    return line, decode_record(line)


@pytest.mark.parametrize("keep", [Keep.RAW, Keep.ASSEMBLED])
def test_of_an_answer_beyond_the_limit_its_beginning_length_and_digest_are_kept(keep: Keep) -> None:
    payload = b'{"choices": "' + b"x" * MOST_KEPT + b'"}'
    line, read = kept(payload, keep)
    (exchange,) = read.detail.exchanges
    assert len(line) < 2 * CUT_TO
    assert exchange.payload == payload[:CUT_TO]
    assert exchange.cut is not None
    assert exchange.cut.length == len(payload)
    assert len(exchange.cut.digest) == 64
    assert encode_record(read, Keep.RAW) == encode_record(decode_record(encode_record(read, Keep.RAW)), Keep.RAW)
    assert len(decode_replies(line)) == 1


def test_an_answer_at_the_limit_is_kept_whole() -> None:
    payload = b'{"a": "' + b"x" * (MOST_KEPT - 9) + b'"}'
    (exchange,) = kept(payload, Keep.RAW)[1].detail.exchanges
    assert (exchange.payload, exchange.cut) == (payload, None)


def test_a_hundred_thousand_row_numbers_are_listed_in_no_time() -> None:
    started = time.process_time()
    assert listed(range(1, 2 * MANY), 2 * MANY, 20) == "1, 2, 3, 4, 5, 6, …"
    assert timed(started) < 1
