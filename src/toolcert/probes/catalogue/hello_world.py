"""The two-turn greeting: a call with exactly the right form, then the exact greeting."""

from __future__ import annotations

import re

import msgspec

from toolcert.core.requests import tool, user
from toolcert.core.values import JsonObject
from toolcert.diagnose import CallJudgement, finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, Turn, failed, passed, probe
from toolcert.probes.follow_up import next_turn, same_call
from toolcert.probes.oracle import answered, arguments_of, calls_of, equals, valid_calls, why_not_called
from toolcert.probes.sample_tools import described, parameters
from toolcert.probes.text_oracle import says_exactly

GREETINGS = {
    "english": "Hello, {}!",
    "spanish": "¡Hola, {}!",
    "french": "Bonjour, {}!",
    "german": "Hallo, {}!",
    "japanese": "こんにちは, {}さん!",
}
PROMPT = (
    "Use the hello_world tool to greet a person named {person} in {language}. "
    "Then tell me the exact greeting it returned."
)
_ASKED = re.compile(r"named (?P<person>\w+) in (?P<language>\w+)\.")
HELLO_WORLD = tool(
    "hello_world",
    "Greet a person in a language and return the greeting.",
    parameters(
        ("name",),
        name=described("Name of the person to greet"),
        language=described("Language of the greeting", enum=list(GREETINGS)),
    ),
)


def greet(name: str, language: str = "english") -> JsonObject:
    """What the tool returns."""
    greeting = GREETINGS[language].format(name)
    return {"greeting": greeting, "language": language, "name": name, "message": greeting}


def expected_greeting(prompt: str) -> str:
    """The greeting that one of our prompts asks for; empty for any other text."""
    asked = _ASKED.search(prompt)
    return GREETINGS[asked["language"]].format(asked["person"]) if asked and asked["language"] in GREETINGS else ""


@probe
class HelloWorld(ScriptedProbe):
    """Asks to greet a person in a language, answers the call, and wants the exact greeting."""

    name = "hello_world"
    group = "calling"
    title = "Calls a tool and repeats its result"
    meaning = "An agent's smallest loop works: one call with finish_reason tool_calls, and its result in the answer."
    requests = 2
    order = 10

    async def run(self, talk: Conversation) -> ProbeResult:
        person = talk.nonce("person")
        language = list(GREETINGS)[(talk.iteration - 1) % len(GREETINGS)]
        messages = [user(PROMPT.format(person=person, language=language))]
        turn = await answered(talk, messages, tools=[HELLO_WORLD])
        if reason := _wrong_call(turn, person, language):
            return failed(reason, called=False)
        _, second = await next_turn(talk, messages, turn, _result, blame=False, tools=[HELLO_WORLD])
        return _judge_greeting(turn, second, GREETINGS[language].format(person))


def _wrong_call(turn: Turn, person: str, language: str) -> str:
    calls = valid_calls(turn, "hello_world")
    if not any(equals(call, name=person, language=language) for call in calls):
        return why_not_called(turn, "hello_world")
    if turn.answer.finish_reason != "tool_calls":
        return f"calls, but finish_reason is {turn.answer.finish_reason or 'absent'}, not tool_calls"
    return ""


def _result(call: CallJudgement) -> str:
    given = arguments_of(call)
    if not call.valid or "name" not in given:
        return '{"error": "the arguments are not valid"}'
    return msgspec.json.encode(greet(given["name"], given.get("language", "english"))).decode()


def _judge_greeting(first: Turn, second: Turn, greeting: str) -> ProbeResult:
    if says_exactly(second.text, greeting):
        return passed(called=True, handled=True)
    again = [call for call in calls_of(second) if any(same_call(call, before) for before in calls_of(first))]
    code = "result.repeat_call" if again else "result.ignored"
    reason = "calls the same tool again instead of using its result" if again else "does not repeat the tool's greeting"
    return failed(reason, finding(code, second.text or reason, turn=second.index), called=True, handled=False)
