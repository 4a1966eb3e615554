"""Laws of cost and throughput: one law = one file, found by scanning this folder; physically named, never a polynomial."""
