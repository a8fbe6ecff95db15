"""The demo: eight simulated models that differ visibly and, where installed, one real one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from toolcert.api.endpoint import Endpoint
from toolcert.simulate import Vendor
from toolcert.simulate.local_model import local_model, missing_part
from toolcert.simulate.personas import DEMO

LATENCY = "0.02-0.12"
"""Seconds; enough for the progress display and the latency charts to have something to show."""
LOCAL_TIMEOUT = 60.0


@contextlib.contextmanager
def demo_endpoints(*, local: bool = True) -> Iterator[list[Endpoint]]:
    """The demo's endpoints, alive inside the context; the real model is left out where it is not installed."""
    with contextlib.ExitStack() as stack:
        vendor = stack.enter_context(Vendor(models=DEMO, latency=LATENCY))
        endpoints = [Endpoint(vendor.url, name="simulated", concurrency=16)]
        if local and missing_part() is None:
            url = stack.enter_context(local_model())
            endpoints.append(Endpoint(url, name="local", concurrency=2, timeout=LOCAL_TIMEOUT))
        yield endpoints
