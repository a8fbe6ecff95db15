"""What the guide to endpoints shows is accepted as written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from toolcert.cli.main import cli
from toolcert.endpoints.spec import choose_endpoints
from toolcert.settings import load_config, resolve
from toolcert.settings.options import names
from toolcert.settings.options.endpoint import CONNECTION, REQUESTS

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "endpoints.md").read_text("utf-8")


@pytest.mark.parametrize("line", re.findall(r"^\$ toolcert (.+)$", GUIDE, re.MULTILINE))
def test_commands_can_be_parsed(line: str) -> None:
    """Every word is taken by the command; nothing is run."""
    name, *rest = shlex.split(line)
    context = cli.make_context("toolcert", [name, *rest])
    command = cli.get_command(context, name)
    assert command is not None
    with command.make_context(name, rest, parent=context) as made:
        assert made.params


@pytest.mark.parametrize("text", re.findall(r"^```toml\n(.+?)^```", GUIDE, re.MULTILINE | re.DOTALL))
def test_configurations_make_endpoints(text: str, tmp_path: Path) -> None:
    path = tmp_path / "toolcert.toml"
    path.write_text(text, "utf-8")
    keys = {"MINE_KEY": "key-1", "WATSONX_API_KEY": "key-2"}
    settings = resolve(names(CONNECTION, REQUESTS), {}, environment=keys, config=load_config(str(path)))
    for name in settings.config.endpoints:
        [chosen] = choose_endpoints(settings, [name])
        assert chosen.spec.name == name
