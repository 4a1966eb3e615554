"""The same noisy points through perfmodel's laws and through Extra-P, side by side."""
