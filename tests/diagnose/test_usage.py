"""Token counts that contradict each other."""

from __future__ import annotations

from typing import Any

import pytest

from diagnose.answers import asked, codes, said


def counted(**usage: Any) -> list[str]:
    return codes(asked(), said("Sunny.", usage=usage))


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 16},
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": "15"},
        {"prompt_tokens": -1, "completion_tokens": 5, "total_tokens": 4},
        {"prompt_tokens": "10", "completion_tokens": 5},
        {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 11},
        },
    ],
)
def test_contradictions(usage: dict[str, Any]) -> None:
    assert counted(**usage) == ["usage.arithmetic"]


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        {"prompt_tokens": 10, "completion_tokens": 5},
        {},
        {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 10},
        },
        {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 35,
            "completion_tokens_details": {"reasoning_tokens": 20},
        },
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": None},
    ],
)
def test_sound_counts(usage: dict[str, Any]) -> None:
    assert counted(**usage) == []
