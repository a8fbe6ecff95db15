"""Reports of a verification run, one module per format."""
