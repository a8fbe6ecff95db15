"""One step of the funnel: what is left, and hatched what was lost since the step before."""

from __future__ import annotations

from markupsafe import Markup

from toolcert.reports.html.charts.svg import block, fluid

HEIGHT = 26


def funnel_bar(left: int, before: int, whole: int, *, last: bool, fault: bool) -> Markup:
    """`last` is the step that counts; `fault` says that what was lost speaks against the vendor."""
    share = left / whole if whole else 0.0
    earlier = before / whole if whole else 0.0
    body = block(0, share, 0, HEIGHT, "step good" if last else "step")
    if before > left:
        body += block(share, earlier, 0, HEIGHT, "lost bad" if fault else "lost")
    return fluid(HEIGHT, body, f"{left} of {whole}")
