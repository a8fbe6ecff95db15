"""Refusals: requests without the feature decide between the feature, the model and the transport."""

from __future__ import annotations

import pytest

from support.probing import probe_models
from support.scripted import Answer, Received, Scripted, completion, refusal
from toolcert.core.cases import Outcome
from toolcert.core.findings import Severity
from toolcert.probes.catalogue.tool_limits import size_of, toolbox
from toolcert.simulate import Vendor


def refusing(field: str, status: int) -> Scripted:
    """A server that answers everything in words and refuses one field."""

    def script(received: Received) -> Answer:
        return refusal(status, "nothing to say about it") if field in received.json else completion("Hello.")

    return Scripted(script)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("probe", "field"),
    [
        ("basic", "tools"),
        ("choice_required", "tool_choice"),
        ("choice_auto", "tool_choice"),
        ("json_object", "response_format"),
        ("json_schema", "response_format"),
        ("streaming", "stream"),
    ],
)
async def test_a_4xx_is_a_missing_capability_when_the_control_request_succeeds(probe: str, field: str) -> None:
    with refusing(field, 422) as server:
        probed = await probe_models(server.url, ["m"], probes=[probe])
    record = probed.record("m", probe)
    assert record.outcome is Outcome.UNSUPPORTED
    assert "refuses" in record.reason
    assert "422" in record.reason
    assert ("choice.rejected" in record.codes) is (field == "tool_choice")
    refused, answered = (
        sum((exchange.fault is None) is answers for exchange in record.detail.exchanges) for answers in (False, True)
    )
    assert refused >= 6  # the first, and one in each of five pairs
    assert answered >= 5


@pytest.mark.heavy
async def test_a_5xx_is_a_failure_when_the_control_request_succeeds() -> None:
    with refusing("tool_choice", 500) as server:
        probed = await probe_models(server.url, ["m"], probes=["choice_required"])
    record = probed.record("m", "choice_required")
    assert record.outcome is Outcome.FAILED
    assert "choice.rejected" in record.codes
    assert "breaks on tool_choice required" in record.reason


@pytest.mark.parametrize("status", [422, 500])
async def test_without_a_succeeding_control_nothing_is_measured(status: int) -> None:
    with Scripted(lambda _: refusal(status, "closed for today")) as server:
        probed = await probe_models(server.url, ["m"], probes=["choice_required"])
    record = probed.record("m", "choice_required")
    assert record.outcome is Outcome.NOT_MEASURED
    assert "closed for today" in record.reason
    assert [code.partition(".")[0] for code in record.codes] == ["transport"]


@pytest.mark.parametrize("status", [401, 403, 429])
async def test_keys_and_limits_are_never_anyones_failure(status: int) -> None:
    with Scripted(lambda _: refusal(status, "no")) as server:
        probed = await probe_models(server.url, ["m"], probes=["basic"])
    record = probed.record("m", "basic")
    assert record.outcome is Outcome.NOT_MEASURED
    assert record.probe is not None
    assert record.probe.called is None


async def test_an_answer_cut_by_our_own_limit_is_not_measured() -> None:
    def script(_: Received) -> Answer:
        answer = completion("Let me think about the weather for a while, because", usage=None)
        answer.body["choices"][0]["finish_reason"] = "length"
        return answer

    with Scripted(script) as server:
        probed = await probe_models(server.url, ["m"], probes=["basic", "usage"])
    record = probed.record("m", "basic")
    assert record.outcome is Outcome.NOT_MEASURED
    assert "limit of 1024 tokens" in record.reason
    assert probed.record("m", "usage").outcome is Outcome.FAILED  # its question does not depend on the end


@pytest.mark.heavy
async def test_the_agent_suites_json_test_falls_back_to_a_plain_prompt_and_says_so() -> None:
    def script(received: Received) -> Answer:
        if "response_format" in received.json:
            return refusal(400, "response_format is unknown here")
        words = received.json["messages"][0]["content"].replace(",", "").split()
        name, age, city = (words[words.index(f"{key}:") + 1] for key in ("name", "age", "city"))
        return completion(f'{{"name": "{name}", "age": {age}, "city": "{city}"}}')

    with Scripted(script) as server:
        probed = await probe_models(server.url, ["m"], probes=["json_mode", "json_object"])
    record = probed.record("m", "json_mode")
    assert record.outcome is Outcome.PASSED
    assert "response_format is unknown" in record.detail.figures["without_mode"]
    assert probed.record("m", "json_object").outcome is Outcome.UNSUPPORTED


@pytest.mark.heavy
async def test_a_refused_second_turn_is_a_fault_when_the_first_is_still_answered() -> None:
    with_result = refusal(400, "role tool is unknown")

    def script(received: Received) -> Answer:
        after = any(message["role"] == "tool" for message in received.json["messages"])
        return with_result if after else completion("What is it?")

    with Scripted(script) as server:
        probed = await probe_models(server.url, ["m"], probes=["tool_error"])
    record = probed.record("m", "tool_error")
    assert record.outcome is Outcome.FAILED
    assert record.reason == "breaks on messages with the role tool (HTTP 400: role tool is unknown)"
    assert record.codes == ("history.tool_role_rejected",)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (refusal(404, "no such model"), Outcome.PASSED),
        (refusal(400, "no such model"), Outcome.PASSED),
        (refusal(500, "KeyError"), Outcome.FAILED),
        (completion("hello"), Outcome.FAILED),
    ],
)
async def test_a_made_up_model_id_must_be_refused_with_a_4xx(answer: Answer, outcome: Outcome) -> None:
    with Scripted(lambda received: completion("hi") if received.json["model"] == "m" else answer) as server:
        probed = await probe_models(server.url, ["m"], probes=["unknown_model"])
    assert probed.record("m", "unknown_model").outcome is outcome


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (refusal(400, "messages must not be empty"), Outcome.PASSED),
        (Answer({"errors": [{"code": "json_type_error", "message": "no messages"}]}, 400), Outcome.PASSED),
        (Answer({"detail": "messages must not be empty"}, 400), Outcome.PASSED),
        (Answer({"detail": [{"loc": ["body", "messages"], "msg": "too short"}]}, 422), Outcome.PASSED),
        (Answer({"object": "error", "message": "messages must not be empty", "code": 400}, 400), Outcome.PASSED),
        (Answer({"error": "messages must not be empty"}, 400), Outcome.PASSED),
        (Answer({"error": {"code": 400}}, 400), Outcome.FAILED),
        (Answer(b"<h1>Bad request</h1>", 400, {"Content-Type": "text/html"}), Outcome.FAILED),
        (refusal(500, "IndexError"), Outcome.FAILED),
        (completion("hello"), Outcome.FAILED),
    ],
)
async def test_an_illegal_request_must_be_refused_with_words(answer: Answer, outcome: Outcome) -> None:
    with Scripted(lambda received: completion("hi") if received.json["messages"] else answer) as server:
        probed = await probe_models(server.url, ["m"], probes=["error_shapes"])
    record = probed.record("m", "error_shapes")
    assert record.outcome is outcome
    worst = min((one.severity.rank for one in record.detail.findings), default=Severity.NOTE.rank)
    assert outcome is Outcome.FAILED or worst > Severity.ERROR.rank, "an error that is told breaks no agent"


async def test_the_listing_must_name_the_model() -> None:
    def listing(*ids: str) -> Answer:
        return Answer({"object": "list", "data": [{"id": model, "object": "model"} for model in ids]})

    for ids, outcome in [(("m", "n"), Outcome.PASSED), (("n",), Outcome.FAILED)]:
        with Scripted(lambda _, ids=ids: listing(*ids)) as server:
            probed = await probe_models(server.url, ["m"], probes=["model_listing"])
        assert probed.record("m", "model_listing").outcome is outcome
    with Scripted(lambda _: Answer(b"nothing here", 404)) as server:
        probed = await probe_models(server.url, ["m"], probes=["model_listing"])
    assert probed.record("m", "model_listing").outcome is Outcome.FAILED


async def test_a_parameter_left_out_is_no_retry() -> None:
    """First tries are figures of their own: what a server refuses by rule has nothing to do with chance."""
    with Vendor(models=["refuses-max-tokens", "overloaded"]) as vendor:
        probed = await probe_models(
            vendor.url, ["refuses-max-tokens", "overloaded"], probes=["basic"], iterations=3, retries=3, concurrency=1
        )
    facts = [record.probe for record in probed.records if record.probe is not None]
    assert max(one.requests for one in facts if not one.retried) == 2
    assert not any(record.probe and record.probe.retried for record in probed.records if record.model != "overloaded")
    assert any(record.probe and record.probe.retried for record in probed.records if record.model == "overloaded")


async def test_overload_is_neither_a_refusal_of_a_wrong_id_nor_a_failure() -> None:
    with Vendor(models=["faithful"]) as vendor:
        vendor.outage("429", count=1)
        probed = await probe_models(vendor.url, ["faithful"], probes=["wrong_id"])
    assert probed.record("faithful", "wrong_id").outcome is Outcome.NOT_MEASURED


async def test_a_wrong_id_that_is_answered_over_is_a_note_and_no_failure() -> None:
    model = "fault:history.wrong_id_accepted"
    with Vendor(models=[model]) as vendor:
        probed = await probe_models(vendor.url, [model], probes=["wrong_id"])
    record = probed.record(model, "wrong_id")
    assert record.outcome is Outcome.PASSED
    assert record.codes == ("history.wrong_id_accepted",)
    assert [found.severity for found in record.detail.findings] == [Severity.NOTE]


@pytest.mark.heavy
async def test_a_server_that_breaks_on_a_wrong_id_fails() -> None:
    def script(received: Received) -> Answer:
        wrong = any(message.get("tool_call_id") == "call_other" for message in received.json["messages"])
        return refusal(500, "KeyError: call_other") if wrong else completion("21 degrees.")

    with Scripted(script) as server:
        probed = await probe_models(server.url, ["m"], probes=["wrong_id"])
    record = probed.record("m", "wrong_id")
    assert record.outcome is Outcome.FAILED
    assert "breaks on a wrong tool_call_id" in record.reason


@pytest.mark.sampled
@pytest.mark.parametrize("option", ["", ":400", ":words"])
async def test_an_error_in_place_of_a_call_is_the_servers_fault_and_no_outage(option: str) -> None:
    """The same request works without tools, and with tools where no call is due."""
    model = f"fault:call.server_error{option}"
    with Vendor(models=[model]) as vendor:
        probed = await probe_models(vendor.url, [model], probes=["basic", "choice_required"], iterations=4)
    failures = [record for record in probed.records if record.outcome is not Outcome.PASSED]
    assert {(record.outcome, record.codes) for record in failures} == {(Outcome.FAILED, ("call.server_error",))}
    assert all("answers with an error where a call is due" in record.reason for record in failures)
    assert len(failures) == len(probed.records) or option == ":words"
    assert {record.detail.findings[0].evidence.partition(";")[0] for record in failures} <= {
        "works without tools, and in other words",
        "works without tool_choice required, and in other words",
        "works without tool_choice required",
    }


@pytest.mark.parametrize("longest", [31, 48, 63])
async def test_the_longest_tool_name_that_is_taken_is_found(longest: int) -> None:
    model = f"fault:schema.name_rejected:{longest}"
    with Vendor(models=[model]) as vendor:
        probed = await probe_models(vendor.url, [model], probes=["long_names"])
    record = probed.record(model, "long_names")
    assert record.codes == ("schema.name_rejected",)
    assert record.detail.figures == {"longest_name": longest}
    assert record.reason == f"refuses tool names of more than {longest} characters"


_BYTES_OF_128 = size_of(toolbox(128)) >> 10


@pytest.mark.heavy
@pytest.mark.parametrize("kilobytes", [9, 20, 50])
async def test_a_limit_on_schemas_is_found_by_their_bytes(kilobytes: int) -> None:
    """Also where the number of tools is tried, and within few requests."""
    model = f"fault:schema.size_limit:{kilobytes}"
    with Vendor(models=[model]) as vendor:
        probed = await probe_models(vendor.url, [model], probes=["schema_size", "many_tools"])
    record = probed.record(model, "schema_size")
    assert record.codes == ("schema.size_limit",)
    assert record.detail.figures["takes_kilobytes"] <= kilobytes < record.detail.figures["refuses_kilobytes"]
    assert len(record.detail.exchanges) < 40
    assert probed.record(model, "many_tools").codes == (("schema.size_limit",) if kilobytes < _BYTES_OF_128 else ())


async def test_a_short_context_window_is_no_limit_on_schemas() -> None:
    def script(received: Received) -> Answer:
        if len(received.body) > 30_000:
            return refusal(400, "This model's maximum context length is 8192 tokens.")
        call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
        answer = completion()
        city = received.json["messages"][0]["content"].split()[-1].rstrip(".")
        call["function"]["arguments"] = f'{{"city": "{city}"}}'
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        answer.body["choices"][0].update(message=message, finish_reason="tool_calls")
        return answer

    with Scripted(script) as server:
        probed = await probe_models(server.url, ["m"], probes=["schema_size"])
    record = probed.record("m", "schema_size")
    assert (record.outcome, record.reason) == (Outcome.SKIPPED, "takes no request of 64 KB at all")
