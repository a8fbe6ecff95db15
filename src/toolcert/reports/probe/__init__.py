"""Reports of a probe run: console, page, tables, and the words they share."""
