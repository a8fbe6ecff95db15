"""Readers of run folders and of results files."""
