"""Commands about the endpoints themselves."""
