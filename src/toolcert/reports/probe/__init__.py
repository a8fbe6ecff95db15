"""Reports of a probe run, one module per format."""
