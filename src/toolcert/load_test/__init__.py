"""Load runs: the same questions alone and many at a time, compared in pairs."""
