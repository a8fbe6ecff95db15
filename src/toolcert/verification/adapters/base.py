"""The base class of adapters with the chat template of raw completions, and the adapter for any model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from toolcert.core.errors import ConfigurationError, MissingExtraError, install_line
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import JsonObject


def load_tokenizer(name: str) -> Any:
    """Load the tokenizer of a model or local folder; code that a model ships is never run."""
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError(
            "raw completions need the library transformers, which is not installed.",
            remedy=install_line("tokenizer"),
        ) from error
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError, KeyError) as error:
        raise ConfigurationError(
            f"the tokenizer {name} cannot be loaded: {_first_line(error)}",
            remedy="Give --tokenizer-model the name of a model, or a folder with tokenizer and chat template.",
        ) from error
    if not getattr(tokenizer, "chat_template", None):
        raise ConfigurationError(
            f"the tokenizer {name} has no chat template.", remedy="Choose one of a model made for conversation."
        )
    return tokenizer


class RenderError(Exception):
    """A chat template refused a row; the message is the template's."""


def render(tokenizer: Any, body: JsonObject) -> str:
    """Render the prompt of a row with the model's chat template."""
    messages, tools = body["messages"], body.get("tools")
    try:
        prompt = tokenizer.apply_chat_template(messages, tokenize=False, tools=tools, add_generation_prompt=True)
    except Exception as error:  # a template may raise anything
        raise RenderError(_first_line(error) or type(error).__name__) from error
    return str(prompt)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:300]


def protocol_call(place: int, identity: str | None, name: str, arguments: str) -> JsonObject:
    """A structured call; `arguments` stays as written, so that its syntax can be judged."""
    return {
        "id": identity,
        "type": "function",
        "index": place,
        "function": {"name": name, "arguments": arguments},
    }


def call_from_json(place: int, text: str) -> JsonObject:
    """Read a call from a JSON object; text that does not parse becomes arguments without a name."""
    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return protocol_call(place, None, "", text)
    arguments = value.get("arguments", value.get("parameters", {}))
    written = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    return protocol_call(place, None, value["name"], written)


class ModelAdapter:
    """Prepares requests for one family of models and reads calls out of its raw text.

    An adapter never changes what it is given: it returns the same list, or a new one.
    """

    model_patterns: ClassVar[Sequence[str]] = ()
    """Parts of the model names that this adapter serves; case is ignored."""

    def __init__(self, *, use_raw_completions: bool = False, tokenizer_model: str | None = None) -> None:
        self.use_raw_completions = use_raw_completions
        self.tokenizer_model = tokenizer_model
        self._tokenizer: Any = None

    @classmethod
    def matches(cls, model: str) -> bool:
        """Whether this adapter serves `model`."""
        lowered = model.lower()
        return any(pattern.lower() in lowered for pattern in cls.model_patterns)

    def transform_messages(self, messages: list[JsonObject]) -> list[JsonObject]:
        """Change the messages to what this model family needs."""
        return messages

    def extract_tool_calls_from_text(self, text: str) -> list[JsonObject] | None:  # noqa: ARG002 - for those who override
        """Read calls from the text of a raw completion; None if it has none."""
        return None

    def text_before_calls(self, text: str) -> str:
        """The text of a raw completion without its calls."""
        return text

    def supports_raw_completions(self) -> bool:
        """Whether rows go through /completions, rendered by the model's own chat template."""
        return self.use_raw_completions

    def get_tokenizer(self) -> Any | None:
        """The tokenizer that renders the chat template; loaded once, at first use."""
        if not self.use_raw_completions or not self.tokenizer_model:
            return None
        if self._tokenizer is None:
            self._tokenizer = load_tokenizer(self.tokenizer_model)
        return self._tokenizer


_HERMES = lazy_pattern(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)


class GenericAdapter(ModelAdapter):
    """Changes nothing; in raw completions it knows the widespread `<tool_call>` form."""

    def extract_tool_calls_from_text(self, text: str) -> list[JsonObject] | None:
        calls = [call_from_json(place, found) for place, found in enumerate(_HERMES.findall(text))]
        return calls or None

    def text_before_calls(self, text: str) -> str:
        return text.partition("<tool_call>")[0]
