"""Traces that need no statistics: prompt tokens, fingerprints, id styles, and contradictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from toolcert.compare.comparison import Sign, TokenDifferences
from toolcert.compare.kinds import Kind
from toolcert.compare.pairing import Pairing
from toolcert.compare.rundata import Identity, RunData
from toolcert.core.statistics import Rate, wilson

_SHOWN_VALUES = 3
_MOST_BARS = 60
"""Distinct differences kept for the histogram."""


def token_differences(pairing: Pairing) -> TokenDifferences:
    """Prompt tokens for the same request, vendor against baseline, and the baseline against itself."""
    by_turns: dict[int, dict[int, int]] = {}
    histogram: Counter[int] = Counter()
    for (turns, difference), count in pairing.token_differences().items():
        histogram[difference] += count
        by_turns.setdefault(turns, {})[difference] = count
    kept = dict(sorted(histogram.most_common(_MOST_BARS)))
    return TokenDifferences(
        equal=Rate(k=histogram[0], n=histogram.total()),
        histogram=kept,
        by_turns={
            turns: {key: bars[key] for key in sorted(bars) if key in kept} for turns, bars in sorted(by_turns.items())
        },
        ceiling_equal=_ceiling_tokens(pairing),
    )


def _ceiling_tokens(pairing: Pairing) -> Rate | None:
    if len(pairing.others) < 2:
        return None
    rate = Rate()
    for which in range(1, len(pairing.others)):
        differences = pairing.token_differences(which)
        same = sum(count for (_, difference), count in differences.items() if difference == 0)
        rate += Rate(k=same, n=differences.total())
    return rate


def tokens_decide(tokens: TokenDifferences, confidence: float) -> bool:
    """Whether the prompts are not the same: one differing row is enough where the baseline has none of its own."""
    differing = Rate(k=tokens.equal.n - tokens.equal.k, n=tokens.equal.n)
    if not differing.k:
        return False
    own = tokens.ceiling_equal
    if own is None or own.k == own.n:
        return True
    usual, found = wilson(own.n - own.k, own.n, confidence), wilson(differing.k, differing.n, confidence)
    return usual is not None and found is not None and found.lower > usual.upper


def signs(pairing: Pairing, tokens: TokenDifferences, confidence: float) -> list[Sign]:
    """Every trace, on both sides."""
    vendor, baseline = pairing.vendor, pairing.baseline
    return [
        _token_sign(tokens, confidence),
        _rate_sign(
            "Text beside the call",
            "How often a call comes with words to the user.",
            _rate(vendor, lambda kind: kind.called is True, lambda kind: kind.text_beside),
            _rate(baseline, lambda kind: kind.called is True, lambda kind: kind.text_beside),
        ),
        _value_sign(
            "Form of call ids", "Another form was written by another server.", pairing, lambda who: who.id_style
        ),
        _value_sign(
            "Fingerprint",
            "Names the build that answered, where the server gives one.",
            pairing,
            lambda who: who.fingerprint if who.measured else None,
        ),
        _rate_sign(
            "Finish reason agrees with calls",
            "Contradictions break clients that trust the reason.",
            _rate(vendor, lambda kind: kind.measured, lambda kind: not kind.contradicts),
            _rate(baseline, lambda kind: kind.measured, lambda kind: not kind.contradicts),
        ),
        _identity_sign(vendor, baseline),
    ]


def _token_sign(tokens: TokenDifferences, confidence: float) -> Sign:
    own = tokens.ceiling_equal
    decides = tokens_decide(tokens, confidence)
    return Sign(
        name="Prompt tokens equal",
        vendor=_of(tokens.equal),
        baseline="no second run" if own is None else _of(own),
        same=None if not tokens.equal.n else not decides,
        meaning="Another count for the same request is another prompt: another template or tokenizer.",
        decides=decides,
    )


def _rate_sign(name: str, meaning: str, vendor: Rate, baseline: Rate) -> Sign:
    return Sign(name=name, vendor=_of(vendor), baseline=_of(baseline), same=_overlap(vendor, baseline), meaning=meaning)


def _overlap(first: Rate, second: Rate) -> bool | None:
    one, other = first.interval, second.interval
    if one is None or other is None:
        return None
    return one.lower <= other.upper and other.lower <= one.upper


def _value_sign(name: str, meaning: str, pairing: Pairing, value: Callable[[Identity], str | None]) -> Sign:
    """The same where the vendor shows nothing that no run of the baseline shows."""
    vendor, baseline = _values(pairing.vendor, value), _values(pairing.baseline, value)
    for run, _ in pairing.others[1:]:
        baseline.update(_values(run, value))
    same = set(vendor) <= set(baseline) if vendor and baseline else None
    return Sign(name=name, vendor=_listed(vendor), baseline=_listed(baseline), same=same, meaning=meaning)


def _identity_sign(vendor: RunData, baseline: RunData) -> Sign:
    """One answer under another name is enough to differ from a baseline that has none."""
    theirs, own = answered_as_asked(vendor), answered_as_asked(baseline)
    both_whole = (theirs.k == theirs.n) == (own.k == own.n)
    return Sign(
        name="Answered by the model asked for",
        vendor=_of(theirs),
        baseline=_of(own),
        same=both_whole and _overlap(theirs, own) if theirs.n and own.n else None,
        meaning="Another name in the answer means an alias, a fallback or another model.",
    )


def answered_as_asked(run: RunData) -> Rate:
    """Answers that name the model that was asked for, on the rows looked at."""
    named = sum(count for who, count in run.identities.items() if who.asked and who.answered)
    return Rate(k=named - answered_by_another(run).total(), n=named)


def answered_by_another(run: RunData) -> Counter[tuple[str, str]]:
    """The model asked for and the one that answered, where they differ, on the rows looked at."""
    from toolcert.diagnose.identity import same_model

    found: Counter[tuple[str, str]] = Counter()
    for who, count in run.identities.items():
        if who.asked and who.answered and not same_model(who.asked, who.answered):
            found[who.asked, who.answered] += count
    return found


def _rate(run: RunData, of: Callable[[Kind], bool], which: Callable[[Kind], bool]) -> Rate:
    rows = [(kind, count) for kind, count in run.kind_counts if of(kind)]
    return Rate(k=sum(count for kind, count in rows if which(kind)), n=sum(count for _, count in rows))


def _values(run: RunData, value: Callable[[Identity], str | None]) -> Counter[str]:
    found: Counter[str] = Counter()
    for who, count in run.identities.items():
        text = value(who)
        if text is not None:
            found[text or "empty"] += count
    return found


def _listed(values: Counter[str]) -> str:
    if not values:
        return "none given"
    shown = ", ".join(text for text, _ in values.most_common(_SHOWN_VALUES))
    return f"{shown}, …" if len(values) > _SHOWN_VALUES else shown


def _of(rate: Rate) -> str:
    return f"{rate.k} of {rate.n}" if rate.n else "not given"
