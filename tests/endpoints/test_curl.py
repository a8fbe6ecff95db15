"""Curl lines repeat a request in a real shell, with the key in its variable."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from toolcert.core.exchanges import Exchange
from toolcert.core.requests import Request
from toolcert.core.targets import EndpointSpec
from toolcert.endpoints.curl import curl_line, token_line

NASTY = 'it\'s "quoted" $HOME `id` \\ and\nnew line ü'


def words_of(line: str, **environment: str) -> list[str]:
    """What a shell makes of the line; `curl` is replaced by a function that prints its arguments."""
    script = f"curl() {{ printf '%s\\0' \"$@\"; }}\n{line}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, env=environment, check=True)
    return done.stdout.decode().split("\0")[:-1]


def exchange(**body: Any) -> Exchange:
    return Exchange(request=Request(body={"model": "m", **body}), url="http://h/v1/chat/completions?a=1&b=2")


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
def test_nothing_of_the_body_reaches_the_shell() -> None:
    spec = EndpointSpec(name="e", base_url="http://h", key_env="MY_KEY", headers={"X-Key": "${OTHER}", "X-A": "it's"})
    line = curl_line(exchange(messages=[NASTY]), spec)
    words = words_of(line, MY_KEY="secret-1", OTHER="secret-2")
    assert words[words.index("-d") + 1] == json.dumps(
        {"model": "m", "messages": [NASTY]}, ensure_ascii=False, separators=(",", ":")
    )
    assert "Authorization: Bearer secret-1" in words
    assert "X-Key: secret-2" in words
    assert "X-A: it's" in words
    assert "http://h/v1/chat/completions?a=1&b=2" in words
    assert "secret" not in line


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
def test_a_run_of_somebody_else_cannot_make_the_shell_do_more() -> None:
    """Headers and the key's variable come from a manifest, which may be anybody's."""
    spec = EndpointSpec(name="e", base_url="http://h", key_env="(echo a)", headers={"X-B": "$(echo b) ${V:-`echo c`}"})
    words = words_of(curl_line(exchange(), spec), V="v")
    assert "Authorization: Bearer $(echo a)" in words
    assert "X-B: $(echo b) ${V:-`echo c`}" in words
    watsonx = EndpointSpec(name="w", dialect="watsonx", key_env='(echo a)"')
    request = str(token_line(watsonx)).removeprefix("WATSONX_TOKEN=$(").partition(" | ")[0]
    assert 'apikey=$(echo a)"' in words_of(request)


def test_without_a_key_there_is_no_header() -> None:
    assert "Authorization" not in curl_line(exchange(), EndpointSpec(name="e", base_url="http://h"))


def test_what_was_sent_is_repeated_and_streams_are_not_buffered() -> None:
    sent = Exchange(request=Request(body={"model": "m", "stream": True}), url="http://h", sent={"model_id": "m"})
    line = curl_line(sent, EndpointSpec(name="e"))
    assert """'{"model_id":"m"}'""" in line
    assert " -N " in line


def test_azure_and_ca_bundle() -> None:
    spec = EndpointSpec(name="a", base_url="https://x.openai.azure.com", key_env="K", ca_bundle="/a b/ca.pem")
    line = curl_line(exchange(), spec)
    assert '-H "api-key: $K"' in line
    assert "--cacert '/a b/ca.pem'" in line


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("region", "expected"),
    [
        ("eu-de", ["https://iam.cloud.ibm.com/identity/token", "apikey=secret-1"]),
        ("us-east-1", ["https://account-iam.platform.saas.ibm.com/api/2.0/apikeys/token", '{"apikey":"secret-1"}']),
    ],
)
def test_watsonx_needs_a_token_first(region: str, expected: list[str]) -> None:
    spec = EndpointSpec(name="w", dialect="watsonx", key_env="WX", options={"region": region})
    assert '"Authorization: Bearer $WATSONX_TOKEN"' in curl_line(exchange(), spec)
    line = token_line(spec)
    assert line is not None
    request = line.removeprefix("WATSONX_TOKEN=$(").partition(" | ")[0]
    words = words_of(request, WX="secret-1")
    assert set(expected) <= set(words)


def test_other_dialects_need_no_token() -> None:
    assert token_line(EndpointSpec(name="e")) is None


def test_an_address_of_a_strangers_run_is_no_option() -> None:
    line = curl_line(Exchange(request=Request(body={}), url="-o/home/me/.profile"), EndpointSpec(name="a"))
    assert line.startswith("curl -sS --url -o/home/me/.profile ")
