"""What the rows of a verification add up to."""
