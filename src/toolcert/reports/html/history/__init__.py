"""The parts of the page of a history."""
