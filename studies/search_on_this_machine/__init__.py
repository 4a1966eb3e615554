"""Whether the plan that a search picks for the machine at hand is fast when it is run for real."""
