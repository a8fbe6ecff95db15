"""The page of a comparison: what its template shows, worked out from the result."""
