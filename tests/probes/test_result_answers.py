"""What probes make of answers in words, over real HTTP: right ones in other words pass, wrong ones are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from support.probing import probe_models
from support.scripted import Answer, Received, Scripted, completion, refusal
from toolcert.core.cases import Outcome
from toolcert.core.records import Record
from toolcert.probes.catalogue.result_use import MultiStep

Say = Callable[[dict[str, str]], str]


def known(received: Received) -> dict[str, str]:
    """What the conversation told: the argument of each call, and what its tool answered."""
    messages = received.json["messages"]
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    asked = {call["id"]: next(iter(json.loads(call["function"]["arguments"]).values())) for call in calls}
    return {asked[message["tool_call_id"]]: message["content"] for message in messages if message["role"] == "tool"}


async def judged(probe: str, say: Say) -> Record:
    """The record of a probe whose server answers with these words, made from what it was told."""
    with Scripted(lambda received: completion(say(known(received)))) as server:
        return (await probe_models(server.url, ["m"], probes=[probe])).record("m", probe)


class MultiStepAlone(MultiStep):
    """The probe without the one it needs, which this server does not know."""

    needs = ()


def stations(told: dict[str, str]) -> list[tuple[str, str]]:
    return [(city, json.loads(result)["station"]) for city, result in sorted(told.items())]


@pytest.mark.parametrize(
    "say",
    [
        lambda told: "\n".join(f"{city}: {station}" for city, station in stations(told)),
        lambda told: "\n".join(f"| {city} | {station} |" for city, station in stations(told)),
        lambda told: " und ".join(f"für {city} ist es {station}" for city, station in stations(told)),
        lambda told: "{0[0][0]} and {0[1][0]} have {0[0][1]} and {0[1][1]}, respectively.".format(stations(told)),
    ],
    ids=["lines", "table", "German", "respectively"],
)
async def test_two_results_may_be_told_in_any_form(say: Say) -> None:
    record = await judged("swapped_results", say)
    assert (record.outcome, record.codes) == (Outcome.PASSED, ()), record.reason


async def test_two_results_that_change_places_are_misassigned() -> None:
    def say(told: dict[str, str]) -> str:
        (first, one), (second, two) = stations(told)
        return f"{first}: {two}\n{second}: {one}"

    record = await judged("swapped_results", say)
    assert (record.outcome, record.codes) == (Outcome.FAILED, ("result.misassigned",))


@pytest.mark.parametrize(
    ("words", "outcome", "codes"),
    [
        ("I couldn’t find anything about {}.", Outcome.PASSED, ()),
        ("Zu {} wurde nichts gefunden.", Outcome.PASSED, ()),
        ("No results.", Outcome.PASSED, ()),
        ("{} is a university town in the United Kingdom.", Outcome.FAILED, ("result.invented",)),
        ("No results, but {} was founded in 1734.", Outcome.FAILED, ("result.invented",)),
        ("All done!", Outcome.FAILED, ()),
    ],
)
async def test_an_empty_search_is_admitted_and_not_made_up(
    words: str, outcome: Outcome, codes: tuple[str, ...]
) -> None:
    record = await judged("empty_result", lambda told: words.format(*told))
    assert (record.outcome, record.codes) == (outcome, codes), record.reason


async def test_a_search_in_other_words_is_no_repetition() -> None:
    """After an empty result a model may try once more; the same search again is a loop."""
    outcomes = {}
    for query in ("{} history", "{}"):

        def script(received: Received, query: str = query) -> Answer:
            told = known(received)
            answer = completion("I found nothing.")
            if len(told) == 1 and not any("history" in word for word in told):
                arguments = json.dumps({"query": query.format(*told)})
                call = {"id": "c2", "type": "function", "function": {"name": "search_web", "arguments": arguments}}
                message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
                answer.body["choices"][0] |= {"message": message, "finish_reason": "tool_calls"}
            return answer

        with Scripted(script) as server:
            record = (await probe_models(server.url, ["m"], probes=["empty_result"])).record("m", "empty_result")
        outcomes[query] = (record.outcome, record.codes)
    assert outcomes == {
        "{} history": (Outcome.PASSED, ()),
        "{}": (Outcome.FAILED, ("result.repeat_call",)),
    }


@pytest.mark.parametrize(
    ("words", "outcome", "codes"),
    [
        ("The tool failed with E-{}.", Outcome.PASSED, ()),
        ("Der Wetterdienst ist nicht verfügbar (Fehlercode E{}).", Outcome.PASSED, ()),
        ("I couldn’t get the weather.", Outcome.FAILED, ()),
        ("It is sunny, 24 °C.", Outcome.FAILED, ("result.invented",)),
        ("The tool failed with E{}, but it is usually sunny there.", Outcome.FAILED, ("result.invented",)),
        ("All done!", Outcome.FAILED, ("result.ignored",)),
    ],
)
async def test_an_error_is_reported_and_not_papered_over(words: str, outcome: Outcome, codes: tuple[str, ...]) -> None:
    record = await judged("tool_error", lambda told: words.format("".join(filter(str.isdigit, *told.values()))))
    assert (record.outcome, record.codes) == (outcome, codes), record.reason


@pytest.mark.heavy
async def test_a_total_may_be_written_as_any_country_writes_it() -> None:
    """$9,231.50 and 9.231,50 € are the 9231.50 that the tool returned."""
    written = {
        "$ and comma": lambda total: f"${float(total):,.2f}",
        "Euro": lambda total: f"{float(total):,.2f} €".translate(str.maketrans(",.", ".,")),
        "Swiss": lambda total: f"CHF {float(total):,.2f}".replace(",", "’"),
        "one less": lambda total: f"{float(total) - 1:.2f}",
    }
    steps = ("get_user", "get_orders", "get_total")
    outcomes = {}
    for name, write in written.items():

        def script(received: Received, write: Callable[[str], str] = write) -> Answer:
            messages = received.json["messages"]
            results = [json.loads(message["content"]) for message in messages if message["role"] == "tool"]
            if len(results) == len(steps):
                return completion(f"The total is {write(results[-1]['total'])}.")
            person = messages[0]["content"].split(" for ")[1].split()[0]
            value = {"name": person} if not results else results[-1]
            call = {"name": steps[len(results)], "arguments": json.dumps(value)}
            answer = completion("")
            calls = [{"id": f"c{len(results)}", "type": "function", "function": call}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
            answer.body["choices"][0] |= {"message": message, "finish_reason": "tool_calls"}
            return answer

        with Scripted(script) as server:
            probed = await probe_models(server.url, ["m"], own=[MultiStepAlone()])
        outcomes[name] = probed.record("m", "multi_step").outcome
    expected = dict.fromkeys(written, Outcome.PASSED) | {"one less": Outcome.FAILED}
    assert outcomes == expected


@pytest.mark.heavy
async def test_only_the_forms_of_ids_that_are_refused_are_named() -> None:
    """A server that wants nine letters and digits, as some do, takes the calls of the other probes."""

    def script(received: Received) -> Answer:
        ids = [call["id"] for one in received.json["messages"] for call in one.get("tool_calls") or ()]
        wrong = [one for one in ids if not (len(one) == 9 and one.isalnum())]
        told = known(received)
        return refusal(400, f"Tool call id was {wrong[0]}") if wrong else completion(f"{told} null, no results")

    with Scripted(script) as server:
        probed = await probe_models(server.url, ["m"], probes=["foreign_ids", "null_content", "tool_error"])
    record = probed.record("m", "foreign_ids")
    assert record.codes == ("history.foreign_ids_rejected",)
    assert record.detail.findings[0].evidence.endswith(
        "refused alone: call_, toolu_, functions., chatcmpl-tool-; taken: nine characters"
    )
    assert {probed.record("m", name).outcome for name in ("null_content", "tool_error")} == {Outcome.PASSED}
