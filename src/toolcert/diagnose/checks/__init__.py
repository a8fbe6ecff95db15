"""The checks, each registered with its catalogue entry; every module in this folder is imported."""
