"""Object URLs: `s3://bucket/key`, distinguished from paths and checked before anything is sent."""

from __future__ import annotations

import re
from os import PathLike

from toolcert.core.errors import UsageError
from toolcert.core.text.lazy_pattern import lazy_pattern
from toolcert.core.values import Value

ORIGIN = ".origin"
"""In the local mirror of a folder: the URL that it mirrors."""
_URL = lazy_pattern(r"(s3a?|gs|gcs|az(?:ure)?|adl|abfss?|wasbs?|r2|oss|hdfs)://?(?!/)", re.IGNORECASE)
"""`pathlib` makes one slash of two, so that both are understood."""
_BUCKET = lazy_pattern(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")
_CREDENTIALS = "Credentials come from the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."


class ObjectUrl(Value):
    """A bucket and a key in it; it carries no credential, so it may be shown."""

    bucket: str
    key: str

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"


def is_url(name: str | PathLike[str]) -> bool:
    """Whether a name is the URL of an object store, also of one that is not supported, and not a path."""
    return _URL.match(str(name)) is not None


def parse_url(name: str | PathLike[str]) -> ObjectUrl:
    """The bucket and key of a URL. What could carry a credential is refused and not repeated."""
    text = str(name)
    found = _URL.match(text)
    scheme = found[1].lower() if found else ""
    if found is None or scheme != "s3":
        raise UsageError(f"toolcert cannot read or write {scheme}://.", remedy="Use s3://BUCKET/KEY, or a local path.")
    bucket, _, key = text[found.end() :].partition("/")
    if "@" in bucket or "?" in text:
        raise UsageError("an s3:// URL must not carry a user, a password or a query.", remedy=_CREDENTIALS)
    if not _BUCKET.fullmatch(bucket):
        raise UsageError(f"{text} names no bucket (3 to 63 of a-z, 0-9, dots and hyphens).", remedy="s3://BUCKET/KEY")
    steps = [step for step in key.split("/") if step]
    if not steps or not key.isprintable() or not {".", ".."}.isdisjoint(steps):
        raise UsageError(f"{text} names no object in the bucket.", remedy=f"Write s3://{bucket}/KEY without . and ..")
    return ObjectUrl(bucket=bucket, key="/".join(steps))
