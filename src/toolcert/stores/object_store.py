"""The objects below a URL: read, write, write under a condition, list. The only module that imports obstore."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import IO, TYPE_CHECKING, Any

from toolcert.core.errors import (
    ConfigurationError,
    InputError,
    MissingExtraError,
    OutputError,
    UsageError,
    install_line,
)
from toolcert.core.values import Value
from toolcert.settings.web_address import clean_address
from toolcert.stores.object_url import ObjectUrl, parse_url

if TYPE_CHECKING:
    from obstore.store import S3Store


_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_STATUS = re.compile(r"status code: (\d{3})")
_SILENT = re.compile(r"tcp connect|connection (refused|reset|closed)|dns error|timed out|error sending request", re.I)
CHECK = "Check the URL, AWS_ENDPOINT_URL and the credentials."
"""The remedy for what only the user can mend."""
LEASE = "lease.json"
"""The object that names the writer of a folder; no file of a user may have its name."""
_DENIED = frozenset({"AccessDenied", "403"})


class StoreFault(Exception):  # noqa: N818 - becomes an InputError or OutputError that names the URL
    """The store did not do what was asked; the message says why, without any text that could hold a secret."""


class NoSuchObject(StoreFault):
    """There is nothing at the URL."""


class Conflict(StoreFault):
    """The condition of a write does not hold: somebody else has written the object."""


class Denied(StoreFault):
    """These credentials do not permit it."""


class Stored(Value):
    """An object in a list."""

    name: str
    size: int
    tag: str


class ObjectStore:
    """What lies below a URL; names are relative to it, and the empty name is the URL itself."""

    def __init__(self, url: ObjectUrl) -> None:
        try:
            from obstore.store import S3Store
        except ImportError:
            raise MissingExtraError("s3:// needs obstore.", remedy=install_line("objectstore")) from None
        self.url = url
        self._endpoint = self.endpoint()
        self._store: S3Store = S3Store(
            url.bucket,
            config={"endpoint": self._endpoint} if self._endpoint else None,
            client_options={
                # Unencrypted only if the user wrote it so.
                "allow_http": self._endpoint.startswith("http://"),
                "connect_timeout": "5s",
                "read_timeout": "30s",
                "timeout": "600s",  # of a whole download; where nothing moves, the limit of a read ends it
            },
            # A writer tries again by itself as long as its run goes on; a reader says quickly that there is no answer.
            retry_config={
                "max_retries": 2,
                "retry_timeout": timedelta(seconds=10),
                "backoff": {
                    "init_backoff": timedelta(milliseconds=200),
                    "max_backoff": timedelta(seconds=2),
                    "base": 2,
                },
            },
        )

    @staticmethod
    def endpoint() -> str:
        """The address of the store if the user named one; empty for Amazon's own."""
        name = next((name for name in _ENDPOINTS if os.environ.get(name)), None)
        if name is None:
            return ""
        try:
            address = os.environ[name].strip()
            if "://" not in address:
                raise ValueError("it must begin with https:// or http://")  # noqa: TRY301 - one sentence for both
            return clean_address(address)
        except ValueError as error:
            raise ConfigurationError(f"{name} is not the address of a store: {error}.") from None

    def read(self, name: str = "") -> tuple[bytes, str] | None:
        """The content of an object and its tag, which changes with each write; None if there is none."""
        import obstore

        try:
            found = obstore.get(self._store, self._key(name))
            return bytes(found.bytes()), found.meta["e_tag"] or ""
        except FileNotFoundError as error:
            self._refuse_missing_bucket(error)
            return None
        except obstore.exceptions.BaseError as error:
            raise self._fault(error) from None

    def chunks(self) -> Iterator[bytes]:
        """The content of the object at the URL itself, piece by piece."""
        import obstore

        try:
            yield from map(bytes, obstore.get(self._store, self.url.key).stream())
        except FileNotFoundError as error:
            self._refuse_missing_bucket(error)
            raise NoSuchObject("there is no such object") from None
        except obstore.exceptions.BaseError as error:
            raise self._fault(error) from None

    def write(
        self, name: str, data: bytes, *, new: bool = False, instead_of: str | None = None, kind: str | None = None
    ) -> str:
        """Write an object and return its tag; Conflict if it is there and must be `new`, or has another tag."""
        import obstore

        mode: Any = "create" if new else "overwrite" if instead_of is None else {"e_tag": instead_of}
        try:
            typed: Any = {"Content-Type": kind} if kind else None
            done = obstore.put(self._store, self._key(name), data, attributes=typed, mode=mode, use_multipart=False)
            return done["e_tag"] or ""
        except (obstore.exceptions.AlreadyExistsError, obstore.exceptions.PreconditionError):
            raise Conflict("somebody else has written it") from None
        except (obstore.exceptions.BaseError, FileNotFoundError) as error:
            raise self._fault(error) from None

    def entries(self, folder: str) -> list[Stored]:
        """The objects below a folder, in order."""
        import obstore

        before = len(self.url.key) + 1
        try:
            pages = obstore.list(self._store, self._key(folder))
            found = [_stored(meta, before) for page in pages for meta in page]
        except (obstore.exceptions.BaseError, FileNotFoundError) as error:
            raise self._fault(error) from None
        return sorted(found, key=lambda stored: stored.name)

    def folders(self) -> list[str]:
        """The names directly below the URL that have something below them."""
        import obstore

        try:
            found = obstore.list_with_delimiter(self._store, self.url.key)["common_prefixes"]
        except (obstore.exceptions.BaseError, FileNotFoundError) as error:
            raise self._fault(error) from None
        return [prefix.rstrip("/").rpartition("/")[2] for prefix in found]

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; those that are gone already do no harm."""
        import obstore

        keys = [self._key(name) for name in names]
        try:
            if keys:
                obstore.delete(self._store, keys)
        except FileNotFoundError:
            return
        except obstore.exceptions.BaseError as error:
            raise self._fault(error) from None

    def check(self) -> None:
        """Raise StoreFault if the bucket cannot be reached; whether it may be listed does not matter."""
        import obstore

        try:
            next(iter(obstore.list(self._store, self.url.key, chunk_size=1)), None)
        except (obstore.exceptions.BaseError, FileNotFoundError) as error:
            fault = self._fault(error)
            if not isinstance(fault, Denied):
                raise fault from None

    def _key(self, name: str) -> str:
        return f"{self.url.key}/{name}" if name else self.url.key

    def _refuse_missing_bucket(self, error: Exception) -> None:
        if "NoSuchBucket" in str(error):
            raise self._fault(error) from None

    def _fault(self, error: Exception) -> StoreFault:
        """What went wrong, from codes and kinds alone: the library's text may show a header or a signed address."""
        text = str(error)
        code = next((found[1] for pattern in (_CODE, _STATUS) if (found := pattern.search(text))), "")
        if code == "NoSuchBucket" or isinstance(error, FileNotFoundError):
            return StoreFault(f"there is no bucket {self.url.bucket}")
        if code in _DENIED or type(error).__name__ == "PermissionDeniedError":
            without = "" if os.environ.get("AWS_ACCESS_KEY_ID") else "; AWS_ACCESS_KEY_ID is not set"
            return Denied(f"access is denied{without}")
        if code:
            return StoreFault(f"the store answers {code}")
        if "169.254." in text or "credential" in text.lower():
            return StoreFault("no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        if _SILENT.search(text):
            return StoreFault(f"{self._endpoint or 'the store'} does not answer")
        return StoreFault(f"{self._endpoint or 'the store'} fails ({type(error).__name__})")


def _stored(meta: Any, before: int) -> Stored:
    return Stored(name=meta["path"][before:], size=meta["size"], tag=meta["e_tag"] or "")


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
