"""Reports of the history, one module per format."""
