"""Adding a probe touches one file; names, groups and needs are checked."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from support.probing import probe_models
from toolcert.core.cases import Outcome
from toolcert.core.errors import UsageError
from toolcert.probes import base
from toolcert.probes.base import GROUPS, all_probes, find_probe, load_modules, register
from toolcert.simulate import Vendor

NEW_PROBE = dedent(
    '''
    """Does the model keep a date as it was given?"""

    from __future__ import annotations

    from toolcert.core.requests import tool, user
    from toolcert.probes.oracle import answered
    from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
    from toolcert.probes.oracle import equals, valid_calls, why_not_called
    from toolcert.probes.base import probe
    from toolcert.probes.sample_tools import described, parameters

    REMIND = tool("remind_me", "Set a reminder.", parameters(date=described("Date as YYYY-MM-DD")))


    @probe
    class KeepsDates(ScriptedProbe):
        """Asks for a reminder on a date that nobody could guess."""

        name = "keeps_dates"
        group = "format"
        title = "Keeps a date as it was given"
        meaning = "Dates reach the tool unchanged."
        order = 200

        async def run(self, talk: Conversation) -> ProbeResult:
            date = f"20{talk.number('year', low=30, high=99)}-03-{talk.number('day', low=10, high=28)}"
            turn = await answered(talk, [user(f'Call remind_me with date "{date}".')], tools=[REMIND])
            if any(equals(call, date=date) for call in valid_calls(turn, "remind_me")):
                return passed(called=True)
            return failed(why_not_called(turn, "remind_me"), called=False)
    '''
)


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    all_probes()
    probes = dict(base._probes)
    monkeypatch.setattr(base, "_probes", probes)
    return probes


async def test_a_new_probe_is_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_registry: dict[str, object]
) -> None:
    """The module is dropped into a folder of probes, is found there, and runs end to end."""
    folder = tmp_path / "dropped_in"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "keeps_dates.py").write_text(NEW_PROBE)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_modules("dropped_in") == ["dropped_in.keeps_dates"]
    assert [probe.name for probe in all_probes() if probe.group == "format"][-1] == "keeps_dates"
    with Vendor(models=["faithful", "fault:args.schema.type"]) as vendor:
        models = ["faithful", "fault:args.schema.type"]
        probed = await probe_models(vendor.url, models, probes=["keeps_dates"], iterations=3)
    assert {record.outcome for record in probed.records if record.model == "faithful"} == {Outcome.PASSED}
    assert {record.outcome for record in probed.records if record.model != "faithful"} == {Outcome.FAILED}
    assert probed.summary.probes[0].title == "Keeps a date as it was given"
    sys.modules.pop("dropped_in.keeps_dates")


def test_a_name_can_be_taken_only_once(own_registry: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="basic is registered twice"):
        register(find_probe("basic"))


def test_a_wrong_name_gets_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="Did you mean hello_world"):
        find_probe("hello_wrold")


@pytest.mark.parametrize("probe", all_probes(), ids=lambda probe: probe.name)
def test_every_probe_says_what_it_is_costs_and_means(probe: object) -> None:
    found = find_probe(probe.name)  # type: ignore[attr-defined]  # a Probe
    assert found.group in GROUPS
    assert found.title
    assert found.meaning.endswith(".")
    assert 1 <= found.requests <= 10
    assert all(find_probe(need).name == need for need in found.needs)
    assert type(found).__module__.startswith("toolcert.probes.catalogue.")


def test_the_probes_of_a_module_belong_to_one_group() -> None:
    groups = {(type(found).__module__, found.group) for found in all_probes()}
    assert len(groups) == len({module for module, _ in groups})


def test_the_probes_of_the_specification_are_all_there() -> None:
    expected = {
        "calling": "hello_world basic result_use multi_tool parallel multi_step irrelevance missing_info",
        "control": "choice_auto choice_none choice_required choice_named parallel_off max_tokens_cut",
        "format": "streaming stream_twin json_object json_mode json_schema strict unicode_args long_args zero_params "
        "schema_ladder many_tools long_names schema_size",
        "streamed": re.sub(
            r"(\w+)",
            r"streamed_\1",
            "result_use multi_tool parallel multi_step irrelevance missing_info choice_required choice_named "
            "choice_none parallel_off max_tokens_cut unicode_args long_args zero_params schema_ladder strict "
            "many_tools json_object json_schema tool_error empty_result swapped_results injected_result "
            "null_content foreign_ids wrong_id malformed_history reasoning_back",
        ),
        "conversation": "tool_error empty_result swapped_results null_content wrong_id foreign_ids "
        "malformed_history reasoning_back injected_result",
        "server": "model_listing unknown_model error_shapes usage tools_in_prompt repeatability",
    }
    found = {group: [probe.name for probe in all_probes() if probe.group == group] for group in expected}
    assert found == {group: names.split() for group, names in expected.items()}
