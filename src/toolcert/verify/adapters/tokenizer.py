"""Chat templates rendered here, for servers that are asked for raw completions."""

from __future__ import annotations

from typing import Any

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
