"""The house stays one that a newcomer can walk: few rooms, one of each name, a page that lists them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from house import House, walks

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.heavy  # every module is parsed
ROOMS = sorted(path.parent.name for path in (ROOT / "src" / "toolcert").glob("*/__init__.py"))


@pytest.fixture(scope="module")
def house() -> House:
    return House(ROOT / "src")


@pytest.mark.heavy
def test_modules_serve_more_than_one_other_module(house: House) -> None:
    """A module with one importer costs every reader a hop; some are subjects of their own, most are not."""
    assert len(house.single_importers()) <= 54
    assert len(house.imported_once()) <= 65


@pytest.mark.heavy
def test_a_room_has_few_entries(house: House) -> None:
    """Sixteen checks, one for each family of findings; the others are lists of values, probe groups and rooms."""
    assert house.crowded_rooms().items() <= {
        ("toolcert", 22),
        ("toolcert/core", 17),
        ("toolcert/diagnose/checks", 16),
        ("toolcert/probes", 17),
    }


@pytest.mark.heavy
def test_a_request_has_a_short_way() -> None:
    """Every file on the way to the first request is one that a newcomer has to open."""
    found = walks()
    assert len(found["probe"].files) <= 52
    assert len(found["verify"].files) <= 66
    assert len(found["compare"].files) <= 48
    assert found["probe"].frames <= 9
    assert found["verify"].frames <= 6


def test_a_file_name_means_one_thing(house: House) -> None:
    assert house.repeated_names() == {}


def test_the_architecture_lists_every_room_with_a_module_that_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", text, re.MULTILINE)
    listed = [(room, front) for room, front in rows if room not in ("probe", "verify", "load", "compare")]
    assert sorted(room for room, _ in listed) == ROOMS
    for room, front in listed:
        for name in re.findall(r"`([^`]+)`", front):
            assert (ROOT / "src" / "toolcert" / room / name).is_file(), f"{room}/{name}"
