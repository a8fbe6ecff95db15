"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import gc
import re
from importlib import import_module
from pathlib import Path

import pytest

import toolcert
from toolcert.core.text.lazy_pattern import _Pattern, lazy_pattern


def test_nothing_is_compiled_before_the_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    monkeypatch.setattr(re, "compile", lambda *words: compiled.append(words) or re._compile(*words))  # type: ignore[attr-defined]
    word = lazy_pattern(r"(\w+)", re.IGNORECASE)
    assert compiled == []
    assert [word.search("a b")[0], word.sub("x", "a b"), word.findall("a b")] == ["a", "x x", ["a", "b"]]  # type: ignore[index]
    assert compiled == [(r"(\w+)", re.IGNORECASE)]


def test_it_is_the_compiled_pattern_afterwards() -> None:
    given, lazy = re.compile(rb"a(?P<rest>b*)"), lazy_pattern(rb"a(?P<rest>b*)")
    assert lazy.fullmatch(b"abb")["rest"] == b"bb"  # type: ignore[index]
    assert lazy.match.__self__ is given
    assert (lazy.pattern, lazy.flags, lazy.groups, lazy.groupindex) == (
        given.pattern,
        given.flags,
        given.groups,
        given.groupindex,
    )


def test_every_lazy_pattern_of_the_package_compiles() -> None:
    root = Path(toolcert.__file__).parent
    modules = [file.relative_to(root.parent) for file in root.rglob("*.py") if "lazy_pattern(" in file.read_text()]
    for module in modules:
        import_module(".".join(module.with_suffix("").parts))
    gc.unfreeze()  # what the collection of tests made is not seen otherwise
    found = [thing for thing in gc.get_objects() if isinstance(thing, _Pattern)]
    gc.freeze()
    assert len(found) > 50
    for pattern in found:
        assert pattern.pattern is not None
