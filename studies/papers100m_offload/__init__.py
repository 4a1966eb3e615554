"""Offloading the sampling of ogbn-papers100M to BlueField-3 cards: whether it pays, and up to which link."""
