"""From a graph to the mini-batch that a sampler is expected to draw from it.

``degrees`` turns published statistics into degree classes, ``profile`` holds the classes of every node type,
``minibatch`` walks the hops, ``sampler`` draws real batches to hold that against, ``readers`` and ``measure`` profile a
real graph file.
"""
