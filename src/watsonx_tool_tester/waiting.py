"""Every call of this tool is synchronous, also where a loop is running already."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def done_here(work: Callable[[], Result]) -> Result:
    """The result of `work`; in notebooks and async functions it is done in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(work).result()
