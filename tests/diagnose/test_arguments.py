"""Arguments: each way of being wrong has its own code, and nothing is reported twice."""

from __future__ import annotations

from typing import Any

import pytest

from diagnose.answers import as_json, asked, call, called, codes, found
from toolcert.core.findings import Severity
from toolcert.core.requests import tool

PLAN = tool(
    "plan",
    "A plan.",
    {
        "type": "object",
        "properties": {
            "days": {"type": "integer", "minimum": 1},
            "pace": {"enum": ["slow", "fast"]},
            "stops": {"type": "array", "items": {"type": "string"}},
            "options": {"type": "object"},
        },
        "required": ["days"],
        "additionalProperties": False,
    },
)


def planned(arguments: Any) -> list[str]:
    return codes(asked(tools=[PLAN]), called(call("plan", arguments)))


@pytest.mark.parametrize(
    "text", ["{'city': 'Tokyo'}", '{"city": Tokyo}', "Tokyo", '{"city": "Tokyo"}}', '{"city": NaN}']
)
def test_not_json(text: str) -> None:
    assert codes(asked(), called(call(arguments=text))) == ["args.invalid_json"]


def test_arguments_too_large_to_be_checked_are_the_vendors_fault() -> None:
    choice = tool("pick", "Pick.", {"properties": {"of": {"items": {"enum": [f"x{n}" for n in range(100)]}}}})
    huge = as_json({"of": ["x1"] * 100_000 + ["wrong"]})
    assert codes(asked(tools=[choice]), called(call("pick", huge))) == ["args.too_large"]


@pytest.mark.parametrize("nothing", ["", "  ", None, "null"])
def test_empty_where_parameters_are_required_is_an_error(nothing: Any) -> None:
    (finding,) = found(asked(), called(call(arguments=nothing)))
    assert (finding.code, finding.severity) == ("args.empty", Severity.ERROR)


@pytest.mark.parametrize("nothing", ["", None])
def test_empty_where_none_are_required_is_a_warning(nothing: Any) -> None:
    (finding,) = found(asked(), called(call("get_time", nothing)))
    assert (finding.code, finding.severity) == ("args.empty", Severity.WARNING)


@pytest.mark.parametrize("value", [{"city": "Tokyo"}, [], 5, True])
def test_a_value_instead_of_a_string(value: Any) -> None:
    assert codes(asked(), called(call(arguments=value))) == ["args.not_string"]


@pytest.mark.parametrize(
    "arguments",
    [as_json('{"days": 3}'), '{"days": 3, "stops": "[\\"Kyoto\\"]"}', '{"days": 3, "options": "{\\"a\\": 1}"}'],
    ids=["the whole", "an array", "an object"],
)
def test_double_encoded(arguments: str) -> None:
    assert planned(arguments) == ["args.double_encoded"]


@pytest.mark.parametrize(
    ("arguments", "keyword"),
    [
        ('{"pace": "slow"}', "required"),
        ('{"days": "three"}', "type"),
        ('{"days": 0}', "minimum"),
        ('{"days": 3, "pace": "warp"}', "enum"),
        ('{"days": 3, "color": "red"}', "additionalProperties"),
        ("[]", "type"),
    ],
)
def test_a_broken_schema_is_named_by_its_keyword(arguments: str, keyword: str) -> None:
    assert planned(arguments) == [f"args.schema.{keyword}"]


def test_each_keyword_once_with_the_number_of_its_violations() -> None:
    findings = found(asked(tools=[PLAN]), called(call("plan", '{"days": "x", "stops": [1, 2], "pace": "warp"}')))
    assert [finding.code for finding in findings] == ["args.schema.enum", "args.schema.type"]
    assert "and 2 more" in findings[1].evidence


def test_evidence_says_whether_coercion_would_mend_it() -> None:
    (finding,) = found(asked(tools=[PLAN]), called(call("plan", '{"days": "3"}')))
    assert finding.evidence.startswith("/days: ")
    assert finding.evidence.endswith("coercion would mend it")


def test_doubled_arguments() -> None:
    assert codes(asked(), called(call(arguments='{"city": "Tokyo"}{"city": "Tokyo"}'))) == ["args.doubled"]


def test_the_arguments_of_a_mangled_tool_are_judged_too() -> None:
    reply = called(call("functions.get_weather", '{"town": "Tokyo"}'))
    assert codes(asked(), reply) == ["args.schema.required", "call.mangled_name"]


def test_each_call_is_judged_for_itself() -> None:
    findings = found(asked(), called(call(id="a"), call(id="b", arguments="{}"), call(id="c", arguments="x")))
    assert {(finding.code, finding.call) for finding in findings} == {
        ("args.schema.required", 1),
        ("args.invalid_json", 2),
    }


def test_a_broken_schema_is_the_datasets_fault_alone() -> None:
    broken = tool("plan", "", {"type": "object", "required": {"days": True}})
    assert codes(asked(tools=[broken]), called(call("plan", '{"pace": 1}'))) == ["dataset.bad_schema"]
