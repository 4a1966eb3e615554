"""LGNNIC's proof of concept in small, for real: a memory node and a compute node, each a process of its own.

The memory node samples, rounds and sends mini-batches chunk by chunk with acknowledgements; the compute node puts the
chunks together, widens them and trains. Every phase has a clock. Runs of it validate the model; nothing is fitted to
them: constants come from the kernels, which time these same parts one by one.
"""
