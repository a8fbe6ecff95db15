"""From a finished run to what the history keeps of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from support.histories import seen
from support.probing import probe_models
from toolcert.core.findings import Severity
from toolcert.core.targets import ModelInfo
from toolcert.history.daily_status import DayStatus
from toolcert.history.observation import SeenFinding, StoredRun, observations, stored_run
from toolcert.history.overview import overview
from toolcert.history.store import HistoryStore
from toolcert.reports.history.phrases import headline, latest_word, standing_lines
from toolcert.reports.history.readme import section
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
    assert standing_lines(found) == ["1 passes, 1 unsupported."]


@pytest.mark.heavy
async def test_a_day_has_the_verdict_of_its_run(tmp_path: Path) -> None:
    models = ["faithful", "never-reads-results", "text-caller", "no-tools", "stream-cutter", "seven-of-ten"]
    with Vendor(models=models, seed=1) as vendor:
        probed = await probe_models(vendor.url, models, suite="agent", iterations=5)
    with HistoryStore(str(tmp_path / "h")) as store:
        store.add_all([(stored_run(probed.summary), observations(probed.summary))])
        found = overview(store)
    said = {history.model: latest_word(history, found.last) for history in found.models}
    assert said == {model.model: model.verdict.word.text for model in probed.summary.models}
    assert {"passes", "fails", "unsupported", "partial"} <= set(said.values())


async def test_a_model_that_did_not_answer_has_one(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("503", count=100)
        probed = await probe_models(vendor.url, ["faithful"], probes=["basic"])
    (found,) = observations(probed.summary)
    assert (found.unsupported, found.not_measured, found.answered) == (0, 1, False)


@pytest.mark.sampled
@pytest.mark.parametrize("model", ["stream-cutter", "fault:call.id_duplicate", "fault:args.altered"])
@pytest.mark.heavy
async def test_a_day_with_a_reproduced_error_is_partial_and_nowhere_called_good(model: str, tmp_path: Path) -> None:
    """Calls and results are all right; what breaks agents is in other probes, or in findings alone."""
    models = ["faithful", model]
    with Vendor(models=models) as vendor:
        probed = await probe_models(vendor.url, models, suite="full")
    assert [one.verdict.word for one in probed.summary.models] == ["passes", "partial"]
    with HistoryStore(str(tmp_path / "h")) as store:
        store.add_all([(stored_run(probed.summary), observations(probed.summary))])
        found, narrow = overview(store), overview(store, probe="result_use")
    today = {history.model: history.days[-1] for history in found.models}
    assert {name: day.status for name, day in today.items()} == {"faithful": "working", model: "partial"}
    assert all(code in today[model].reason for code in probed.model(model).verdict.caps)
    assert standing_lines(found) == ["1 passes, 1 partial."]
    assert headline(found).endswith("1 of 2 models passes.")
    [line] = [line for line in section(found, "r.html").splitlines() if model in line]
    assert "| partial | 0/1 |" in line
    assert {history.days[-1].status for history in narrow.models} == {DayStatus.WORKING}, "the probe alone is in order"


async def test_a_day_of_which_too_little_was_measured_is_not_good(tmp_path: Path) -> None:
    with Vendor(models=["faithful"]) as vendor:
        probed = await probe_models(vendor.url, ["faithful"], suite="agent", iterations=2)
    kept = [msgspec.structs.replace(one, not_measured=one.probe == "json_mode") for one in observations(probed.summary)]
    with HistoryStore(str(tmp_path / "h")) as store:
        store.add_all([(stored_run(probed.summary), kept)])
        [history] = overview(store).models
    assert history.days[-1].status is DayStatus.NOT_MEASURED
    assert history.days[-1].reason == "only 10 of 11 were measured"


def test_an_imported_row_is_judged_by_its_rates_and_never_called_reproduced(tmp_path: Path) -> None:
    error = SeenFinding(code="call.in_text", severity=Severity.ERROR, count=50)
    row = msgspec.structs.replace(seen("m", "2026-04-01", (50, 50)), findings=(error,))
    statuses = {}
    for source in ("probe", "csv"):
        with HistoryStore(str(tmp_path / source)) as store:
            store.add(StoredRun(run=row.run, day=row.day, started_at=0.0, source=source), [row])
            statuses[source] = overview(store).models[0].days[-1].status
    assert statuses == {"probe": DayStatus.PARTIAL, "csv": DayStatus.WORKING}
