"""Parts that the console reports share."""
