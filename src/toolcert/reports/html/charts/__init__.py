"""Charts as SVG made of numbers and our own words only, so nothing a vendor wrote can reach their markup.

Places along the horizontal are given in percent: a chart is as wide as its cell, on a phone and on paper.
"""

from toolcert.reports.html.charts.course import clock, course, gutter
from toolcert.reports.html.charts.funnel import funnel_bar
from toolcert.reports.html.charts.rates import rate_axis, whisker
from toolcert.reports.html.charts.scores import blocks, presence, rows_bar, score_bar
from toolcert.reports.html.charts.times import box, strip, time_axis

__all__ = [
    "blocks",
    "box",
    "clock",
    "course",
    "funnel_bar",
    "gutter",
    "presence",
    "rate_axis",
    "rows_bar",
    "score_bar",
    "strip",
    "time_axis",
    "whisker",
]
