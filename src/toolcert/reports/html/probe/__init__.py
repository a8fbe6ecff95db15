"""The page of a probe run: what its template shows, worked out from the summary."""
