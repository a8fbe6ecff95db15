"""JSON mode: fenced, unparsable, not honoured."""

from __future__ import annotations

import pytest

from diagnose.answers import asked, codes, said
from toolcert.core.requests import Request

OBJECT = {"type": "json_object"}
SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}


def in_object_mode() -> Request:
    return asked(response_format=OBJECT)


def in_schema_mode(schema: object = SCHEMA) -> Request:
    return asked(response_format={"type": "json_schema", "json_schema": {"name": "person", "schema": schema}})


@pytest.mark.parametrize("fence", ['```json\n{"age": 7}\n```', '```\n{"age": 7}\n```', '  ```json\n{"age": 7}\n```\n'])
def test_fenced(fence: str) -> None:
    assert codes(in_object_mode(), said(fence)) == ["json.fenced"]


@pytest.mark.parametrize("text", ['{"age": 7', "{'age': 7}", '{"age": 7} Done.', "[1, 2"])
def test_invalid(text: str) -> None:
    assert codes(in_object_mode(), said(text)) == ["json.invalid"]


@pytest.mark.parametrize("text", ["The person is 7.", "7", "[1]", "null", 'Here: {"age": 7}'])
def test_object_mode_ignored(text: str) -> None:
    assert codes(in_object_mode(), said(text)) == ["json.ignored"]


def test_schema_mode_ignored() -> None:
    assert codes(in_schema_mode(), said('{"age": "seven"}')) == ["json.ignored"]


def test_fenced_and_of_another_shape_are_two_faults() -> None:
    assert codes(in_schema_mode(), said('```json\n{"name": "Ann"}\n```')) == ["json.ignored", "json.fenced"]


def test_schema_mode_honoured() -> None:
    assert codes(in_schema_mode(), said('{"age": 7}')) == []


@pytest.mark.parametrize("schema", [None, {"type": "no such type"}])
def test_a_schema_that_cannot_judge_judges_nothing(schema: object) -> None:
    assert codes(in_schema_mode(schema), said('{"age": "seven"}')) == []


def test_an_honest_cut_is_no_fault() -> None:
    assert codes(in_object_mode(), said('{"age": ', finish_reason="length")) == []


def test_without_the_mode_anything_goes() -> None:
    assert codes(asked(response_format={"type": "text"}), said('{"age": ')) == []
