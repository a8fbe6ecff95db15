"""Rates and quantiles with their intervals, and tests that decide early."""
