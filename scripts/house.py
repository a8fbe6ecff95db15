"""Count what a newcomer has to find their way through: modules, importers, names, lines, and the files on a walk.

`python scripts/house.py` prints the table; `--walk` also runs a probe, a verify and a compare against a simulated
vendor, and lists the files in which each calls a function, in the order of their first call.
"""

from __future__ import annotations

import argparse
import ast
import collections
import contextlib
import io
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Self

ROOT = Path(__file__).resolve().parent.parent
PARALLEL = ("reports", "simulate", "diagnose", "cli", "api", "settings")
"""Rooms whose files are named after the same list of jobs, faults or commands on purpose."""
USUAL = frozenset({"__init__.py", "__main__.py", "base.py", "registry.py"})
LOADED_BY_NAME = re.compile(
    r"toolcert\.(cli\.commands|diagnose\.checks|endpoints\.dialects|probes\.catalogue|simulate\.faults)\."
    r"|toolcert\.reports\.\w+\.(html|tables)$"
)
"""Modules that a registry loads by their names: a module that imports one as well is not its only user."""
WORKER, SOCKET = "_worker", "exchange"
"""The engine's worker, and the function that writes a request to its connection."""


class House:
    """The modules below a folder, parsed once."""

    def __init__(self, src: Path) -> None:
        self.src = src
        self.files = sorted(src.rglob("*.py"))
        self.texts = {path: path.read_text(encoding="utf-8") for path in self.files}
        self.trees = {path: ast.parse(text) for path, text in self.texts.items()}

    def module(self, path: Path) -> str:
        return ".".join(path.relative_to(self.src).with_suffix("").parts).removesuffix(".__init__")

    def importers(self) -> dict[str, set[str]]:
        """Module to the modules that import it, from anywhere in their code."""
        known = {self.module(path) for path in self.files}
        found: dict[str, set[str]] = {name: set() for name in known}
        for path, tree in self.trees.items():
            for name in _imported(tree, known):
                if name in known and name != self.module(path):
                    found[name].add(self.module(path))
        return found

    def single_importers(self) -> list[str]:
        """Modules that one other module imports; those that a registry loads by their names apart."""
        return [name for name in self.imported_once() if not LOADED_BY_NAME.match(name)]

    def imported_once(self) -> list[str]:
        return sorted(name for name, users in self.importers().items() if len(users) == 1)

    def names_twice(self) -> int:
        names = collections.Counter(path.name for path in self.files)
        return sum(count > 1 for count in names.values())

    def repeated_names(self) -> dict[str, list[Path]]:
        """File names that occur more than once in toolcert, those of parallel rooms and usual names apart."""
        rooms: dict[str, list[Path]] = collections.defaultdict(list)
        for path in (self.src / "toolcert").rglob("*.py"):
            if path.name not in USUAL:
                rooms[path.name].append(path.relative_to(self.src / "toolcert"))
        return {
            name: paths
            for name, paths in sorted(rooms.items())
            if len([path for path in paths if path.parts[0] not in PARALLEL]) > 1
        }

    def comment_lines(self) -> int:
        return sum(line.lstrip().startswith("#") for text in self.texts.values() for line in text.splitlines())

    def function_lengths(self) -> list[int]:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        nodes = [node for tree in self.trees.values() for node in ast.walk(tree) if isinstance(node, kinds)]
        return [(node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes]

    def crowded_rooms(self) -> dict[str, int]:
        """Rooms with more than fifteen entries, `__init__.py` apart."""
        rooms = {path.parent for path in self.files}
        entries = {
            room: sum(
                entry.name != "__init__.py" and (entry.suffix == ".py" or (entry / "__init__.py").exists())
                for entry in room.iterdir()
            )
            for room in rooms
        }
        return {str(room.relative_to(self.src)): count for room, count in sorted(entries.items()) if count > 15}


def _imported(tree: ast.Module, known: Collection[str]) -> Iterator[str]:
    """The modules that a module imports; `from room import module` imports the module, not the room."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            full = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in known else node.module for name in full)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


class Walk:
    """Follows the main thread through our files: up to the first chat request, and from its answer to the end."""

    def __init__(self, package: Path) -> None:
        self._package = f"{package}/"
        self.files: dict[str, None] = {}
        """Up to the first request, or to the end where none is sent."""
        self.after: dict[str, None] = {}
        """Entered only later: what judges, summarises and shows."""
        self.changes: set[tuple[str, str]] = set()
        self.frames = 0
        self._last = ""
        self._arrived = False

    def __enter__(self) -> Self:
        sys.setprofile(self._saw)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _saw(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self._package):
            return
        if "/simulate/" in code.co_filename or _importing(frame):
            return
        name = code.co_filename.removeprefix(self._package)
        if self._arrived:
            if name not in self.files:
                self.after.setdefault(name)
            return
        if name != self._last:
            self.changes.add((self._last, name))
            self._last = name
        self.files.setdefault(name)
        if code.co_name == SOCKET and b"chat/completions" in frame.f_locals.get("content", b"")[:200]:
            self._arrived = True
            self.frames = self._depth(frame)

    def _depth(self, frame: FrameType) -> int:
        depth, step = 0, frame
        while step.f_code.co_name != WORKER and step.f_back is not None:
            depth += step.f_code.co_filename.startswith(self._package)
            step = step.f_back
        return depth


def _importing(frame: FrameType | None) -> bool:
    """Whether a call is made by a module that is being imported: that is not a step of the data."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__":
            return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def simulated_vendor(folder: Path) -> Iterator[str]:
    """The address of a faithful vendor in a process of its own."""
    command = [sys.executable, "-m", "toolcert", "simulate", "--port", "0"]
    with (folder / "vendor.log").open("w+") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            for _ in range(600):  # a minute, for a busy machine
                time.sleep(0.1)
                text = (folder / "vendor.log").read_text()
                if found := [word for word in text.split() if word.startswith("http://127.0.0.1:")]:
                    break
            else:
                raise SystemExit(f"the simulated vendor did not start:\n{text}")
            yield found[0].rstrip(".,")
        finally:
            process.terminate()


def walk(arguments: Sequence[str]) -> Walk:
    """Run one command in this process and follow it."""
    from toolcert.cli.main import cli

    steps = Walk(ROOT / "src" / "toolcert")
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent), steps:
        cli(list(arguments), standalone_mode=False)
    return steps


def walks() -> dict[str, Walk]:
    """A probe, a verify and a compare, each on its way to its first request or to its end."""
    questions = (f"What is the weather in {city}?" for city in ("Paris", "Oslo", "Rome"))
    rows = [{"messages": [{"role": "user", "content": text}], "tools": [_WEATHER]} for text in questions]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset = folder / "rows.jsonl"
        dataset.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        with simulated_vendor(folder) as url:
            target = ["--base-url", url, "-m", "faithful", "-q"]
            probe = walk(["probe", *target, "-n", "1", "-o", f"{folder}/probe"])
            verify = walk(["verify", str(dataset), *target, "-o", f"{folder}/one"])
            walk(["verify", str(dataset), *target, "-o", f"{folder}/two"])
        compare = walk(["compare", "--baseline", f"{folder}/one", "--vendor", f"{folder}/two", "--fail-on", "none"])
    return {"probe": probe, "verify": verify, "compare": compare}


_WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walk", action="store_true", help="follow the three jobs too")
    parser.add_argument("--list", action="store_true", help="name the modules behind the counts")
    chosen = parser.parse_args()
    house = House(ROOT / "src")
    lines = [text.count("\n") for text in house.texts.values()]
    functions = house.function_lengths()
    print(f"modules                          {len(house.files)}")
    print(f"lines                            {sum(lines)}")
    print(f"module, median / p90             {_middle(lines)}")
    print(f"function, median / p90           {_middle(functions)}")
    print(f"comment lines                    {house.comment_lines()}")
    single, once = len(house.single_importers()), len(house.imported_once())
    print(f"modules with a single importer   {single} ({once} with those that a registry loads by name)")
    print(
        f"file names used more than once   {house.names_twice()} ({len(house.repeated_names())} of them not by design)"
    )
    print(f"rooms with more than 15 entries  {house.crowded_rooms() or 'none'}")
    if chosen.list:
        print("\n".join(house.single_importers()))
        print("\n".join(f"{name}: {', '.join(map(str, paths))}" for name, paths in house.repeated_names().items()))
    if chosen.walk:
        for job, steps in walks().items():
            end = f", {steps.frames} frames from worker to socket" if steps.frames else ""
            print(f"\n{job}: {len(steps.files)} files, {len(steps.changes)} different changes of file{end}")
            print("\n".join(f"  {name}" for name in steps.files))
            if steps.after:
                print(f"{job}, after the first answer: {len(steps.after)} further files")
                print("\n".join(f"  {name}" for name in steps.after))


def _middle(values: Sequence[int]) -> str:
    return f"{statistics.median(values):.0f} / {sorted(values)[int(len(values) * 0.9)]}"


if __name__ == "__main__":
    main()
