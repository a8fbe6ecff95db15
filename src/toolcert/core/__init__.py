"""Pure values and rules: no input, no output, nothing of the other packages."""
