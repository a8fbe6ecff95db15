"""Every promise of SECURITY.md and of the page on reliability names the test that proves it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")
PAGES = ("SECURITY.md", "docs/explanation/reliability.md")


@pytest.mark.parametrize("page", PAGES)
def test_the_tests_that_prove_promises_exist(page: str) -> None:
    named = _NAMED.findall((ROOT / page).read_text("utf-8"))
    assert len(named) > 10
    for file, test in named:
        assert re.search(rf"def {test}\(", (ROOT / "tests" / file).read_text("utf-8")), f"{file}::{test}"


@pytest.mark.parametrize("page", PAGES)
def test_no_promise_is_without_a_test(page: str) -> None:
    """Rows of tables with a column `proven by` end with the name of a test."""
    proven = False
    for line in (ROOT / page).read_text("utf-8").splitlines():
        if not line.startswith("|"):
            proven = False
        elif line.endswith("| proven by |"):
            proven = True
        elif proven and not line.startswith("|---"):
            assert _NAMED.search(line.rsplit("|", 2)[1]), line
