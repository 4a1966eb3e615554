"""Which phases a plan runs, where, and on which mini-batch."""

from __future__ import annotations

import dataclasses

from perfmodel.spec.scenario import Scenario


@dataclasses.dataclass(frozen=True)
class Part:
    """A chain of phase files, each using the results of those before it.

    Attributes
    ----------
    chain : tuple of str
    each : str
        ``node_type``, ``relation``, ``table`` or ``tensor``: run for every one and added up; empty: run once.
    """

    chain: tuple[str, ...]
    each: str = ""


@dataclasses.dataclass(frozen=True)
class Step:
    """One phase of a plan as results show it.

    Attributes
    ----------
    name : str
        Name in results.
    parts : tuple of Part
        A part uses the added-up results of those before it; the last one gives the step's time.
    where : str
        Role of the device that runs it (``{where}`` in the nomenclature).
    stage : str
        Which device is busy meanwhile, for the overlap policies.
    batch : str
        Mini-batch that it works on (``{batch}``).
    """

    name: str
    parts: tuple[Part, ...]
    where: str
    stage: str
    batch: str = "batch"


SAMPLING = (
    Part(("renaming",), "node_type"),
    Part(("drawing",), "relation"),
    Part(("gathering",), "table"),
    Part(("sampling",)),
)


def _once(name: str, phase: str, where: str, stage: str, batch: str = "batch") -> Step:
    return Step(name, (Part((phase,)),), where, stage, batch)


def steps(scenario: Scenario) -> tuple[Step, ...]:
    """Return the steps of a scenario in the order of the data."""
    plan, link = scenario.plan, scenario.system.link
    training = _training(scenario)
    if link is None:
        return (Step("sampling", SAMPLING, "compute_node", "memory_node"), *training)
    sent = "batch" if plan.placement.sampling == "memory-node" else plan.fetch
    early = plan.placement.quantization == "memory-node"
    found = [Step("sampling" if sent == "batch" else f"{sent}_lookup", SAMPLING, "memory_node", "memory_node", sent)]
    if early:
        found.append(_once("quantization", "quantization", "memory_node", "memory_node", sent))
    sending = {"preallocated": "transfer", "regrown": "transfer_regrown"}[link.aggregation]
    chunks = Part(("tensor_volume", f"aggregation_{link.aggregation}", sending), "tensor")
    parts = (chunks, Part(("sending",))) if link.restart_time > 0 else (chunks,)
    found.append(Step("transfer", parts, "link", "link", sent))
    if early:
        found.append(_once("dequantization", "dequantization", "compute_node", "compute_node", sent))
    if sent == "neighborhood":
        found.append(_once("indexing", "indexing", "compute_node", "compute_node", sent))
    if sent != "batch":
        found.append(Step("sampling", SAMPLING, "compute_node", "compute_node"))
    if not early:
        found.append(_once("quantization", "quantization", "compute_node", "compute_node"))
    return (*found, *training)


def _training(scenario: Scenario) -> tuple[Step, ...]:
    """Return the steps from the compute node's memory to trained weights."""
    on_core = scenario.system.gpu.kind == "cpu"
    trains = _once("training", "training_on_core" if on_core else "training", "gpu", "gpu")
    if scenario.system.gpu_link is None:
        return (trains,)
    return (_once("gpu_copy", "gpu_copy", "gpu", "compute_node"), trains)


def memory_steps(scenario: Scenario) -> tuple[Step, ...]:
    """Return the memory needs of a scenario: the last result of each is what ``where`` needs."""
    plan = scenario.plan
    held = Part(("memory_graph", "memory_sampling"))
    local = scenario.system.link is None
    sent = "batch" if local or plan.placement.sampling == "memory-node" else plan.fetch
    found = [Step("memory_node", (held,), "memory_node", "", sent)]
    if not local:
        found.append(_once("compute_node", "memory_buffers", "compute_node", ""))
    if plan.preprocessing.feature_copies or plan.preprocessing.edge_copies:
        found.append(_once("preprocessing", "memory_preprocessing", "memory_node", ""))
    return (*found, _once("gpu", "memory_training", "gpu", ""))
