"""HTTP: connections, requests and responses, redirects, retries and limits."""
