"""No text oracle is satisfied by luck, and none refuses a right answer in other words."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from support import phrasings as said
from toolcert.probes.text_oracle import (
    Assignment,
    Report,
    asks_for_place,
    assignment,
    fault_of_json,
    holds,
    in_words,
    report_of_empty_search,
    says_code,
    says_exactly,
    says_number,
    says_word,
    tells_failure,
)

ENOUGH = 40
STATIONS = {"Zarekud": "Tovurum", "Gopitiz": "Lobepat"}
PERSON = {"name": "Tovurum", "age": 36, "city": "Zarekud"}


def expected_in(line: str) -> bool:
    wanted, _, text = line.partition(" | ")
    return holds(text, wanted)


ORACLES: dict[str, tuple[Callable[[str], bool], list[str], list[str]]] = {
    "a word": (lambda text: says_word(text, "Tovurum"), said.WORD_RIGHT, said.WORD_WRONG),
    "a number": (lambda text: says_number(text, "9231.50"), said.NUMBER_RIGHT, said.NUMBER_WRONG),
    "a code": (lambda text: says_code(text, "E4711"), said.CODE_RIGHT, said.CODE_WRONG),
    "a greeting": (lambda text: says_exactly(text, "Hello, Tovurum!"), said.GREETING_RIGHT, said.GREETING_WRONG),
    "which is whose": (
        lambda text: assignment(text, STATIONS) is Assignment.RIGHT,
        said.PAIRS_RIGHT,
        said.PAIRS_SWAPPED + said.PAIRS_WRONG,
    ),
    "nothing found": (
        lambda text: report_of_empty_search(text, "Zarekud") is Report.ADMITS,
        said.EMPTY_ADMITS,
        said.EMPTY_INVENTS + said.EMPTY_NEITHER,
    ),
    "an invention": (
        lambda text: report_of_empty_search(text, "Zarekud") is Report.INVENTS,
        said.EMPTY_INVENTS,
        said.EMPTY_ADMITS + said.EMPTY_NEITHER,
    ),
    "a failure": (tells_failure, said.FAILURE_RIGHT, said.FAILURE_WRONG),
    "a question for the place": (asks_for_place, said.ASKS_RIGHT, said.ASKS_WRONG),
    "words": (in_words, said.WORDS_RIGHT, said.WORDS_WRONG),
    "JSON": (lambda text: not fault_of_json(text, PERSON), said.JSON_RIGHT, said.JSON_WRONG),
    "what a scenario expects": (expected_in, said.SCENARIO_RIGHT, said.SCENARIO_WRONG),
}


@pytest.mark.parametrize("name", ORACLES)
def test_right_answers_are_taken_in_other_words(name: str) -> None:
    oracle, right, _ = ORACLES[name]
    assert [text for text in right if not oracle(text)] == []


@pytest.mark.parametrize("name", ORACLES)
def test_wrong_answers_are_refused(name: str) -> None:
    oracle, _, wrong = ORACLES[name]
    assert [text for text in wrong if oracle(text)] == []


@pytest.mark.parametrize("name", ORACLES)
def test_every_oracle_is_put_to_forty_right_and_forty_wrong_answers(name: str) -> None:
    _, right, wrong = ORACLES[name]
    assert len(set(right)) == len(right) >= ENOUGH
    assert len(set(wrong)) == len(wrong) >= ENOUGH


def test_swapped_results_are_told_from_other_wrong_answers() -> None:
    swapped = Assignment.SWAPPED
    assert [text for text in said.PAIRS_SWAPPED if assignment(text, STATIONS) is not swapped] == []
    assert [text for text in said.PAIRS_WRONG if assignment(text, STATIONS) is swapped] == []


@pytest.mark.heavy
@pytest.mark.parametrize(
    "piece",
    [
        "is ",
        "Tovurum ",
        "not Tovurum ",
        "9,231.50 ",
        "Zarekud Tovurum Gopitiz Lobepat ",
        "which city ",
        "nothing ",
        "1 2",
    ],
)
def test_an_endless_answer_is_judged_at_once(piece: str) -> None:
    """No oracle takes time that grows with the square of what a server sends."""
    text = piece * 200_000
    started = time.process_time()
    for oracle, _, _ in ORACLES.values():
        oracle(text)
    assert time.process_time() - started < 5
