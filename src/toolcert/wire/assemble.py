"""A streamed answer put together again, with every departure from the protocol noted."""

from __future__ import annotations

from msgspec import UNSET

from toolcert.core.replies import CallsField, Reply
from toolcert.core.requests import RequestKind
from toolcert.core.values import JsonObject
from toolcert.wire.chunks import WRONG_CALLS, Chunk, Delta, Identity, Piece, StreamChoice
from toolcert.wire.drafts import Drafts
from toolcert.wire.notices import Notices, quoted
from toolcert.wire.texts import joined


class Assembly:
    """The first choice of a stream, growing chunk by chunk."""

    def __init__(self, notices: Notices, kind: RequestKind = RequestKind.CHAT) -> None:
        self.finish_reasons: list[str] = []
        self.has_choice = False
        """Whether any chunk brought the choice that is judged."""
        self.usage: JsonObject | None = None
        self._notices = notices
        self._completions = kind is RequestKind.COMPLETIONS
        self._role: str | None = None
        self._content: list[str] = []
        self._reasoning_content: list[str] = []
        self._reasoning: list[str] = []
        self._drafts = Drafts(notices)
        self._calls_field = CallsField.ABSENT
        self._choice_usage: JsonObject | None = None
        self._early_usages = 0
        self._others: set[int] = set()

    def add(self, chunk: Chunk) -> None:
        """Add one chunk."""
        if chunk.usage is not None:
            self._add_usage(chunk.usage)
        if not chunk.choices:
            self._without_choice(chunk)
            return
        for choice in chunk.choices:
            if choice.index:
                self._others.add(choice.index)
            elif choice.delta is None or choice.finish_reason is not None or choice.usage is not None:
                self._add_choice(choice)
            else:
                self._add_delta(choice.delta)

    def _add_choice(self, choice: StreamChoice) -> None:
        self.has_choice = True
        if choice.delta is not None:
            self._add_delta(choice.delta)
        elif choice.text is not None and self._completions:
            self._content.append(choice.text)
        else:
            self._notices.note("stream.framing", "a choice without delta", rule="delta")
        if choice.finish_reason is not None:
            self._finish(choice.finish_reason)
        if choice.usage is not None:
            self._choice_usage = choice.usage

    def _add_delta(self, delta: Delta) -> None:
        calls = delta.tool_calls
        if calls:
            self._drafts.add(calls)
        elif calls is None or calls is not UNSET:
            self._mark_calls(calls)
        if delta.content is not None:
            self._content.append(delta.content)
        if delta.reasoning_content is not None:
            self._reasoning_content.append(delta.reasoning_content)
        if delta.reasoning is not None:
            self._reasoning.append(delta.reasoning)
        if delta.role or delta.function_call is not None or self.finish_reasons or not self.has_choice:
            self._look_closer(delta)

    def _look_closer(self, delta: Delta) -> None:
        """What is not in the middle of a regular stream: its first delta, its last, and its irregular ones."""
        self.has_choice = True
        if self.finish_reasons and (delta.content or delta.tool_calls):
            self._notices.note("stream.framing", "content or calls after the finish reason", rule="after finish")
        if delta.role:
            self._add_role(delta.role)
        if delta.function_call is not None:
            evidence = f"function_call, replaced by tool_calls long ago: {quoted(delta.function_call)}"
            self._notices.note("envelope.not_openai", evidence, rule="function_call")

    def _mark_calls(self, calls: list[Piece] | None) -> None:
        """Remember how a `tool_calls` without calls was written; the worst form wins."""
        if calls is WRONG_CALLS:
            self._calls_field = CallsField.WRONG
        elif calls is None and self._calls_field is CallsField.ABSENT:
            self._calls_field = CallsField.NULL
        elif calls is not None and self._calls_field is not CallsField.WRONG:
            self._calls_field = CallsField.EMPTY

    def _add_role(self, role: str) -> None:
        if self._role is not None:
            self._notices.note("stream.framing", f"the role {quoted(role)} comes again", rule="role")
        self._role = self._role or role

    def _finish(self, reason: str) -> None:
        if reason:
            self.finish_reasons.append(reason)
        else:
            self._notices.note("stream.framing", 'finish_reason "" where null is meant', rule="empty finish")

    def _add_usage(self, usage: JsonObject) -> None:
        self.usage = usage
        if not self.finish_reasons:
            self._early_usages += 1

    def _without_choice(self, chunk: Chunk) -> None:
        if chunk.choices != []:
            self._notices.note("stream.framing", "a chunk without choices", rule="choices")

    def note_usage(self, *, running_totals_expected: bool) -> None:
        """Note usage in an odd place; servers that send running totals by design are not odd."""
        if self.usage is None and self._choice_usage is not None:
            self.usage = self._choice_usage
            self._notices.note("stream.usage_nonstandard", f"only inside a choice: {quoted(self.usage)}")
        elif self._early_usages > 1 and not running_totals_expected:
            self._notices.note("stream.usage_nonstandard", f"on {self._early_usages} chunks before the finish reason")

    def note_other_choices(self, asked: int) -> None:
        """Note choices nobody asked for: whatever they hold, an agent does not see it."""
        if len(self._others) >= asked:
            evidence = f"{asked} choice asked for, also indexes {quoted(sorted(self._others))}"
            self._notices.note("envelope.not_openai", evidence, rule="choices")

    def reply(self, identity: Identity, *, complete: bool) -> Reply:
        """The answer as far as it came."""
        calls = self._drafts.finish()
        reasoning = self._reasoning_content or self._reasoning
        return Reply(
            role=self._role,
            content=joined(self._content, "content", self._notices) if self._content else None,
            reasoning=joined(reasoning, "reasoning", self._notices) if reasoning else None,
            tool_calls=calls,
            calls_field=CallsField.LIST if calls else self._calls_field,
            finish_reason=self.finish_reasons[-1] if self.finish_reasons else None,
            finish_reasons=tuple(self.finish_reasons),
            usage=self.usage,
            id=identity.id,
            model=identity.model if identity.model is not None else identity.model_id,
            provider=identity.provider,
            system_fingerprint=identity.system_fingerprint,
            streamed=True,
            complete=complete,
            irregularities=self._notices.irregularities(),
        )
