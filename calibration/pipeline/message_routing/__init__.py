"""A small fire-and-forget engine: an application that works on memory and emits messages, and an agent that routes them.

The agent runs on the application's core, in its turn, or in a process of its own on the spare core, with a ring of buffers
in shared memory between the two. The partners are the agent's: delivering to one enters its messages into its histogram.
So the application's core does the same work in both placements, and all that the spare core takes over is the agent's.
"""
