"""The scheduler: plan in, events out."""
