"""The probe page of a real run log: conversations behind cells, the same model at several endpoints, speed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec import structs

from reports.probe_run_samples import TEXT_CALL, write_probe_run
from toolcert.core.records import Detail
from toolcert.probes.summary.summariser import summarise_run
from toolcert.reports.formats import Extras, render
from toolcert.reports.html.evidence import MOST_MESSAGES, conversation
from toolcert.reports.probe import capability_matrix
from toolcert.reports.probe.phrases import same_models
from toolcert.runs.reader import RunReader


def page_of(run: Path, **extras: bool) -> str:
    return str(render("probe", "html", summarise_run(run), Extras(run=str(run), **extras)))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_probe_run(tmp_path_factory.mktemp("probe") / "run")


@pytest.fixture(scope="module")
def page(run: Path) -> str:
    return page_of(run)


def test_every_cell_leads_to_a_conversation_of_its_own(page: str) -> None:
    cells = re.findall(r'<td[^>]*><a href="#(c-[^"]+)" tabindex="-1">', page)
    assert len(cells) == len(set(cells)) == 12
    assert all(page.count(f'<article class="case" id="{cell}"') == 1 for cell in cells)


def test_a_conversation_tells_question_answer_and_finding(page: str) -> None:
    case = page[page.index('<article class="case" id="c-south-shy.basic"') :].partition("</article>")[0]
    assert "How is the weather in Oslo?" in case
    assert "offered get_weather" in case
    assert TEXT_CALL.replace("<", "&lt;").replace(">", "&gt;") in case
    assert 'href="#f-call.in_text"' in case
    passed = page[page.index('<article class="case" id="c-north-shy.basic"') :].partition("</article>")[0]
    assert "calls <code>get_weather</code>" in passed
    assert '"city": "Oslo"' in passed


def test_a_full_page_keeps_what_fails_and_names_the_viewer(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capability_matrix, "BUDGET", 4000)
    page = page_of(run)
    shown = re.findall(r'<article class="case" id="(c-[^"]+)"', page)
    assert 0 < len(shown) < 6
    assert all(case.startswith("c-south-shy") for case in shown)
    assert f"toolcert view {run}" in page


def test_a_page_of_a_run_that_is_not_kept_names_no_command(run: Path) -> None:
    page = page_of(run, temporary=True).partition("<script>")[0]
    assert "toolcert view" not in page
    assert "toolcert show RUN" not in page
    assert "How is the weather in Oslo?" in page


def test_a_summary_without_its_run_makes_a_page_without_conversations(run: Path) -> None:
    page = str(render("probe", "html", summarise_run(run)))
    assert '<article class="case"' not in page
    assert 'id="capabilities"' in page


def test_one_model_at_two_endpoints_is_one_entry_with_what_differs(page: str) -> None:
    section = page[page.index('id="vendors"') : page.index('id="capabilities"')]
    assert "2 models" in section
    text = re.sub(r"<[^>]+>", " ", section)
    assert re.search(r"shy\s+north\s+passes .* nothing\s+south\s+fails .* basic 0/3, result_use 0/3", text, re.DOTALL)


def test_speed_and_first_token_stand_on_the_page(page: str) -> None:
    section = page[page.index('id="speed"') : page.index('id="models"')]
    row = re.sub(r"<[^>]+>", " ", section[section.index(">south: good<") + 1 :])
    assert row.split()[2:10] == ["0.75", "0.75", "1.50", "1.50", "1.50", "13", "13", "9"]


def test_a_finding_names_its_models(page: str) -> None:
    summary = page[page.index('id="f-call.in_text"') :].partition("</summary>")[0]
    assert "south: shy" in summary


def test_ids_that_differ_in_their_publisher_are_one_model(run: Path) -> None:
    summary = summarise_run(run)
    renamed = [
        structs.replace(model, model=f"Vendor/{model.model.upper()}") if model.endpoint == "south" else model
        for model in summary.models
    ]
    assert set(same_models(structs.replace(summary, models=tuple(renamed)))) == {"good", "shy"}


def test_two_models_of_one_name_at_one_endpoint_are_not_mixed(run: Path) -> None:
    summary = summarise_run(run)
    renamed = tuple(
        structs.replace(model, model=f"{'ab'[model.model == 'shy']}/same") if model.endpoint == "south" else model
        for model in summary.models
    )
    assert same_models(structs.replace(summary, models=renamed)) == {}


def test_a_long_history_of_messages_is_shown_in_part(run: Path) -> None:
    record = next(RunReader(run).records())
    (exchange,) = record.detail.exchanges
    body = exchange.request.body | {"messages": [{"role": "user", "content": str(n)} for n in range(500)]}
    long = structs.replace(exchange, request=structs.replace(exchange.request, body=body))
    said = conversation(structs.replace(record, detail=Detail(exchanges=(long,))), ())
    assert len(said) == MOST_MESSAGES + 2
    assert "492 messages left out" in said[2].words


@pytest.mark.parametrize("odd", [None, 7, "text", [], {"role": 5}, {"role": "user", "content": [{"type": "text"}]}])
def test_any_message_can_be_shown(run: Path, odd: object) -> None:
    record = next(RunReader(run).records())
    (exchange,) = record.detail.exchanges
    body = {"messages": [odd, {"role": "assistant", "tool_calls": [1, {"function": {"name": 3, "arguments": None}}]}]}
    asked = structs.replace(exchange, request=structs.replace(exchange.request, body=body))
    said = conversation(structs.replace(record, detail=Detail(exchanges=(asked, asked))), ())
    assert [one.who for one in said][-1] == "answer"


def test_the_turns_of_a_conversation_are_told_once(run: Path) -> None:
    """The second request repeats the first and the answer to it; only what is new is shown again."""
    record = next(RunReader(run).records())
    (exchange,) = record.detail.exchanges
    first = exchange.request.body["messages"]
    further = [*first, {"role": "assistant", "content": "again"}, {"role": "tool", "content": "9 degrees"}]
    second = structs.replace(
        exchange, request=structs.replace(exchange.request, body=exchange.request.body | {"messages": further})
    )
    said = conversation(structs.replace(record, detail=Detail(exchanges=(exchange, second))), ())
    assert [one.who for one in said] == ["user", "answer", "tool", "answer"]


def test_hostile_conversations_are_shown_and_add_no_markup(tmp_path: Path) -> None:
    page = page_of(write_probe_run(tmp_path / "run", hostile=True))
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "\u202e" not in page
