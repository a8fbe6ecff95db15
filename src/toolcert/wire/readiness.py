"""Whether a socket has something to read, asked without waiting."""

from __future__ import annotations

import select
import sys

if sys.platform == "win32":

    def has_news(descriptor: int) -> bool:
        """Whether bytes or a goodbye have arrived."""
        return bool(select.select([descriptor], [], [], 0)[0])

else:

    def has_news(descriptor: int) -> bool:
        """Whether bytes or a goodbye have arrived; `poll`, because `select` fails on descriptors above 1023."""
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        return bool(poller.poll(0))
