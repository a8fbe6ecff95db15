"""Two runs of the same job compared: what changed, and whether chance explains it."""
