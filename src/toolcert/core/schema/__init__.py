"""Tool schemas: what they ask of arguments, and what judging them costs."""
