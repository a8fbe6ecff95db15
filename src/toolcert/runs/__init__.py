"""The run log: writing, torn-tail repair, resume, reading."""
