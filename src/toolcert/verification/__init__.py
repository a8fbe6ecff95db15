"""Verification: the rows of a dataset, asked of one target and judged one by one."""
