"""``perfmodel graph``: degree profile of a real graph and its expected mini-batch."""

from __future__ import annotations

import contextlib
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

import perfmodel
from perfmodel.cli.options import json_option
from perfmodel.cli.output import warn, write_json, write_line, write_table
from perfmodel.errors import SpecError

if TYPE_CHECKING:
    from perfmodel.graph.measure import MeasuredGraph


@click.command("graph")
@click.argument("file")
@click.option("--batch", default="1024", metavar="N", help="Seeds per mini-batch [default: 1024].")
@click.option(
    "--fanout", default="15,10,5", metavar="K,K,..", help="Neighbors per hop, -1 keeps all [default: 15,10,5]."
)
@click.option("--semantics", default="pyg", metavar="pyg|dgl", help="Whose sampler [default: pyg].")
@click.option("--symmetrize", is_flag=True, help="Add the reverse of every edge.")
@click.option("--features", default="100", metavar="N", help="Elements of a feature row, for --out [default: 100].")
@click.option("--name", metavar="NAME", help="Name of the workload [default: the file's].")
@click.option("--seed", default=0, show_default=True, help="Seed of the batches that measure clustering.")
@click.option("--out", metavar="WORKLOAD.toml", help="Write a workload to predict with.")
@json_option
def command(
    file: str,
    batch: str,
    fanout: str,
    semantics: str,
    symmetrize: bool,
    features: str,
    name: str | None,
    seed: int,
    out: str | None,
    as_json: bool,
) -> None:
    """Profile the graph in FILE and say what mini-batch to expect from it.

    FILE is an edge list as text or CSV (also .gz), Matrix Market, a SciPy sparse .npz, a NumPy .npy or .npz of a 2 x E
    edge index, or a PyG Data or HeteroData saved by torch.
    """
    from perfmodel.graph.measure import measure_graph
    from perfmodel.graph.to_spec import workload_table
    from perfmodel.spec._base import Within, build
    from perfmodel.spec.families.sampled_training import Sampling, Workload

    sampling = build(
        Sampling,
        {"batch": batch, "fanout": fanout, "semantics": semantics, "seeds": {"node_type": "node", "nodes": 1}},
        "graph",
    )
    dimension = _number(Within(""), features, "--features")
    with _progress(file) as report:
        measured = measure_graph(
            file, progress=report, batch=int(sampling.batch), fanout=sampling.fanout, semantics=sampling.semantics,
            symmetrize=symmetrize, seed=seed,
        )  # fmt: skip
    called = (name or pathlib.Path(file).name.split(".")[0]).encode("utf-8", "replace").decode("utf-8")
    table = workload_table(measured, called, sampling.batch, sampling.fanout, sampling.semantics, dimension)
    expected = _expected(build(Workload, table, called))
    if out is not None:
        if pathlib.Path(out).exists() and pathlib.Path(out).samefile(file):
            raise SpecError("--out", "must not be the graph itself", repr(out), f"{called}.toml")
        _write_toml(out, table)
    document = _document(measured, expected, file)
    if as_json:
        write_json(document)
    else:
        _write(document, out)
    for warning in measured.warnings:
        warn(warning)


def _number(bounds: Any, text: str, where: str) -> float:
    try:
        return float(bounds.check(text))
    except ValueError as error:
        raise SpecError(where, str(error), repr(text)) from None


@contextlib.contextmanager
def _progress(file: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show how much of the file is read, on a terminal and only once that takes a while."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(pathlib.Path(file).name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _expected(workload: Any) -> dict[str, Any]:
    from perfmodel.graph.from_spec import sampled_batch

    drawn = sampled_batch(workload).minibatch
    hops = [{"nodes": sum(hop.nodes.values()), "edges": sum(hop.edges.values())} for hop in drawn.hops]
    return {
        "nodes": drawn.nodes,
        "edges": drawn.edges,
        "per_hop": hops,
        "nodes_by_type": drawn.nodes_by_type,
        "edges_by_relation": drawn.edges_by_relation,
    }


def _document(measured: MeasuredGraph, expected: dict[str, Any], file: str) -> dict[str, Any]:
    drawn = [
        {
            "nodes": hop.nodes,
            "nodes_error": hop.nodes_error,
            "edges": hop.edges,
            "edges_error": hop.edges_error,
            "mean_field_nodes": hop.mean_field_nodes,
            "mean_field_edges": hop.mean_field_edges,
        }
        for hop in measured.hops
    ]
    return {
        "schema": 1,
        "perfmodel": perfmodel.__version__,
        "inputs": {file: measured.sha256},
        "nodes": measured.nodes,
        "edges": measured.edges,
        "mean_degree": measured.mean_degree,
        "degree_cv": measured.degree_cv,
        "max_degree": measured.max_degree,
        "symmetric": measured.symmetric,
        "self_loops": measured.self_loops,
        "isolated": measured.isolated,
        "repeated_edges": measured.repeated_edges,
        "reach": list(measured.reach),
        "expected": expected,
        "drawn": drawn,
        "warnings": list(measured.warnings),
    }


def _write(document: dict[str, Any], out: str | None) -> None:
    both = "stored in both directions" if document["symmetric"] else "directed"
    write_line(
        f"{document['nodes']:,} nodes, {document['edges']:,} edges, {both}; in-degree {document['mean_degree']:.2f} on "
        f"average, {document['degree_cv']:.2f} times that in spread, at most {document['max_degree']:,}"
    )
    expected, drawn = document["expected"]["per_hop"], document["drawn"]
    rows = []
    for depth, hop in enumerate(expected):
        row = ["seeds" if depth == 0 else str(depth), f"{hop['nodes']:,.0f}", f"{hop['edges']:,.0f}"]
        if drawn:
            seen = drawn[depth]
            row += [f"{seen['nodes']:,.0f}", f"{seen['edges']:,.0f}", f"{seen['mean_field_nodes']:,.0f}"]
        rows.append(row)
    header = ["hop", "new nodes", "edges"] + ["nodes drawn", "edges drawn", "nodes without correction"] * bool(drawn)
    write_table("expected mini-batch", header, rows, numbers=range(1, len(header)))
    write_line(f"in all {document['expected']['nodes']:,.0f} nodes, {document['expected']['edges']:,.0f} edges")
    if out is not None:
        write_line(f"workload written to {out}: perfmodel predict {out} --system lgnnic-doca-dma")


def _write_toml(out: str, table: dict[str, Any]) -> None:
    import tomli_w

    if not out.strip() or "\0" in out:
        raise SpecError("--out", "must be the path of a file", repr(out), "workload.toml")
    path = pathlib.Path(out)
    if path.is_dir():
        raise SpecError(out, "must be a file", "a directory")
    try:
        path.write_text(tomli_w.dumps(table), encoding="utf-8")
    except OSError as error:
        raise SpecError(out, "must be writable", error.strerror) from None
