r"""GPU memory of training: the mini-batch, what the backward pass needs, and the largest set of messages.

.. math:: M = R + (1 + \phi)\,(V_d + A + S + X + P)

``S`` sums the activations that each layer keeps, ``X`` is the largest of the layers' messages with their gradients (a
materialized message for every edge is what fills the memory), ``A`` the adjacency in the form that layers use, ``P``
the weights with gradients and optimizer state; ``perfmodel.model.gnn_work`` counts them. A caching allocator holds
``phi`` beside that: freed blocks that no tensor fits.

Worked number: 30.5 million edges with 602 features materialized are 73.5 GB.
"""

from perfmodel.phases._base import Phase, symbols

(decoded, adjacency, saved, messages, parameters, runtime, overhead) = symbols(
    "decoded_bytes adjacency_bytes saved_bytes message_bytes parameter_bytes runtime_bytes allocator_overhead"
)

PHASE = Phase(
    name="memory_training",
    result="training_memory",
    unit="B",
    expression=runtime + (1 + overhead) * (decoded + adjacency + saved + messages + parameters),
    meaning="mini-batch, adjacency, activations, messages and weights",
    source="pyg_sparse_tensor",
    assumption="the edge index stays beside the adjacency; the optimizer keeps two moments",
)
