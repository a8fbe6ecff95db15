"""One module per probe; suites, scoring, reliability."""
