"""All probes: a class with `@probe` in a module of this room is found, and the probes of a module share a subject."""
