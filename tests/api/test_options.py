"""Options are checked when they are made, by the rules of the command line; the message says what is expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcert import (
    By,
    CompareOptions,
    Endpoint,
    Keep,
    LoadOptions,
    Match,
    ProbeOptions,
    Trigger,
    UsageError,
    VerifyOptions,
    compare,
)
from toolcert.api.daily import DailyOptions
from toolcert.core.errors import ConfigurationError
from toolcert.core.targets import Timeouts

URL = "http://localhost:8000"


def verify_options(**options: Any) -> VerifyOptions:
    return VerifyOptions(**({"model": "m"} | options))


def endpoint(**settings: Any) -> Endpoint:
    return Endpoint(settings.pop("base_url", URL), **settings)


WRONG: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (ProbeOptions, {"keep": "everything"}, "expected one of raw, assembled, verdicts"),
    (ProbeOptions, {"iterations": 0}, "a whole number at least 1"),
    (ProbeOptions, {"iterations": "5"}, "a whole number"),
    (ProbeOptions, {"iterations": True}, "a whole number"),
    (ProbeOptions, {"iterations": None}, "a whole number"),
    (ProbeOptions, {"threshold": 1.5}, "at most 1"),
    (ProbeOptions, {"threshold": float("nan")}, "a number"),
    (ProbeOptions, {"temperature": 3}, "at most 2"),
    (ProbeOptions, {"adaptive": "no"}, "true or false"),
    (ProbeOptions, {"model": 7}, "expected text"),
    (ProbeOptions, {"suite": "quik"}, "no suite 'quik'"),
    (ProbeOptions, {"probe": "bassic"}, "bassic"),
    (ProbeOptions, {"scenario": "missing.yaml"}, "a file that exists"),
    (ProbeOptions, {"output": 7}, "the path of a file"),
    (ProbeOptions, {"prices": {"m": 3.0}}, r"dict\[str, tuple\[float, float\]\]"),
    (ProbeOptions, {"prices": {"m": (-1, 2)}}, "at least 0"),
    (ProbeOptions, {"adaptive": True, "threshold": 1}, "threshold between 0 and 1"),
    (verify_options, {"model": ("a", "b")}, "expected text"),
    (verify_options, {"limit": 0}, "at least 1"),
    (verify_options, {"stream": "yes"}, "true or false"),
    (verify_options, {"extra_body": ["top_k"]}, "a JSON object"),
    (verify_options, {"extra_body": {"api_key": "sk-1"}}, "must not carry a credential"),
    (verify_options, {"fail_under": 0.9}, "expected str"),
    (verify_options, {"keep": 1}, "text"),
    (CompareOptions, {"match": "row"}, "one of content, index"),
    (CompareOptions, {"trigger": "calls"}, "one of payload, finish-reason"),
    (CompareOptions, {"by": "model"}, "one of tool, n_tools, turns, tag"),
    (CompareOptions, {"margin": "0.03"}, "a number"),
    (CompareOptions, {"margin": 0}, "such as 0.03"),
    (CompareOptions, {"alpha": 2}, "at most 1"),
    (CompareOptions, {"rows": -1}, "at least 0"),
    (CompareOptions, {"force": 1}, "true or false"),
    (endpoint, {"base_url": 8000}, "expected text"),
    (endpoint, {"base_url": "ftp://host"}, "http:// or https://"),
    (endpoint, {"concurrency": 0}, "at least 1"),
    (endpoint, {"retries": 21}, "at most 20"),
    (endpoint, {"rpm": "60"}, "a whole number"),
    (endpoint, {"timeout": 0}, "at least 0.01"),
    (endpoint, {"timeouts": Timeouts(read=-1)}, "at least 0.01"),
    (endpoint, {"ca_bundle": "missing.pem"}, "a file that exists"),
    (endpoint, {"headers": {"X-Api-Key": "sk-1"}}, "put it into a variable"),
    (endpoint, {"headers": "X-Team: tools"}, r"dict\[str, str\]"),
    (endpoint, {"options": "eu-de"}, r"dict\[str, .*Any\]"),
    (endpoint, {"key_env": "my key"}, "the NAME of the environment variable"),
    (endpoint, {"api_key": 7}, "the key as text"),
    (endpoint, {"model": [7]}, "expected text"),
    (endpoint, {"concurency": 4}, r"no setting concurency.*Settings: base_url, ca_bundle, concurrency"),
]


def words_of(value: Any) -> str:
    """Without the address of a function, which differs from process to process."""
    return str(getattr(value, "__name__", value))[:40]


@pytest.mark.parametrize(("make", "given", "expected"), WRONG, ids=words_of)
def test_a_wrong_option_is_refused_with_what_is_expected(
    make: Callable[..., Any], given: dict[str, Any], expected: str
) -> None:
    with pytest.raises(UsageError, match=expected) as caught:
        make(**given)
    assert "sk-1" not in str(caught.value), "what may be a key is not shown"


def test_a_word_stands_for_the_member_of_an_enum() -> None:
    assert ProbeOptions(keep="verdicts").keep is Keep.VERDICTS  # type: ignore[arg-type] # is taken
    options = CompareOptions(match="index", trigger="finish-reason", by="n_tools")  # type: ignore[arg-type] # is taken
    assert (options.match, options.trigger, options.by) == (Match.INDEX, Trigger.FINISH_REASON, By.N_TOOLS)
    assert CompareOptions(match=Match.INDEX) == CompareOptions(match="index")  # type: ignore[arg-type] # is taken


def test_one_text_is_one_pattern() -> None:
    assert ProbeOptions(model="faithful", exclude=["a", "b"]).model == ("faithful",)  # type: ignore[arg-type] # is taken
    assert verify_options(where="tool=a").where == ("tool=a",)
    assert Endpoint(URL, model="faithful").model == ("faithful",)


def test_paths_and_whole_numbers_are_taken_for_texts_and_rates(tmp_path: Path) -> None:
    options = ProbeOptions(output=tmp_path, threshold=1)  # type: ignore[arg-type] # is taken
    assert (options.output, options.threshold) == (str(tmp_path), 1.0)


def test_an_address_is_completed_as_on_the_command_line() -> None:
    assert Endpoint("localhost:8000/v1/").spec.base_url == "http://localhost:8000/v1"


def test_an_empty_key_is_refused() -> None:
    """It would be sent, and the server's refusal would look like that of a wrong one."""
    with pytest.raises(ConfigurationError, match="the argument api_key is empty"):
        Endpoint(URL, api_key=" ")


def test_runs_to_compare_are_names_or_paths() -> None:
    with pytest.raises(UsageError, match="named by text or paths"):
        compare([7], ["run"])  # type: ignore[list-item] # wrong on purpose


@pytest.mark.parametrize("options", [ProbeOptions, VerifyOptions, CompareOptions, LoadOptions, DailyOptions])
def test_options_are_given_by_keyword_only(options: Callable[..., object]) -> None:
    """Their order is nothing that a program may rely on."""
    with pytest.raises(TypeError, match="positional"):
        options("faithful")
