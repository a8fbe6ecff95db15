"""A verification run: its plan, the judgement of a row, and what an earlier run left."""
