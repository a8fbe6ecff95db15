"""Comparison: finished runs held against a baseline, with statistics."""
