"""Reports of a comparison, one module per format."""
