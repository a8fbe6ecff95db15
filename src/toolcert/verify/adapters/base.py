"""What an adapter is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from toolcert.core.values import JsonObject


class ModelAdapter:
    """Prepares requests for one family of models and reads calls out of its raw text.

    An adapter never changes what it is given: it returns the same list, or a new one.
    """

    model_patterns: ClassVar[Sequence[str]] = ()
    """Parts of model names that this adapter is for, compared without regard to case."""

    def __init__(self, *, use_raw_completions: bool = False, tokenizer_model: str | None = None) -> None:
        self.use_raw_completions = use_raw_completions
        self.tokenizer_model = tokenizer_model
        self._tokenizer: Any = None

    @classmethod
    def matches(cls, model: str) -> bool:
        """Whether this adapter is for `model`."""
        lowered = model.lower()
        return any(pattern.lower() in lowered for pattern in cls.model_patterns)

    def transform_messages(self, messages: list[JsonObject]) -> list[JsonObject]:
        """The messages as this family wants them."""
        return messages

    def extract_tool_calls_from_text(self, text: str) -> list[JsonObject] | None:  # noqa: ARG002 - for those who override
        """The calls written in a raw completion, in the protocol's form; None where there are none."""
        return None

    def text_before_calls(self, text: str) -> str:
        """What a raw completion says besides its calls."""
        return text

    def supports_raw_completions(self) -> bool:
        """Whether rows go through /completions, rendered by the model's own chat template."""
        return self.use_raw_completions

    def get_tokenizer(self) -> Any | None:
        """The tokenizer that renders the chat template; loaded once, at first use."""
        if not self.use_raw_completions or not self.tokenizer_model:
            return None
        if self._tokenizer is None:
            from toolcert.verify.adapters.tokenizer import load_tokenizer

            self._tokenizer = load_tokenizer(self.tokenizer_model)
        return self._tokenizer
