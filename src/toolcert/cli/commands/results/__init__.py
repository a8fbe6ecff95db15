"""Commands that read finished runs, datasets and the history."""
