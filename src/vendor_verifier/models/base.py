"""What an adapter is: toolcert's own."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from toolcert.verify.adapters import ModelAdapter

__all__ = ["ModelAdapter", "careful"]


def careful(adapter: type[ModelAdapter]) -> type[ModelAdapter]:
    """The same adapter working on a copy: users' adapters may change messages in place, and a row is never changed."""

    class Careful(adapter):  # type: ignore[valid-type, misc]  # the base is known at run time only
        def transform_messages(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
            transformed: list[dict[str, Any]] = super().transform_messages(deepcopy(messages))
            return messages if transformed == messages else transformed

    Careful.__name__ = adapter.__name__
    return Careful
