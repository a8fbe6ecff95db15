"""One module per dialect: auth, model listing, request shape, error reading."""
