"""Regenerate the hashed lock files of `requirements/`, or check that they follow their inputs.

python scripts/lock.py           resolve again, keeping the versions that still fit
python scripts/lock.py --upgrade take the newest versions
python scripts/lock.py --check   compare the digests only (no network)
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
UV = "uv==0.13.7"
DIGEST = "# inputs: sha256:"
EXTRAS = ("local", "objectstore", "parquet", "postgres", "ray", "tls", "tokenizer")


class Lock(NamedTuple):
    """One lock file, what it is made from, and the options that only it needs."""

    name: str
    source: Path
    options: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.txt"

    def digest(self) -> str:
        """What decides the lock's content, as one value."""
        wanted = _declared() if self.source.name == "pyproject.toml" else self.source.read_text()
        return hashlib.sha256(wanted.encode()).hexdigest()


LOCKS = (
    Lock("lock", ROOT / "pyproject.toml", (*(f"--extra={name}" for name in EXTRAS), "--group=dev")),
    Lock("runtime", ROOT / "pyproject.toml", ("--extra=local", "--group=build", "--constraint=requirements/lock.txt")),
    Lock("model", FOLDER / "model.in", ("--no-deps",)),
    Lock("litellm", FOLDER / "litellm.in"),
    Lock("ibm", FOLDER / "ibm.in"),
    Lock("node", FOLDER / "node.in"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--upgrade", action="store_true")
    options = parser.parse_args()
    return check() if options.check else regenerate(upgrade=options.upgrade)


def check() -> int:
    """Say which lock files were made from other inputs than today's."""
    stale = [lock.path.name for lock in LOCKS if f"{DIGEST}{lock.digest()}" not in _head(lock.path)]
    for name in stale:
        print(f"requirements/{name} does not follow its input: run `make lock`", file=sys.stderr)
    return 1 if stale else 0


def regenerate(*, upgrade: bool) -> int:
    with tempfile.TemporaryDirectory() as folder:
        compiler = _compiler(Path(folder))
        for lock in LOCKS:
            _compile(compiler, lock, upgrade=upgrade)
            print(f"requirements/{lock.path.name}")
    return 0


def _compiler(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", UV], check=True)
    return programs / "uv"


def _compile(compiler: Path, lock: Lock, *, upgrade: bool) -> None:
    """One resolution for all platforms and all supported Pythons, with no address of an index in it."""
    command: list[str | Path] = [
        compiler,
        "pip",
        "compile",
        "--quiet",
        "--no-config",
        "--universal",
        "--python-version=3.11",
    ]
    command += ["--generate-hashes", "--no-emit-index-url", "--no-emit-find-links", "--no-header"]
    command += [*lock.options, *(["--upgrade"] if upgrade else [])]
    command += [lock.source.relative_to(ROOT), "--output-file", lock.path.relative_to(ROOT)]
    subprocess.run(command, cwd=ROOT, check=True)
    head = f"# Made by `make lock` from {lock.source.relative_to(ROOT).as_posix()}; do not edit.\n"
    lock.path.write_text(f"{head}{DIGEST}{lock.digest()}\n{lock.path.read_text()}")


def _declared() -> str:
    """The parts of pyproject.toml that decide the lock: a change elsewhere in it is no drift."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    table = project["project"]
    parts = [table["requires-python"], table["dependencies"], table["optional-dependencies"]]
    return json.dumps([*parts, project["dependency-groups"]], sort_keys=True)


def _head(path: Path) -> list[str]:
    return path.read_text().splitlines()[:2] if path.exists() else []


if __name__ == "__main__":
    sys.exit(main())
