"""How soon the search finds a plan within 1 % of the optimum, beside random search and differential evolution."""
