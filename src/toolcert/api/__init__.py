"""The library: what users call, wired together from the rooms."""
