"""A file at a URL: a dataset that is read, a report that is written."""

from __future__ import annotations

import mimetypes
from typing import IO

from toolcert.core.errors import InputError, OutputError, UsageError
from toolcert.stores.lease import LEASE
from toolcert.stores.object_store import CHECK, ObjectStore, StoreFault
from toolcert.stores.object_url import parse_url


def copy_object(name: str, target: IO[bytes]) -> None:
    """Copy the object at a URL to an open file."""
    store = ObjectStore(parse_url(name))
    try:
        for chunk in store.chunks():
            target.write(chunk)
    except StoreFault as fault:
        raise InputError(f"cannot read {store.url}: {fault}.", remedy=CHECK) from None


def put_object(name: str, content: bytes) -> None:
    """Write an object as a whole, with the type that its name says, so that a browser shows a page."""
    store = ObjectStore(parse_url(name))
    try:
        store.write("", content, kind=mimetypes.guess_type(store.url.key)[0])
    except StoreFault as fault:
        raise OutputError(f"cannot write {store.url}: {fault}.", remedy=CHECK) from None


def check_object(name: str) -> None:
    """Refuse a URL that could not be written."""
    store = ObjectStore(parse_url(name))
    if store.url.key.rpartition("/")[2] == LEASE:
        raise UsageError(f"{store.url} may hold the lease of a run.", remedy="Give the report another name.")
    try:
        store.check()
    except StoreFault as fault:
        raise OutputError(f"cannot write {store.url}: {fault}.", remedy=CHECK) from None
