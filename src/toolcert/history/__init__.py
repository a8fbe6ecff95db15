"""The store of finished runs: import, export, trends, drift."""
