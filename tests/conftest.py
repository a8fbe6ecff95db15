"""What all tests share: the big parts and their markers, and an environment without the user's own settings."""

from __future__ import annotations

import gc
import os
import re
import signal
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import parts

# The same examples every time: a run that fails fails again. HYPOTHESIS_PROFILE=searching looks for new ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None, max_examples=2000)
# The tests to run while one works try the first quarter of them.
settings.register_profile("brief", settings.get_profile("steady"), max_examples=25)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

FOREIGN_VARIABLES = ("TOOLCERT_", "WATSONX_", "LITELLM_", "MODEL_TESTER_", "OPENAI_", "AWS_")
PROXY_VARIABLES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
TERMINAL_VARIABLES = {"COLUMNS", "LINES"}
"""Set by some shells and test runners; a text would be wrapped for them."""


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(signal, "SIGHUP"):  # under nohup it is ignored, also by the programs that tests start
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    parts.missing("material")  # a folder that is named and not there ends the run before it begins
    if config.option.markexpr == "not heavy" and "HYPOTHESIS_PROFILE" not in os.environ:
        settings.load_profile("brief")


_HEAVY_MODULE = re.compile(rb"^pytestmark = .*\bheavy\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules whose tests are all heavy need not be imported to leave them out."""
    if config.option.markexpr != "not heavy" or collection_path.suffix != ".py":
        return None
    return True if _HEAVY_MODULE.search(collection_path.read_bytes()) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One for each processor, and one more for the fast tests: many wait for a server, a process or a time limit.

    Heavy tests look at times, which more of them at once would falsify.
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors + (config.option.markexpr == "not heavy")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected lives to the end: freeing memory skips it, and with it much work for every test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before `-m "not heavy"` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seen: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        sampled = item.get_closest_marker("sampled")
        further = sampled is not None and seen[test] % sampled.kwargs.get("every", len(items)) > 0
        seen[test] += 1
        if further or _needs_much(item):
            item.add_marker("heavy")
    # Files that use browsers, models and servers take longest: at the end, one would leave all processors but one idle.
    long = {item.path for item in items if _needs_much(item)}
    items.sort(key=lambda item: item.path not in long)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in _needed(item):
        reason = parts.missing(name)
        if reason and parts.required(name):
            pytest.fail(f"missing in CI: {reason}", pytrace=False)
        if reason:
            pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Close the run by saying what was left out and why, in one line for each reason."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.line(f"left out: {count} x {reason}")


def _needs_much(item: pytest.Item) -> bool:
    return any(parts.PARTS[name].heavy for name in _needed(item))


def _needed(item: pytest.Item) -> list[str]:
    names = [name for marker in item.iter_markers("needs") for name in marker.args]
    unknown = [name for name in names if name not in parts.PARTS]
    if unknown:
        raise pytest.UsageError(f"{item.nodeid} needs unknown parts: {', '.join(unknown)}")
    return names


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    """No setting, key or proxy of the user reaches a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if _foreign(name.upper())]:
            patch.delenv(name)
        # Nor is a server of the world asked: to read the authorities of the system takes 40 ms for each client.
        patch.setattr(ssl.SSLContext, "load_default_certs", lambda *_: None)
        yield


def _foreign(name: str) -> bool:
    return (
        name.startswith(FOREIGN_VARIABLES) or name.endswith("_API_KEY") or name in PROXY_VARIABLES | TERMINAL_VARIABLES
    )


@pytest.fixture(scope="session")
def part() -> Callable[[str], Path]:
    """Where a part is: `part("browser")` is its program; for tests marked with `needs`."""

    def locate(name: str) -> Path:
        found = parts.PARTS[name].locate()
        assert found is not None, f"mark the test with needs({name!r})"
        return found

    return locate


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recorded facts of tests/data in the form of the older tools' files."""
    from support.recorded import unpack

    folder = tmp_path_factory.mktemp("recorded")
    unpack(folder)
    return folder


@pytest.fixture(scope="session")
def material(part: Callable[[str], Path]) -> Path:
    """The folder with other people's texts, for tests marked with `needs("material")`."""
    return part("material")
