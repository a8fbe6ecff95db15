"""The base class of adapters, with what it needs: the chat template of a raw completion, and calls read out of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from toolcert.core.errors import ConfigurationError, MissingExtraError, install_line
from toolcert.core.values import JsonObject


def load_tokenizer(name: str) -> Any:
    """The tokenizer of a model name or of a local folder; code that comes with a model is never run."""
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
    """A template gave no prompt for a row; the message is its own."""


def render(tokenizer: Any, body: JsonObject) -> str:
    """The prompt of a row, as the model's own template writes it."""
    messages, tools = body["messages"], body.get("tools")
    try:
        prompt = tokenizer.apply_chat_template(messages, tokenize=False, tools=tools, add_generation_prompt=True)
    except Exception as error:  # a template is a program of the model's authors, and raises what it likes
        raise RenderError(_first_line(error) or type(error).__name__) from error
    return str(prompt)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0][:300]


def protocol_call(place: int, identity: str | None, name: str, arguments: str) -> JsonObject:
    """A structured call; `arguments` stay exactly as written, for the judge to parse."""
    return {
        "id": identity,
        "type": "function",
        "index": place,
        "function": {"name": name, "arguments": arguments},
    }


def call_from_json(place: int, text: str) -> JsonObject:
    """The call in a JSON object of name and arguments; what does not parse is kept as arguments without a name."""
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
            self._tokenizer = load_tokenizer(self.tokenizer_model)
        return self._tokenizer
