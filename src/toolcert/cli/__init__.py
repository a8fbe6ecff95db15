"""One module per command: reads options, calls the library, prints."""
