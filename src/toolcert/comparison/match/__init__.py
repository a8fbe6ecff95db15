"""Which row of a vendor answers the same request as which row of the baseline."""
