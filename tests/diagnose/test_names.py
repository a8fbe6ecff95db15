"""Mangled names: the tool that was meant is recognised, or none is."""

from __future__ import annotations

import pytest

from toolcert.diagnose.judgement import meant_tool


@pytest.mark.parametrize(
    ("name", "offered", "meant"),
    [
        ("functions.search", ["search", "fetch"], "search"),
        ("search_web", ["search", "fetch"], None),
        ("sear", ["search", "search_web"], None),
        ("search_w", ["search", "search_web"], "search_web"),
        ("search_web.", ["search", "search_web"], "search_web"),
        ("SEARCH", ["search"], "search"),
        ("searchjson", ["search"], "search"),
        ("search<|channel|>commentary", ["search"], "search"),
        ("search<|constrain|>json", ["search"], "search"),
        ("searchcommentary", ["search"], "search"),
        ("search_0", ["search"], "search"),
        ("search:12", ["search"], "search"),
        ("functions.search:0", ["search"], "search"),
        ("functionsearch", ["search"], "search"),
        ("assistantcommentary to=functions.search", ["search"], "search"),
        ("search_2024_archive", ["search"], None),
        ("search_json", ["search"], None),
        ("research", ["search"], None),
        ("search_2", ["search", "search_1"], "search"),
        ("sea", ["search"], None),
        ("", ["search"], None),
        ("search", [""], None),
        (None, ["search"], None),
    ],
)
def test_meant_tool(name: object, offered: list[str], meant: str | None) -> None:
    assert meant_tool(name, offered) == meant
