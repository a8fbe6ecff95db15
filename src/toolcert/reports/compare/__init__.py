"""Reports of a comparison: console, page, tables, and the words they share."""
