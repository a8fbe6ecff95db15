"""Reports of the history: console, page, and the section of a README."""
