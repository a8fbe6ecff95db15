"""Charts as SVG made of numbers and our own words only, so nothing a vendor wrote can reach their markup.

Places along the horizontal are given in percent: a chart is as wide as its cell, on a phone and on paper.
"""

from toolcert.reports.html.charts.agreement import confusion, forest, forest_axis, histogram, margin_plot
from toolcert.reports.html.charts.rates import blocks, funnel_bar, presence, rate_axis, rows_bar, score_bar, whisker
from toolcert.reports.html.charts.times import box, clock, course, gutter, spans, strip, time_axis

__all__ = [
    "blocks",
    "box",
    "clock",
    "confusion",
    "course",
    "forest",
    "forest_axis",
    "funnel_bar",
    "gutter",
    "histogram",
    "margin_plot",
    "presence",
    "rate_axis",
    "rows_bar",
    "score_bar",
    "spans",
    "strip",
    "time_axis",
    "whisker",
]
