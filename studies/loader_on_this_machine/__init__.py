"""Loader settings and placement for two cores, from a calibrated profile."""
