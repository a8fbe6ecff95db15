"""Reports of a verification run: console, page, tables, and the rows behind them."""
