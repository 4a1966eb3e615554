"""M-DGNN: published numbers against predicted, what they leave open, and hardware that the paper does not have."""
