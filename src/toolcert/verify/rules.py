"""Whose rules judge."""

from __future__ import annotations

from enum import StrEnum


class Rules(StrEnum):
    """Whose rules decide what a valid call is."""

    OURS = "ours"
    OLDER = "older"
    """Only finish_reason `tool_calls` counts as calling; empty arguments and broken schemas make a call invalid."""
