"""The agent suite's scores are exact, and no model vanishes, whatever it answers."""

from __future__ import annotations

import pytest

from support.probing import probe_models
from support.scripted import Answer, Scripted, completion, refusal
from toolcert.core.cases import Outcome
from toolcert.core.targets import ModelInfo
from toolcert.core.verdict import Word
from toolcert.probes.summary.scorecard import CellState
from toolcert.simulate import Vendor
from toolcert.simulate.persona import MALFORMED

SCORES = [
    ("score-100", 100, Word.PASSES),
    ("score-90", 90, Word.PARTIAL),
    ("score-65", 65, Word.FAILS),
    ("score-50", 50, Word.FAILS),
    ("score-30", 30, Word.FAILS),
]


async def test_the_five_personas_give_exactly_their_scores() -> None:
    with Vendor(models=[model for model, _, _ in SCORES]) as vendor:
        probed = await probe_models(vendor.url, [model for model, _, _ in SCORES], suite="agent", iterations=2)
    for name, points, word in SCORES:
        model = probed.model(name)
        assert (name, model.score.low, model.score.high) == (name, points, points)
        assert (name, model.verdict.word) == (name, word)
    assert [model.model for model in probed.summary.models][:2] == ["score-100", "score-90"]
    assert probed.summary.headline == "1 of 5 models passes; 1 works in part, 3 fail."


async def test_malformed_answers_fail_and_their_models_stay_in_the_report() -> None:
    with Vendor(models=list(MALFORMED)) as vendor:
        probed = await probe_models(vendor.url, MALFORMED, suite="agent")
    assert {model.model for model in probed.summary.models} == set(MALFORMED)
    for name in MALFORMED:
        cells = probed.model(name).cells
        assert {cell.state for cell in cells} == {CellState.FAILED}, name
        assert probed.model(name).score.low == 0
        codes = {found.code for found in probed.model(name).findings}
        assert ("envelope.not_openai" in codes) is (name != "null-calls")


async def test_a_server_that_refuses_tools_is_unsupported_and_not_failed() -> None:
    with Vendor(models=["no-tools"]) as vendor:
        probed = await probe_models(vendor.url, ["no-tools"], suite="agent")
    model = probed.model("no-tools")
    assert model.verdict.word is Word.UNSUPPORTED
    assert model.counts.failed == 0
    assert model.score.low == 10  # JSON still works
    assert model.reason == "The server says that it cannot call tools"
    assert "refuses tools" in model.reasons[1].lower()


async def test_a_model_that_cannot_chat_is_listed_and_not_asked() -> None:
    with Vendor(models=["faithful"]) as vendor:
        models = [ModelInfo(id="embedder", can_chat=False, why_not="an embedding model"), ModelInfo(id="faithful")]
        probed = await probe_models(vendor.url, models, suite="quick", iterations=3)
        assert all(request.model == "faithful" for request in vendor.requests)
    model = probed.model("embedder")
    assert model.verdict.word is Word.UNSUPPORTED
    assert model.reason == "An embedding model"
    assert model.counts.skipped == 1
    assert probed.summary.headline == "1 of 2 models passes; 1 cannot call tools."


@pytest.mark.heavy
async def test_what_is_not_measured_widens_the_score_and_bars_a_good_verdict() -> None:
    """Only the JSON test is answered, and wrongly: 10 points are lost, 90 are open."""

    def script(request: object) -> Answer:
        body = getattr(request, "json", {})
        return refusal(503, "overloaded") if "tools" in body or "response_format" not in body else completion("{}")

    with Scripted(script) as server:
        probed = await probe_models(server.url, ["m"], suite="agent")
    model = probed.model("m")
    assert (model.score.low, model.score.high) == (0, 90)
    assert model.verdict.word is Word.NOT_MEASURED


async def test_an_endpoint_without_answers_measures_nothing_and_fails_nobody() -> None:
    with Scripted(lambda _: refusal(503, "overloaded")) as server:
        probed = await probe_models(server.url, ["a", "b"], suite="agent")
    assert probed.summary.nothing_measured
    assert probed.summary.headline == "Nothing could be measured: no answer to judge from 2 models."
    assert {record.outcome for record in probed.records} == {Outcome.NOT_MEASURED}
    assert all(model.verdict.word is Word.NOT_MEASURED for model in probed.summary.models)


@pytest.mark.sampled
@pytest.mark.parametrize("suite", ["quick", "hello", "agent", "full"])
async def test_no_model_vanishes_from_any_suite(suite: str) -> None:
    models = ["faithful", "html-page", "no-tools", "overloaded"]
    with Vendor(models=models) as vendor:
        probed = await probe_models(vendor.url, models, suite=suite)
    assert {model.model for model in probed.summary.models} == set(models)
    totals = probed.summary.totals
    assert sum(getattr(totals, word.value) for word in Word) == len(models)


async def test_a_spent_budget_leaves_the_score_open_and_blames_nobody() -> None:
    with Vendor(models=["faithful"]) as vendor:
        probed = await probe_models(vendor.url, ["faithful"], suite="agent", concurrency=1, max_requests=3)
        assert len(vendor.requests) == 3
    model = probed.model("faithful")
    assert model.counts.failed == 0
    assert model.counts.passed >= 1
    assert model.score.low < model.score.high == 100
    assert model.verdict.word is Word.UNDECIDED


async def test_a_run_that_is_resumed_asks_only_what_is_missing() -> None:
    with Vendor(models=["faithful", "null-calls"]) as vendor:
        models = ["faithful", "null-calls"]
        whole = await probe_models(vendor.url, models, suite="hello", iterations=8)
        kept = [record for record in whole.records if record.outcome.measured][:9]
        before = len(vendor.requests)
        resumed = await probe_models(vendor.url, models, suite="hello", iterations=8, earlier=kept)
        asked_again = len(vendor.requests) - before
    assert sorted(record.case for record in resumed.records) == sorted(record.case for record in whole.records)
    assert asked_again == 2 * 8 + 5 - sum(record.probe.requests for record in kept if record.probe)
    assert [model.model for model in resumed.summary.models] == ["faithful", "null-calls"]
    assert [str(model.reliability.called) for model in resumed.summary.models] == ["8/8", "0/5"]
