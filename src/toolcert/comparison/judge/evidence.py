"""Evidence besides the figures: traces of another model, the rows that differ most, and the rows that are missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice, zip_longest

from toolcert.comparison.match.pairs import Decisions, Pairing, Pattern
from toolcert.comparison.read.columns import Kind
from toolcert.comparison.read.packed_run import (
    Identity,
    KeptAnswer,
    PackedRun,
    answer_in,
    last_user_message,
    offered_names,
    read_answer,
    shown_answer,
)
from toolcert.comparison.result import (
    GivenAnswer,
    MissedCalls,
    Missing,
    RowKind,
    Sign,
    TellingRow,
    TokenDifferences,
)
from toolcert.comparison.stats.confusion import Confusion
from toolcert.core.exchanges import Exchange
from toolcert.core.findings import DATASET, LOST_CALLS, Severity, codes_of
from toolcert.core.requests import Request
from toolcert.core.statistics.rates import Rate, wilson
from toolcert.core.targets import EndpointSpec

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
    """Whether the prompts differ: one row is enough where the baseline never differs from itself."""
    differing = Rate(k=tokens.equal.n - tokens.equal.k, n=tokens.equal.n)
    if not differing.k:
        return False
    own = tokens.ceiling_equal
    if own is None or own.k == own.n:
        return True
    usual, found = wilson(own.n - own.k, own.n, confidence), wilson(differing.k, differing.n, confidence)
    return usual is not None and found is not None and found.lower > usual.upper


def signs(pairing: Pairing, tokens: TokenDifferences, confidence: float) -> list[Sign]:
    """The traces of the serving stack, on both sides."""
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
    """Same where every value of the vendor also occurs in a run of the baseline."""
    vendor, baseline = _values(pairing.vendor, value), _values(pairing.baseline, value)
    for run, _ in pairing.others[1:]:
        baseline.update(_values(run, value))
    same = set(vendor) <= set(baseline) if vendor and baseline else None
    return Sign(name=name, vendor=_listed(vendor), baseline=_listed(baseline), same=same, meaning=meaning)


def _identity_sign(vendor: PackedRun, baseline: PackedRun) -> Sign:
    """One answer under another name is enough to differ from a baseline without any."""
    theirs, own = answered_as_asked(vendor), answered_as_asked(baseline)
    both_whole = (theirs.k == theirs.n) == (own.k == own.n)
    return Sign(
        name="Answered by the model asked for",
        vendor=_of(theirs),
        baseline=_of(own),
        same=both_whole and _overlap(theirs, own) if theirs.n and own.n else None,
        meaning="Another name in the answer means an alias, a fallback or another model.",
    )


def answered_as_asked(run: PackedRun) -> Rate:
    """Answers that name the model that was asked for, on the rows looked at."""
    named = sum(count for who, count in run.identities.items() if who.asked and who.answered)
    return Rate(k=named - answered_by_another(run).total(), n=named)


def answered_by_another(run: PackedRun) -> Counter[tuple[str, str]]:
    """The model asked for and the one that answered, where they differ, on the rows looked at."""
    from toolcert.diagnose.checks.identity import same_model

    found: Counter[tuple[str, str]] = Counter()
    for who, count in run.identities.items():
        if who.asked and who.answered and not same_model(who.asked, who.answered):
            found[who.asked, who.answered] += count
    return found


def _rate(run: PackedRun, of: Callable[[Kind], bool], which: Callable[[Kind], bool]) -> Rate:
    rows = [(kind, count) for kind, count in run.kind_counts if of(kind)]
    return Rate(k=sum(count for kind, count in rows if which(kind)), n=sum(count for _, count in rows))


def _values(run: PackedRun, value: Callable[[Identity], str | None]) -> Counter[str]:
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


SHOWN = 100
"""Rows kept with their answers."""
ROOM = 4_000_000
"""Characters of all rows that are kept; no row is added beyond that."""
_WITH_CURL = 3
_UNKNOWN_URL = "https://VENDOR/v1/chat/completions"


class Differences:
    """How rows differ, by pattern."""

    def __init__(self, pairing: Pairing, decisions: Decisions) -> None:
        self._pairing = pairing
        self._decisions = decisions
        self._kinds = [self._kind(pattern) for pattern in pairing.patterns]

    def counts(self) -> dict[RowKind, int]:
        """How many rows differ in each way."""
        counts: Counter[RowKind] = Counter()
        for number, kind in enumerate(self._kinds):
            if kind is not None:
                counts[kind] += self._pairing.counts[number]
        return {kind: counts[kind] for kind in RowKind if counts[kind]}

    def most_telling(self, limit: int) -> list[tuple[int, RowKind, bool]]:
        """Places of rows with their kind and whether they are noisy: quiet ones first, kinds taken in turn."""
        labels = {
            number: (self._noisy(self._pairing.patterns[number]), kind)
            for number, kind in enumerate(self._kinds)
            if kind is not None
        }
        open_places: Counter[tuple[bool, RowKind]] = Counter()
        for number, label in labels.items():
            open_places[label] = min(limit, open_places[label] + self._pairing.counts[number])
        queues: dict[tuple[bool, RowKind], list[int]] = {label: [] for label in open_places}
        left = open_places.total()
        for place, number in enumerate(self._pairing.ids):
            if not left:
                break
            label_here = labels.get(number)
            if label_here is not None and len(queues[label_here]) < limit:
                queues[label_here].append(place)
                left -= 1
        return list(_in_turn(queues))[:limit]

    def _kind(self, pattern: Pattern) -> RowKind | None:
        if not pattern.measured:
            return None
        own, theirs = self._decisions.called(pattern.baseline), self._decisions.called(pattern.vendor)
        if own != theirs:
            return RowKind.MISSED if own else RowKind.EXTRA
        if not (pattern.baseline.called and pattern.vendor.called):
            return None
        if pattern.vendor.valid is False and pattern.baseline.valid is not False:
            return RowKind.INVALID
        if not pattern.vendor.same_names:
            return RowKind.TOOL
        return None if pattern.vendor.same_payload else RowKind.ARGUMENTS

    def _noisy(self, pattern: Pattern) -> bool:
        """Whether a further run of the baseline differs from the first here as well."""
        return any(
            other.measured
            and (self._decisions.called(other) != self._decisions.called(pattern.baseline) or not other.same_payload)
            for other in pattern.further
        )


def _in_turn(queues: dict[tuple[bool, RowKind], list[int]]) -> Iterator[tuple[int, RowKind, bool]]:
    for noisy in (False, True):
        columns = [[(place, kind, noisy) for place in queues.get((noisy, kind), [])] for kind in RowKind]
        for turn in zip_longest(*columns):
            yield from (entry for entry in turn if entry is not None)


def telling_rows(pairing: Pairing, decisions: Decisions, limit: int = SHOWN) -> list[TellingRow]:
    """The most telling rows, read from both runs."""
    run, partners = pairing.others[0]
    rows: list[TellingRow] = []
    room = ROOM
    for place, kind, noisy in Differences(pairing, decisions).most_telling(limit):
        if room < 0:
            break
        own, theirs = read_answer(pairing.baseline, place), read_answer(run, partners[place])
        rows.append(
            TellingRow(
                index=pairing.baseline.columns.index[place],
                kind=kind,
                noisy=noisy,
                asked=last_user_message(own.request or theirs.request),
                offered=offered_names(own.request or theirs.request),
                baseline=shown_answer(own),
                vendor=shown_answer(theirs),
                curl=_curl(run, theirs) if len(rows) < _WITH_CURL else "",
            )
        )
        room -= len(rows[-1].asked) + len(rows[-1].curl) + sum(map(_length, (rows[-1].baseline, rows[-1].vendor)))
    return rows


def _length(answer: GivenAnswer) -> int:
    return len(answer.text) + sum(len(call.name) + len(call.arguments) for call in answer.calls)


def _curl(run: PackedRun, given: KeptAnswer) -> str:
    """The command that asks the vendor again; for a results file, the user fills in the address."""
    from toolcert.endpoints.curl import curl_line

    if not given.request:
        return ""
    exchange = given.exchange or Exchange(request=Request(body=given.request), url=_UNKNOWN_URL)
    endpoints = run.manifest.endpoints if run.manifest is not None else ()
    spec = endpoints[0] if endpoints else EndpointSpec(name="vendor", key_env="VENDOR_API_KEY")
    return curl_line(exchange, spec)


_MISSED = 5000
"""Missed calls whose findings are read from a run; in a results file, which has none, fewer are judged."""
_MISSED_IN_FILES = 300


def missed_calls(pairing: Pairing, decisions: Decisions) -> MissedCalls:
    """Why the vendor does not call where the baseline does, as far as its answers show it."""
    run, partners = pairing.others[0]

    def missed(pattern: Pattern) -> bool:
        both = pattern.baseline.measured and pattern.vendor.measured
        return both and decisions.called(pattern.baseline) and not decisions.called(pattern.vendor)

    most = _MISSED if run.manifest is not None else _MISSED_IN_FILES
    places = [partners[place] for place in islice(pairing.places(missed), most)]
    codes = Counter(code for line in run.lines(places) if (code := _worst_error(run, line)))
    return MissedCalls(rows=pairing.count(missed), looked_at=len(places), causes=dict(codes.most_common()))


def _worst_error(run: PackedRun, line: bytes) -> str:
    """The first error of an answer; one that explains a lost call before all others."""
    from toolcert.diagnose import kind_of

    errors = [code for code in _codes(run, line) if kind_of(code).severity is Severity.ERROR]
    errors = [code for code in errors if not code.startswith(DATASET)]
    return next((code for code in errors if code in LOST_CALLS), next(iter(errors), ""))


def _codes(run: PackedRun, line: bytes) -> tuple[str, ...]:
    if run.manifest is not None:
        from toolcert.runs.encoding import decode_head

        return decode_head(line).codes
    from toolcert.diagnose import examine

    given = answer_in(run, line)
    if given.reply is None:
        return ()
    exchange = Exchange(request=Request(body=given.request), status=200, from_file=True)
    return codes_of(examine(exchange, given.reply))


_EXPLAINED = 20
"""Missing rows whose reason is read from the file."""
_LONGEST_REASON = 160


def count_missing(pairing: Pairing, decisions: Decisions, cells: Confusion) -> Missing:
    """What is missing on either side, and the figures if every missing row of the vendor were wrong."""
    failed = absent = baseline_failed = called = 0
    for pattern, count in pairing.items():
        if not pattern.baseline.measured:
            baseline_failed += count
        elif pattern.vendor.kind is None:
            absent += count
        elif not pattern.vendor.measured:
            failed += count
        if pattern.baseline.measured and not pattern.vendor.measured:
            called += count * decisions.called(pattern.baseline)
    missing = failed + absent
    worst = Confusion(tp=cells.tp, fp=cells.fp + missing - called, fn=cells.fn + called, tn=cells.tn)
    return Missing(
        vendor_failed=failed,
        vendor_absent=absent,
        baseline_failed=baseline_failed,
        reasons=_reasons(pairing) if failed else {},
        worst_agreement=worst.agreement,
        worst_f1=worst.f1,
    )


def _reasons(pairing: Pairing) -> dict[str, int]:
    run, partners = pairing.others[0]
    places = pairing.places(
        lambda pattern: pattern.baseline.measured and pattern.vendor.kind is not None and not pattern.vendor.measured
    )
    return dict(Counter(_reason(run, partners[place]) for place in islice(places, _EXPLAINED)).most_common())


def _reason(run: PackedRun, place: int) -> str:
    if run.manifest is None:
        error = read_answer(run, place).error
        return error[:_LONGEST_REASON] if error else "failed"
    from toolcert.runs.encoding import decode_head

    head = decode_head(run.line(place))
    return (head.reason or str(head.outcome))[:_LONGEST_REASON]
