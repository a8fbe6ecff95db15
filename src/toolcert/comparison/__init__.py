"""Comparison: finished runs compared with a baseline, with statistics."""
