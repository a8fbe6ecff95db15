"""No page of the documentation points to a place that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\((?!https?:)(?P<file>[^)#]*)(?:#(?P<anchor>[^)]+))?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = _without_code(page.read_text("utf-8"))
    broken = [match.group() for match in LINK.finditer(text) if not _leads_somewhere(page, match)]
    assert broken == []


def test_every_page_can_be_reached_from_the_index() -> None:
    seen, waiting = set(), [ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page not in seen and page.suffix == ".md":
            seen.add(page)
            matches = LINK.finditer(_without_code(page.read_text("utf-8")))
            waiting += [(page.parent / match["file"]).resolve() for match in matches if match["file"]]
    assert [page for page in ROOT.glob("docs/**/*.md") if page not in seen] == []


def _leads_somewhere(page: Path, match: re.Match[str]) -> bool:
    target = (page.parent / match["file"]).resolve() if match["file"] else page
    return target.exists() and (match["anchor"] is None or match["anchor"] in _anchors(target))


def _anchors(page: Path) -> set[str]:
    text = page.read_text("utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))


def _without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
