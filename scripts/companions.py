"""Software written by others that the tests run against, kept outside the project and reused by later runs.

python scripts/companions.py           install what is missing
python scripts/companions.py --list    say what there is and where
python scripts/companions.py --remove  delete the cache

They live in one cache folder of the user (`$XDG_CACHE_HOME/toolcert/companions`), each under a name that ends in the
digest of its lock file. A companion that cannot be installed is reported and its tests are skipped; with CI=true it is
an error.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements"
WINDOWS = sys.platform == "win32"


class Companion(NamedTuple):
    """One installation: what it is, how much room it takes, what pins it, and how it is put there."""

    name: str
    about: str
    size: str
    lock: Path
    install: Callable[[Companion], None]

    @property
    def folder(self) -> Path:
        digest = hashlib.sha256(self.lock.read_bytes()).hexdigest()[:12]
        return cache() / f"{self.name}-{digest}"

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if WINDOWS else "bin/python")

    @property
    def complete(self) -> Path:
        """Written last, so that an installation that was broken off is seen as such."""
        return self.folder / ".complete"

    @property
    def installed(self) -> bool:
        """Whole, and the Python it was made with is still there."""
        return self.complete.exists() and (self.install is not _make_venv or self.python.exists())


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "toolcert" / "companions"


def find(name: str) -> Companion | None:
    """The installed companion of this name, if it is there and whole."""
    companion = next(known for known in COMPANIONS if known.name == name)
    return companion if companion.installed else None


def node() -> str | None:
    """Node.js of this machine, or the one among the companions."""
    return shutil.which("node") or _among("node", "node.exe" if WINDOWS else "bin/node")


def _make_venv(companion: Companion) -> None:
    _run(sys.executable, "-m", "venv", companion.folder)
    pip = (companion.python, "-m", "pip", "install", "-qq", "--disable-pip-version-check")
    _run(*pip, "--require-hashes", "-r", companion.lock)


def _make_packages(companion: Companion) -> None:
    companion.folder.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(companion.lock.with_name(name), companion.folder)
    _run(*_npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", cwd=companion.folder)


def _npm() -> tuple[str, ...]:
    if program := shutil.which("npm"):
        return (program,)
    runtime, script = node(), _among("node", "npm-cli.js")
    if runtime is None or script is None:
        raise OSError("npm is not on the PATH")
    return (runtime, script)


def _among(name: str, file: str) -> str | None:
    """A file inside an installed companion, wherever its packages put it."""
    companion = find(name)
    return next((str(path) for path in companion.folder.rglob(file)), None) if companion else None


def _run(*command: str | Path, cwd: Path | None = None) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd)


COMPANIONS = (
    Companion("litellm", "LiteLLM proxy", "750 MB", REQUIREMENTS / "litellm.txt", _make_venv),
    Companion("ibm", "IBM's watsonx.ai client", "214 MB", REQUIREMENTS / "ibm.txt", _make_venv),
    Companion("node", "Node.js", "200 MB", REQUIREMENTS / "node.txt", _make_venv),
    Companion("npm", "axe-core and aimock", "15 MB", REQUIREMENTS / "npm" / "package-lock.json", _make_packages),
)


def wanted() -> list[Companion]:
    """All but Node.js where the machine has its own."""
    return [known for known in COMPANIONS if known.name != "node" or not shutil.which("npm")]


def install(companion: Companion) -> bool:
    """Put one companion in place unless it is there; False when that failed."""
    if companion.installed:
        return True
    print(f"installing {companion.about} ({companion.size}) in {companion.folder}", flush=True)
    shutil.rmtree(companion.folder, ignore_errors=True)
    try:
        companion.install(companion)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"could not install {companion.about}: {error}", file=sys.stderr)
        return False
    companion.complete.touch()
    return True


def install_browser() -> bool:
    """Debian's Chromium, where it is missing and we may install it; elsewhere the user brings one."""
    if shutil.which("chromium"):
        return True
    if not shutil.which("apt-get") or os.geteuid() != 0:
        print("no chromium on the PATH: install it to run the browser tests", file=sys.stderr)
        return False
    print("installing Chromium (400 MB) with apt-get", flush=True)
    try:
        _run("apt-get", "update", "-qq")
        _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core")
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"could not install Chromium: {error}", file=sys.stderr)
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--remove", action="store_true")
    options = parser.parse_args()
    if options.remove:
        shutil.rmtree(cache(), ignore_errors=True)
        return 0
    if options.list:
        for companion in COMPANIONS:
            print(f"{companion.about}: {companion.folder if companion.installed else 'not installed'}")
        return 0
    done = [install_browser(), *(install(companion) for companion in wanted())]
    return 0 if all(done) or os.environ.get("CI") != "true" else 1


if __name__ == "__main__":
    sys.exit(main())
