"""What the schema judge says, and that it never raises for somebody else's fault."""

from __future__ import annotations

import json
import socket
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.examples import examples
from toolcert.core.schema.judge import Bucket, Judgement, SchemaJudge
from toolcert.core.text.json_text import MAX_DEPTH, NotJson, nested_deeper_than, parse_json

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "metric": {"type": "boolean"},
        "filters": {"type": "object", "properties": {"from": {"type": "integer"}}, "additionalProperties": False},
        "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
        "unit": {"enum": ["c", "f", 3]},
    },
    "required": ["city"],
    "additionalProperties": False,
}
NO_PARAMETERS = {"type": "object", "properties": {}}


def judge(parameters: Any, arguments: Any) -> Judgement:
    return SchemaJudge().judge(parameters, arguments)


def test_valid_arguments_are_ok_and_come_back_parsed():
    judgement = judge(WEATHER, '{"city": "Oslo", "days": 3}')
    assert judgement == Judgement(ok=True, arguments={"city": "Oslo", "days": 3})


def test_each_violation_names_its_keyword_and_path():
    judgement = judge(WEATHER, '{"days": "soon", "filters": {"till": 1}, "x/y": 0}')
    assert judgement.ok is False
    assert judgement.bucket is Bucket.SCHEMA_MISMATCH
    found = {(violation.keyword, violation.path) for violation in judgement.violations}
    assert found == {
        ("required", ""),
        ("type", "/days"),
        ("additionalProperties", "/filters"),
        ("additionalProperties", ""),
    }


def test_a_path_is_an_escaped_json_pointer():
    judgement = judge({"properties": {"a/b~c": {"type": "string"}}}, '{"a/b~c": 1}')
    assert [violation.path for violation in judgement.violations] == ["/a~1b~0c"]


@pytest.mark.parametrize("parameters", [None, {}, True])
@pytest.mark.parametrize("arguments", ['{"anything": [1]}', "5", '"text"', "[]"])
def test_missing_or_empty_parameters_accept_any_json(parameters, arguments):
    assert judge(parameters, arguments).ok is True


@pytest.mark.parametrize("parameters", [None, {}, WEATHER, {"type": "strin"}])
@pytest.mark.parametrize("arguments", ["{", "{'city': 'Oslo'}", '{"city": "Oslo"}{"city": "Oslo"}', "Oslo", '{"a": 1'])
def test_text_that_does_not_parse_is_invalid_json_whatever_the_schema(parameters, arguments):
    judgement = judge(parameters, arguments)
    assert (judgement.ok, judgement.bucket) == (False, Bucket.INVALID_JSON)
    assert judgement.message


@pytest.mark.parametrize("arguments", ["", "  \n", None, "null"])
@pytest.mark.parametrize("parameters", [None, {}, NO_PARAMETERS, {"type": "object", "properties": {"a": {}}}])
def test_empty_arguments_are_a_warning_where_nothing_is_required(parameters, arguments):
    judgement = judge(parameters, arguments)
    assert judgement.ok is True
    assert judgement.violations == ()
    if arguments != "null":
        assert judgement.bucket is Bucket.EMPTY


@pytest.mark.parametrize("arguments", ["", None, "null"])
def test_empty_arguments_are_a_violation_where_something_is_required(arguments):
    judgement = judge(WEATHER, arguments)
    assert (judgement.ok, judgement.bucket) == (False, Bucket.EMPTY)
    assert [violation.keyword for violation in judgement.violations] == ["required"]


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "strin"},
        {"type": "object", "properties": []},
        {"type": "object", "properties": {"a": {"type": "string", "required": True}}},
        {"pattern": "("},
        {"$ref": "#/$defs/missing"},
        {"multipleOf": 0},
        [],
        "object",
        5,
        {"properties": {"a": object()}},
    ],
)
def test_a_broken_schema_is_the_datasets_fault_and_judges_nothing(broken):
    judgement = judge(broken, '{"a": 1}')
    assert (judgement.ok, judgement.bucket) == (None, Bucket.BAD_SCHEMA)
    assert judgement.message
    assert judge(broken, "").ok is None


@pytest.mark.parametrize(
    "reference",
    ["http://schemas.invalid/a.json", "https://schemas.invalid/a.json", "file:///etc/hostname", "other.json"],
)
def test_a_remote_reference_is_never_fetched(reference, monkeypatch):
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("the judge opened a connection")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    judgement = judge({"properties": {"a": {"$ref": reference}}}, '{"a": 1}')
    assert (judgement.ok, judgement.bucket) == (None, Bucket.BAD_SCHEMA)


def test_local_references_work_also_recursively_and_with_an_id():
    tree = {
        "$id": "https://schemas.invalid/tree",
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        "$ref": "#/$defs/node",
    }
    assert judge(tree, '{"next": {"next": {}}}').ok is True
    assert [v.path for v in judge(tree, '{"next": {"next": 1}}').violations] == ["/next/next"]


@pytest.mark.parametrize(
    ("arguments", "paths", "coercible"),
    [
        ('"{\\"city\\": \\"Oslo\\"}"', ("",), True),
        ('"{\\"town\\": \\"Oslo\\"}"', ("",), False),
        ('{"city": "Oslo", "filters": "{\\"from\\": 1}"}', ("/filters",), True),
        ('{"city": "Oslo", "filters": "{\\"from\\": \\"1\\"}"}', ("/filters",), True),
        ('{"city": "Oslo", "tags": "[\\"a\\"]"}', ("/tags",), True),
    ],
)
def test_json_in_a_string_where_an_object_or_array_is_wanted_is_double_encoded(arguments, paths, coercible):
    judgement = judge(WEATHER, arguments)
    assert (judgement.ok, judgement.bucket) == (False, Bucket.DOUBLE_ENCODED)
    assert judgement.double_encoded == paths
    assert judgement.coercible is coercible
    assert judgement.violations


@pytest.mark.parametrize("arguments", ['{"city": "{\\"a\\": 1}"}', '{"city": "[1]"}'])
def test_json_in_a_string_where_a_string_is_wanted_is_just_a_string(arguments):
    assert judge(WEATHER, arguments) == Judgement(ok=True, arguments=json.loads(arguments))


def test_an_object_where_text_belongs_is_not_a_string_and_coercible_when_it_fits():
    assert judge(WEATHER, {"city": "Oslo"}).bucket is Bucket.NOT_STRING
    assert judge(WEATHER, {"city": "Oslo"}).ok is False
    assert judge(WEATHER, {"city": "Oslo"}).coercible is True
    assert judge(WEATHER, {"town": 1}).coercible is False
    assert judge(WEATHER, [{1, 2}, object()]).bucket is Bucket.NOT_STRING


@pytest.mark.parametrize(
    ("arguments", "coercible"),
    [
        ('{"city": "Oslo", "days": "5"}', True),
        ('{"city": "Oslo", "days": "five"}', False),
        ('{"city": "Oslo", "metric": "True"}', True),
        ('{"city": "Oslo", "metric": 1}', True),
        ('{"city": "Oslo", "metric": 2}', False),
        ('{"city": 5}', True),
        ('{"city": ["Oslo"]}', False),
        ('{"city": "Oslo", "tags": "null"}', True),
        ('{"city": "Oslo", "unit": "3"}', True),
        ('{"city": "Oslo", "unit": "kelvin"}', False),
        ('{"city": "Oslo", "extra": 1}', False),
        ('{"days": "5"}', False),
        ('{"city": true, "days": "5", "filters": {"from": "7"}}', True),
    ],
)
def test_coercible_says_whether_the_usual_coercion_would_mend_it(arguments, coercible):
    judgement = judge(WEATHER, arguments)
    assert judgement.ok is False
    assert judgement.coercible is coercible
    assert judgement.arguments == json.loads(arguments), "what is judged is never repaired"


@pytest.mark.parametrize(
    "text", ['{"a": NaN}', "[Infinity]", "-Infinity", '"\\ud800"', '"\ud800"', "01", "1.", "\ufeff{}"]
)
def test_what_json_loads_would_let_pass_is_not_json(text):
    with pytest.raises(NotJson):
        parse_json(text)
    assert judge({}, text).bucket is Bucket.INVALID_JSON


def test_repeated_keys_are_json_and_the_last_one_counts():
    assert judge(WEATHER, '{"city": 1, "city": "Oslo"}') == Judgement(ok=True, arguments={"city": "Oslo"})


def test_huge_numbers_stay_numbers():
    number = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}}
    for digits in ("1e999", "9" * 400, "9" * 4300, "1e4299"):
        judgement = judge(number, f'{{"n": {digits}}}')
        assert [violation.keyword for violation in judgement.violations] == ["maximum"]
    assert parse_json("1e999") == Decimal("1e999")
    assert parse_json("9" * 400) == int("9" * 400)
    assert judge({"type": "number"}, "1e999").ok is True


@pytest.mark.parametrize("digits", ["9" * 4301, "1e4301", "-1e999999999"])
def test_absurd_numbers_are_refused_instead_of_computed(digits):
    assert judge({"type": "integer", "multipleOf": 7}, digits).bucket is Bucket.INVALID_JSON


def _levels(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inside is None else 1 + max(map(_levels, inside), default=0)


_LEAVES = st.sampled_from([1, None, "", "[", '"{', "\\", '\\"]', "}"])


@given(st.recursive(_LEAVES, lambda below: st.lists(below) | st.dictionaries(st.sampled_from('a["\\}'), below)))
def test_levels_are_counted_outside_of_texts(value: Any) -> None:
    text = json.dumps(value) + " " * 20
    for levels in range(9):
        assert (
            nested_deeper_than(levels, text) == nested_deeper_than(levels, text.encode()) == (_levels(value) > levels)
        )


def test_levels_of_a_text_that_does_not_end_are_counted_in_linear_time():
    started = time.process_time()
    for hostile in ('"' + '\\"' * 500_000, '["\\' * 500_000):
        nested_deeper_than(MAX_DEPTH, "[{" * MAX_DEPTH + hostile)
    assert time.process_time() - started < 5


def test_nesting_is_bounded_and_never_a_crash():
    for depth in (MAX_DEPTH + 1, 5_000, 200_000):
        assert judge({"type": "array"}, "[" * depth + "]" * depth).bucket is Bucket.INVALID_JSON
        assert judge({}, "[" * depth).bucket is Bucket.INVALID_JSON
    assert judge({"type": "array"}, "[" * MAX_DEPTH + "]" * MAX_DEPTH).ok is True
    assert judge({"items": {"items": {"type": "string"}}}, "[" * MAX_DEPTH + "]" * MAX_DEPTH).ok is False
    assert parse_json(json.dumps(["[" * 500])) == ["[" * 500], "brackets inside text are not nesting"
    schema: dict[str, Any] = {}
    for _ in range(3_000):
        schema = {"not": schema}
    assert judge(schema, "{}").bucket is Bucket.BAD_SCHEMA


def test_a_pattern_that_backtracks_without_end_is_the_schemas_fault():
    judgement = judge({"pattern": "(a|aa)+(?=c)$"}, json.dumps("a" * 60))
    assert (judgement.ok, judgement.bucket) == (None, Bucket.BAD_SCHEMA)


@pytest.mark.heavy
def test_thousands_of_violations_are_not_all_listed():
    judgement = judge({"items": {"type": "string"}}, json.dumps([1] * 20_000))
    assert judgement.ok is False
    assert len(judgement.violations) <= 25
    assert judgement.coercible is False, "nobody coerces twenty thousand values"
    assert judge({"items": {"type": "string"}}, json.dumps([1] * 30)).coercible is True
    assert all(len(violation.message) <= 300 for violation in judgement.violations)


def test_the_draft_is_2020_12_unless_the_schema_names_one():
    assert judge({"type": "integer"}, "1.0").ok is True
    assert judge({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}, "1.0").ok is False
    assert judge({"prefixItems": [{"type": "string"}]}, "[1]").ok is False
    assert judge({"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [{"type": "string"}]}, "[1]").ok
    assert judge({"$schema": "https://example.invalid/own", "type": "integer"}, '"a"').ok is False


def test_formats_are_annotations():
    assert judge({"properties": {"day": {"type": "string", "format": "date"}}}, '{"day": "tomorrow"}').ok is True


def test_the_cache_is_bounded_and_keeps_what_is_used():
    judges = SchemaJudge(max_schemas=3)
    kept = judges.compile({"const": 0})
    for number in range(1, 10):
        judges.compile({"const": number})
        assert judges.compile({"const": 0}) is kept
    assert len(judges) == 3


def test_the_cache_sees_a_schema_changed_in_place():
    judges = SchemaJudge()
    schema: dict[str, Any] = {"type": "string"}
    assert judges.judge(schema, "1").ok is False
    schema["type"] = "integer"
    assert judges.judge(schema, "1").ok is True


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=examples(150), deadline=None)
@given(parameters=ANY_JSON, arguments=st.text() | ANY_JSON.map(json.dumps) | ANY_JSON)
def test_nothing_anybody_sends_makes_the_judge_raise(parameters, arguments):
    judgement = SchemaJudge().judge(parameters, arguments)
    assert judgement.ok is not True or judgement.violations == ()
    assert judgement.ok is True or judgement.bucket is not None


def _doubling(levels: int) -> dict[str, object]:
    """Each level refers twice to the next: 2 to the power of `levels` steps from a few lines."""
    parts: dict[str, object] = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)
    }
    return {"$defs": parts | {f"d{levels}": {"type": "object"}}, "$ref": "#/$defs/d0"}


def _nested(depth: int) -> str:
    return '{"a":' * depth + "{}" + "}" * depth


_DOUBLES_WITH_DEPTH = {"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}
_REPEATED_REPEAT = {"properties": {"a": {"pattern": "^((a{0,1000}){0,1000}){0,1000}$"}}}


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (_doubling(40), "{}"),
        (_DOUBLES_WITH_DEPTH, _nested(40)),
        (_REPEATED_REPEAT, '{"a": "aaa"}'),
    ],
)
def test_a_schema_that_would_take_forever_is_refused_at_once(schema: dict[str, object], arguments: str) -> None:
    started = time.process_time()
    judgement = SchemaJudge().judge(schema, arguments)
    assert (judgement.ok, judgement.bucket) == (None, Bucket.TOO_COMPLEX)
    assert time.process_time() - started < 0.5


def _doubling_by(reference: str, **of_the_whole: object) -> dict[str, object]:
    """The same through references written in another way, to parts that also have an address of their own."""
    parts = {
        f"a{n}": {"$id": f"http://parts.test/a{n}", "allOf": [{"$ref": reference.format(n + 1)}] * 2} for n in range(30)
    }
    if "parts.test" not in reference:
        for part in parts.values():
            del part["$id"]
    return {"$defs": parts | {"a30": {"$id": "http://parts.test/a30"}}, "$ref": reference.format(0), **of_the_whole}


def _unevaluated(levels: int) -> dict[str, object]:
    schema: dict[str, object] = {"properties": {"z": True}}
    for _ in range(levels):
        schema = {"if": schema, "then": True, "unevaluatedProperties": False}
    return schema


_WHOLE = "http://whole.test/w"


@pytest.mark.parametrize(
    "schema",
    [
        _doubling_by("#/%24defs/a{}"),
        _doubling_by(_WHOLE + "#/$defs/a{}", **{"$id": _WHOLE}),
        _doubling_by("w#/$defs/a{}", **{"$id": _WHOLE}),
        _doubling_by("json-schema:///#/$defs/a{}"),
        _doubling_by("http://parts.test/a{}"),
        _unevaluated(40),
        {"properties": {f"a{n}": {"pattern": "a{0,900}" * 3 + str(n)} for n in range(3000)}},
    ],
)
def test_no_way_to_write_a_schema_hides_its_steps(schema: dict[str, object]) -> None:
    test_a_schema_that_would_take_forever_is_refused_at_once(schema, '{"z": 1}')


_ONE_OF_MANY = {"properties": {"a": {"items": {"anyOf": [{"const": f"x{n}"} for n in range(1000)]}}}}


@pytest.mark.parametrize(
    ("schema", "arguments", "ok"),
    [
        (_ONE_OF_MANY, {"a": ["y"] * 1000}, False),
        ({"properties": {"a": {"items": {"type": "string"}}}}, {"a": [1] * 200_000}, False),
        ({"properties": {"a": {"pattern": "(?=.*x)(?=.*y)z"}}}, {"a": "a" * 500_000}, False),
        ({"properties": {"a": {"items": {"enum": [*range(20_000)]}}}}, {"a": [-1] * 20_000}, None),
        ({"anyOf": [{"required": [f"r{n}" for n in range(500)]}]}, {"x": ["y" * 1000] * 3000}, False),
    ],
)
def test_an_answer_of_many_parts_is_judged_in_bounded_time(
    schema: dict[str, object], arguments: dict[str, object], ok: bool | None
) -> None:
    text = json.dumps(arguments)
    started = time.process_time()
    assert SchemaJudge().judge(schema, text).ok is ok
    assert time.process_time() - started < 2


_NODE = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "name": {"type": "string"}}}
_ENUM_LIST = {"properties": {"a": {"items": {"enum": [f"x{n}" for n in range(100)]}}}}
_NESTED_LIST: dict[str, object] = {"anyOf": [{"type": "array", "items": {"$ref": "#"}}] * 2}


@pytest.mark.parametrize(
    ("schema", "arguments", "bucket"),
    [
        (_NODE, '{"name": 1, "junk": ' + "[" * 150 + "]" * 150 + "}", Bucket.SCHEMA_MISMATCH),
        (_NODE, '{"left":' * 150 + '{"name": 1}' + "}" * 150, Bucket.SCHEMA_MISMATCH),
        (_ENUM_LIST, json.dumps({"a": ["x1"] * 100_000 + ["wrong"]}), Bucket.TOO_LARGE),
        (_NESTED_LIST, "[" * 150 + "1" + "]" * 150, Bucket.TOO_LARGE),
        (_NESTED_LIST, "[" * 40 + "1" + "]" * 40, Bucket.TOO_COMPLEX),
    ],
)
def test_no_size_of_an_answer_is_blamed_on_the_schema(
    schema: dict[str, object], arguments: str, bucket: Bucket
) -> None:
    judgement = SchemaJudge().judge(schema, arguments)
    assert judgement.bucket is bucket
    assert judgement.ok is (None if bucket is Bucket.TOO_COMPLEX else False)


def _filters(kinds: int) -> dict[str, object]:
    """A language of conditions: each kind may hold conditions of every kind."""
    kind = {"properties": {"all": {"type": "array", "items": {"$ref": "#/$defs/filter"}}}}
    both = [{**kind, "required": [f"k{n}"]} for n in range(kinds)]
    return {"properties": {"filter": {"$ref": "#/$defs/filter"}}, "$defs": {"filter": {"anyOf": [*both, kind]}}}


def _bundled(parts: int) -> dict[str, object]:
    """Parts with an `$id` and definitions of the same names, as bundlers write them."""
    own = {"Item": {"properties": {"to": {"$ref": "#/$defs/To"}}}, "To": {"properties": {"item": {"type": "object"}}}}
    embedded = {
        f"p{n}": {
            "$id": f"http://parts.test/p{n}",
            "$defs": own,
            "properties": {"item": {"$ref": "#/$defs/Item"}, "next": {"$ref": f"p{n + 1}"}},
        }
        for n in range(parts)
    }
    return {
        "$id": _WHOLE,
        "$defs": embedded | {"last": {"$id": f"http://parts.test/p{parts}"}},
        "$ref": "http://parts.test/p0",
    }


_CROSSED = {f"d{n}": {"properties": {f"f{m}": {"$ref": f"#/$defs/d{m}"} for m in range(50)}} for n in range(50)}


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (_filters(5), {"filter": {"all": [{"all": [{"all": [{}] * 5}] * 5}] * 5}}),
        ({"$defs": _CROSSED, "$ref": "#/$defs/d0"}, {"f1": {"f2": {"f3": {f"f{n}": {} for n in range(50)}}}}),
        (_bundled(50), {"next": {"next": {"item": {"to": {"item": {}}}}}}),
        (
            {"properties": {"path": {"pattern": "^(?!.*[.][.])"}, "content": {"type": "string"}}},
            {"path": "a.txt", "content": "x" * 300_000},
        ),
        (
            {"properties": {f"p{n}": {"type": "string", "maxLength": 100} for n in range(2000)}},
            {"rows": [*range(20_000)], "p1": "x"},
        ),
    ],
)
def test_large_schemas_and_answers_of_real_tools_are_judged(schema: dict[str, object], arguments: object) -> None:
    started = time.process_time()
    assert SchemaJudge().judge(schema, json.dumps(arguments)).ok is True
    assert time.process_time() - started < 2


def test_one_wrong_item_of_a_long_list_is_named() -> None:
    kinds = [{"properties": {"kind": {"const": kind}}, "required": ["kind"]} for kind in range(20)]
    items = [{"kind": n % 20, "text": "y" * 20} for n in range(1000)]
    (violation,) = judge({"items": {"oneOf": kinds}}, json.dumps([*items, {"kind": 20}])).violations
    assert (violation.keyword, violation.path) == ("oneOf", "/1000")


def test_a_reference_to_an_embedded_schema_is_judged() -> None:
    names = "abcdefgh"
    parts = {
        name: {"$id": f"http://parts.test/{name}", "properties": {"next": {"$ref": after}, "other": {"$ref": after}}}
        for name, after in zip(names, names[1:] + "h", strict=True)
    }
    schema = {"$id": _WHOLE, "$defs": parts, "properties": {"x": {"$ref": "http://parts.test/a"}}}
    assert judge(schema, '{"x": {"next": {"other": {}}}}').ok is True


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (_doubling(10), "{}"),
        (_DOUBLES_WITH_DEPTH, _nested(5)),
        ({"properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}, '{"children": [{"children": []}]}'),
        ({"$ref": "#"}, "{}"),
    ],
)
def test_references_and_recursion_of_real_tools_are_judged(schema: dict[str, object], arguments: str) -> None:
    assert SchemaJudge().judge(schema, arguments).ok is True
