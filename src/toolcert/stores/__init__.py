"""Object stores: a folder or file at a URL, held by one writer at a time and worked on in a local mirror."""
