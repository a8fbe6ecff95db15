"""Reports about the difference of runs."""
