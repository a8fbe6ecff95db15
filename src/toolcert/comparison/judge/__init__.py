"""From figures and evidence to one verdict per vendor."""
