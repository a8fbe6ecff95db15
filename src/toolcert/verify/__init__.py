"""Dataset reading, model adapters, replay, summary."""
