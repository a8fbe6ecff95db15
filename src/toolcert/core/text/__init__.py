"""Text and JSON as values: parsed, compared, shortened, made safe to show."""
