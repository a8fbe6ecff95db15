"""The verdict of a verify run and the sentences below it.

Answers are abilities, frequent errors are faults, missing rows a gap in coverage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from toolcert.core.errors import ISSUES
from toolcert.core.findings import Severity
from toolcert.core.statistics.p_values import fisher_tail
from toolcert.core.statistics.rates import Rate, runs_needed, wilson
from toolcert.core.text.excerpt import with_stop
from toolcert.core.text.number_text import count, plural
from toolcert.core.verdict import (
    VERIFY_THRESHOLD,
    Ability,
    CappingFinding,
    Coverage,
    Verdict,
    Word,
    decide,
    is_allowed,
    known_words,
)
from toolcert.diagnose import kind_of
from toolcert.verification.summary.figures import AnswerMode, VerifySummary

_UNLIKELY = 0.001
_WHOLE, _STREAMED = "unstreamed answers", "streamed answers"


def run_verdict(summary: VerifySummary, threshold: float = VERIFY_THRESHOLD, allowed: Sequence[str] = ()) -> Verdict:
    """Judge a run; a row whose only errors are `allowed` counts as sound."""
    modes = [_allowing(mode, allowed) for mode in summary.modes]
    verdict = decide(
        [*_abilities(summary, modes)],
        [*_faults(modes, threshold)],
        coverage=coverage_of(summary),
        threshold=threshold,
        known=sum(mode.known for mode in modes),
    )
    return _calls_in_one_mode(_reworded(_without_calls(verdict, summary), summary, modes), summary)


def coverage_of(summary: VerifySummary) -> Coverage:
    """Rows that were measured, of those that could be asked; a line that cannot be asked is the dataset's."""
    rows = summary.rows
    known = rows.sent + sum(summary.not_asked.values())
    # How many rows a killed run has left is not known where its dataset was not counted: 0 is never enough.
    unknown = summary.incomplete and summary.planned is None
    planned = 0 if unknown else max(known, (summary.planned or 0) - (rows.lines - known))
    return Coverage(measured=rows.answered + rows.unsupported, planned=planned)


def _allowing(mode: AnswerMode, allowed: Sequence[str]) -> AnswerMode:
    if not allowed:
        return mode
    standing = [
        msgspec.structs.replace(one, codes=tuple(code for code in one.codes if not is_allowed(code, allowed)))
        for one in mode.unsound
    ]
    forgiven = sum(
        one.rows for one, before in zip(standing, mode.unsound, strict=True) if before.codes and not one.codes
    )
    sound = Rate(k=mode.sound.k + forgiven, n=mode.sound.n)
    unsound = tuple(one for one, before in zip(standing, mode.unsound, strict=True) if one.codes or not before.codes)
    return msgspec.structs.replace(mode, sound=sound, unsound=unsound)


def _abilities(summary: VerifySummary, modes: Sequence[AnswerMode]) -> Iterator[Ability]:
    any_whole = any(not mode.streamed for mode in modes)
    for mode in modes:
        yield Ability(
            name=_STREAMED if mode.streamed else _WHOLE,
            fault="not sound",
            k=mode.sound.k,
            n=mode.sound.n,
            refused=mode.refused,
            core=not (mode.streamed and any_whole),
            codes=tuple(dict.fromkeys(code for one in mode.unsound for code in one.codes)),
        )
    answered, refused = summary.rows.answered, sum(mode.refused for mode in modes)
    if refused and answered:
        yield Ability(name="rows", fault="refused as not supported", k=answered, n=answered + refused)
    if summary.correct.n:
        asked = summary.correct.n - summary.known_expectations
        yield Ability(name="expectations", fault="not met", k=summary.correct.k, n=asked)


def _faults(modes: Sequence[AnswerMode], threshold: float) -> Iterator[CappingFinding]:
    """Errors whose share of the rows is, by its lower bound, more than the threshold leaves; most frequent first."""
    seen: dict[str, Rate] = {}
    for mode in modes:
        for code in dict.fromkeys(code for one in mode.unsound for code in one.codes):
            rows = sum(one.rows for one in mode.unsound if code in one.codes)
            seen[code] = seen.get(code, Rate()) + Rate(k=rows, n=max(rows, mode.sound.n))
    for code, rate in sorted(seen.items(), key=lambda item: (-item[1].k, item[0])):
        interval = wilson(rate.k, rate.n)
        if interval is not None and interval.lower > 1 - threshold:
            yield CappingFinding(code=code, title=kind_of(code).said, k=rate.k, n=rate.n)


def _without_calls(verdict: Verdict, summary: VerifySummary) -> Verdict:
    """Sound text alone says nothing about calling tools, unless the dataset says that it expects no calls."""
    rows = summary.rows
    if not verdict.good or summary.expects or summary.valid.n:
        return verdict
    reason = (
        f"{plural(rows.called, 'answer')} with calls, and none of a tool with a usable schema"
        if rows.called
        else f"no tool was called in {plural(rows.answered, 'answer')}, so nothing is known about calls"
    )
    return msgspec.structs.replace(verdict, word=Word.NOT_MEASURED, reason=reason, runs_to_certify=None)


def _calls_in_one_mode(verdict: Verdict, summary: VerifySummary) -> Verdict:
    """Where tools are called in streams alone, or without them alone, and not by chance, one way may have lost them."""
    if not verdict.good or summary.expects or len(summary.modes) < 2:
        return verdict
    silent, other = sorted(summary.modes, key=lambda mode: mode.called.value or 0.0)
    if silent.called.k or fisher_tail(other.called.k, other.called.n, 0, silent.called.n) > _UNLIKELY:
        return verdict
    reason = (
        f"no tool was called in {plural(silent.called.n, f'{_kind(silent).strip()} answer')}, "
        f"and in {count(other.called.k)} of {count(other.called.n)}{_kind(other)}"
    )
    return msgspec.structs.replace(verdict, word=Word.UNDECIDED, reason=reason, runs_to_certify=None)


def _reworded(verdict: Verdict, summary: VerifySummary, modes: Sequence[AnswerMode]) -> Verdict:
    """The verdict with a reason in shares of answers, which is how people talk about datasets."""
    reason = _reason(verdict, summary, modes)
    return msgspec.structs.replace(verdict, reason=reason + known_words(verdict.known)) if reason else verdict


def _reason(verdict: Verdict, summary: VerifySummary, modes: Sequence[AnswerMode]) -> str:
    """Empty where the rule's own words serve."""
    word, shares = verdict.word, _shares(modes)
    if word is Word.UNDECIDED and not verdict.coverage.enough:
        return f"{stopped_words(verdict.coverage)}; so far {shares}"
    if word is Word.PASSES:
        needed = (
            f"{runs_needed(verdict.threshold)} sound answers in a row" if verdict.threshold < 1 else "no number of rows"
        )
        return f"{shares}; {needed} would certify"
    reasons = {
        Word.CERTIFIED: f"{shares}, proven to reach {100 * verdict.threshold:g} %",
        Word.FAILS: f"{shares}{_most_often(modes)}",
        Word.UNDECIDED: f"{shares}; more rows would tell{_most_often(modes)}",
        Word.UNSUPPORTED: f"the server refuses all {plural(summary.rows.unsupported, 'row')} as not supported",
        Word.NOT_MEASURED: "" if summary.rows.answered else _why_nothing(summary),
    }
    return reasons.get(word, "")


def stopped_words(coverage: Coverage) -> str:
    """`stopped at 64 of 300 rows`."""
    if not coverage.planned:
        return f"stopped after {plural(coverage.measured, 'row')}, and how many there are is not known"
    return f"stopped at {count(coverage.measured)} of {plural(coverage.planned, 'row')}"


def _shares(modes: Sequence[AnswerMode]) -> str:
    """The share of sound answers; of two modes the weaker, by name, or both where they are equal."""
    rated = sorted((mode for mode in modes if mode.sound.n), key=lambda mode: (mode.sound.value or 0.0, mode.sound.n))
    if not rated:
        return "no answer can be judged"
    rate = rated[0].sound
    equal = [mode for mode in rated if mode.sound.value == rate.value]
    parts = [f"{count(mode.sound.n)}{_kind(mode) if len(rated) > 1 else ''}" for mode in equal]
    assert rate.low is not None
    assert rate.high is not None
    one = rate.n == 1 and len(equal) == 1
    share = f"{100 * rate.k / rate.n:.1f} % of {' and '.join(parts)} {'answer is' if one else 'answers are'} sound"
    return f"{share} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _kind(mode: AnswerMode) -> str:
    return " streamed" if mode.streamed else " unstreamed"


def _most_often(modes: Iterable[AnswerMode]) -> str:
    rows: dict[str, int] = {}
    for mode in modes:
        for one in mode.unsound:
            for code in one.codes:
                rows[code] = rows.get(code, 0) + one.rows
    if not rows:
        return ""
    worst = max(rows, key=lambda code: (rows[code], code))
    return f"; most often {worst} ({plural(rows[worst], 'row')})"


def _why_nothing(summary: VerifySummary) -> str:
    rows = summary.rows
    if not rows.lines:
        return "there was no row to ask"
    if not rows.sent and not summary.not_asked:
        return f"none of {plural(rows.lines, 'line')} can be asked"
    return f"none of {plural(rows.lines, 'row')} got an answer"


def next_lines(summary: VerifySummary) -> tuple[str, ...]:
    """Further sentences for people."""
    return tuple(_next_lines(summary))


def interval(share: Rate) -> str:
    """`1691/1742, 96.2 to 97.8` for a share."""
    if share.low is None or share.high is None:
        return f"{share.k}/{share.n}"
    return f"{share.k}/{share.n}, {100 * share.low:.1f} to {100 * share.high:.1f}"


def _next_lines(summary: VerifySummary) -> Iterator[str]:
    rows = summary.rows
    errors = [line for line in summary.vendor if line.severity is Severity.ERROR]
    if errors and summary.verdict.word not in (Word.FAILS, Word.UNDECIDED):  # there the headline says so
        worst = errors[0]
        yield f"{_rows(rows.failed)} of {count(rows.answered)} failed; most often {worst.code} ({_rows(worst.rows)})."
    if summary.valid.n:
        yield f"{_percent(summary.valid)} of the answers with calls are valid ({interval(summary.valid)})."
    if rows.lost:
        yield f"{plural(rows.lost, 'call')} left in the text or lost: no agent sees them."
    if summary.correct.n:
        yield f"{_percent(summary.correct)} of the rows that say what they expect got it ({interval(summary.correct)})."
    yield from _missing(summary)
    if rows.unsupported:
        reason, alike = next(iter(summary.unsupported_by.items()))
        yield f"{_rows(rows.unsupported)} refused as not supported; most often ({count(alike)}): {reason}"
    if rows.not_measured:
        worst_case = _percent(summary.if_missing_were_wrong)
        unmeasured = f"{_rows(rows.not_measured)} could not be measured and {'is' if rows.not_measured == 1 else 'are'}"
        yield f"{unmeasured} in no rate; {worst_case} valid if every unmeasured row failed."
    if summary.bugs:
        yield f"{_rows(summary.bugs)} met a bug in toolcert, not in the vendor. Please report it: {ISSUES}"
    for reason, unasked in summary.not_asked.items():
        yield f"{_rows(unasked)} {'was' if unasked == 1 else 'were'} not asked: {with_stop(reason)}"
    faults = sum(line.rows for line in summary.of_dataset)
    if faults:
        yield f"The dataset itself has {plural(faults, 'problem')}, not charged to the vendor."


def _missing(summary: VerifySummary) -> Iterator[str]:
    left = (summary.planned or 0) - summary.rows.lines if summary.incomplete else 0
    if left > 0 and summary.verdict.word is not Word.UNDECIDED:  # there the headline says so
        yield f"{_rows(left)} of {count(summary.planned or 0)} {'is' if left == 1 else 'are'} not in this run."


def _percent(share: Rate) -> str:
    return "–" if share.value is None else f"{100 * share.value:.1f} %"


def _rows(number: int) -> str:
    return plural(number, "row")


def target_text(summary: VerifySummary) -> str:
    """Which model was asked, at which endpoint, and with which dataset."""
    target = " at ".join(filter(None, (summary.model, summary.endpoint)))
    dataset = summary.dataset.path.rpartition("/")[2] if summary.dataset is not None else ""
    return ", ".join(filter(None, (target, dataset)))
