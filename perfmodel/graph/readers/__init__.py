"""Readers of graph files: one format = one file, found by scanning this folder; each streams chunks of edges."""
