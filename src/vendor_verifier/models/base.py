"""The base class of adapters: toolcert's, made with the name of the model as the older tool makes it."""

from __future__ import annotations

from typing import Any

from toolcert.verification.adapters import ModelAdapter as ToolcertAdapter

__all__ = ["ModelAdapter"]


class ModelAdapter(ToolcertAdapter):
    """Prepares requests for one family of models; override what a model needs."""

    # An adapter of the older tool may have an `__init__` that does not call this one.
    model_name: str = ""
    use_raw_completions: bool = False
    tokenizer_model: str | None = None
    _tokenizer: Any = None

    def __init__(
        self,
        model_name: str = "",
        tokenizer_model: str | None = None,
        use_raw_completions: bool = False,
        **_: Any,
    ) -> None:
        super().__init__(use_raw_completions=use_raw_completions, tokenizer_model=tokenizer_model)
        self.model_name = model_name
