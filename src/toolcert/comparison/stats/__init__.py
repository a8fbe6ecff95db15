"""The statistics of a comparison."""
