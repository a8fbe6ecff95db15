"""The examples of CONTRIBUTING.md do what it says: each is one file, and nothing else is touched."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```python\n# (?P<path>src/\S+)\n(?P<code>.*?)```", re.DOTALL)
EXAMPLES = {match["path"]: match["code"] for match in BLOCK.finditer((ROOT / "CONTRIBUTING.md").read_text("utf-8"))}
PROOFS = {
    "src/toolcert/probes/catalogue/echo.py": """
from toolcert.probes.base import find_probe
assert find_probe("echo").group == "calling"
""",
    "src/toolcert/diagnose/checks/shouting.py": """
from toolcert.core.exchanges import Exchange
from toolcert.core.exchanges import Reply
from toolcert.core.requests import Request
from toolcert.diagnose import examine
exchange = Exchange(request=Request(body={"model": "m", "messages": []}), status=200)
reply = Reply(role="assistant", content="WHY ARE YOU SHOUTING AT ME", finish_reason="stop", finish_reasons=("stop",))
assert "text.shouting" in [found.code for found in examine(exchange, reply)]
""",
    "src/toolcert/endpoints/dialects/header_key.py": """
from toolcert.core.secrets import Eraser, Secret
from toolcert.core.targets import EndpointSpec
from toolcert.endpoints.registry import make_dialect, register
register("header_key", example.HeaderKeyDialect)
spec = EndpointSpec(name="mine", dialect="header_key", base_url="http://127.0.0.1:1/v1")
dialect = make_dialect(spec, Secret("some-key", source="a test"), Eraser())
import asyncio
assert asyncio.run(dialect.authorise(None)) == {"X-Key": "some-key"}
""",
    "src/toolcert/verification/adapters/polite.py": """
from toolcert.verification.adapters import get_adapter, register_adapter
register_adapter("polite", example.PoliteAdapter)
assert get_adapter("very-polite-7b").transform_messages([])[0]["role"] == "system"
""",
    "src/toolcert/core/lone_run.py": """
from toolcert.core.verdict import RULES, Ability, Coverage, Word, decide
once = [Ability(name="basic", k=1, n=1, core=True)]
whole = Coverage(measured=1, planned=1)
assert decide(once, coverage=whole).word is Word.PASSES
assert decide(once, coverage=whole, rules=(example.lone_run, *RULES)).word is Word.UNDECIDED
""",
}
"""What each example must bring about once its module is imported as `example`."""


def test_every_example_has_a_proof() -> None:
    assert set(EXAMPLES) == set(PROOFS)


@pytest.mark.sampled
@pytest.mark.parametrize("path", PROOFS)
def test_the_example_works_as_the_file_it_is_said_to_be(path: str, tmp_path: Path) -> None:
    module = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
    package = module.rpartition(".")[0]
    (tmp_path / Path(path).name).write_text(EXAMPLES[path])
    script = f"""
import importlib, {package}
{package}.__path__.append({str(tmp_path)!r})
example = importlib.import_module({module!r})
{PROOFS[path]}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.sampled
@pytest.mark.parametrize("path", PROOFS)
def test_the_example_is_clean(path: str, tmp_path: Path) -> None:
    """It passes the linter and the formatter with the project's own settings."""
    file = tmp_path / Path(path).name
    file.write_text(EXAMPLES[path])
    for arguments in (["check", "--no-cache"], ["format", "--check", "--no-cache"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--config", str(ROOT / "pyproject.toml"), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
