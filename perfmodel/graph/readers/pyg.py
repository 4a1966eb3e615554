"""PyTorch Geometric ``Data`` and ``HeteroData`` saved by ``torch.save``, and plain ``{"edge_index": tensor}``.

Only tensors and the named classes of PyTorch Geometric are unpickled; whatever else a file asks for is refused.
"""

from __future__ import annotations

import importlib
import pickle
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from perfmodel.errors import SpecError
from perfmodel.graph.readers._base import CHUNK_EDGES, ONLY, Chunk, EdgeStream, Reader, RelationKey, integer_ids

_INSTALL = "pip install 'perfmodel[pyg]'"
_STORED = {
    "torch_geometric.data.data": ("Data", "DataEdgeAttr", "DataTensorAttr"),
    "torch_geometric.data.hetero_data": ("HeteroData",),
    "torch_geometric.data.storage": ("BaseStorage", "GlobalStorage", "NodeStorage", "EdgeStorage"),
    "torch_geometric.data.feature_store": ("TensorAttr",),
    "torch_geometric.data.graph_store": ("EdgeAttr", "EdgeLayout"),
    "torch_sparse.tensor": ("SparseTensor",),
    "torch_sparse.storage": ("SparseStorage",),
}


def _recognizes(path: Path, head: bytes) -> bool:
    return b".pkl" in head or b"/data.pkl" in head or head.startswith(b"\x80\x02")


def _open(path: Path) -> EdgeStream:
    edges, counts = _parts(_one_graph(_load(path), path), path)
    return EdgeStream(_chunks(edges, path), counts, path.stat().st_size)


def _one_graph(loaded: Any, path: Path) -> Any:
    """Return the graph out of a list of one, or out of (data, slices, class) of an InMemoryDataset."""
    if not isinstance(loaded, tuple | list) or not loaded:
        return loaded
    slices = loaded[1] if len(loaded) > 1 else None
    many = isinstance(slices, Mapping) and any(_is_tensor(ends) and ends.numel() > 2 for ends in slices.values())
    if many or (slices is not None and not isinstance(slices, Mapping)):
        raise SpecError(str(path), "must hold one graph", "several")
    return loaded[0]


def _load(path: Path) -> Any:
    try:
        import torch
    except ImportError as error:
        raise SpecError(str(path), "a .pt file needs torch", "no torch installed", _INSTALL) from error
    try:
        with torch.serialization.safe_globals(_safe_classes()):
            return torch.load(path, map_location="cpu", weights_only=True, mmap=_zipped(path))
    except pickle.UnpicklingError as error:
        text = str(error)
        if "torch_geometric" in text and not _safe_classes():
            raise SpecError(str(path), "needs torch_geometric", "no torch_geometric installed", _INSTALL) from error
        refused = text.split("Please file")[0].split("WeightsUnpickler error:")[-1]
        raise SpecError(str(path), "must hold tensors and PyG graphs only", refused) from error
    except (RuntimeError, EOFError, ValueError, OSError, AttributeError, TypeError, KeyError) as error:
        raise SpecError(str(path), "must be a whole file saved by torch.save", error) from error


def _zipped(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _safe_classes() -> list[Any]:
    found = []
    for module, names in _STORED.items():
        try:
            with warnings.catch_warnings():  # torch deprecates what these libraries are built with
                warnings.simplefilter("ignore")
                loaded = importlib.import_module(module)
        except (ImportError, OSError):
            continue
        found += [getattr(loaded, name) for name in names if hasattr(loaded, name)]
    return found


def _parts(data: Any, path: Path) -> tuple[dict[RelationKey, Any], dict[str, int]]:
    """Return the edge index of every relation, and the number of nodes of every type where it is told."""
    if isinstance(data, Mapping) and not _is_tensor(data.get("edge_index")):
        rule = "must hold an edge_index"
        raise SpecError(str(path), rule, f"a dict of {', '.join(map(str, list(data)[:8])) or 'nothing'}", "edge_index")
    if hasattr(data, "edge_types") and hasattr(data, "node_types"):
        edges = {(str(s), str(r), str(t)): _edge_index(data[s, r, t], path) for s, r, t in data.edge_types}
        counts = {name: _node_count(data[name]) for name in data.node_types}
    elif _is_tensor(data):
        edges, counts = {ONLY: data}, {}
    else:
        edges, counts = {ONLY: _edge_index(data, path)}, {"node": _node_count(data)}
    if not edges:
        raise SpecError(str(path), "must hold edges", "a graph without relations")
    return edges, {name: count for name, count in counts.items() if count is not None}


def _edge_index(store: Any, path: Path) -> Any:
    found = _get(store, "edge_index")
    if found is None:
        turned = _get(store, "adj_t")
        if turned is not None and hasattr(turned, "coo"):  # torch_sparse keeps it by target
            import torch

            target, source, _ = turned.coo()
            return torch.stack([source, target])
        raise SpecError(str(path), "must hold an edge_index", type(store).__name__, "edge_index")
    return found


def _get(store: Any, name: str) -> Any:
    if isinstance(store, Mapping):
        return store.get(name)
    try:
        return store[name] if name in store else getattr(store, name, None)
    except (TypeError, KeyError):
        return getattr(store, name, None)


def _node_count(store: Any) -> int | None:
    """Return the number of nodes, from ``num_nodes`` or the rows of features, labels or masks."""
    count = _get(store, "num_nodes") if isinstance(store, Mapping) or "num_nodes" in store else None
    if isinstance(count, int):
        return count
    for name in ("x", "y", "train_mask", "pos", "node_id", "n_id"):
        values = _get(store, name)
        if _is_tensor(values) and values.dim() > 0:
            return int(values.shape[0])
    return None


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _chunks(edges: Mapping[RelationKey, Any], path: Path) -> Iterator[Chunk]:
    total = path.stat().st_size
    size = sum(int(index.shape[-1]) for index in edges.values() if _is_tensor(index) and index.dim())
    done = 0
    for relation, index in edges.items():
        where = f"{path}: {relation[1]}"
        if not _is_tensor(index) or index.dim() != 2 or index.shape[0] != 2:
            got = f"shape {tuple(index.shape)}" if _is_tensor(index) else type(index).__name__
            raise SpecError(where, "edge_index must have the shape (2, edges)", got)
        for first in range(0, int(index.shape[1]), CHUNK_EDGES):
            part = index[:, first : first + CHUNK_EDGES].numpy()
            done += part.shape[1]
            reached = total * done // max(size, 1)
            yield Chunk(integer_ids(part[0], where), integer_ids(part[1], where), reached, relation)


READER = Reader(
    name="pyg",
    suffixes=(".pt", ".pth"),
    meaning="a PyTorch Geometric graph",
    recognizes=_recognizes,
    open=_open,
)
