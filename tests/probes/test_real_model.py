"""The full suite against a real model behind a real server: it finishes, and names what the server really does."""

from __future__ import annotations

import pytest

from support.probing import Probed, probe_models
from toolcert.core.cases import Outcome
from toolcert.core.records import Record
from toolcert.core.verdict import Word
from toolcert.probes.base import all_probes
from toolcert.probes.run.live_conversation import ProbeSettings
from toolcert.probes.summary.scorecard import CellState
from toolcert.simulate.local_model import local_model

MODEL = "smollm2-135m"
pytestmark = [pytest.mark.needs("model"), pytest.mark.heavy]


ASKED = [
    probe.name
    for probe in all_probes()
    if probe.group not in ("streamed", "scenario") and probe.name != "schema_ladder"
]
"""All but the streamed twins, which would double the minutes that a model on this machine's processor takes, and the
ladder of ever larger schemas, which takes a fifth of them."""
CALLING = [probe.name for probe in all_probes() if probe.group == "calling"]


async def probe_real(probes: list[str], *, tool_template: bool, max_tokens: int) -> Probed:
    settings = ProbeSettings(max_tokens=max_tokens, parameters={"temperature": 0})
    with local_model(name=MODEL, tool_template=tool_template) as url:
        return await probe_models(
            url, [MODEL], probes=probes, settings=settings, concurrency=2, retries=2, patience=120.0
        )


def found(probed: Probed, probe: str) -> Record:
    return probed.record(MODEL, probe)


async def test_a_real_model_that_calls_finishes_the_suite_and_its_servers_quirks_are_named() -> None:
    """What llama.cpp's server does today: assert the structure, never the wording of a small model."""
    probed = await probe_real(ASKED, tool_template=True, max_tokens=48)
    model = probed.model(MODEL)
    assert len(model.cells) == len(probed.summary.probes) > 30
    assert all(cell.counts.total in (1, 2) for cell in model.cells)  # 2 where an error was looked for once more
    assert any(record.probe and record.probe.called for record in probed.records)
    codes = {code for record in probed.records for code in record.codes}
    assert "choice.named_ignored" in codes
    assert "model.unknown_accepted" in codes
    assert "history.malformed_500" in codes
    assert found(probed, "unknown_model").outcome is Outcome.FAILED
    leak = found(probed, "choice_none")
    assert "call.in_text" in leak.codes
    assert leak.reason == "leaks the call as text under tool_choice none"
    cut = found(probed, "max_tokens_cut")
    assert cut.outcome is Outcome.PASSED  # the server says `length`, which is honest
    assert cut.detail.figures == {"cut_call": "broken"}
    assert model.usage.tokens_out > 0
    assert probed.summary.headline


async def test_a_real_model_whose_template_ignores_tools_finishes_too() -> None:
    probed = await probe_real([*CALLING, "unknown_model", "json_object"], tool_template=False, max_tokens=40)
    model = probed.model(MODEL)
    assert all(cell.counts.total in (1, 2) for cell in model.cells)  # 2 where an error was looked for once more
    assert model.verdict.word in (Word.FAILS, Word.UNDECIDED, Word.NOT_MEASURED)
    calling = [cell for cell in model.cells if cell.group == "calling"]
    assert not any(cell.state is CellState.PASSED for cell in calling)
    assert "model.unknown_accepted" in {code for record in probed.records for code in record.codes}
    # JSON is forced by a grammar: whether the model fills it rightly is its own affair, but it is JSON and bare.
    assert not {"json.invalid", "json.fenced"} & set(found(probed, "json_object").codes)
