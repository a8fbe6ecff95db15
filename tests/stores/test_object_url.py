"""Names that are URLs of object stores, and those that are refused before anything is sent."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolcert.core.errors import ConfigurationError, MissingExtraError, UsageError
from toolcert.runs.location import locate_run
from toolcert.stores.object_store import ObjectStore
from toolcert.stores.object_url import ObjectUrl, is_url, parse_url


@pytest.mark.parametrize("name", ["s3://bucket/a/b", "S3://bucket/a//b/", Path("s3://bucket/a/b"), "s3:/bucket/a/b"])
def test_a_url_is_a_bucket_and_a_key(name: str | Path) -> None:
    assert is_url(name)
    assert parse_url(name) == ObjectUrl(bucket="bucket", key="a/b")
    assert str(parse_url(name)) == "s3://bucket/a/b"


@pytest.mark.parametrize(
    "name", ["runs/x", "s3", "s3/x", "-", "/tmp/s3:", "https://host/x", "c:/x", "s3:///x", "postgresql://x/y"]
)
def test_other_names_are_no_urls(name: str) -> None:
    assert not is_url(name)


@pytest.mark.parametrize("name", ["gs://bucket/x", "az://box/x", "abfss://box/x"])
def test_a_store_that_is_not_supported_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(UsageError, match=r"cannot read or write \w+://\. Use s3://BUCKET/KEY"):
        parse_url(name)


@pytest.mark.parametrize("name", ["s3://key:hush@bucket/x", "s3://hush@bucket/x", "s3://bucket/x?X-Amz-Signature=hush"])
def test_what_may_carry_a_credential_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_url(name)
    assert "hush" not in str(refused.value)
    assert "AWS_ACCESS_KEY_ID" in refused.value.remedy


@pytest.mark.parametrize(
    "name", ["s3://ab/x", "s3://Bucket/x", "s3://bucket", "s3://bucket/", "s3://bucket/a/../b", "s3://bucket/\x1b"]
)
def test_a_url_that_names_no_object_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        parse_url(name)


def test_without_the_extra_one_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("obstore", "obstore.store"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"s3:// needs obstore\. .*\[objectstore\]"):
        locate_run("s3://bucket/run")


@pytest.mark.parametrize(
    ("endpoint", "allowed"), [("http://127.0.0.1:1", True), ("https://127.0.0.1:1", False), ("", False)]
)
def test_an_unencrypted_way_is_taken_only_where_the_user_wrote_it_so(
    monkeypatch: pytest.MonkeyPatch, endpoint: str, allowed: bool
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    client = ObjectStore(parse_url("s3://bucket/x"))._store.client_options
    assert client is not None
    assert client.get("allow_http", False) in (allowed, str(allowed).lower())


@pytest.mark.parametrize("endpoint", ["not an address", "localhost:9000", "ftp://host", "https://user:hush@host"])
def test_an_endpoint_that_is_no_address_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(ConfigurationError, match="AWS_ENDPOINT_URL is not the address of a store") as refused:
        locate_run("s3://bucket/run")
    assert "hush" not in str(refused.value)
