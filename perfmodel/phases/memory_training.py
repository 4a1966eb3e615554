r"""GPU memory of training: the mini-batch, what the backward pass needs, and the largest set of messages.

.. math:: M = R + V_d + A + S + X + P

``S`` sums the activations that each layer keeps, ``X`` is the largest of the layers' messages with their gradients (a
materialized message for every edge is what fills the memory), ``A`` the adjacency in the form that layers use, ``P``
the weights with gradients and optimizer state; ``perfmodel.model.gnn_work`` counts them.

Worked number: 30.5 million edges with 602 features materialized are 73.5 GB.
"""

from perfmodel.phases._base import Phase, symbols

(decoded, adjacency, saved, messages, parameters, runtime) = symbols(
    "decoded_bytes adjacency_bytes saved_bytes message_bytes parameter_bytes runtime_bytes"
)

PHASE = Phase(
    name="memory_training",
    result="training_memory",
    unit="B",
    expression=runtime + decoded + adjacency + saved + messages + parameters,
    meaning="mini-batch, adjacency, activations, messages and weights",
    source="formulas_memory",
    assumption="the allocator wastes nothing",
)
