"""The vectors of the public results once more, from files generated with the same counts: no data is needed."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from support.comparison_runs import Row, write_results
from toolcert.comparison.compare_options import CompareOptions
from toolcert.comparison.match.partners import Match
from toolcert.comparison.pipeline import compare
from toolcert.comparison.result import CompareVerdict, VendorComparison
from toolcert.comparison.stats.confusion import Confusion, Trigger
from toolcert.core.statistics.rates import Rate

WHO_CALLS = {
    (True, True, True): 404,
    (False, False, False): 33,
    (True, True, False): 32,
    (False, False, True): 14,
    (False, True, True): 8,
    (True, False, False): 7,
    (False, True, False): 5,
    (True, False, True): 4,
}
"""Rows by who calls: official run 2, official run 1, the vendor; without the five rows that are made below."""
EMPTY, VIOLATED, REFUSED = (13, 44, 365), 176, 344
TOKEN_DIFFERENCES = (5, 5, 5, 8, 4, 11)


def tool(name: str, parameters: dict) -> dict:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


NOTHING_NEEDED = tool("get_fact", {"type": "object", "properties": {}})
BROKEN = tool("area", {"type": "object", "properties": {}, "required": {"circle": ["radius"]}})
WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


def special(index: int, run: int) -> Row | None:
    """Rows whose schema decides something; `run` is 2 for the vendor."""
    vendor = run == 2
    if index in EMPTY:
        return Row(index=index, tool=NOTHING_NEEDED, name="get_fact", arguments="{}" if vendor else "", valid=vendor)
    if index == VIOLATED:
        word = '{"word": "x"}' if vendor else "{}"
        return Row(index=index, tool=tool("look_up", WORD), arguments=word, valid=vendor)
    if index == REFUSED:
        return Row(index=index, tool=BROKEN, name="area", called=True if vendor else None, valid=False)
    return None


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two runs of one deployment, the second asked for by another name, and a vendor with another chat template."""
    folder: Path = tmp_path_factory.mktemp("vectors")
    usual = [who for who, rows in WHO_CALLS.items() for _ in range(rows)]
    random.Random(1).shuffle(usual)
    rows: list[list[Row]] = [[], [], []]
    left = iter(usual)
    for index in range(1, 513):
        who = next(left) if special(index, 0) is None else ()
        for run in range(3):
            row = special(index, run) or Row(index=index, called=who[run])
            extra = TOKEN_DIFFERENCES[index % len(TOKEN_DIFFERENCES)] if run == 2 else 0
            rows[run].append(msgspec.structs.replace(row, tokens=100 + extra))
    second = write_results(folder / "run2.jsonl", rows[0], model="thinker", answers_as="chatter")
    first = write_results(folder / "run1.jsonl", rows[1], model="chatter")
    vendor = write_results(folder / "vendor.jsonl", rows[2], model="maker/chatter", answers_as="chatter")
    return {"run1": str(first), "run2": str(second), "vendor": str(vendor)}


@pytest.fixture(scope="module")
def itself(files) -> VendorComparison:
    return compare([files["run1"]], [files["run2"]]).vendors[0]


@pytest.fixture(scope="module")
def other(files) -> VendorComparison:
    return compare([files["run2"], files["run1"]], [files["vendor"]]).vendors[0]


def test_the_deployment_against_itself(itself):
    assert itself.cells == Confusion(tp=440, fp=11, fn=13, tn=47)
    assert itself.compared == 511
    assert itself.figure("f1").value == pytest.approx(0.9735, abs=5e-5)
    assert itself.figure("kappa").value == pytest.approx(0.77, abs=5e-3)
    assert itself.tokens.equal == Rate(k=511, n=511)


def test_the_second_run_answers_by_another_name(itself):
    [finding] = [one for one in itself.findings if one.code == "identity.model_differs"]
    assert (finding.rows, finding.evidence) == (511, "run2 was asked as thinker and answered as chatter")


@pytest.mark.sampled
@pytest.mark.parametrize("options", [{}, {"match": Match.INDEX}, {"trigger": Trigger.FINISH_REASON}])
def test_the_vendor_against_the_deployment(files, options):
    vendor = compare([files["run2"], files["run1"]], [files["vendor"]], CompareOptions(**options)).vendors[0]
    assert vendor.cells == Confusion(tp=412, fp=22, fn=39, tn=38)
    assert vendor.figure("f1").value == pytest.approx(0.9311, abs=5e-5)
    assert vendor.figure("f1").always == pytest.approx(0.9376, abs=5e-5)
    assert vendor.figure("kappa").value == pytest.approx(0.49, abs=5e-3)
    assert vendor.verdict is CompareVerdict.DIFFERENT


def test_its_prompt_tokens_and_its_excess_disagreement(other):
    assert other.tokens.equal == Rate(k=0, n=511)
    assert (min(other.tokens.histogram), max(other.tokens.histogram)) == (4, 11)
    decision = next(test for test in other.tests if test.name == "decision")
    assert (decision.more, decision.less) == (46, 9)
    assert decision.p == pytest.approx(2.2e-7, rel=0.03)


def test_calls_by_our_rules(itself, other):
    """452 and 1 where the older rules say 449 and 4; of the vendor 434 and 0, and one that cannot be judged."""
    official, vendor = itself.baseline_schema, other.schema
    assert (official.responses_valid, official.responses_invalid, official.responses_unjudged) == (452, 1, 0)
    assert official.rows == {"Empty": EMPTY, "SchemaMismatch.required": (VIOLATED,)}
    assert (vendor.responses_valid, vendor.responses_invalid, vendor.responses_unjudged) == (434, 0, 1)
    assert vendor.rows == {"BadSchema": (REFUSED,)}
