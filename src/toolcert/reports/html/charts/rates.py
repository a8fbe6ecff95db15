"""Rates, scores and counts as small marks beside a number."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from toolcert.core.statistics.rates import Rate
from toolcert.reports.html.charts.svg import DIAMOND, across, block, dot, end_anchor, fixed, fluid, mark, text, upright

RATE_HEIGHT = 18


def whisker(rate: Rate, threshold: float) -> Markup:
    """Filled dot: the lower bound is above the threshold; open dot: only the rate is; diamond: the rate is below."""
    if rate.value is None or rate.low is None or rate.high is None:
        return Markup("")
    middle = RATE_HEIGHT / 2
    proven, reached = rate.low >= threshold, rate.value >= threshold
    tone = "ok" if proven else "warn" if reached else "bad"
    point = (
        dot(rate.value, middle, "fill" if proven else "open") if reached else mark(rate.value, middle, DIAMOND, "fill")
    )
    whiskers = (
        across(rate.low, rate.high, middle, "stroke")
        + upright(rate.low, middle - 3, middle + 3, "stroke")
        + upright(rate.high, middle - 3, middle + 3, "stroke")
    )
    body = across(0, 1, middle, "grid") + upright(threshold, 1, RATE_HEIGHT - 1, "limit")
    body += f'<g class="t-{tone}">{whiskers}{point}</g>'
    return fluid(RATE_HEIGHT, body, f"{rate.k} of {rate.n}, 95 % interval {rate.low:.2f} to {rate.high:.2f}")


def rate_axis(threshold: float) -> Markup:
    """The head of the column: where 0, the middle and the threshold are."""
    marks = [(0.0, ""), (0.5, ""), (threshold, "strong")]
    if threshold < 0.85:
        marks.append((1.0, ""))
    shown = [(place, style) for place, style in marks if style or abs(place - threshold) > 0.12]
    body = "".join(text(place, 11, f"{place:g}", anchor=end_anchor(place), style=style) for place, style in shown)
    return fluid(14, body, f"axis from 0 to 1, threshold {threshold:g}")


BLOCKS = 24
"""Most models with a block each; with more models the length is to scale."""
_TONES = {"good": "ok", "half": "warn", "bad": "bad", "cannot": "mute", "unknown": "mute"}


def score_bar(low: float, high: float) -> Markup:
    """Points of 100 as a thin bar; points that are still open are hatched."""
    width, height = 72, 6
    body = f'<path class="track" d="M0 3H{width}"/>'
    if high > low:
        body += f'<path class="maybe" d="M{low * width / 100:.1f} 3H{high * width / 100:.1f}"/>'
    tone = "ok" if low >= 90 else "warn" if low >= 50 else "bad"
    body += f'<path class="t-{tone} bar" d="M0 3H{low * width / 100:.1f}"/>'
    return fixed(width, height, body, f"score {low:.0f} of 100")


def blocks(role: str, number: int, whole: int) -> Markup:
    """One block per model: filled if good, half filled if partial, open otherwise."""
    step, height = (9.0, 11) if whole <= BLOCKS else (9.0 * BLOCKS / whole, 11)
    if whole > BLOCKS:
        return fixed(max(2, number * step), height, _long(role, number * step, height), f"{number} of {whole}")
    body = "".join(_block(role, place * step, step - 2, height) for place in range(number))
    return fixed(number * step, height, f'<g class="t-{_TONES[role]}">{body}</g>', f"{number} of {whole}")


def _long(role: str, length: float, height: int) -> str:
    return f'<g class="t-{_TONES[role]}">{_block(role, 0, max(2, length), height)}</g>'


def _block(role: str, x: float, width: float, height: int) -> str:
    if role == "good":
        return f'<rect class="fill" x="{x:g}" y="0" width="{width:g}" height="{height}" rx="1"/>'
    frame = f'<rect class="stroke" x="{x + 0.6:g}" y=".6" width="{width - 1.2:g}" height="{height - 1.2:g}" rx="1"/>'
    if role != "half":
        return frame
    return f'{frame}<rect class="fill" x="{x:g}" y="{height / 2:g}" width="{width:g}" height="{height / 2:g}" rx="1"/>'


def presence(affected: Sequence[bool], tone: str) -> Markup:
    """One bar per model in the order of the ranking, filled and higher if it is affected."""
    step = 7.0 if len(affected) <= 20 else 140 / len(affected)
    width, height = step * len(affected), 12
    bars = {False: "", True: ""}
    for place, hit in enumerate(affected):
        top = 0 if hit else 3
        bars[hit] += f"M{(place + 0.5) * step:.1f} {top}V{height - top}"
    thick = max(1.0, step - 2)
    body = (
        f'<path class="bars t-mute faded" stroke-width="{thick:g}" d="{bars[False]}"/>'
        f'<path class="bars t-{tone}" stroke-width="{thick:g}" d="{bars[True]}"/>'
    )
    return fixed(width, height, body, f"in {sum(affected)} of {len(affected)} models, by rank")


def rows_bar(number: int, longest: int, tone: str) -> Markup:
    """Rows with a finding, to the scale of the list, which begins at 0."""
    width, height = 130, 8
    length = max(1.0, width * number / max(1, longest))
    body = f'<path class="track thick" d="M0 4H{width}"/><path class="bar thick t-{tone}" d="M0 4H{length:.1f}"/>'
    return fixed(width, height, body, f"{number} rows")


FUNNEL_HEIGHT = 26


def funnel_bar(left: int, before: int, whole: int, *, last: bool, bad: int) -> Markup:
    """`last` is the deciding step; `bad` of the lost rows count against the vendor."""
    share, spoilt, earlier = (rows / whole if whole else 0.0 for rows in (left, left + bad, before))
    body = block(0, share, 0, FUNNEL_HEIGHT, "step good" if last else "step")
    if bad:
        body += block(share, spoilt, 0, FUNNEL_HEIGHT, "lost bad")
    if before > left + bad:
        body += block(spoilt, earlier, 0, FUNNEL_HEIGHT, "lost")
    return fluid(FUNNEL_HEIGHT, body, f"{left} of {whole}")
