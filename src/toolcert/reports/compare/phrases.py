"""What every report of a comparison says: names of figures, intervals, p-values, missing rows."""

from __future__ import annotations

from collections import Counter

from toolcert.comparison.read.packed_run import By
from toolcert.comparison.result import CompareVerdict, Comparison, Figure, MarginTest, Missing, VendorComparison
from toolcert.core.statistics.p_values import p_words
from toolcert.core.statistics.rates import Interval
from toolcert.reports.display_text import NO_VALUE, count, percent, plural, visible

FIGURE_NAMES = {
    "agreement": "Agreement",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "kappa": "Kappa",
    "mcc": "MCC",
    "tool_name": "Tool name",
    "call_count": "Number of calls",
    "arguments": "All arguments",
    "parameters": "Parameters",
    "prompt_tokens": "Prompt tokens equal",
}
MARGIN_NAMES = {
    "call_rate": "Calls as often",
    "validity": "Makes valid calls as often",
    "correctness": "Meets expectations as often",
    "agreement": "Decides like the baseline",
    "payload": "Calls like the baseline",
}
FAMILY_NAMES = {"decision": "Decision to call", "payload": "Where both call", "deterministic": "Deterministic"}
ORDER = "the lower bound of agreement, with missing rows and invalid calls counted as wrong"
"""What leaderboards are ordered by."""
GROUP_TITLES = {
    By.TOOL: "By tool the baseline calls",
    By.N_TOOLS: "By number of tools offered",
    By.TURNS: "By messages of the user",
    By.TAG: "By tag",
}
VERDICT_ROLES = {
    CompareVerdict.EQUIVALENT: "good",
    CompareVerdict.DIFFERENT: "bad",
    CompareVerdict.DEGRADED: "bad",
    CompareVerdict.INCONCLUSIVE: "unknown",
}
BUCKET_NAMES = {
    "InvalidJson": "Invalid JSON",
    "UnknownName": "Unknown tool name",
    "NoSchema": "Tool without schema",
    "BadSchema": "Broken schema in the dataset",
    "TooComplex": "Schema in the dataset that is too complex to judge by",
    "Empty": "Empty arguments",
    "DoubleEncoded": "Double-encoded JSON",
    "NotString": "Not a string",
}


def headline(comparison: Comparison) -> str:
    """The verdict in one sentence; of several vendors, how many have each verdict."""
    if len(comparison.vendors) == 1:
        return comparison.vendors[0].headline
    counted = Counter(vendor.verdict for vendor in comparison.vendors)
    same = counted.pop(CompareVerdict.EQUIVALENT, 0)
    rest = ", ".join(f"{counted[verdict]} {verdict.value}" for verdict in CompareVerdict if counted.get(verdict))
    whole = plural(len(comparison.vendors), "vendor")
    verb = "is" if same == 1 else "are"
    return f"{same} of {whole} {verb} equivalent to the baseline" + (f"; {rest}." if rest else ".")


def further_lines(comparison: Comparison) -> list[str]:
    """The sentences below the headline."""
    if len(comparison.vendors) == 1:
        return [comparison.vendors[0].meaning]
    return [f"Nearest to the baseline: {comparison.vendors[0].side.label}."]


def group_title(by: str | None) -> str:
    """The heading of the table by part; empty if the rows are not split."""
    return GROUP_TITLES[By(by)] if by else ""


def figure_name(figure: Figure) -> str:
    """A figure in words."""
    return FIGURE_NAMES.get(figure.name, figure.name) + (", sampled" if figure.sampled else "")


def bucket_name(bucket: str) -> str:
    """A schema bucket in words."""
    if bucket.startswith("SchemaMismatch."):
        return f"Schema mismatch: {bucket.partition('.')[2]}"
    return BUCKET_NAMES.get(bucket, bucket)


def decimal(value: float | None) -> str:
    """A figure with three digits; n/a is never a zero."""
    return NO_VALUE if value is None else f"{value:.3f}".replace("-0.000", "0.000")


def span(interval: Interval | None) -> str:
    """An interval as people read it, with the digits of the figure it belongs to."""
    return NO_VALUE if interval is None else f"{decimal(interval.lower)} to {decimal(interval.upper)}"


def counted_by(comparison: Comparison) -> str:
    """The field of an answer that says whether it calls."""
    return "tool_calls" if comparison.trigger == "payload" else "finish_reason"


def confidence(comparison: Comparison) -> str:
    """The confidence level of the intervals."""
    return f"{100 * (1 - comparison.alpha):g} %"


def points(interval: Interval | None) -> str:
    """An interval of a difference in points."""
    return NO_VALUE if interval is None else f"{100 * interval.lower:+.1f} to {100 * interval.upper:+.1f}"


def p_value(p: float) -> str:
    """`0.040`, or `2.2e-07` if it is small; none is zero."""
    return p_words(p).removeprefix("= ")


def p_after_holm(vendor: VendorComparison, margin: MarginTest) -> str:
    """The corrected p-value of the test that belongs to a margin."""
    return next((p_value(test.adjusted) for test in vendor.tests if test.name == margin.chance_test), NO_VALUE)


def callers_line(vendor: VendorComparison) -> str:
    """How often both call, and the F1 of trivial baselines; empty if there was no answer."""
    cells, f1 = vendor.cells, vendor.figure("f1")
    if not cells.n:
        return ""
    return (
        f"The vendor calls on {percent(cells.vendor_rate)} of the rows, the baseline on "
        f"{percent(cells.baseline_rate)}. F1 of trivial baselines: {decimal(f1.always)} for always "
        f"calling, {decimal(f1.blind)} for calling as often but at random; the best possible at these rates is "
        f"{decimal(f1.best)}."
    )


def matching_line(vendor: VendorComparison) -> str:
    """How many rows of both runs were matched."""
    matching = vendor.matching
    parts = [
        f"{plural(matching.matched, 'row')} matched",
        f"{count(matching.baseline_only)} only in the baseline",
        f"{count(matching.vendor_only)} only in the vendor",
    ]
    repeats = max(matching.baseline_repeats, matching.vendor_repeats)
    if repeats:
        parts.append(f"{count(repeats)} repeated")
    return f"{', '.join(parts)}; {count(vendor.compared)} compared"


def missing_line(missing: Missing) -> str:
    """How many rows could not be compared, and the worst case; empty if none is missing."""
    parts = []
    if missing.vendor_failed:
        parts.append(f"{count(missing.vendor_failed)} without an answer of the vendor")
    if missing.vendor_absent:
        parts.append(f"{count(missing.vendor_absent)} not asked of the vendor")
    if parts:
        worst = f"agreement {decimal(missing.worst_agreement)}, F1 {decimal(missing.worst_f1)}"
        parts[-1] += f" (all counted as wrong: {worst})"
    if missing.baseline_failed:
        parts.append(f"{count(missing.baseline_failed)} without an answer of the baseline")
    return f"Left out: {', '.join(parts)}" if parts else ""


def missing_reasons(missing: Missing) -> list[str]:
    """Why the vendor gave no answer, the most frequent reason first; only the first rows are examined."""
    looked_at = sum(missing.reasons.values())
    of = f" of the first {count(looked_at)}" if looked_at < missing.vendor_failed else ""
    return [f"{visible(reason)} ({count(rows)}{of})" for reason, rows in missing.reasons.items()]
