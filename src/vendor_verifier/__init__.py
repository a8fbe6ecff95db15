"""A front door: the older tool of this name, translated onto toolcert."""
