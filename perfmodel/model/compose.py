"""Which phases a plan runs, where, and on which mini-batch."""

from __future__ import annotations

import dataclasses

from perfmodel.spec.scenario import Scenario


@dataclasses.dataclass(frozen=True)
class Step:
    """One phase of a plan.

    Attributes
    ----------
    name : str
        Name in results.
    chain : tuple of str
        Phase files, each using the results of those before it; the last one's result is the step's time.
    where : str
        Role of the device that runs it (``{where}`` in the nomenclature).
    stage : str
        Which device is busy meanwhile, for the overlap policies.
    batch : str
        Mini-batch that it works on (``{batch}``).
    each_tensor : bool
        Run for every tensor of that mini-batch and added up.
    """

    name: str
    chain: tuple[str, ...]
    where: str
    stage: str
    batch: str = "batch"
    each_tensor: bool = False


def steps(scenario: Scenario) -> tuple[Step, ...]:
    """Return the steps of a scenario in the order of the data."""
    plan, link = scenario.plan, scenario.system.link
    training = (
        Step("gpu_copy", ("gpu_copy",), "gpu", "compute_node"),
        Step("training", ("training",), "gpu", "gpu"),
    )
    if link is None:
        return (Step("sampling", ("sampling",), "compute_node", "memory_node"), *training)
    sending = {
        "preallocated": ("tensor_volume", "aggregation_preallocated", "transfer"),
        "regrown": ("tensor_volume", "aggregation_regrown", "transfer_regrown"),
    }[link.aggregation]
    sent = "batch" if plan.placement.sampling == "memory-node" else plan.fetch
    early = plan.placement.quantization == "memory-node"
    found = [
        Step("sampling" if sent == "batch" else f"{sent}_lookup", ("sampling",), "memory_node", "memory_node", sent)
    ]
    if early:
        found.append(Step("quantization", ("quantization",), "memory_node", "memory_node", sent))
    found.append(Step("transfer", sending, "link", "link", sent, True))
    if early:
        found.append(Step("dequantization", ("dequantization",), "compute_node", "compute_node", sent))
    if sent != "batch":
        found.append(Step("sampling", ("sampling",), "compute_node", "compute_node"))
    if not early:
        found.append(Step("quantization", ("quantization",), "compute_node", "compute_node"))
    return (*found, *training)


def memory_steps(scenario: Scenario) -> tuple[Step, ...]:
    """Return the memory needs of a scenario: the last result of each chain is what ``where`` needs."""
    plan = scenario.plan
    if scenario.system.link is None:
        found = [Step("memory_node", ("memory_graph", "memory_sampling"), "memory_node", "")]
    elif plan.placement.sampling == "memory-node":
        found = [
            Step("memory_node", ("memory_graph", "memory_sampling"), "memory_node", ""),
            Step("compute_node", ("memory_buffers",), "compute_node", ""),
        ]
    else:
        found = [
            Step("memory_node", ("memory_graph", "memory_sampling"), "memory_node", "", plan.fetch),
            Step("compute_node", ("memory_buffers",), "compute_node", ""),
        ]
    if plan.preprocessing.feature_copies or plan.preprocessing.edge_copies:
        found.append(Step("preprocessing", ("memory_preprocessing",), "memory_node", ""))
    return (*found, Step("gpu", ("memory_training",), "gpu", ""))
