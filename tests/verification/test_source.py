"""Reading the lines of a dataset."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import resource
import signal
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from toolcert.core.errors import InputError, OutputError
from toolcert.verification.dataset.source import Source

TEXT = b'{"a":1}\n\n{"b":2}\r\n   \n{"c":3}'


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.jsonl"
    path.write_bytes(TEXT)
    return path


def test_blank_lines_are_passed_over_but_keep_their_numbers(plain: Path) -> None:
    """Line numbers are those an editor shows."""
    assert [number for number, _ in Source(str(plain)).lines()] == [1, 3, 5]


def test_the_count_is_the_number_of_lines_to_ask(plain: Path) -> None:
    assert Source(str(plain)).count() == 3
    assert Source(str(plain)).count(at_most=2) == 2


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, bytes], ids=["gzip", "zstd", "plain"])
def test_compressed_files_are_recognised_by_content(tmp_path: Path, pack) -> None:
    """The name says nothing; text and digest are those of the uncompressed file."""
    path = tmp_path / "data"
    path.write_bytes(pack(TEXT))
    source = Source(str(path))
    assert [text.strip() for _, text in source.lines()] == [b'{"a":1}', b'{"b":2}', b'{"c":3}']
    assert source.digest == hashlib.sha256(TEXT).hexdigest()
    assert source.rows == 3


def test_zstd_files_of_several_frames_are_read_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "data.zst"
    path.write_bytes(zstandard.compress(b'{"a":1}\n') + zstandard.compress(b'{"b":2}\n'))
    assert Source(str(path)).count() == 2


def test_standard_input_can_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sampling and counting need a second pass."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TEXT))))
    source = Source("-")
    assert source.count() == 3
    assert len(list(source.lines())) == 3
    source.close()


@pytest.mark.parametrize("pack", [gzip.compress, bytes], ids=["gzip", "plain"])
def test_a_named_pipe_can_be_read_twice(tmp_path: Path, pack) -> None:
    """It gives what was written to it once, and whoever opens it a second time waits for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[pack(TEXT)], daemon=True)
    writer.start()
    with closing(Source(str(pipe))) as source:
        assert source.count() == 3
        assert len(list(source.lines())) == 3
    writer.join(5)


def test_a_pipe_named_by_its_descriptor_can_be_read_twice() -> None:
    """As a shell's <(command) names it."""
    reading, writing = os.pipe()
    os.write(writing, TEXT)
    os.close(writing)
    try:
        with closing(Source(f"/dev/fd/{reading}")) as source:
            assert source.count() == 3
            assert len(list(source.lines())) == 3
    finally:
        os.close(reading)


def test_no_standard_input_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="no standard input"):
        Source("-")


def test_no_room_for_standard_input_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit on file size stands for a full disk."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT * 1000)))
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    bounds = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, bounds[1]))
    try:
        with pytest.raises(OutputError, match="cannot write"):
            Source("-")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, bounds)
        signal.signal(signal.SIGXFSZ, former)


@pytest.mark.parametrize(
    ("pack", "unpack"), [(gzip.compress, "gunzip -c"), (zstandard.compress, "zstd -dc")], ids=["gzip", "zstd"]
)
def test_the_remedy_for_an_archive_unpacks_it_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack, unpack: str
) -> None:
    """jq and iconv would stumble over its first byte."""
    path = tmp_path / "my data"
    path.write_bytes(pack(b'[{"a":1},{"b":2}]'))
    with pytest.raises(InputError) as refused:
        Source(str(path))
    assert refused.value.remedy == f"{unpack} '{path}' | jq -c '.[]' > '{path}.jsonl'"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    with pytest.raises(InputError) as refused:
        Source("-")
    assert refused.value.remedy == f"Pipe it through `{unpack} | jq -c '.[]'` first."


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "bom.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\n")
    assert [text for _, text in Source(str(path)).lines()] == [b"{}"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_cut_archive_gives_its_whole_lines_and_then_says_where_it_ends(tmp_path: Path, pack) -> None:
    lines = b"".join(
        b'{"row":%d,"noise":"%s"}\n' % (n, hashlib.sha256(b"%d" % n).hexdigest().encode()) for n in range(9999)
    )
    whole = pack(lines)
    path = tmp_path / "cut"
    path.write_bytes(whole[: len(whole) // 2])
    seen = []
    with pytest.raises(InputError, match="stops being readable after line"):
        seen.extend(Source(str(path)).lines())
    assert seen
    assert all(text.endswith(b'"}') for _, text in seen[:-1])


def test_what_is_no_file_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        Source(str(tmp_path))
    with pytest.raises(InputError, match="No such file"):
        Source(str(tmp_path / "absent"))
