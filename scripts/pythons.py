"""Run the type check and the fast tests on the other Pythons that toolcert supports and this machine has.

An interpreter is looked for on the PATH and among those of pyenv; one that is missing is named and left out. Its
environment is kept in the user's cache and made again when the lock file changes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "lock.txt"
CACHE = Path.home() / ".cache" / "toolcert" / "pythons"
SUPPORTED = tuple(re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8")))


def main() -> int:
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = {version: find(version) for version in SUPPORTED if version != own}
    for version in (version for version, interpreter in found.items() if interpreter is None):
        say(f"Python {version} is not on this machine: left out")
    here = {version: interpreter for version, interpreter in found.items() if interpreter is not None}
    right = types(here)
    failed = [version for version, interpreter in here.items() if not (right[version] and passes(version, interpreter))]
    if failed:
        say(f"failed on Python {', '.join(failed)}")
    return bool(failed)


def types(versions: Iterable[str]) -> dict[str, bool]:
    """Whether the types are as they should be, asked for all at once: mypy uses one processor."""
    say(f"types on Python {', '.join(versions)}")
    command = [sys.executable, "-m", "mypy", "--python-version"]
    running = {version: subprocess.Popen([*command, version], cwd=ROOT) for version in versions}
    return {version: process.wait() == 0 for version, process in running.items()}


def passes(version: str, interpreter: Path) -> bool:
    """Whether the fast tests end well."""
    python = environment(version, interpreter)
    say(f"Python {version}: fast tests")
    return run([python, "-m", "pytest", "-q", "-m", "not heavy", "-n", "auto", "--dist", "worksteal"])


def find(version: str) -> Path | None:
    """An interpreter that starts: pyenv puts names on the PATH that may lead nowhere."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = sorted(pyenv.glob(f"{version}.*/bin/python{version}"), reverse=True)
    on_path = shutil.which(f"python{version}")
    for candidate in [*candidates, *([Path(on_path)] if on_path else [])]:
        if (
            subprocess.run([candidate, "-c", "import venv, ssl, sqlite3"], capture_output=True, check=False).returncode
            == 0
        ):
            return candidate
    return None


def environment(version: str, interpreter: Path) -> Path:
    """The Python of an environment with all that is locked, and toolcert from this folder."""
    folder = CACHE / f"{version}-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    python = folder / "bin" / "python"
    # Most of what is locked is never imported by the fast tests: compiling all of it would take longer than they do.
    quiet = ("-qq", "--disable-pip-version-check", "--no-compile")
    install: list[str | Path] = [python, "-m", "pip", "install", *quiet]
    complete = folder / ".complete"
    if not complete.exists():
        say(f"Python {version}: installing what is locked in {folder}")
        for older in CACHE.glob(f"{version}-*"):
            shutil.rmtree(older)
        needed([interpreter, "-m", "venv", folder])
        needed([*install, "--require-hashes", "-r", LOCK])
        complete.touch()
    needed([*install, "--no-deps", "--no-build-isolation", "--editable", ROOT])
    return python


def run(command: Sequence[str | Path]) -> bool:
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def needed(command: Sequence[str | Path]) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
