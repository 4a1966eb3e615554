"""From real graph files through to a prediction, beside what real samplers draw."""
