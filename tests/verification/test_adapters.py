"""Adapters: chosen by name, pattern, file or plugin; they read calls out of raw text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolcert.core.errors import ConfigurationError, MissingExtraError, UsageError
from toolcert.settings import packages
from toolcert.verification.adapters import (
    GenericAdapter,
    KimiAdapter,
    ModelAdapter,
    adapter_names,
    get_adapter,
    load_adapter,
    register_adapter,
    registry,
)

KIMI_TEXT = (
    "Let me look.<|tool_calls_section_begin|>"
    '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>'
    "<|tool_call_begin|>functions.get_time:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
    "<|tool_calls_section_end|>"
)


@pytest.fixture(autouse=True)
def _same_registry_afterwards() -> Iterator[None]:
    before = dict(registry._registered)
    yield
    registry._registered.clear()
    registry._registered.update(before)
    registry._plugins.cache_clear()
    packages._distributions.cache_clear()


@pytest.mark.parametrize("model", ["kimi-k2", "moonshotai/Kimi-K2", "Moonshot-v1"])
def test_kimi_is_recognised_by_its_name(model: str) -> None:
    assert isinstance(get_adapter(model), KimiAdapter)


def test_every_other_model_gets_the_generic_adapter_unless_another_is_named() -> None:
    assert isinstance(get_adapter("gpt-4o"), GenericAdapter)
    assert isinstance(get_adapter("gpt-4o", "kimi"), KimiAdapter)
    with pytest.raises(UsageError, match="no adapter 'llama'"):
        get_adapter("gpt-4o", "llama")


def test_kimi_turns_get_a_reasoning_only_where_they_have_none() -> None:
    called = {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}
    own = called | {"reasoning_content": "mine"}
    plain = {"role": "assistant", "content": "hello"}
    changed = KimiAdapter().transform_messages([called, own, plain])
    assert changed == [called | {"reasoning_content": " "}, own, plain]
    assert "reasoning_content" not in called


def test_messages_that_need_nothing_come_back_as_they_are() -> None:
    messages = [{"role": "user", "content": "hi"}]
    assert KimiAdapter().transform_messages(messages) is messages


def test_kimi_markers_become_calls() -> None:
    calls = KimiAdapter().extract_tool_calls_from_text(KIMI_TEXT)
    assert calls is not None
    assert [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls] == [
        ("functions.get_weather:0", "get_weather", '{"city": "Paris"}'),
        ("functions.get_time:1", "get_time", "{}"),
    ]
    assert KimiAdapter().text_before_calls(KIMI_TEXT) == "Let me look."


def test_cut_markers_keep_what_was_written() -> None:
    """A call cut in the middle is a call with broken arguments, for the judge to name."""
    cut = KIMI_TEXT[: KIMI_TEXT.index('"Paris"') + 4]
    (call,) = KimiAdapter().extract_tool_calls_from_text(cut) or []
    assert call["function"] == {"name": "get_weather", "arguments": '{"city": "Par'}


def test_text_without_markers_holds_no_call() -> None:
    assert KimiAdapter().extract_tool_calls_from_text("functions.get_weather:0 is a name") is None
    assert GenericAdapter().extract_tool_calls_from_text("no call") is None


def test_the_generic_adapter_reads_the_widespread_form() -> None:
    text = 'Well. <tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call><tool_call>{"broken</tool_call>'
    first, second = GenericAdapter().extract_tool_calls_from_text(text) or []
    assert first["function"] == {"name": "f", "arguments": '{"x":1}'}
    assert second["function"] == {"name": "", "arguments": '{"broken'}


def test_a_registered_adapter_comes_before_ours() -> None:
    class Mine(ModelAdapter):
        model_patterns = ("kimi-mine",)

    register_adapter("mine", Mine)
    assert isinstance(get_adapter("kimi-mine-1"), Mine)
    assert isinstance(get_adapter("kimi-k2"), KimiAdapter)
    assert "mine" in adapter_names()


def test_an_adapter_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "from toolcert.verification.adapters import ModelAdapter\n"
        "class Own(ModelAdapter):\n"
        "    def transform_messages(self, messages):\n"
        "        return [{'role': 'system', 'content': 'own'}, *messages]\n"
    )
    adapter = get_adapter("any", load_adapter(f"{file}:Own"))
    assert adapter.transform_messages([])[0]["content"] == "own"


def test_an_adapter_of_ones_own_cannot_change_the_rows(tmp_path: Path) -> None:
    file = tmp_path / "hasty.py"
    file.write_text(
        "from toolcert.verification.adapters import ModelAdapter\n"
        "class Hasty(ModelAdapter):\n"
        "    def transform_messages(self, messages):\n"
        "        messages[0]['content'] += '!'\n"
        "        return messages\n"
    )
    messages = [{"role": "user", "content": "Hello"}]
    adapter = get_adapter("any", load_adapter(f"{file}:Hasty"))
    assert adapter.transform_messages(messages) == [{"role": "user", "content": "Hello!"}]
    assert messages == [{"role": "user", "content": "Hello"}]
    assert type(adapter).__name__ == "Hasty"


@pytest.mark.parametrize(
    ("reference", "error"),
    [("own.py", UsageError), ("absent.py:Own", ConfigurationError), ("{file}:Other", ConfigurationError)],
)
def test_a_reference_that_leads_nowhere_is_said_to(tmp_path: Path, reference: str, error: type[Exception]) -> None:
    file = tmp_path / "own.py"
    file.write_text("Other = object\n")
    with pytest.raises(error):
        load_adapter(reference.replace("{file}", str(file)))


@pytest.mark.parametrize(("text", "told"), [("class :\n", "SyntaxError"), ("import absent_module\n", "absent_module")])
def test_an_adapter_that_cannot_be_loaded_is_no_bug_of_ours(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "own.py").write_text(text)
    with pytest.raises(ConfigurationError, match=told):
        load_adapter(f"{tmp_path / 'own.py'}:Own")


def test_plugins_add_adapters_through_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an installed package does it: a metadata folder on the import path."""
    metadata = tmp_path / "plugin-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[toolcert.adapters]\nplugged = plugin_module:Plugged\n")
    (tmp_path / "plugin_module.py").write_text(
        "from toolcert.verification.adapters import ModelAdapter\n"
        "class Plugged(ModelAdapter):\n    model_patterns = ('plugged-',)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    packages._distributions.cache_clear()
    registry._plugins.cache_clear()
    assert type(get_adapter("any", "plugged")).__name__ == "Plugged"
    assert type(get_adapter("plugged-7b")).__name__ == "Plugged"


def test_raw_completions_without_the_extra_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    adapter = get_adapter("any", use_raw_completions=True, tokenizer_model="some/model")
    with pytest.raises(MissingExtraError, match="transformers") as caught:
        adapter.get_tokenizer()
    assert "pip install '.[tokenizer]'" in caught.value.remedy
