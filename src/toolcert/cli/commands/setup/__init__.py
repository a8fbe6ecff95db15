"""Commands that prepare a project or stand in for a vendor."""
