"""Console, JSON, JUnit, Markdown, CSV, HTML: each reads events or a finished run."""
