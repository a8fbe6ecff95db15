"""From a finished run to what the history keeps of it."""

from __future__ import annotations

from pathlib import Path

from support.probing import probe_models
from toolcert.core.targets import ModelInfo
from toolcert.history.daily_status import DayStatus
from toolcert.history.observation import observations, stored_run
from toolcert.history.overview import overview
from toolcert.history.store import HistoryStore
from toolcert.reports.history.phrases import standing_lines
from toolcert.simulate import Vendor


async def test_a_model_that_cannot_chat_has_no_outage(tmp_path: Path) -> None:
    """It is in the run and is not asked; that is known, and nobody need look after the endpoint."""
    embedder = ModelInfo(id="embedder", can_chat=False, why_not="has no chat function")
    with Vendor(models=["faithful"]) as vendor:
        probed = await probe_models(vendor.url, ["faithful", embedder], probes=["basic", "result_use"])
    with HistoryStore(str(tmp_path / "h")) as store:
        store.add_all([(stored_run(probed.summary), observations(probed.summary))])
        found = overview(store)
    statuses = {history.model: history.days[-1].status for history in found.models}
    assert statuses == {"faithful": DayStatus.WORKING, "embedder": DayStatus.NOT_SUPPORTED}
    assert found.outages == ()
    assert standing_lines(found) == ["1 working, 1 not supported."]


async def test_a_model_that_did_not_answer_has_one(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("503", count=100)
        probed = await probe_models(vendor.url, ["faithful"], probes=["basic"])
    (seen,) = observations(probed.summary)
    assert (seen.unsupported, seen.not_measured, seen.answered) == (0, 1, False)
