"""The page of a verify run: what its template shows, worked out from the summary and the run log."""
