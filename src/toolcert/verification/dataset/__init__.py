"""Datasets of recorded requests: their files, lines, selections and inspection."""
