"""`make soak`: strain toolcert far beyond its tests, and print one line of figures for each part.

python scripts/soak.py                     all parts (some hours)
python scripts/soak.py --scale 0.1         each a tenth of its size
python scripts/soak.py kills fuzz          only these

Every part checks what it promises: no row is lost or asked twice, memory stays bounded, no answer is our bug (exit code
70), no reader fails on any bytes. The exit code is 1 if one does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

from support import nasty  # type: ignore[import-not-found]  # noqa: E402 - the tests' corpus, found by the line above

MODEL = "m"
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
PLAIN = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
).encode()
Answer = Callable[[int, asyncio.StreamWriter], Awaitable[None]]


class Failed(Exception):  # noqa: N818 - the outcome of a part
    """A part does not hold what it promises."""


class Server:
    """Answers every request as told, on a thread of its own; it counts what was asked."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self.port = 0
        self.asked: list[bytes] = []
        self.open = self.most_open = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._talk, "127.0.0.1", 0, backlog=4096))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].partition(b"\r")[0] or 0)
                body = await reader.readexactly(length)
                self.asked.append(body[-200:])
                self.open += 1
                self.most_open = max(self.most_open, self.open)
                try:
                    await self._answer(len(self.asked), writer)
                finally:
                    self.open -= 1
        writer.close()


async def whole(writer: asyncio.StreamWriter, body: bytes, kind: str = "application/json", status: int = 200) -> None:
    writer.write(
        b"HTTP/1.1 %d X\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (status, kind.encode(), len(body))
    )
    writer.write(body)
    await writer.drain()


async def plain(_: int, writer: asyncio.StreamWriter) -> None:
    await whole(writer, PLAIN)


def rows(path: Path, count: int, *, stream: bool = False) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            row = {"messages": [{"role": "user", "content": f"Weather, {number}?"}], "tools": [nasty.TOOL]}
            file.write(json.dumps(row | {"stream": stream, "seed": number}) + "\n")
    return path


def command(dataset: Path, server: Server, output: Path, *more: str) -> list[str]:
    asked = ["--base-url", server.url, "-m", MODEL, "-o", str(output), "-q", "--yes", *more]
    return [sys.executable, "-m", "toolcert", "verify", str(dataset), *asked]


def run(words: Sequence[str], *, codes: Iterable[int] = (0,)) -> int:
    """The largest memory of a command in MiB; Failed where its exit code is another."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in set(codes):
        raise Failed(f"exit code {process.returncode}: {output[-1500:]}")
    return usage.ru_maxrss // 1024


def indices(output: Path) -> list[int]:
    lines = (output / "records.jsonl").read_bytes().splitlines()
    return sorted(json.loads(line.partition(b',"detail":')[0].rstrip(b"}") + b"}}")["row"]["index"] for line in lines)


def kills(folder: Path, scale: float, chance: random.Random) -> str:
    """Kill a run at random moments, and resume it each time."""
    rounds, count = max(2, round(100 * scale)), max(1000, round(20_000 * scale))
    dataset, output = rows(folder / "d.jsonl", count), folder / "run"
    with Server(plain) as server:
        words = command(dataset, server, output, "-c", "8")
        killed = 0
        for _ in range(rounds):
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.2, 2.0))
            killed += process.poll() is None
            process.kill()
            process.wait()
        run(words)
        asked = len(server.asked)
    if indices(output) != list(range(1, count + 1)):
        raise Failed("a row is missing or counted twice")
    return f"{killed} of {rounds} runs killed, {count} rows each once, {asked - count} asked again"


def many_rows(folder: Path, scale: float, _: random.Random) -> str:
    """Memory does not grow with the dataset."""
    count = max(2000, round(200_000 * scale))
    began = time.monotonic()
    with Server(plain) as server:
        small = run(command(rows(folder / "s.jsonl", count // 20), server, folder / "small", "-c", "64"))
        large = run(command(rows(folder / "l.jsonl", count), server, folder / "large", "-c", "64"))
    if large > small + 64:
        raise Failed(f"memory grew from {small} to {large} MiB")
    rate = count * 1.05 / (time.monotonic() - began)
    return f"{count} rows, {rate:.0f} a second, {small} MiB for a twentieth of them and {large} MiB for all"


def streams(folder: Path, scale: float, _: random.Random) -> str:
    """Many streams that drip, all at once."""
    count, seconds = max(50, round(2000 * scale)), max(10, round(300 * scale))

    async def drip(_: int, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for second in range(seconds):
            writer.write(_event({"content": f"word {second} "}))
            await writer.drain()
            await asyncio.sleep(1)
        writer.write(_event({}, "stop") + b"data: [DONE]\n\n")
        await writer.drain()
        writer.close()

    with Server(drip) as server:
        dataset, limit = rows(folder / "d.jsonl", count, stream=True), str(20 * seconds)
        words = command(dataset, server, folder / "run", "-c", str(count), "--timeout", limit, "--retries", "0")
        memory = run(words, codes=(0, 1))
        together = server.most_open
    outcomes = [json.loads(line)["outcome"] for line in (folder / "run" / "records.jsonl").read_bytes().splitlines()]
    if len(outcomes) != count or "not_measured" in outcomes:
        raise Failed(f"{outcomes.count('not_measured')} of {len(outcomes)} streams were not measured")
    return f"{count} streams of {seconds} s, up to {together} at once, {memory} MiB"


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "1", "model": MODEL, "choices": [choice]}).encode() + b"\n\n"


def mutations(folder: Path, scale: float, chance: random.Random) -> str:
    """Broken answers of every kind, kept in every way: none is a bug of ours."""
    count = max(300, round(100_000 * scale))
    dataset = rows(folder / "d.jsonl", count)
    seeds = [PLAIN, _event({"tool_calls": [CALL | {"index": 0}]}) + _event({}, "tool_calls") + b"data: [DONE]\n\n"]
    seeds += nasty.corpus().values()

    async def mutate(_: int, writer: asyncio.StreamWriter) -> None:
        seed = chance.choice((*seeds[:2], *seeds[:2], chance.choice(seeds)))
        body = nasty.mutated(seed, chance, seeds)
        kind = "text/event-stream" if seed.startswith(b"data:") else "application/json"
        await whole(writer, body, kind, chance.choice((200, 200, 200, 200, 400, 404, 429, 500)))

    for keep in ("raw", "assembled", "verdicts"):
        output = folder / keep
        with Server(mutate) as server:
            run(command(dataset, server, output, "-c", "64", "--keep", keep, "--retries", "0"), codes=(0, 1))
        if b"internal.error" in (output / "records.jsonl").read_bytes():
            raise Failed(f"--keep {keep}: an answer is a bug of ours, see {output}")
        if indices(output) != list(range(1, count + 1)):
            raise Failed(f"--keep {keep}: a row is missing or counted twice")
        run(
            [
                sys.executable,
                "-m",
                "toolcert",
                "report",
                str(output),
                "--json",
                f"{output}.json",
                "--html",
                f"{output}.html",
            ]
        )
        if keep == "raw":
            run([sys.executable, "-m", "toolcert", "verify", "--from", str(output)], codes=(0, 1))
    return f"{count} mutated answers with each --keep, none a bug"


def fuzz(folder: Path, scale: float, chance: random.Random) -> str:
    """Every reader of files and answers with bytes of any kind: mutated, from hypothesis, and from atheris."""
    count, most = max(200, round(100_000 * scale)), max(20.0, 900 * scale)
    figures = []
    for target in nasty.TARGETS:
        tried, began = 0, time.monotonic()
        cases = nasty.endless(target, chance, sound_files(target, folder))
        while tried < count and time.monotonic() - began < most:
            data = next(cases)
            try:
                nasty.bear(target, data)
            except Exception as error:
                kept = Path(tempfile.gettempdir()) / f"toolcert-soak-{target.replace(' ', '-')}"
                kept.write_bytes(data)
                raise Failed(f"{target} fails on {kept}: {type(error).__name__}: {error}") from error
            tried += 1
        _with_hypothesis(target, max(100, count // 100))
        figures.append(f"{target} {tried}")
    figures.append(_with_atheris(round(most), folder))
    return ", ".join(figures)


def sound_files(target: str, folder: Path) -> list[bytes]:
    """Files that toolcert wrote itself."""
    name = {"manifest": "manifest.json", "records": "records.jsonl", "dataset": "d.jsonl"}.get(target)
    output = folder / "sound"
    if name is None:
        return [PLAIN] if target in ("plain reader", "error texts") else []
    if not output.exists():
        with Server(plain) as server:
            run(command(rows(folder / "d.jsonl", 3), server, output))
    return [(folder / name if target == "dataset" else output / name).read_bytes()] * 20


def _with_hypothesis(target: str, examples: int) -> None:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    text = st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS | st.text(max_size=5), inner, max_size=5),
    )
    pieces = st.one_of(st.binary(max_size=300), text.map(lambda value: json.dumps(value).encode()), _SEPARATORS)

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(pieces, max_size=6).map(b"".join))
    def search(data: bytes) -> None:
        nasty.bear(target, data)

    try:
        search()
    except Exception as error:
        raise Failed(f"{target}: {type(error).__name__}: {error}") from error


def _with_atheris(seconds: int, folder: Path) -> str:
    """Guided by coverage, from the corpus and from files that toolcert wrote itself."""
    if importlib.util.find_spec("atheris") is None:
        return "atheris is not installed"
    tried = []
    for target in nasty.TARGETS:
        name = target.replace(" ", "-")
        seeds, kept = folder / f"seeds-{name}", Path(tempfile.gettempdir()) / f"toolcert-soak-{name}-"
        seeds.mkdir()
        for number, seed in enumerate({*nasty.seeds_of(target), *sound_files(target, folder)}):
            (seeds / str(number)).write_bytes(seed)
        limits = [f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=4096", f"-artifact_prefix={kept}"]
        code = (
            "import sys, atheris\n"
            "target = sys.argv.pop(1)\n"
            "with atheris.instrument_imports(include=['toolcert']):\n"
            "    from support import nasty\n"
            "    for seed in nasty.seeds_of(target): nasty.bear(target, seed)  # imports what readers import late\n"
            "atheris.Setup(sys.argv, lambda data: nasty.bear(target, data))\n"
            "atheris.Fuzz()"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, target, *limits, str(seeds)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(ROOT / "tests")])},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise Failed(f"atheris breaks {target}, see {kept}*: {done.stderr[-1500:]}")
        tried.append(f"{target} {done.stderr.rpartition('Done ')[2].partition(' ')[0]}")
    return f"atheris {seconds} s each: " + ", ".join(tried)


def _keys_and_separators() -> tuple[Any, Any]:
    from hypothesis import strategies as st

    words = "choices message content tool_calls function name arguments index delta usage error code data id model"
    return st.sampled_from(words.split()), st.sampled_from([b"\n", b"\n\n", b"data: ", b",", b"\r\n", b": ", b"- "])


_KEYS, _SEPARATORS = _keys_and_separators()
PARTS: dict[str, Callable[[Path, float, random.Random], str]] = {
    "kills": kills,
    "rows": many_rows,
    "streams": streams,
    "mutations": mutations,
    "fuzz": fuzz,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which parts; all without any")
    parser.add_argument("--scale", type=float, default=1.0, help="size of each part beside the usual one")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="to repeat a soak")
    options = parser.parse_args()
    print(f"seed {options.seed}, scale {options.scale:g}", flush=True)
    failed = False
    for name in options.parts or PARTS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"toolcert-soak-{name}-") as folder:
            try:
                told = PARTS[name](Path(folder), options.scale, random.Random(options.seed))  # noqa: S311 - repeatable, not secret
            except Failed as failure:
                failed, told = True, f"FAILED: {failure}"
        print(f"{name}: {told} ({time.monotonic() - began:.0f} s)", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
