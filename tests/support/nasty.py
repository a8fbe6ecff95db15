"""Readers that must bear any bytes, bytes that have broken readers, and ways to make more of them."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from toolcert.core.errors import ToolcertError
from toolcert.core.exchanges import Exchange
from toolcert.core.requests import Request, tool, user
from toolcert.endpoints.dialects.error_answer import kind_of_error, read_error_text
from toolcert.protocol.reply import read_reply
from toolcert.protocol.sse import read_events

CORPUS = Path(__file__).resolve().parent.parent / "data" / "nasty"
TOOL = tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
REQUEST = Request(body={"model": "m", "messages": [user("Weather?")], "tools": [TOOL]})
PIECES = (
    *(b"\x00", b"\xff", b"\xc2\x9b", b"\x1b[2J", b"\\ud800", b"\\u0000", b"{{}}", b"NaN", b"-1e999", b"9" * 400),
    *(b"null", b"[]", b"{}", b'""', b"5", b"true", b"\n", b"\r\n", b"\r", b"data: ", b"[DONE]", b'"', b"\\", b","),
    *(b"[" * 300, b'{"a":' * 300, b'"index":-1,', b'"finish_reason":"\\ud800"', b'"tool_calls":5', b"\xe2\x80\xae"),
)


def corpus() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(CORPUS.iterdir())}


def mutated(data: bytes, chance: random.Random, seeds: Sequence[bytes] = ()) -> bytes:
    """`data` with one to five changes."""
    for _ in range(chance.randint(1, 5)):
        start = chance.randint(0, len(data))
        end = min(len(data), start + chance.choice((0, 1, 1, 4, 20, 200)))
        other = chance.choice(seeds) if seeds else b""
        new = chance.choice((chance.choice(PIECES), data[start:end] * 2, chance.randbytes(1), b"", other[:end]))
        data = data[:start] + new + data[end:]
    return data[: chance.choice((len(data), len(data), len(data), max(1, len(data) // 2)))]


def _events(data: bytes) -> None:
    read_events(data)


def _reply(data: bytes, *, stream: bool) -> None:
    from toolcert.diagnose.examination import examine

    exchange = Exchange(request=REQUEST, payload=data, event_stream=stream, status=200)
    examine(exchange, read_reply(exchange))


def _error(data: bytes) -> None:
    text = read_error_text(data)
    for status in (400, 401, 404, 422, 429, 500):
        kind_of_error(status, text)


def _in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], None]:
    def target(data: bytes) -> None:
        with tempfile.TemporaryDirectory(prefix="toolcert-nasty-") as folder:
            path = Path(folder) / name
            path.write_bytes(data)
            read(path)

    return target


def _dataset(path: Path) -> None:
    from toolcert.verification.dataset.inspection import inspect
    from toolcert.verification.dataset.lines import Dataset
    from toolcert.verification.dataset.source import Source

    inspect(Dataset(Source(str(path))))


def _results(path: Path) -> None:
    from toolcert.api.compare import compare
    from toolcert.api.verify import judge_again
    from toolcert.diagnose.judgement import Rules

    with suppress(ToolcertError):
        judge_again(path, Rules.OURS)
    compare([path], [path])


def _import(path: Path) -> None:
    from toolcert.history.csv_import import import_csv
    from toolcert.history.store import HistoryStore

    with HistoryStore(str(path.with_name("h.sqlite"))) as store:
        import_csv(store, path)


def _scenario(path: Path) -> None:
    from toolcert.probes.scenarios import load_scenarios

    load_scenarios(path)


def _manifest(path: Path) -> None:
    path.with_name("records.jsonl").write_bytes(b"")
    _run(path)


def _records(path: Path) -> None:
    manifest = b'{"run":"r","job":"verify","started_at":0,"toolcert":"0.1","parameters":{"model":"m"}}'
    path.with_name("manifest.json").write_bytes(manifest)
    _run(path)


def _run(path: Path) -> None:
    from toolcert.api.compare import compare
    from toolcert.api.report import load_run
    from toolcert.api.verify import judge_again
    from toolcert.diagnose.judgement import Rules

    for read in (load_run, lambda folder: judge_again(folder, Rules.OURS), lambda folder: compare([folder], [folder])):
        with suppress(ToolcertError):
            read(path.parent)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "SSE reader": _events,
    "assembler": lambda data: _reply(data, stream=True),
    "plain reader": lambda data: _reply(data, stream=False),
    "error texts": _error,
    "dataset": _in_file("d.jsonl", _dataset),
    "results": _in_file("results.jsonl", _results),
    "CSV import": _in_file("test_results.csv", _import),
    "YAML scenarios": _in_file("s.yaml", _scenario),
    "TOML scenarios": _in_file("s.toml", _scenario),
    "manifest": _in_file("manifest.json", _manifest),
    "records": _in_file("records.jsonl", _records),
}
"""A reader may refuse with an error that has a remedy; any other exception is our bug."""
SEEDS = {
    "SSE reader": ".sse",
    "assembler": ".sse",
    "plain reader": ".json",
    "error texts": ".json",
    "dataset": ".jsonl",
    "results": ".jsonl",
    "CSV import": ".csv",
    "YAML scenarios": ".yaml",
    "TOML scenarios": ".toml",
    "manifest": "manifest.json",
    "records": "records.jsonl",
}


def bear(target: str, data: bytes) -> None:
    with suppress(ToolcertError):
        TARGETS[target](data)


def seeds_of(target: str) -> list[bytes]:
    return [data for name, data in corpus().items() if name.endswith(SEEDS[target])] or [b""]


def endless(target: str, chance: random.Random, sound: Sequence[bytes] = ()) -> Iterator[bytes]:
    """Mutations without end; `sound` files lead deeper into a reader than those of the corpus."""
    seeds, others = [*seeds_of(target), *sound], list(corpus().values())
    while True:
        yield mutated(chance.choice(seeds), chance, others)
