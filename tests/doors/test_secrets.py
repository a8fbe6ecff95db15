"""A key given as a flag is in no file that any of the programs writes, and on no screen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.rows import row, write_rows
from toolcert.simulate import Vendor

KEY = "sk-given-as-a-flag-0123456789"
PROGRAMS = {
    "watsonx-tool-tester": (
        "-m watsonx_tool_tester test --client litellm --litellm-url URL --litellm-token KEY --iterations 1 "
        "--debug --log-dir logs --output results.json --html-output page.html --save-history"
    ),
    "llm-tool-calling-tester": "-m llm_tool_calling_tester --api-url URL --api-key=KEY",
    "vendor-verifier": "-m vendor_verifier rows.jsonl --model faithful --base-url URL --api-key KEY",
}


@pytest.mark.heavy
@pytest.mark.parametrize("words", PROGRAMS.values(), ids=PROGRAMS)
def test_a_key_given_as_a_flag_is_written_nowhere(words: str, folder: Path) -> None:
    write_rows(folder / "rows.jsonl", [row(1)])
    with Vendor(models=["faithful"], api_key=KEY) as vendor:
        command = words.replace("URL", vendor.url).replace("KEY", KEY).split()
        done = subprocess.run([sys.executable, *command], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.name == "manifest.json" for path in files)
    assert [str(path) for path in files if KEY.encode() in path.read_bytes()] == []
    assert KEY.encode() not in done.stdout + done.stderr
