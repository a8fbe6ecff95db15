"""Charts as SVG made of numbers and our own words only, so nothing a vendor wrote can reach their markup.

Places along the horizontal are given in percent: a chart is as wide as its cell, on a phone and on paper.
"""
