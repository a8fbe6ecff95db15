"""Answers from another model than asked, counted wrongly, or different each time."""

from __future__ import annotations

from toolcert.core.values import JsonObject
from toolcert.simulate.chat_completion import prompt_tokens
from toolcert.simulate.faults.base import PLAIN, SeenBy, Stage, calls, fault, message, say
from toolcert.simulate.situations import A_CALL, WORDS
from toolcert.simulate.traffic import Ask

_OPENINGS = ("Certainly.", "Of course.", "Sure thing.", "Gladly.", "Very well.", "Here you go.", "Alright.")


@fault("usage.arithmetic", Stage.BODY, WORDS)
def arithmetic(body: JsonObject, ask: Ask) -> JsonObject:
    """Gives a total that is not the sum; option `cached`: counts more cached tokens than prompt tokens."""
    if ask.option == "cached":
        body["usage"]["prompt_tokens_details"] = {"cached_tokens": body["usage"]["prompt_tokens"] + 64}
    else:
        body["usage"]["total_tokens"] += 7
    return body


@fault("usage.prompt_tokens_differ", Stage.BODY, A_CALL, seen_by=SeenBy.COMPARISON)
def prompt_tokens_differ(body: JsonObject, _ask: Ask) -> JsonObject:
    """Reads the prompt through another template."""
    for name in ("prompt_tokens", "total_tokens"):
        body["usage"][name] += 23
    return body


@fault("identity.model_differs", Stage.BODY, WORDS)
def model_differs(body: JsonObject, _ask: Ask) -> JsonObject:
    """Says that another model answered."""
    body["model"] = "quillon-mini-8b-q4"
    return body


@fault("identity.alias", Stage.BODY, WORDS)
def alias(body: JsonObject, _ask: Ask) -> JsonObject:
    """Names the mode of the model that answered."""
    body["model"] = f"{body['model']}-reasoning"
    return body


@fault("usage.missing", Stage.BODY, WORDS, modes=PLAIN)
def usage_missing(body: JsonObject, _ask: Ask) -> JsonObject:
    """Says nothing about tokens."""
    return {name: value for name, value in body.items() if name != "usage"}


@fault("prompt.tools_dropped", Stage.BODY, A_CALL, probe="tools_in_prompt")
def tools_dropped(body: JsonObject, ask: Ask) -> JsonObject:
    """Never shows the tools to the model; option `uncounted`: shows them and does not count them."""
    without = prompt_tokens(Ask({**ask.body, "tools": None}))
    body["usage"] |= {"prompt_tokens": without, "total_tokens": without + body["usage"]["completion_tokens"]}
    return body if ask.option == "uncounted" or not calls(body) else say(body, "I cannot look that up.")


@fault("identity.fingerprint_changed", Stage.BODY, WORDS, probe="repeatability")
def fingerprint_changed(body: JsonObject, ask: Ask) -> JsonObject:
    """Has two deployments behind one name, which answer in turn."""
    body["system_fingerprint"] = f"fp_simulated_{ask.number % 2}"
    return body


@fault("model.unknown_accepted", Stage.REQUEST, WORDS, probe="unknown_model")
def unknown_accepted(body: JsonObject, _ask: Ask) -> JsonObject:
    """Answers for any model id that contains this one, and for every id if it is the vendor's only model."""
    return body


@fault("nondeterministic", Stage.BODY, WORDS, probe="repeatability")
def nondeterministic(body: JsonObject, ask: Ask) -> JsonObject:
    """Answers differently every time, whatever the temperature."""
    opening = _OPENINGS[ask.number % len(_OPENINGS)]
    message(body)["content"] = f"{opening} {message(body).get('content') or ''}".strip()
    return body
