"""How each kind of server is spoken to: one module per dialect."""
