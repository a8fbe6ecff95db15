"""Names, presets, addresses and options become endpoints; precedence holds for each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolcert.core.errors import ConfigurationError, UsageError
from toolcert.endpoints.presets import presets
from toolcert.endpoints.registry import dialect_names
from toolcert.endpoints.spec import ChosenEndpoint, choose_endpoints
from toolcert.settings import load_config, resolve
from toolcert.settings.options import ENDPOINT_KEYS, names
from toolcert.settings.options.endpoint import CONNECTION, REQUESTS

ALL = names(CONNECTION, REQUESTS)
CONFIG = """
[defaults]
retries = 7
concurrency = 7

[endpoints.mine]
base_url = "http://mine:1/v1"
api_key_env = "MINE_KEY"
concurrency = 3
header = ["X-Team: a"]
model = "a*"

[endpoints.router]
preset = "openrouter"
provider = "Alpha"

[endpoints.ibm]
preset = "watsonx"
project_id = "p-1"
"""


@pytest.fixture
def choose(tmp_path: Path) -> Any:
    path = tmp_path / "toolcert.toml"
    path.write_text(CONFIG)

    def call(*endpoints: str, environment: dict[str, str] | None = None, **given: Any) -> list[ChosenEndpoint]:
        environment = {"MINE_KEY": "key-of-mine", **(environment or {})}
        settings = resolve(ALL, given, environment=environment, config=load_config(str(path)))
        return choose_endpoints(settings, endpoints)

    return call


def test_named_endpoint_takes_its_table_then_defaults(choose: Any) -> None:
    [mine] = choose("mine")
    assert (mine.spec.base_url, mine.spec.concurrency, mine.spec.retries) == ("http://mine:1/v1", 3, 7)
    assert mine.spec.headers == {"X-Team": "a"}
    assert mine.spec.key_env == "MINE_KEY"
    assert mine.key.source == "MINE_KEY"
    assert mine.model == ("a*",)


def test_flag_beats_environment_beats_table(choose: Any) -> None:
    environment = {"TOOLCERT_CONCURRENCY": "5"}
    assert choose("mine", environment=environment)[0].spec.concurrency == 5
    assert choose("mine", environment=environment, concurrency=9)[0].spec.concurrency == 9


def test_an_endpoint_named_on_the_command_line_keeps_its_address(choose: Any) -> None:
    """A variable left over from elsewhere must not send the endpoint's key to another address."""
    environment = {"TOOLCERT_BASE_URL": "http://elsewhere/v1"}
    [mine] = choose("mine", environment=environment)
    assert mine.spec.base_url == "http://mine:1/v1"
    assert mine.ignored == ["TOOLCERT_BASE_URL"]
    [by_variable] = choose(environment={**environment, "TOOLCERT_ENDPOINT": "mine"})
    assert by_variable.spec.base_url == "http://elsewhere/v1"
    [by_flag] = choose("mine", base_url="http://flag/v1")
    assert by_flag.spec.base_url == "http://flag/v1"


def test_preset(choose: Any) -> None:
    [openai] = choose("openai", environment={"OPENAI_API_KEY": "key-of-openai"})
    assert openai.spec.base_url == "https://api.openai.com/v1"
    assert openai.key.source == openai.spec.key_env == "OPENAI_API_KEY"


def test_preset_without_key_still_names_the_variable(choose: Any) -> None:
    [openai] = choose("openai")
    assert openai.key is None
    assert openai.spec.key_env == "OPENAI_API_KEY"


def test_a_dialect_of_one_vendor_brings_its_habits(choose: Any) -> None:
    environment = {"WATSONX_API_KEY": "key-wx", "WATSONX_PROJECT_ID": "p", "OPENAI_API_KEY": "key-of-openai"}
    [ibm] = choose(dialect="watsonx", environment=environment)
    assert (ibm.key.source, ibm.spec.options) == ("WATSONX_API_KEY", {"project_id": "p"})
    [proxy] = choose(dialect="litellm", environment={"LITELLM_API_KEY": "key-proxy"})
    assert (proxy.key.source, proxy.spec.base_url) == ("LITELLM_API_KEY", "http://localhost:4000")


def test_the_key_of_openai_is_not_shown_to_a_stranger(choose: Any) -> None:
    [stranger] = choose(dialect="openai", base_url="http://stranger", environment={"OPENAI_API_KEY": "key-of-openai"})
    assert stranger.key is None


def test_a_local_server_without_key_has_no_key_in_its_curl_lines(choose: Any) -> None:
    assert choose("vllm")[0].spec.key_env is None


def test_openrouter_is_pinned(choose: Any) -> None:
    [router] = choose("router")
    assert router.spec.extra_body == {"provider": {"only": ["Alpha"], "allow_fallbacks": False}}
    assert router.spec.base_url == presets()["openrouter"].base_url


def test_usual_variables_of_a_preset(choose: Any) -> None:
    [ibm] = choose(
        "ibm", environment={"WATSONX_URL": "https://wx", "WATSONX_APIKEY": "key-wx", "WATSONX_SPACE_ID": "s"}
    )
    assert (ibm.spec.dialect, ibm.spec.base_url, ibm.key.source) == ("watsonx", "https://wx", "WATSONX_APIKEY")
    assert ibm.spec.options == {"project_id": "p-1", "space_id": "s"}


def test_address_as_argument(choose: Any) -> None:
    [local] = choose("localhost:8000")
    assert (local.spec.name, local.spec.base_url, local.spec.key_env) == (
        "localhost:8000",
        "http://localhost:8000",
        None,
    )


def test_several_at_once(choose: Any) -> None:
    assert [choice.spec.name for choice in choose("mine", "ollama", "http://x:1")] == ["mine", "ollama", "x:1"]


def test_options_alone(choose: Any) -> None:
    [only] = choose(base_url="http://x:1/v1", api_key="key-flag", dialect="litellm")
    assert (only.spec.name, only.spec.dialect, only.key.source) == ("x:1", "litellm", "--api-key")
    assert only.spec.key_env == "TOOLCERT_API_KEY"


def test_the_only_configured_endpoint_is_the_default(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text("[endpoints.one]\nbase_url = 'http://one'\n")
    settings = resolve(ALL, {}, environment={}, config=load_config(str(path)))
    assert choose_endpoints(settings)[0].spec.name == "one"


def test_time_limits(choose: Any) -> None:
    timeouts = choose("mine", timeout=5)[0].spec.timeouts
    assert (timeouts.connect, timeouts.read, timeouts.between_chunks, timeouts.total) == (5, 5, 5, 5)
    timeouts = choose("mine", timeout=300)[0].spec.timeouts
    assert (timeouts.connect, timeouts.read, timeouts.between_chunks, timeouts.total) == (10, 300, 60, 300)


@pytest.mark.parametrize(
    ("arguments", "given", "error", "message"),
    [
        (["mnie"], {}, UsageError, "no endpoint 'mnie'.*Did you mean mine"),
        ([], {}, UsageError, "which endpoint"),
        (["mine", "ollama"], {"base_url": "http://x"}, UsageError, "one endpoint only"),
        (["http://x/a", "http://x/b"], {}, UsageError, "both be called x"),
        (["http://u:p@x"], {}, UsageError, "user name or password"),
        ([], {"preset": "opena"}, UsageError, "Did you mean openai"),
        (["azure"], {}, UsageError, "address is not known"),
        (["ollama"], {"api_key_env": "ABSENT"}, ConfigurationError, "ABSENT"),
    ],
)
def test_what_cannot_be_is_told(
    choose: Any, arguments: list[str], given: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        choose(*arguments, **given)


def test_a_refused_address_is_not_repeated(choose: Any) -> None:
    with pytest.raises(UsageError) as caught:
        choose("https://user:hunter2@host/v1")
    assert "hunter2" not in str(caught.value)


def test_a_wrong_variable_of_a_preset_is_named(choose: Any) -> None:
    with pytest.raises(ConfigurationError, match="WATSONX_URL: expected an http"):
        choose("watsonx", environment={"WATSONX_URL": "ftp://x", "WATSONX_API_KEY": "key-of-ibm"})


def test_key_from_the_stronger_source(choose: Any, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("key-file")
    [mine] = choose("mine", api_key_file=str(tmp_path / "key"))
    assert mine.key.reveal() == "key-file"


def test_every_preset_is_well_formed() -> None:
    dialects = dialect_names()
    for name, preset in presets().items():
        assert preset.dialect in dialects, name
        assert set(preset.variables) <= ENDPOINT_KEYS, name
        assert preset.base_url or preset.variables.get("base_url"), name


def test_wanted_presets_are_there() -> None:
    wanted = "openai openrouter together fireworks groq deepseek moonshot mistral ollama vllm lmstudio llama.cpp"
    assert set(wanted.split()) <= set(presets())
