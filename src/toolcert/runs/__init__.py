"""Run folders: the log is written, repaired, resumed and read here."""
