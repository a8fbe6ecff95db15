"""A probe run: its schedule and its live conversations."""
