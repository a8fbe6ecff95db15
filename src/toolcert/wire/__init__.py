"""Bytes in and out: HTTP, event streams, timeouts, retries, adaptive concurrency."""
