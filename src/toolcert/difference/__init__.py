"""Two runs of the same job held against each other: what changed, and whether chance explains it."""
