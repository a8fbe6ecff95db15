"""Arguments that must arrive unchanged: long text, and letters from all over the world."""

from __future__ import annotations

import unicodedata

from toolcert.core.requests import user
from toolcert.diagnose import finding
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed, probe
from toolcert.probes.oracle import answered, arguments_of, valid_calls, why_not_called
from toolcert.probes.sample_tools import SAVE_NOTE

COMMON = (
    "apple",
    "bridge",
    "candle",
    "desert",
    "engine",
    "forest",
    "garden",
    "harbour",
    "island",
    "jacket",
    "kitchen",
    "lantern",
    "mountain",
    "needle",
    "orange",
    "pencil",
)
LENGTH = 120


@probe
class LongArguments(ScriptedProbe):
    """A note of 120 plain words in a random order."""

    name = "long_args"
    group = "format"
    title = "Passes on a long argument unchanged"
    meaning = "Files, letters and patches can be handed to a tool."
    needs = ("basic",)
    order = 70

    async def run(self, talk: Conversation) -> ProbeResult:
        words = [COMMON[talk.number(f"word {number}", low=0, high=len(COMMON) - 1)] for number in range(LENGTH)]
        note = " ".join(words)
        turn = await answered(talk, [user(f'Call save_note with text "{note}".')], tools=[SAVE_NOTE])
        calls = valid_calls(turn, "save_note")
        if not calls:
            return failed(why_not_called(turn, "save_note"), called=False)
        if any(str(arguments_of(call).get("text", "")).strip() == note for call in calls):
            return passed(called=True)
        return failed("a long argument does not come back unchanged", called=True)


@probe
class UnicodeArguments(ScriptedProbe):
    """A short note in several scripts must come back character by character."""

    name = "unicode_args"
    group = "format"
    title = "Keeps every character of an argument"
    meaning = "Names, addresses and messages in any language survive a call."
    needs = ("basic",)
    order = 60

    async def run(self, talk: Conversation) -> ProbeResult:
        note = f"Grüße an {talk.nonce('person')}: 東京, Ελλάδα, Привет 🎉"
        turn = await answered(talk, [user(f'Call save_note with text "{note}".')], tools=[SAVE_NOTE])
        calls = valid_calls(turn, "save_note")
        if not calls:
            return failed(why_not_called(turn, "save_note"), called=False)
        if any(_same(arguments_of(call).get("text"), note) for call in calls):
            return passed(called=True)
        given = str(arguments_of(calls[0]).get("text", ""))
        # The same text but for its characters beyond ASCII was damaged on its way; other words are the model's.
        damaged = _ascii(given) == _ascii(note) and not any(one.code == "args.altered" for one in turn.findings)
        found = [finding("args.altered", f"{given!r} for {note!r}", turn=turn.index)] if damaged else []
        return failed("characters of the argument are lost or changed", *found, called=True)


def _ascii(text: str) -> str:
    return "".join(letter for letter in text if letter.isascii() and letter.isalnum())


def _same(given: object, wanted: str) -> bool:
    """Composed and decomposed letters are the same text."""
    return isinstance(given, str) and unicodedata.normalize("NFC", given.strip()) == unicodedata.normalize(
        "NFC", wanted
    )
