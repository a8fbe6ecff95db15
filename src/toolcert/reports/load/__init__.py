"""Reports of a load run."""
