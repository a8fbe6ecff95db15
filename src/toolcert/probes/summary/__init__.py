"""What the records of a probe run add up to: tallies, scores and their sentences."""
