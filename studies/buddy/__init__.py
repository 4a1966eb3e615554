"""Whether the memory-to-communication ratio predicts when routing messages on a DPU pays, and on what hardware."""
