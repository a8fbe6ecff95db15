"""Row matching, metrics, tests, verdicts, leaderboard."""
