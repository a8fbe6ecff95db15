"""One turn of thought: from a request to a decision."""

from __future__ import annotations

import re
import zlib
from typing import Any

from toolcert.core.values import JsonObject, Value
from toolcert.simulate.brain.call_arguments import Filling, fill
from toolcert.simulate.brain.dialogue import Dialogue, Done, latin, read_dialogue
from toolcert.simulate.brain.intent import Intent, best_tool, intents
from toolcert.simulate.brain.offered_tool import Tool, invent, offered
from toolcert.simulate.brain.speech import answer, ask_for, json_answer, wants_json


class Call(Value):
    """A tool the model decides to call."""

    name: str
    arguments: JsonObject


class Thought(Value):
    """A decision: text, or calls, before any of it is put on the wire."""

    content: str | None = None
    calls: tuple[Call, ...] = ()
    named: bool = False
    """The call was forced by naming the function."""


_FOLLOW = re.compile(r"\b(?:follow|continue|keep going|next|until|go on|instructions?)\b", re.I)
_KEEPS_TALKING = 9
"""One in this many prompts of another script is answered in words, as real models do."""


def think(body: JsonObject) -> Thought:
    """What an honest and able model decides to answer to this request."""
    dialogue = read_dialogue(body["messages"])
    tools = offered(body)
    choice = body.get("tool_choice")
    if not tools or choice == "none":
        return _in_words(body, dialogue)
    if isinstance(choice, dict):
        return _forced(dialogue, [tool for tool in tools if tool.name == _named(choice)], named=True)
    return _decide(body, dialogue, tools)


def _decide(body: JsonObject, dialogue: Dialogue, tools: list[Tool]) -> Thought:
    wanted = _open(_wanted(dialogue, tools), dialogue.done)
    ready = [filling for filling in wanted if not filling.missing]
    if ready:
        calls = tuple(Call(name=one.tool.name, arguments=one.arguments) for one in ready)
        return Thought(calls=calls[:1] if body.get("parallel_tool_calls") is False else calls)
    if body.get("tool_choice") == "required":
        return _forced(dialogue, [one.tool for one in wanted] or _best_first(dialogue, tools))
    if wanted and not latin(dialogue.task):
        return _made_up(body, dialogue, wanted[0])
    if wanted:
        return Thought(content=ask_for(wanted[0], dialogue))
    return _in_words(body, dialogue)


def _in_words(body: JsonObject, dialogue: Dialogue) -> Thought:
    if wants_json(body, dialogue):
        return Thought(content=json_answer(body, dialogue))
    return Thought(content=answer(dialogue))


def _wanted(dialogue: Dialogue, tools: list[Tool]) -> list[Filling]:
    """Every call the task wants, whether made already or not."""
    found = intents(dialogue.latest, tools) or (
        intents(dialogue.task, tools) if dialogue.task != dialogue.latest else []
    )
    found += _told_by_results(dialogue, tools, found)
    fillings: list[Filling] = []
    for place, intent in enumerate(found):
        alone = len({one.tool.name for one in found}) == 1
        informed = len(fillings) <= len(dialogue.done)
        for filling in fill(intent, dialogue, alone=alone, first=place == 0, informed=informed):
            if not _repeats(filling, intent, fillings):
                fillings.append(filling)
    return fillings


def _told_by_results(dialogue: Dialogue, tools: list[Tool], known: list[Intent]) -> list[Intent]:
    """Tools that a result names, where the user said to follow it."""
    if not dialogue.done or not _FOLLOW.search(dialogue.task):
        return []
    names = {intent.tool.name for intent in known}
    told = [intent for one in dialogue.done for intent in intents(str(one.result or ""), tools)]
    return [intent for intent in told if intent.tool.name not in names]


def _repeats(filling: Filling, intent: Intent, known: list[Filling]) -> bool:
    """A later mention is the same call again unless it brings values of its own."""
    same = [one for one in known if one.tool.name == filling.tool.name]
    bare = intent.reference or bool(filling.missing) or not filling.arguments
    return bool(same) and (bare or any(one.arguments == filling.arguments for one in same))


def _open(wanted: list[Filling], done: tuple[Done, ...]) -> list[Filling]:
    """The wanted calls that were not made yet."""
    left = list(wanted)
    unmatched = []
    for one in done:
        same = [filling for filling in left if filling.tool.name == one.name and filling.arguments == one.arguments]
        if same:
            left.remove(same[0])
        else:
            unmatched.append(one.name)
    for name in unmatched:
        nearest = next((filling for filling in left if filling.tool.name == name), None)
        if nearest is not None:
            left.remove(nearest)
    return left


def _named(choice: JsonObject) -> Any:
    function = choice.get("function")
    return function.get("name") if isinstance(function, dict) else None


def _best_first(dialogue: Dialogue, tools: list[Tool]) -> list[Tool]:
    best = best_tool(dialogue.task, tools)
    return [best] if best else tools[:1]


def _forced(dialogue: Dialogue, tools: list[Tool], *, named: bool = False) -> Thought:
    """A call that must be made; what the conversation does not give is made up to fit."""
    tool = tools[0]
    intent = Intent(tool=tool, region=dialogue.latest, clause=dialogue.latest)
    filling = fill(intent, dialogue, alone=True)[0]
    return Thought(calls=(Call(name=tool.name, arguments=_completed(filling)),), named=named)


def _completed(filling: Filling) -> JsonObject:
    root = filling.tool.schema
    made = {name: invent(filling.tool.properties.get(name, {}), root, name) for name in filling.missing}
    return {**filling.arguments, **made}


def _made_up(body: JsonObject, dialogue: Dialogue, filling: Filling) -> Thought:
    """Words that cannot be read are answered as a model would: mostly by calling, now and then by asking."""
    if dialogue.done or zlib.crc32(dialogue.task.encode()) % _KEEPS_TALKING == 0:
        return _in_words(body, dialogue)
    return Thought(calls=(Call(name=filling.tool.name, arguments=_completed(filling)),))
