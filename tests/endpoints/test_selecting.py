"""Which of the listed models are asked."""

from __future__ import annotations

import pytest

from toolcert.core.errors import NothingMeasuredError
from toolcert.core.targets import ModelInfo
from toolcert.endpoints.model_selection import ModelSelection, Patterns, choose

LISTED = [ModelInfo(id="a"), ModelInfo(id="[b]c"), ModelInfo(id="embed", can_chat=False, why_not="an embedding model")]


def chosen(*wanted: str, without: str = "", listed: list[ModelInfo] = LISTED, every: bool = False) -> ModelSelection:
    return choose("e", listed, Patterns(wanted), Patterns([without] if without else []), every=every)


def ids(infos: tuple[ModelInfo, ...]) -> list[str]:
    return [info.id for info in infos]


def test_models_that_cannot_chat_are_told_apart_unless_asked_for_by_name() -> None:
    assert (ids(chosen().asked), ids(chosen().unsupported)) == (["a", "[b]c"], ["embed"])
    assert ids(chosen("embed").asked) == ["embed"]
    assert ids(chosen(every=True).asked) == ["a", "[b]c", "embed"]


def test_an_id_is_taken_at_its_word_whatever_a_glob_would_make_of_it() -> None:
    assert ids(chosen("[b]c").asked) == ["[b]c"]
    assert ids(chosen(without="[b]c").asked) == ["a"]


def test_a_model_that_is_listed_twice_is_asked_once() -> None:
    """Gateways list a model once for each of its deployments."""
    assert ids(chosen(listed=[*LISTED, *LISTED]).asked) == ["a", "[b]c"]


def test_a_listed_pattern_stands_for_the_models_it_matches() -> None:
    listed = [ModelInfo(id="openai/*", can_chat=False, why_not="a pattern for models, not a model")]
    assert ids(chosen("openai/gpt-x", listed=listed).asked) == ["openai/gpt-x"]


def test_nothing_left_to_ask_names_what_is_close() -> None:
    with pytest.raises(NothingMeasuredError, match="Did you mean embed"):
        chosen("embeds")
