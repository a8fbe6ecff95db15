"""Runs and comparisons that several tests of reports read, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.compare_samples import make_comparison
from reports.verify_samples import write_verify_run
from toolcert.compare.comparison import Comparison


@pytest.fixture(scope="session")
def verify_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A verify run of 300 rows."""
    return write_verify_run(tmp_path_factory.mktemp("runs") / "verify", rows=300)


@pytest.fixture(scope="session")
def hostile_verify_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with hostile text wherever a vendor or a dataset can write."""
    return write_verify_run(tmp_path_factory.mktemp("runs") / "hostile", rows=60, hostile=True)


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A vendor against two runs of a baseline."""
    return make_comparison(tmp_path_factory.mktemp("compare"))


@pytest.fixture(scope="session")
def hostile_comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Two vendors with hostile text in names, questions, answers and arguments."""
    return make_comparison(tmp_path_factory.mktemp("hostile"), vendors=2, rows=80, hostile=True)
