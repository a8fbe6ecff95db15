"""How many examples a property is tried with."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100
"""What hypothesis tries without being told."""


def examples(usual: int) -> int:
    """`usual` in a full run, and more or fewer where the profile says so."""
    return max(10, usual * settings.default.max_examples // USUAL)
