"""Degree spreads of ogbn-mag from a real mini-batch that PyG's documentation prints.

ogbn-mag's degree statistics aren't published, but PyG's tutorial on heterogeneous graphs prints what ``NeighborLoader``
drew from 128 papers with 15 neighbors a relation over two hops, after ``ToUndirected``
(pyg-team/pytorch_geometric, docs/source/tutorial/heterogeneous.rst). Four spreads are fitted to its counts; they stand in
``graphs/ogbn-mag``. Nothing of LGNNIC's table enters.

    python -m calibration.published.ogbn_mag
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.fit import Constant, Fit, fit
from perfmodel.graph.from_spec import expected_batch
from perfmodel.spec.scenario import load_scenario

Array = NDArray[np.float64]

BATCH: Final = 128
FANOUT: Final = (15, 15)
NODES: Final = {"paper": 20799, "author": 4419, "institution": 302, "field_of_study": 2605}
EDGES: Final = {
    "author-writes-paper": 5927,
    "paper-cites-paper": 11829,
    "paper-has_topic-field_of_study": 10573,
    "institution-rev_affiliated_with-author": 829,
    "paper-rev_writes-author": 5512,
    "field_of_study-rev_has_topic-paper": 10499,
}
#: One batch says little of edges of single relations, which its seeds scatter; of distinct nodes it says more.
NODES_ERROR: Final = 0.03
EDGES_ERROR: Final = 0.10
SPREADS: Final = (
    ("paper", "authors", 4.0),
    ("paper", "citations", 4.6),
    ("field_of_study", "papers", 24.0),
    ("institution", "members", 11.0),
)


def constants() -> list[Constant]:
    """Return the spreads as constants to fit."""
    return [
        Constant("graphs/ogbn-mag", (f"node_types.{kind}.degrees.{slot}.cv",), start, (0.3, 60.0), "", "degree spread")
        for kind, slot, start in SPREADS
    ]


def drawn(values: Array) -> Array:
    """Return the expected counts under some spreads: nodes by type, then edges by relation."""
    changes = {
        f"workload.graph.{constant.fields[0]}": float(value)
        for constant, value in zip(constants(), values, strict=True)
    }
    scenario = load_scenario("ogbn-mag", "lgnnic-local", changes={**changes, "workload.sampling.batch": BATCH})
    batch = expected_batch(scenario.workload, FANOUT)
    nodes, edges = batch.nodes_by_type, batch.edges_by_relation
    return np.array([*(nodes[name] for name in NODES), *(edges[name] for name in EDGES)])


def fitted() -> Fit:
    """Fit the spreads to the printed batch."""
    measured = np.array([*NODES.values(), *EDGES.values()], dtype=float)
    error = np.array([NODES_ERROR] * len(NODES) + [EDGES_ERROR] * len(EDGES))
    return fit(drawn, measured, error, constants())


if __name__ == "__main__":
    outcome = fitted()
    for constant, value, interval in zip(constants(), outcome.values, outcome.intervals(), strict=True):
        print(f"{constant.fields[0]} = {value:.4g} (90 % interval {interval[0]:.3g} to {interval[1]:.3g})")
    for name, residual in zip((*NODES, *EDGES), outcome.residuals, strict=True):
        print(f"{name}: expected {np.expm1(residual):+.1%} against the printed batch")
