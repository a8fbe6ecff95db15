"""The chat completions protocol: event streams, plain answers, and their assembly into replies."""
