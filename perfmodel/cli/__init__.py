"""The command line: one file per command, found by scanning this folder."""
