"""Letters, signs and pictures from all over the world in an argument."""

from __future__ import annotations

import unicodedata

from toolcert.core.requests import user
from toolcert.probes.asking import answered
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, passed
from toolcert.probes.oracle import arguments_of, valid_calls, why_not_called
from toolcert.probes.registry import probe
from toolcert.probes.tools import SAVE_NOTE


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
        return failed("characters of the argument are lost or changed", called=True)


def _same(given: object, wanted: str) -> bool:
    """Composed and decomposed letters are the same text."""
    return isinstance(given, str) and unicodedata.normalize("NFC", given.strip()) == unicodedata.normalize(
        "NFC", wanted
    )
