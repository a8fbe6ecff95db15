"""Own probes without Python: what a file may say, how mistakes are named, and that it runs."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from support.probing import probe_models
from toolcert.api.probe import ProbeOptions, probe_async
from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, ScenarioError, UsageError
from toolcert.probes.scenarios import load_scenarios
from toolcert.probes.scenarios.script import Accepted
from toolcert.probes.suites import choose_probes
from toolcert.simulate import Vendor

BOOKING = """\
name: book_flight
title: Books the flight that was asked for
messages:
  - role: user
    content: 'Call book_flight with origin "Oslo", goal "Rome" and passenger "{{word:passenger}}".'
tools:
  - name: book_flight
    description: Book a flight.
    parameters:
      type: object
      properties:
        origin: {type: string}
        goal: {type: string}
        passenger: {type: string}
        seat: {type: string}
      required: [origin, goal, passenger]
expect:
  calls:
    - name: book_flight
      arguments:
        origin: [Oslo, OSL]
        goal: {contains: rom}
        passenger: "{{word:passenger}}"
        seat: {one_of: [window], optional: true}
  text:
    contains: "{{number:code}}"
results:
  book_flight: {status: booked, code: "{{number:code}}"}
"""


def written(folder: Path, text: str, name: str = "scenario.yaml") -> Path:
    path = folder / name
    path.write_text(dedent(text))
    return path


async def test_a_scenario_runs_like_a_probe_and_its_nonces_cannot_be_guessed(tmp_path: Path) -> None:
    own = load_scenarios(written(tmp_path, BOOKING))
    models = ["faithful", "never-reads-results", "text-caller", "fault:args.empty"]
    with Vendor(models=models) as vendor:
        probed = await probe_models(vendor.url, models, own=own, iterations=2)
        prompts = {request.body["messages"][0]["content"] for request in vendor.requests if request.body}
    assert len(prompts) == 8
    outcomes = {model: probed.record(model, "book_flight").outcome for model in models}
    assert outcomes == {
        "faithful": Outcome.PASSED,
        "never-reads-results": Outcome.FAILED,
        "text-caller": Outcome.FAILED,
        "fault:args.empty": Outcome.FAILED,
    }
    facts = probed.record("never-reads-results", "book_flight").probe
    assert facts is not None
    assert (facts.called, facts.handled) == (True, False)
    assert probed.summary.probes[0].group == "scenario"


TOML = """\
name = "weather_and_sum"

[[messages]]
role = "user"
content = "What is the weather in Oslo? Also calculate 12 * 12."

[[tools]]
name = "get_weather"
description = "Get the current weather for a city."
[tools.parameters]
type = "object"
required = ["city"]
[tools.parameters.properties.city]
type = "string"

[[tools]]
name = "calculate"
description = "Evaluate a mathematical expression."
[tools.parameters]
type = "object"
required = ["expression"]
[tools.parameters.properties.expression]
type = "string"

[expect]
{order}
[[expect.calls]]
name = "{first}"

[[expect.calls]]
name = "{second}"
"""


@pytest.mark.parametrize(
    ("order", "first", "second", "outcome"),
    [
        ("", "get_weather", "calculate", Outcome.PASSED),
        ("", "calculate", "get_weather", Outcome.PASSED),
        ("any_order = false", "get_weather", "calculate", Outcome.PASSED),
        ("any_order = false", "calculate", "get_weather", Outcome.FAILED),
    ],
)
async def test_calls_are_expected_in_any_order_or_in_the_given_one(
    tmp_path: Path, order: str, first: str, second: str, outcome: Outcome
) -> None:
    text = TOML.format(order=order, first=first, second=second)
    own = load_scenarios(written(tmp_path, text, "scenario.toml"))
    with Vendor(models=["faithful"]) as vendor:
        probed = await probe_models(vendor.url, ["faithful"], own=own)
    assert probed.record("faithful", "weather_and_sum").outcome is outcome


@pytest.mark.parametrize(("extra", "outcome"), [("true", Outcome.PASSED), ("false", Outcome.FAILED)])
async def test_extra_calls_are_allowed_or_not(tmp_path: Path, extra: str, outcome: Outcome) -> None:
    text = TOML.format(order=f"extra_calls = {extra}", first="calculate", second="calculate")
    text = text.rpartition("[[expect.calls]]")[0]
    own = load_scenarios(written(tmp_path, text, "scenario.toml"))
    with Vendor(models=["faithful"]) as vendor:
        probed = await probe_models(vendor.url, ["faithful"], own=own)
    assert probed.record("faithful", "weather_and_sum").outcome is outcome


async def test_an_empty_list_of_calls_means_that_none_may_come(tmp_path: Path) -> None:
    text = """\
    name: no_call
    messages: [{role: user, content: "What is the weather in Oslo?"}]
    tools:
      - name: get_weather
        description: Get the weather for a city.
        parameters: {type: object, properties: {city: {type: string}}, required: [city]}
    expect: {calls: []}
    """
    own = load_scenarios(written(tmp_path, text))
    with Vendor(models=["faithful", "null-calls"]) as vendor:
        probed = await probe_models(vendor.url, ["faithful", "null-calls"], own=own)
    assert probed.record("faithful", "no_call").outcome is Outcome.FAILED
    assert probed.record("faithful", "no_call").reason == "calls where no call is expected"


HEAD = "name: a\nmessages: [{role: user, content: hi}]\n"
CALL_T = "tools: [{name: t}]\nexpect:\n  calls:\n    - name: t\n"
ONE_CITY = "name: t, parameters: {type: object, properties: {city: {}}}}"
TOML_HEAD = 'name = "a"\n[[messages]]\nrole = "user"\ncontent = "hi"\n'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("name: [", 1, "not valid YAML"),
        ("messages: []\nexpect: {calls: []}", 1, "name is missing"),
        ("name: a b\nmessages: x\nexpect: {}", 1, "'a b' is not a name"),
        ("name: a\nmesages: []\nexpect: {}", 2, "unknown key 'mesages'. Did you mean messages?"),
        ("name: a\nmessages: []\nexpect: {calls: []}", 2, "messages is empty"),
        ("name: a\nmessages:\n  - role: user\n    content: hi\nexpect: {}", 5, "nothing is expected"),
        ("name: a\nmessages:\n  - role: usr\n    content: hi\nexpect: {calls: []}", 3, "a message needs a role"),
        (
            f"{HEAD}tools:\n  - name: t\n  - name: t\nexpect: {{calls: []}}",
            5,
            "tool t is listed twice",
        ),
        (
            f"{HEAD}tools:\n  - name: t\n    parameters: {{type: objekt}}\nexpect: {{calls: []}}",
            5,
            "the schema is not valid",
        ),
        (
            f"{HEAD}{CALL_T}".replace("- name: t", "- name: u"),
            6,
            "no tool 'u' is offered. Offered: t.",
        ),
        (
            f"{HEAD}{CALL_T}      arguments:\n        x:\n          pattern: '['",
            9,
            "not a regular expression",
        ),
        (f"{HEAD}expect:\n  text: 5", 4, "a mapping is expected here"),
        (f"{HEAD}expect:\n  text: []", 4, "any text would do"),
        (
            f"{HEAD}expect:\n  text: hi\nresults:\n  t: {{a: 1}}",
            6,
            "no tool 't' is offered. Offered: none.",
        ),
        (
            f"{HEAD}{CALL_T}      arguments:\n        town: Oslo".replace("name: t}", ONE_CITY),
            8,
            "tool t has no argument 'town'. It has city.",
        ),
        (
            'name: a\nmessages:\n  - role: user\n    content: "hi {{nmber:x}}"\nexpect: {text: hi}',
            4,
            "{{nmber:x}} is not a placeholder. Did you mean {{number}}?",
        ),
        (f"{HEAD}tools_from: x\nexpect: {{text: hi}}", 3, "not supported yet"),
        ("scenarios:\n  - name: a\n  - nome: b\nexpect: 1", 4, "unknown key 'expect'"),
        ("name: basic\nmessages: [{role: user, content: hi}]\nexpect: {text: hi}", None, "the name basic is taken"),
        ("- a\n- b", 1, "a mapping is expected here"),
        ("", 1, "a mapping is expected here"),
    ],
)
def test_mistakes_in_yaml_are_named_with_their_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ScenarioError) as caught:
        load_scenarios(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}:" if line else str(path))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("name = ", 1, "not valid TOML"),
        ('name = "a"\n\n[[messages]]\nrole = "user"\ncontent = "hi"\n\n[expect]\ntxt = "hi"', 8, "Did you mean text?"),
        (
            TOML_HEAD + '[[messages]]\nrole = "x"\n[expect]\ntext = "a"',
            5,
            "role",
        ),
        ('name = "a"\n[expect]\ntext = "hi"', 1, "messages is missing"),
        (
            TOML_HEAD + '[[tools]]\nname = "t"\n[[expect.calls]]\nname = "t"\n[[expect.calls]]\nname = "u"',
            10,
            "no tool 'u' is offered",
        ),
    ],
)
def test_mistakes_in_toml_are_named_with_their_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = written(tmp_path, text, "scenario.toml")
    with pytest.raises(ScenarioError) as caught:
        load_scenarios(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}:")


def test_other_double_braces_are_sent_as_they_are(tmp_path: Path) -> None:
    text = 'name: a\nmessages: [{role: user, content: "Fill {{ customer.name }} and {{title}}."}]\nexpect: {text: hi}'
    (probe,) = load_scenarios(written(tmp_path, text))
    assert "{{ customer.name }} and {{title}}" in probe.scenario.messages[0]["content"]


async def test_expectations_that_overlap_are_paired_in_whatever_way_fits(tmp_path: Path) -> None:
    """The first expectation takes any city, and must leave the second one its own."""
    text = """\
        name: overlap
        messages:
          - role: user
            content: "Get the weather in these cities: Oslo, Rome. Make one call for each, all in one response."
        tools:
          - name: get_weather
            description: Get the weather of a city.
            parameters: {type: object, properties: {city: {type: string}}, required: [city]}
        expect:
          calls:
            - {name: get_weather, arguments: {city: [Oslo, Rome]}}
            - {name: get_weather, arguments: {city: Oslo}}
    """
    own = load_scenarios(written(tmp_path, text))
    with Vendor(models=["faithful"]) as vendor:
        probed = await probe_models(vendor.url, ["faithful"], own=own)
    record = probed.record("faithful", "overlap")
    assert record.outcome is Outcome.PASSED, record.reason


@pytest.mark.parametrize(
    ("given", "wanted", "takes"),
    [
        ("Oslo", "oslo ", True),
        ("Oslo", "Rome", False),
        (5, 5, True),
        (5, "5", True),
        (5.0, 5, True),
        (True, 1, False),
        (1, True, False),
        (True, True, True),
        ([1, "a"], [1, "a"], True),
        ({"a": 1}, {"a": 2}, False),
        (None, "", False),
        (None, None, True),
    ],
)
def test_accepted_values(given: object, wanted: object, takes: bool) -> None:
    assert Accepted(one_of=(wanted,)).takes(given) is takes


async def test_the_scenario_of_the_guide_runs(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "scenarios.md").read_text("utf-8")
    own = load_scenarios(written(tmp_path, guide.partition("```yaml\n")[2].partition("```")[0]))
    models = ["faithful", "never-reads-results"]
    with Vendor(models=models) as vendor:
        probed = await probe_models(vendor.url, models, own=own, iterations=3)
    assert probed.model("faithful").cells[0].counts.passed == 3
    assert probed.model("never-reads-results").cells[0].counts.failed == 3


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot read"):
        load_scenarios(tmp_path / "nowhere.yaml")


BOMB = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)), "name: x"])
MERGES = "\n".join(
    ["a0: &a0 {k: v}", *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12))]
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(BOMB, "bomb.yaml", id="aliases of aliases"),
        pytest.param(MERGES, "merges.yaml", id="merges of merges"),
        pytest.param("name: &a [*a]", "circle.yaml", id="an alias inside itself"),
        pytest.param("[" * 800, "deep.yaml", id="very deep"),
        pytest.param(f"name = {'[' * 5000}{']' * 5000}", "deep.toml", id="very deep TOML"),
        pytest.param("? [a, b]\n: c", "key.yaml", id="a list as a key"),
    ],
)
def test_a_file_that_stands_for_more_than_it_says_is_refused_at_once(tmp_path: Path, text: str, name: str) -> None:
    with pytest.raises(ScenarioError, match=name):
        load_scenarios(written(tmp_path, text, name))


def test_a_mistake_in_a_merged_key_is_found_where_it_was_written(tmp_path: Path) -> None:
    text = "common: &common\n  wrong: 1\n" + BOOKING + "<<: *common\n"
    with pytest.raises(ScenarioError, match=r"scenario\.yaml:[12]: "):
        load_scenarios(written(tmp_path, text))


def test_two_scenarios_of_one_name_are_refused(tmp_path: Path) -> None:
    first, second = (written(tmp_path, BOOKING, name) for name in ("one.yaml", "two.yaml"))
    with pytest.raises(UsageError, match="two scenarios are called book_flight"):
        choose_probes("agent", (), [str(first), str(second)])


def test_a_scenario_brings_the_probes_it_needs(tmp_path: Path) -> None:
    path = written(tmp_path, BOOKING + "needs: [basic]\n")
    assert [probe.name for probe in choose_probes("agent", (), [str(path)])] == ["basic", "book_flight"]


def test_several_scenarios_fit_into_one_file(tmp_path: Path) -> None:
    text = """\
    scenarios:
      - name: one
        messages: [{role: user, content: Say hello.}]
        expect: {text: hello}
      - name: two
        messages: [{role: user, content: Say hello.}]
        expect: {text: {any_of: [hi, hello], lacks: [bye]}}
    """
    assert [probe.name for probe in load_scenarios(written(tmp_path, text))] == ["one", "two"]


async def test_what_a_changed_scenario_measured_before_is_not_taken_over(tmp_path: Path) -> None:
    path = written(tmp_path, BOOKING)
    options = ProbeOptions(scenario=(str(path),), iterations=1, output=str(tmp_path / "run"))
    with Vendor(models=["faithful"]) as vendor:
        await probe_async(vendor.url, options=options)
        asked = len(vendor.requests.bodies())
        await probe_async(vendor.url, options=options)
        assert len(vendor.requests.bodies()) == asked
        path.write_text(BOOKING.replace("Oslo", "Bergen"))
        with pytest.raises(InputError, match="scenario book_flight was another"):
            await probe_async(vendor.url, options=options)
