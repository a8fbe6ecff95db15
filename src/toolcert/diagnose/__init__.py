"""One small function per finding, registered with its catalogue entry."""
