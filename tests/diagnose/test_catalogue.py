"""The catalogue: complete, in plain words, and the only source of codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import toolcert
from toolcert.core.findings import FindingKind, Severity
from toolcert.diagnose import catalogue, finding, kind_of
from toolcert.diagnose.checks.registry import AREAS, area_of, by_area, declare

KINDS = list(catalogue())
SOURCES = Path(toolcert.__file__).parent
USED_CODE = re.compile(r'(?:finding\(|\.note\(|Irregularity\(code=|code=)\s*"([a-z_]+(?:\.[a-zA-Z_]+)*)"')
PROMISED = """
finish.stop_with_calls finish.calls_missing finish.absent finish.repeated finish.nonstandard finish.truncation_hidden
choice.required_ignored choice.none_ignored choice.named_ignored choice.rejected
parallel.flag_ignored parallel.merged trigger.over trigger.under
call.in_text call.in_reasoning call.twice call.unknown_tool call.mangled_name call.id_missing call.id_duplicate
call.id_format call.type_missing call.empty_list call.index_bogus envelope.not_openai
args.invalid_json args.empty args.not_string args.double_encoded args.schema args.escaped args.doubled args.lost
schema.valid_rejected schema.strict_unenforced dataset.bad_schema
stream.cut stream.args_truncated stream.index_missing stream.index_shared stream.index_gap stream.fragment_misplaced
stream.name_repeated stream.differs stream.error_inside stream.usage_missing stream.usage_nonstandard stream.framing
stream.one_piece reasoning.only reasoning.leaked reasoning.required_back
history.null_content history.malformed_500 history.wrong_id_accepted result.ignored result.repeat_call result.partial
json.fenced json.invalid json.ignored json.other_values usage.arithmetic usage.prompt_tokens_differ
identity.model_differs model.unknown_accepted nondeterministic text.degenerate text.special_tokens args.altered
transport.connect transport.tls transport.timeout transport.reset transport.rate_limited transport.server_error
transport.auth transport.oversized args.too_large
"""


@pytest.mark.parametrize("code", PROMISED.split())
def test_what_was_promised_is_there(code: str) -> None:
    assert kind_of(code).code == code


@pytest.mark.parametrize("kind", KINDS, ids=[kind.code for kind in KINDS])
def test_an_entry_says_everything_in_sentences(kind: FindingKind) -> None:
    for text in (kind.title, kind.meaning, kind.cause, kind.remedy):
        assert text.endswith("."), text
        assert "  " not in text
    assert len(kind.title) <= 80
    assert len(kind.meaning) > 40


def test_no_sentence_is_used_for_two_codes() -> None:
    titles = [kind.title for kind in KINDS]
    assert len(set(titles)) == len(titles)
    anchors = [kind.anchor for kind in KINDS]
    assert len(set(anchors)) == len(anchors)


def test_every_area_has_a_title() -> None:
    assert {area_of(kind.code) for kind in KINDS} == set(AREAS)
    assert [kind for _, kinds in by_area() for kind in kinds if area_of(kind.code) not in AREAS] == []


def test_every_code_in_the_sources_is_in_the_catalogue() -> None:
    used = {code for path in SOURCES.rglob("*.py") for code in USED_CODE.findall(path.read_text(encoding="utf-8"))}
    findings = {code for code in used if area_of(code) in AREAS}
    assert len(findings) > 60
    assert {code for code in findings if kind_of(code).code not in (code, "args.schema")} == set()


def test_a_keyword_falls_back_on_the_schema_entry() -> None:
    assert kind_of("args.schema.minLength").code == "args.schema"
    assert finding("args.schema.minLength", "/city").severity is Severity.ERROR


@pytest.mark.parametrize("code", ["nonsense", "finish", "finish.nonsense"])
def test_a_code_nobody_declared_is_our_bug_in_a_check_and_news_in_a_run(code: str) -> None:
    with pytest.raises(AssertionError, match="not in the catalogue"):
        finding(code, "")
    assert kind_of(code).title == "A code that this version of toolcert does not know."
    assert kind_of(code).code == code


def test_a_code_is_declared_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        declare(kind_of("finish.absent"))
