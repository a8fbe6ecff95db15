"""Raw completions: the chat template is rendered here, and calls are read out of the text."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import jinja2
import pytest

from support.rows import row, write_rows
from support.verifying import records, run
from toolcert.core.cases import Outcome
from toolcert.core.errors import ConfigurationError, UsageError
from toolcert.simulate import Vendor
from toolcert.verification.rejudgement import rejudge

TEMPLATE = (
    "{% if tools %}<|im_system|>tools<|im_middle|>{{ tools | tojson }}<|im_end|>{% endif %}"
    "{% for message in messages %}<|im_{{ message.role }}|>{{ message.role }}<|im_middle|>"
    "{{ message.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_assistant|>assistant<|im_middle|>{% endif %}"
)


class FolderTokenizer:
    """Stands in for the library: renders the chat template of a local folder."""

    def __init__(self, template: str | None) -> None:
        self.chat_template = template

    @classmethod
    def from_pretrained(cls, name: str) -> FolderTokenizer:
        path = Path(name) / "tokenizer_config.json"
        if not path.exists():
            raise OSError(f"{name} is not a local folder and is not a valid model identifier\nmore lines")
        return cls(json.loads(path.read_text()).get("chat_template"))

    def apply_chat_template(
        self, messages: list[Any], *, tokenize: bool, tools: Any, add_generation_prompt: bool
    ) -> str:
        assert not tokenize
        assert self.chat_template
        template = jinja2.Environment(autoescape=False).from_string(self.chat_template)
        return template.render(messages=messages, tools=tools, add_generation_prompt=add_generation_prompt)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("transformers")
    module.AutoTokenizer = FolderTokenizer  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "transformers", module)


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    folder = tmp_path / "tokenizer"
    folder.mkdir()
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    return str(folder)


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("streamed", [False, True])
def test_markers_become_judged_calls(tmp_path: Path, tokenizer: str, streamed: bool) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(n, stream=streamed) for n in range(3)])
    with Vendor(models={"kimi-k2": "faithful"}) as vendor:
        options = {"model": "kimi-k2", "use_raw_completions": True, "tokenizer_model": tokenizer}
        summary = run(dataset, vendor.url, tmp_path / "run", **options).summary
        sent = [entry.body for entry in vendor.requests]
    assert all("prompt" in body and "messages" not in body and "tools" not in body for body in sent)
    assert (summary.rows.called, summary.rows.valid, summary.rows.failed) == (3, 3, 0)
    for record in records(tmp_path / "run"):
        assert record.outcome is Outcome.PASSED
        assert record.row.names == ("get_weather",)
        assert record.row.id_style == "functions.NAME:N"
        assert record.row.streamed is streamed
        assert record.row.finish == "stop"
        assert "messages" in record.detail.exchanges[0].request.body
        assert "prompt" in (record.detail.exchanges[0].sent or {})


@pytest.mark.usefixtures("stand_in")
def test_such_a_run_can_be_judged_again_without_the_tokenizer(
    tmp_path: Path, tokenizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    with Vendor(models={"kimi-k2": "faithful"}) as vendor:
        options = {"model": "kimi-k2", "use_raw_completions": True, "tokenizer_model": tokenizer}
        run(dataset, vendor.url, tmp_path / "run", **options)
    monkeypatch.setitem(sys.modules, "transformers", None)
    again = rejudge(tmp_path / "run")
    assert again.summary.rows.valid == 1
    assert again.differences == ()


@pytest.mark.usefixtures("stand_in")
def test_what_is_missing_is_said_before_the_first_request(tmp_path: Path) -> None:
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/tokenizer_config.json").write_text("{}")
    for tokenizer, error in ((None, UsageError), ("absent/model", ConfigurationError), ("bare", ConfigurationError)):
        name = None if tokenizer is None else str(tmp_path / tokenizer)
        with pytest.raises(error):
            run(
                dataset,
                "http://127.0.0.1:9/v1",
                tmp_path / "run",
                use_raw_completions=True,
                tokenizer_model=name,
            )


@pytest.mark.heavy
def test_a_local_folder_works_with_the_real_library(tmp_path: Path, tokenizer: str) -> None:
    """Where transformers is installed; the folder holds a tokenizer of two words and a template."""
    pytest.importorskip("transformers")
    model = {"type": "WordLevel", "vocab": {"[UNK]": 0, "hello": 1}, "unk_token": "[UNK]"}
    whole = {"version": "1.0", "added_tokens": [], "model": model, "pre_tokenizer": {"type": "Whitespace"}}
    Path(tokenizer, "tokenizer.json").write_text(json.dumps(whole))
    config = {"chat_template": TEMPLATE, "tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}
    Path(tokenizer, "tokenizer_config.json").write_text(json.dumps(config))
    dataset = write_rows(tmp_path / "d.jsonl", [row(1)])
    with Vendor(models={"kimi-k2": "faithful"}) as vendor:
        options = {"model": "kimi-k2", "use_raw_completions": True, "tokenizer_model": tokenizer}
        assert run(dataset, vendor.url, tmp_path / "run", **options).summary.rows.valid == 1


@pytest.mark.usefixtures("stand_in")
def test_a_row_that_the_template_refuses_is_named_and_the_run_goes_on(tmp_path: Path, tokenizer: str) -> None:
    refusing = "{{ messages[0].content + '' }}" + TEMPLATE
    (Path(tokenizer) / "tokenizer_config.json").write_text(json.dumps({"chat_template": refusing}))
    silent = row(2, messages=[{"role": "assistant", "content": None}, {"role": "user", "content": "And now?"}])
    dataset = write_rows(tmp_path / "d.jsonl", [row(1), silent, row(3)])
    with Vendor(models={"kimi-k2": "faithful"}) as vendor:
        options = {"model": "kimi-k2", "use_raw_completions": True, "tokenizer_model": tokenizer}
        summary = run(dataset, vendor.url, tmp_path / "run", **options).summary
        assert len(list(vendor.requests)) == 2
    assert (summary.rows.passed, summary.rows.skipped) == (2, 1)
    (found,) = summary.of_dataset
    assert (found.code, found.examples[0].row) == ("dataset.not_rendered", 2)
    assert "NoneType" in found.examples[0].evidence
