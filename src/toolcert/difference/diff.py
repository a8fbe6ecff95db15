"""Compares two runs of the same job: what changed, by the tests that the history uses too.

Probe runs are compared by model and probe. Their cases are independent tries, so a probe is a table of passes before
and after. Verify runs are compared row by row: rows are paired by the content of their requests, and pairs whose result
changed have a say. All tests of a difference share one chance of a false alarm.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

from toolcert.core.errors import InputError
from toolcert.core.findings import Severity
from toolcert.core.records import Manifest
from toolcert.core.statistics.p_values import p_words
from toolcert.core.statistics.rates import Rate
from toolcert.core.targets import EndpointSpec
from toolcert.core.text.number_text import count, plural
from toolcert.core.verdict import COVERAGE_FLOOR, Word
from toolcert.difference.case_pairs import CaseReader, probe_evidence, verify_evidence
from toolcert.difference.exact_tests import failures_shown
from toolcert.difference.model_evidence import judged, only_in_one
from toolcert.difference.run_difference import (
    ALPHA,
    Change,
    FindingChange,
    FindingDifference,
    ModelDifference,
    RunDifference,
    RunSide,
    Setting,
)
from toolcert.runs.location import locate_run
from toolcert.runs.marks import Mark
from toolcert.verification.older_results import is_older_results

MOST_CASES = 20
"""Pairs of each model that are shown with their answers."""
_URGENT = list(Change)
_WORDS = list(Word)


def diff_runs(
    before: str | PathLike[str],
    after: str | PathLike[str],
    *,
    alpha: float = ALPHA,
    known: Sequence[Mark] = (),
    cases: int = MOST_CASES,
) -> RunDifference:
    """What changed from one run to another of the same job; cases whose findings are `known` do not count."""
    old, new = _reader(before, known), _reader(after, known)
    job, other = old.reader.manifest.job, new.reader.manifest.job
    if job != other:
        raise InputError(
            f"{old.folder} is a {job} run and {new.folder} a {other} run.", remedy="Name two runs of the same job."
        )
    if job == "probe":
        evidence, unpaired = probe_evidence(old, new, cases)
    elif job == "verify":
        evidence, unpaired = [verify_evidence(old, new, cases)], []
    else:
        raise InputError(
            f"{old.folder} is a run of kind {job!r}, which cannot be compared.", remedy="Name probe or verify runs."
        )
    models, tests = judged(evidence, alpha)
    models.sort(key=lambda model: (_URGENT.index(model.change), model.name))
    models += [only_in_one(model, change) for model, change in unpaired]
    change = min((model.change for model in models if model.pairs), key=_URGENT.index, default=Change.NOT_MEASURED)
    shows = _shown_loss(models, job, alpha)
    sides = _side(old), _side(new)
    return RunDifference(
        before=sides[0],
        after=sides[1],
        job=job,
        change=change,
        headline=_headline(change, models),
        advice=_advice(change, models, sides[1], shows),
        settings=tuple(_settings(old.reader.manifest, new.reader.manifest)),
        models=tuple(models),
        alpha=alpha,
        tests=tests,
        known=sum(one.known for model in models for one in model.abilities),
        shows=shows,
        too_little=_too_little(models),
    )


def _reader(run: str | PathLike[str], known: Sequence[Mark]) -> CaseReader:
    path = locate_run(run)
    if is_older_results(path):
        raise InputError(
            f"{path} is a file of results, not a run.",
            remedy="`toolcert compare` takes results of the older verifiers.",
        )
    return CaseReader(path, known)


def _side(reader: CaseReader) -> RunSide:
    manifest = reader.reader.manifest
    return RunSide(
        run=manifest.run,
        folder=str(reader.folder),
        job=manifest.job,
        started_at=manifest.started_at,
        toolcert=manifest.toolcert,
        endpoints=tuple(spec.name for spec in manifest.endpoints),
        models=manifest.asked_models,
        about=manifest.about,
    )


def _settings(old: Manifest, new: Manifest) -> Iterator[Setting]:
    """How the runs were asked differently."""
    pairs: dict[str, tuple[Any, Any]] = {
        "toolcert": (old.toolcert, new.toolcert),
        "suite": (old.suite, new.suite),
        "iterations": (old.iterations, new.iterations),
        "shard": (old.shard, new.shard),
        "dataset": (old.dataset and old.dataset.digest, new.dataset and new.dataset.digest),
        "endpoint": ([*map(_address, old.endpoints)], [*map(_address, new.endpoints)]),
        "extra body": ([spec.extra_body for spec in old.endpoints], [spec.extra_body for spec in new.endpoints]),
    }
    pairs |= {
        name.replace("_", " "): (old.parameters.get(name), new.parameters.get(name))
        for name in sorted({*old.parameters, *new.parameters})
    }
    yield from (
        Setting(name=name, before=before, after=after) for name, (before, after) in pairs.items() if before != after
    )


def _address(spec: EndpointSpec) -> str:
    return f"{spec.name} {spec.base_url}"


def _too_little(models: Sequence[ModelDifference]) -> str:
    for model in models:
        for verdict, when in ((model.before_verdict, "earlier"), (model.after_verdict, "later")):
            if model.pairs and verdict is not None and not verdict.coverage.enough:
                part = f"{count(verdict.coverage.measured)} of {count(verdict.coverage.planned)}"
                return (
                    f"the {when} run measured {part} cases of {model.name}, and a gate needs {100 * COVERAGE_FLOOR:g} %"
                )
    return "" if any(model.pairs for model in models) else "the runs have no answered case in common"


def _shown_loss(models: Sequence[ModelDifference], job: str, alpha: float) -> str:
    """How large a loss these numbers can show."""
    if job == "verify":
        pairs = sum(model.pairs for model in models)
        needed = failures_shown(10**6, alpha)
        return (
            f"{needed} of {plural(pairs, 'row')} that pass no longer, and none that passes instead, would show."
            if pairs and needed is not None
            else ""
        )
    sizes = [
        min(one.before.n, one.after.n) for model in models for one in model.abilities if one.before.n and one.after.n
    ]
    if not sizes:
        return ""
    fewest, most = min(sizes), max(sizes)
    asked = (
        f"{plural(most, 'try', 'tries')} of each probe" if fewest == most else f"{fewest} to {most} tries of a probe"
    )
    shown = [(n, failures_shown(n, alpha)) for n in dict.fromkeys((fewest, most))]
    falls = [f"from {n}/{n} to {n - bad}/{n}" for n, bad in shown if bad is not None]
    if not falls:
        return f"{asked} cannot show any loss."
    return f"With {asked}, a fall {' or '.join(falls)} would show, and no smaller one."


def _headline(change: Change, models: Sequence[ModelDifference]) -> str:
    if change is Change.NOT_MEASURED:
        return "Nothing can be compared: the runs have no answered case in common."
    found = [model for model in models if model.change is change]
    if change is Change.NO_EVIDENCE:
        before, after = (
            sum((rate for rate in rates), Rate()) for rates in zip(*((m.before, m.after) for m in found), strict=True)
        )
        text = f"No evidence of change: {_of(before)} passed before, {_of(after)} now."
        return text + _also(models)
    first = found[0]
    more = f"; {plural(len(found) - 1, 'further model')} too" if len(found) > 1 else ""
    word = change.text.capitalize()
    return f"{word}: {first.name} {_why(first, change)}{more}.{_also(models)}"


def _why(model: ModelDifference, change: Change) -> str:
    abilities = sorted((one for one in model.abilities if one.change is change), key=lambda one: one.p or 0.0)
    if not abilities:
        return f"over all probes {_of(model.before)} → {_of(model.after)}{_chance(model.p)}"
    first = abilities[0]
    rest = f" and {len(abilities) - 1} more" if len(abilities) > 1 else ""
    return f"in {first.name} {_of(first.before)} → {_of(first.after)}{_chance(first.p)}{rest}"


def _also(models: Sequence[ModelDifference]) -> str:
    """New errors, which the reader must know about even if no rate shows them."""
    new = [one for model in models for one in model.findings if is_new_error(one)]
    if not new:
        return ""
    return f" New: {', '.join(dict.fromkeys(one.code for one in new[:3]))}{' and more' if len(new) > 3 else ''}."


def is_new_error(finding: FindingDifference) -> bool:
    """Whether a finding is an error that the earlier run did not have, or had less often."""
    return finding.change in (FindingChange.NEW, FindingChange.MORE) and finding.severity is Severity.ERROR


def _of(rate: Rate) -> str:
    return f"{count(rate.k)} of {count(rate.n)}"


def _chance(p: float | None) -> str:
    return "" if p is None else f" (p {p_words(p)})"


def _advice(change: Change, models: Sequence[ModelDifference], after: RunSide, shows: str) -> str:
    if change is Change.NOT_MEASURED:
        return "Ask the same model with the same suite or dataset in both runs."
    new = next((one for model in models for one in model.findings if is_new_error(one) and one.example), None)
    case = next((pair.after_case for model in models if model.change is change for pair in model.cases), None)
    look = new.example if new is not None else case
    see = f" `toolcert show {shlex.quote(after.folder)} {shlex.quote(look)}` shows a case." if look else ""
    if change is Change.WORSE:
        return f"Keep the earlier version until the cause is known.{see}"
    if new is not None:
        return f"Find the cause of {new.code} before you switch.{see}"
    if change is Change.CHANGED:
        return f"Look at the rows that differ: whether this is better, the dataset does not say.{see}"
    verdicts = [(model.after_verdict, model.name) for model in models if model.after_verdict is not None]
    weak = max(verdicts, key=lambda one: _WORDS.index(one[0].word), default=None)
    if weak is not None and not weak[0].good:
        text = f"Nothing got worse than it was; the verdict on {weak[1]} is: {weak[0].word.text}."
        return f"{text} {shows}".rstrip()
    return f"Nothing speaks against the later version. {shows}".rstrip()
