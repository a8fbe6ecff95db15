"""The library as its users call it: from plain code, from async code, and wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcert import Endpoint, ProbeOptions, ToolcertError, models, models_async, probe, probe_async
from toolcert.core.errors import UsageError
from toolcert.simulate import Vendor


def test_plain_code_waits_for_a_run(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        assert [info.id for info in models(vendor.url)] == ["faithful"]
        run = probe(vendor.url, options=ProbeOptions(suite="quick", iterations=1, output=str(tmp_path / "run")))
    assert run.summary.headline == "1 of 1 model calls tools."
    assert Path(run.folder) == tmp_path / "run"


async def test_async_code_awaits_the_twin(tmp_path: Path) -> None:
    with Vendor(models=["faithful"], api_key="sk-0123456789") as vendor:
        endpoint = Endpoint(vendor.url, api_key="sk-0123456789")
        assert [info.id for info in await models_async(endpoint)] == ["faithful"]
        options = ProbeOptions(suite="quick", iterations=1, output=str(tmp_path / "run"))
        run = await probe_async(endpoint, options=options)
    assert run.summary.totals.full == 1


@pytest.mark.filterwarnings("error")
async def test_waiting_inside_a_running_loop_names_the_twin() -> None:
    """In a notebook a loop is always running."""
    with pytest.raises(UsageError, match="await probe_async"):
        probe("http://localhost:1")


def test_errors_are_of_one_kind_with_a_remedy_and_an_exit_code() -> None:
    with pytest.raises(ToolcertError) as caught:
        probe("http://127.0.0.1:1", options=ProbeOptions(suite="quick"))
    assert caught.value.exit_code == 3
    assert caught.value.remedy
    with pytest.raises(ToolcertError, match="at least 1"):
        ProbeOptions(iterations=0)
