"""Where a run is written: a folder, or a URL whose local mirror is uploaded while it grows."""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from toolcert.core.errors import ToolcertError, ToolcertWarning
from toolcert.core.events import Handler
from toolcert.engine.local import on_interrupt
from toolcert.runs.writer import RECORDS
from toolcert.stores.object_url import is_url

if TYPE_CHECKING:
    from toolcert.stores.upload import Upload


@contextlib.asynccontextmanager
async def run_place(output: str | None) -> AsyncIterator[tuple[str | None, list[Handler]]]:
    """The local folder for a run, and the handlers that stop it if it can no longer be kept.

    The folder of a URL is in the store when the context ends, also after Ctrl-C or an error.
    """
    if output is None or not is_url(output):
        yield output, []
        return
    from toolcert.stores.upload import Upload

    upload = Upload(output, RECORDS)
    await asyncio.to_thread(upload.start)
    try:
        yield str(upload.folder), [upload.check]
    except BaseException as error:
        try:
            await _finished(upload)
        except ToolcertError as failed:
            if str(failed) != str(error):
                warnings.warn(str(failed), ToolcertWarning, stacklevel=2)
        raise
    await _finished(upload)


def place_of_plan(output: str | None) -> str | None:
    """The local folder in which a dry run looks up what an earlier run has measured; nothing is locked or uploaded."""
    if output is None or not is_url(output):
        return output
    from toolcert.stores.mirror import mirror

    return str(mirror(output, RECORDS, may_miss=True))


async def _finished(upload: Upload) -> None:
    """Wait until all is uploaded; Ctrl-C ends the wait."""
    with on_interrupt(upload.abandon, upload.abandon):
        await asyncio.to_thread(upload.finish)
