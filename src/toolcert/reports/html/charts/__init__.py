"""Charts as SVG made of numbers and our own words only, so nothing a vendor wrote can reach their markup.

Places along the horizontal are given in percent: a chart is as wide as its cell, on a phone and on paper.
"""

from toolcert.reports.html.charts.confusion import confusion
from toolcert.reports.html.charts.course import clock, course, gutter
from toolcert.reports.html.charts.forest import forest, forest_axis, margin_plot
from toolcert.reports.html.charts.funnel import funnel_bar
from toolcert.reports.html.charts.histogram import histogram
from toolcert.reports.html.charts.rates import rate_axis, whisker
from toolcert.reports.html.charts.scores import blocks, presence, rows_bar, score_bar
from toolcert.reports.html.charts.times import box, strip, time_axis

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
    "strip",
    "time_axis",
    "whisker",
]
