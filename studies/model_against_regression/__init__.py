"""The calibrated model and a regression over end-to-end runs, on the same held-out runs of the pipeline."""
