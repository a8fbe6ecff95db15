"""Every simulated fault, probed over real HTTP: what is proven against a model is never outvoted by what works."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import msgspec
import pytest

from support.probing import Probed, probe_models
from toolcert.core.gates import Gates
from toolcert.core.verdict import Word, can_cap
from toolcert.diagnose import kind_of
from toolcert.probes.summary.scorecard import ModelSummary, ProbeSummary
from toolcert.probes.summary.sentences import failed_gates, headline
from toolcert.reports.formats import render
from toolcert.simulate import Vendor
from toolcert.simulate.faults import SeenBy, all_faults

FAULTS = [
    f for f in all_faults() if f.seen_by not in (SeenBy.COMPARISON, SeenBy.LOAD) and not f.code.startswith("transport.")
]
BROKEN = {fault.model: fault.code for fault in FAULTS if can_cap(fault.code, kind_of(fault.code).severity)}
SOUND = ["faithful", "reasoner"]


def probed_with(suite: str, every: int = 1) -> Probed:
    """One iteration of each probe, for all faults at one vendor, or for each so many."""
    models = [*SOUND, *(fault.model for fault in FAULTS[::every])]
    with Vendor(models=models, latency=0.0, seed=1) as vendor:
        return asyncio.run(probe_models(vendor.url, models, suite=suite, concurrency=16))


@pytest.fixture(
    scope="module", params=[("agent", 5), *(pytest.param((s, 1), marks=pytest.mark.heavy) for s in ("agent", "full"))]
)
def probed(request: pytest.FixtureRequest) -> Probed:
    return probed_with(*request.param)


def alone(summary: ProbeSummary, model: ModelSummary) -> ProbeSummary:
    """The summary as if the model had been the only one."""
    causes = tuple(cause for cause in summary.causes if model.model in cause.models)
    single = msgspec.structs.replace(summary, models=(model,), causes=causes, verdict=model.verdict.word)
    return msgspec.structs.replace(single, headline=headline([model], summary.totals))


def with_errors(probed: Probed) -> Iterator[ModelSummary]:
    for model in probed.summary.models:
        if any(can_cap(found.code, found.severity) for found in model.findings):
            yield model


@pytest.mark.heavy
def test_a_faithful_model_is_good_and_has_no_exception(probed: Probed) -> None:
    for name in SOUND:
        verdict = probed.model(name).verdict
        assert (verdict.word, verdict.exemptions, verdict.caps) == (Word.PASSES, (), ()), name


def test_no_model_with_an_error_is_good(probed: Probed) -> None:
    """One iteration is enough: what was seen once is asked for again."""
    seen = list(with_errors(probed))
    assert len(seen) > 0.3 * len(probed.summary.models)
    assert [model.model for model in seen if model.verdict.good] == []


def test_every_fault_that_its_suite_can_show_is_in_the_verdict(probed: Probed) -> None:
    for model in with_errors(probed):
        code = BROKEN.get(model.model)
        if code is not None and any(found.code == code for found in model.findings):
            assert code in model.verdict.caps, model.verdict.sentence


def test_no_gate_lets_an_error_pass(probed: Probed) -> None:
    for model in with_errors(probed):
        only = alone(probed.summary, model)
        for gates in (Gates(fail_under=90), Gates(require=Word.PASSES), Gates(fail_on=("error",))):
            assert failed_gates(only, gates), (model.model, gates)


def test_an_error_that_is_allowed_passes_where_nothing_else_is_wrong() -> None:
    with Vendor(models=["fault:call.id_duplicate"], seed=1) as vendor:
        run = asyncio.run(probe_models(vendor.url, ["fault:call.id_duplicate"], probes=["basic", "parallel"]))
    assert failed_gates(run.summary, Gates(fail_under=90))
    assert not failed_gates(run.summary, Gates(fail_under=90, allow=("call.id_duplicate",)))
    assert not failed_gates(run.summary, Gates(require=Word.PASSES, allow=("call",)))
    assert failed_gates(run.summary, Gates(require=Word.CERTIFIED, allow=("call",)))


def test_no_report_says_that_a_model_with_an_error_passes(probed: Probed) -> None:
    for model in with_errors(probed):
        only = alone(probed.summary, model)
        assert not any(word in only.headline for word in ("passes", "certified")), only.headline
        badge = json.loads(render("probe", "badge", only))
        assert badge["message"] == model.verdict.word.text
        assert "green" not in badge["color"]
        junit = render("probe", "junit", only)
        assert isinstance(junit, bytes)
        [case] = [case for case in ET.fromstring(junit).iter("testcase") if case.get("name") == "verdict"]
        assert case.find("failure") is not None
        lines = str(render("probe", "csv", only)).splitlines()[1:]
        assert all(f",{model.verdict.word.value}," in line for line in lines)


def test_what_was_seen_once_is_asked_for_again_and_caps_only_if_it_comes_again() -> None:
    """A vendor that cuts half of its streams, asked once: by the draw of its seed it is caught twice, once or never."""
    model, ends = "flaky:1/2:fault:stream.cut", set()
    for seed in range(8):
        with Vendor(models=[model], seed=seed) as vendor:
            run = asyncio.run(probe_models(vendor.url, [model], probes=["streaming"]))
        [verdict] = [one.verdict for one in run.summary.models]
        shown = sum("stream.cut" in record.codes for record in run.records)
        asked = sum(record.probe is not None and record.probe.probe == "streaming" for record in run.records)
        assert asked == (2 if "stream.cut" in run.record(model, "streaming").codes else 1)
        assert verdict.caps == (("stream.cut",) if shown == 2 else ())
        assert verdict.good is (shown == 0)
        ends.add(shown)
    assert {0, 1} <= ends


@pytest.mark.heavy
@pytest.mark.parametrize("suite", ["agent", "full"])
def test_one_iteration_is_enough_to_hold_a_cut_stream_against_a_vendor(suite: str) -> None:
    with Vendor(models=["stream-cutter"]) as vendor:
        run = asyncio.run(probe_models(vendor.url, ["stream-cutter"], suite=suite))
    assert run.model("stream-cutter").verdict.word is Word.PARTIAL
    assert "stream.cut" in run.model("stream-cutter").verdict.caps
