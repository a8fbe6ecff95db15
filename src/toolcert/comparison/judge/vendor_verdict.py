"""The verdict on a vendor: one word, one sentence, and the reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolcert.comparison.result import ChanceTest, CompareVerdict, MarginTest, MissedCalls, TokenDifferences
from toolcert.comparison.stats.confusion import Confusion, always_calling
from toolcert.comparison.stats.significance import MarginOutcome, rows_to_show
from toolcert.comparison.stats.vendor_tests import QUALITY, rows_to_ask
from toolcert.core.statistics.p_values import p_words
from toolcert.core.text.number_text import about_rows, plural
from toolcert.core.values import Value

_GAP = {
    "call_rate": "calls",
    "validity": "valid calls",
    "correctness": "expectations met",
    "agreement": "decisions like the baseline's",
    "payload": "calls like the baseline's",
}
_NO_CEILING = "one baseline run does not show how much the baseline differs from itself"


class VerdictCase(Value):
    """Everything that a verdict is based on."""

    tests: tuple[ChanceTest, ...]
    margins: tuple[MarginTest, ...]
    tokens: TokenDifferences
    tokens_decide: bool
    cells: Confusion
    usual: float | None
    """Rows on which the baseline differs from itself, scaled to those compared; None without a second run."""
    margin: float
    level: float
    """A p-value below this counts, whatever the other tests find."""
    missed: MissedCalls = MissedCalls()

    @property
    def compared(self) -> int:
        return round(self.cells.n)

    @property
    def detected(self) -> dict[str, ChanceTest]:
        """The tests whose differences chance does not explain."""
        return {test.name: test for test in self.tests if test.detected}

    @property
    def unclear(self) -> list[MarginTest]:
        """The margins that are not proven to hold."""
        return [test for test in self.margins if test.outcome is not MarginOutcome.PASSED]


class Decided(Value):
    """A verdict, its headline, and the reasons for it."""

    verdict: CompareVerdict
    headline: str
    sentence: str
    """The same without figures, to be said of the vendor: `is worse than the baseline: fewer calls arrive`."""
    meaning: str
    """What it means for the user and what to do, without figures."""
    reasons: tuple[str, ...]
    tests: tuple[ChanceTest, ...] = ()


def decide(case: VerdictCase) -> Decided:
    """The strongest verdict that is proven: degraded before different, equivalent where every margin holds."""
    worse = [test for test in case.unclear if test.name in QUALITY and _shown_to_fail(case, test)]
    if worse:
        verdict, headline = (
            CompareVerdict.DEGRADED,
            f"Degraded against the baseline: {_and(_loss(test, case) for test in worse)}.",
        )
    elif case.tokens_decide or case.detected:
        verdict, headline = CompareVerdict.DIFFERENT, f"Different from the baseline: {_differences(case)}."
    elif case.compared and not case.unclear:
        verdict, headline = CompareVerdict.EQUIVALENT, f"Equivalent to the baseline: {_sameness(case)}."
    else:
        verdict, headline = CompareVerdict.INCONCLUSIVE, f"Inconclusive: {_doubt(case)}."
    return Decided(
        verdict=verdict,
        headline=headline,
        sentence=_sentence(case, verdict, [test.name for test in worse]),
        meaning=_meaning(case, verdict, [test.name for test in worse]),
        reasons=tuple(_reasons(case, verdict)),
        tests=case.tests,
    )


_LOST = {
    "call.in_text": "the server leaves them in the text",
    "call.in_reasoning": "the server leaves them in the reasoning",
    "finish.calls_missing": "the server announces them and sends none",
}
_WORSE = {
    "call_rate": "It calls tools less often, so agents answer where they should act. Check that tools and chat "
    "template reach the model as at the baseline, or use another vendor.",
    "validity": "More of its calls break the schema of their tool, so more steps of an agent fail. Validate "
    "arguments before you run a tool; ask the vendor about quantisation and guided decoding, or use another.",
    "correctness": "It does what you expect less often. Look at the rows below, and use another vendor if they matter.",
}
_SAME_AS_BASELINE = "For requests like these you can use it in place of the baseline."
_OTHER_PROMPT = (
    "The same requests reach the model as other prompts: another chat template or tokenizer. Ask the vendor which one "
    "it uses, and try your agent with it before you switch."
)
_OTHER_SYSTEM = (
    "It answers otherwise than the baseline, and is not shown to be worse. Look at the rows below, and try your agent "
    "with it before you switch."
)
_TOO_FEW = (
    "Nothing is shown for or against it yet. Compare more rows, or run the baseline a second time, as said above."
)


_WORSE_WORDS = {
    "call_rate": "fewer calls arrive",
    "validity": "more calls are invalid",
    "correctness": "fewer expectations are met",
}
_OTHER_WORDS = {
    "decision": "it calls on other requests",
    "call_rate": "it calls on other requests",
    "payload": "what it calls differs",
    "validity": "more calls are invalid",
    "correctness": "fewer expectations are met",
}


def _sentence(case: VerdictCase, verdict: CompareVerdict, worse: list[str]) -> str:
    if verdict is CompareVerdict.DEGRADED:
        return f"is worse than the baseline: {_and(_WORSE_WORDS[name] for name in worse)}"
    if verdict is CompareVerdict.DIFFERENT:
        prompts = ["the same requests reach the model as other prompts"] if case.tokens_decide else []
        found = [_OTHER_WORDS[name] for name in _OTHER_WORDS if name in case.detected]
        return f"is not the same as the baseline: {_and(dict.fromkeys([*prompts, *found]))}"
    if verdict is CompareVerdict.EQUIVALENT:
        return "is as good as the baseline for requests like these"
    return "is not shown to equal the baseline, or to differ from it, by these rows"


def _meaning(case: VerdictCase, verdict: CompareVerdict, worse: list[str]) -> str:
    if verdict is CompareVerdict.DEGRADED:
        cause = case.missed.cause if "call_rate" in worse else None
        return _lost_calls(*cause) if cause is not None else _WORSE[worse[0]]
    if verdict is CompareVerdict.DIFFERENT:
        return _OTHER_PROMPT if case.tokens_decide else _OTHER_SYSTEM
    return _SAME_AS_BASELINE if verdict is CompareVerdict.EQUIVALENT else _TOO_FEW


def _lost_calls(code: str, rows: int) -> str:
    if code not in _LOST:
        spoilt = f"The model calls, and its answers arrive broken ({code} in {plural(rows, 'row')})."
        return f"{spoilt} Agents miss these calls. Report it to the vendor; `toolcert findings {code}` says more."
    lost = f"The model makes the calls, and {_LOST[code]} ({code} in {plural(rows, 'row')}), where no agent sees them."
    return f"{lost} Switch on or update the server's tool parser for this model, or use another vendor."


def _shown_to_fail(case: VerdictCase, test: MarginTest) -> bool:
    return test.outcome is MarginOutcome.FAILED and test.chance_test in case.detected


def _loss(test: MarginTest, case: VerdictCase) -> str:
    rows = test.rows
    drop = -100 * (rows.difference or 0)
    counts = f"{rows.lost} lost, {rows.gained} gained of {rows.n} rows"
    cause = case.missed.cause if test.name == "call_rate" else None
    because = "" if cause is None else f"; {cause[0]} in {plural(cause[1], 'row')}"
    return f"{drop:.1f} points fewer {_GAP[test.name]} ({counts}{because})"


def _differences(case: VerdictCase) -> str:
    parts, found = [], case.detected
    if case.tokens_decide:
        equal = case.tokens.equal
        parts.append(f"prompt tokens differ on {equal.n - equal.k} of {equal.n} rows")
    if "decision" in found or "call_rate" in found:
        parts.append(_decision_rows(case, short=bool(parts)))
    if "payload" in found:
        parts.append(f"what is called differs on {found['payload'].more} rows where the baseline agrees with itself")
    if "validity" in found:
        parts.append(f"{found['validity'].more} calls are invalid where the baseline's are valid")
    if "correctness" in found:
        parts.append(f"{found['correctness'].more} expectations are missed that the baseline meets")
    return _and(parts)


def _decision_rows(case: VerdictCase, *, short: bool) -> str:
    differing = round(case.cells.fp + case.cells.fn)
    where = plural(differing, "row") if short else f"{differing} of {plural(case.compared, 'row')}"
    usual = "" if case.usual is None else f" (the baseline differs from itself on {case.usual:.0f})"
    return f"the call decision differs on {where}{usual}"


def _sameness(case: VerdictCase) -> str:
    points = 100 * case.margin
    return f"{_decision_rows(case, short=False)}, and no rate is more than {points:g} points worse"


def _doubt(case: VerdictCase) -> str:
    """What a verdict needs: more rows, a second run of the baseline, or both."""
    if not case.compared:
        return "no row was answered by both"
    open_tests = [test for test in case.unclear if not _needs_second_run(case, test)]
    if not open_tests:
        return f"{_decision_rows(case, short=False)}, and {_NO_CEILING}"
    needed = [_rows_needed(case, test) for test in open_tests]
    known = [rows for rows in needed if rows is not None]
    lead = f"{plural(case.compared, 'row')} {'is' if case.compared == 1 else 'are'} too few to tell"
    if len(known) < len(needed):
        return f"{lead}, and no number of rows like these would be enough for a margin of {case.margin:g}"
    second = "" if len(open_tests) == len(case.unclear) else " and a second run of the baseline"
    return f"{lead}; {about_rows(max(known))}{second} would be enough for a margin of {case.margin:g}"


def _needs_second_run(case: VerdictCase, test: MarginTest) -> bool:
    """Without a noise ceiling, no number of rows decides whether disagreement beyond the margin is usual."""
    return case.usual is None and test.name == "agreement" and test.rows_needed is None


def _rows_needed(case: VerdictCase, test: MarginTest) -> int | None:
    """The rows that would decide. A margin that is missed, perhaps by chance, needs enough rows to rule chance out."""
    if test.outcome is MarginOutcome.FAILED:
        return rows_to_ask(rows_to_show(test.rows, case.level), test.rows, case.compared)
    return test.rows_needed


def _reasons(case: VerdictCase, verdict: CompareVerdict) -> Iterator[str]:
    for test in case.detected.values():
        finding = _finding(test, case)
        counts = f"{test.more} rows against {test.less}, p {p_words(test.adjusted)} after Holm"
        yield f"{finding[:1].upper()}{finding[1:]} ({counts})."
    for margin in case.unclear:
        needed = _rows_needed(case, margin)
        if needed is None or _shown_to_fail(case, margin):
            continue
        if margin.outcome is MarginOutcome.FAILED:
            yield f"{_loss(margin, case)} may be chance; {about_rows(needed)} would tell."
        else:
            less = f"More than {100 * case.margin:g} points fewer {_GAP[margin.name]}"
            yield f"{less}? Undecided; {about_rows(needed)} would tell."
    own, always = case.cells.f1, always_calling(case.cells).f1
    if own and always and always >= own:
        yield f"F1 alone says nothing here: the vendor has {own:.3f}, a program that always calls {always:.3f}."
    if case.usual is None and verdict is not CompareVerdict.INCONCLUSIVE:
        yield "There is only one baseline run, so there is no noise ceiling; add a second one after --baseline."


def _finding(test: ChanceTest, case: VerdictCase) -> str:
    if test.name == "call_rate" and test.more > test.less and case.missed.cause is not None:
        return f"fewer calls arrive, because of {case.missed.cause[0]}"
    if test.name == "call_rate":
        return "calls less often" if test.more > test.less else "calls more often"
    return test.question


def _and(parts: Iterable[str]) -> str:
    listed = list(parts)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])}, and {listed[-1]}"
