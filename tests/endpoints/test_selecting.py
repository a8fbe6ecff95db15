"""Which models are asked: what the user wants, what can chat, and never one that nobody named."""

from __future__ import annotations

import pytest

from toolcert.core.errors import UsageError
from toolcert.core.targets import ModelInfo
from toolcert.endpoints.selecting import Selection, choose
from toolcert.settings.patterns import Patterns

LISTED = [
    ModelInfo(id="gpt-4o"),
    ModelInfo(id="gpt-4o-mini"),
    ModelInfo(id="embed", can_chat=False, why_not="an embedding model"),
]


def select(
    *include: str, exclude: tuple[str, ...] = (), listed: list[ModelInfo] = LISTED, every: bool = False
) -> Selection:
    return choose("e", listed, Patterns(include), Patterns(exclude), every=every)


def ids(models: tuple[ModelInfo, ...]) -> list[str]:
    return [info.id for info in models]


def test_all_that_can_chat_are_asked_and_the_rest_is_unsupported() -> None:
    selection = select()
    assert ids(selection.asked) == ["gpt-4o", "gpt-4o-mini"]
    assert ids(selection.unsupported) == ["embed"]


def test_patterns_choose_and_exclude() -> None:
    selection = select("gpt-*", exclude=("re:mini$",))
    assert ids(selection.asked) == ["gpt-4o"]
    assert ids(selection.left_out) == ["gpt-4o-mini", "embed"]


def test_a_model_that_cannot_chat_is_asked_when_named_or_all_are_wanted() -> None:
    assert ids(select("embed").asked) == ["embed"]
    assert ids(select(every=True).asked) == ["gpt-4o", "gpt-4o-mini", "embed"]


def test_a_listed_wildcard_stands_for_named_models_only() -> None:
    listed = [ModelInfo(id="openai/*", can_chat=False, why_not="a pattern")]
    assert ids(select("openai/gpt-4o", listed=listed).asked) == ["openai/gpt-4o"]
    assert select(listed=listed).asked == ()


def test_a_mistyped_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no model is left to ask\. Did you mean gpt-4o"):
        select("gpt-4p")


def test_no_match_shows_what_there_is() -> None:
    with pytest.raises(UsageError, match="It lists gpt-4o, gpt-4o-mini, embed"):
        select("qwen*")
