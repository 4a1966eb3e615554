"""Draws the README's tables from the answer."""

from __future__ import annotations

from typing import Final

from studies._base import Answer, between, figure, markdown, percent
from studies.real_graphs.samplers import SEMANTICS

#: Expected without a correction, with that of the first setting, with one measured at every setting.
KINDS: Final = ("mean_field", "corrected", "corrected_here")
LIBRARIES: Final = {"pyg": "PyG", "dgl": "DGL"}


def tables(answer: Answer) -> dict[str, str]:
    """Return the README's tables."""
    return {
        "graphs": _graph_table(answer),
        "summary": _summary_table(answer),
        "batches": _batch_table(answer),
        "predictions": _prediction_table(answer),
        "windows": _window_table(answer),
        "last-neighbors": _last_table(answer),
    }


def _graph_table(answer: Answer) -> str:
    rows = [
        [
            name, found["source"], f"{found['nodes']:,}", f"{found['edges']:,}", str(found["relations"]),
            f"{found['mean_degree']:.2f}", f"{found['degree_cv']:.2f}", f"{found['max_degree']:,}",
            "-" if not found["repeated_edges"] else f"{found['repeated_edges']:,}",
            ", ".join("none" if reach is None else figure(reach) for reach in found["reach"]),
        ]
        for name, found in answer["graphs"].items()
    ]  # fmt: skip
    header = [
        "graph", "source", "nodes", "edges", "relations", "mean in-degree", "spread", "largest", "repeats", "reach by hop",
    ]  # fmt: skip
    return markdown(header, rows, numbers_from=2)


def _summary_table(answer: Answer) -> str:
    rows = [
        [
            name,
            *(
                percent(found[kind][quantity], 1)
                for kind in ("mean_field", "first", "corrected", "corrected_here")
                for quantity in ("nodes", "edges")
            ),
        ]
        for name, found in answer["summary"].items()
    ]
    header = ["graph"]
    for words in ("plain", "corrected, first setting", "same correction, other settings", "corrected at each setting"):
        header += [f"{words}: nodes", "edges"]
    return markdown(header, rows)


def _batch_table(answer: Answer) -> str:
    rows = []
    for name, found in answer["graphs"].items():
        for setting in found["settings"]:
            for semantics in SEMANTICS:
                part = setting[semantics]
                library, own = part["library"], part["own"]
                cells = [
                    name,
                    f"{setting['batch']}",
                    ",".join(map(str, setting["fanout"])),
                    LIBRARIES[semantics],
                ]
                for quantity in ("nodes", "edges"):
                    cells += [
                        _mean(library, quantity),
                        f"{100 * (own[quantity] / library[quantity] - 1):+.1f} %",
                        *(f"{100 * part[kind][f'{quantity}_off']:+.1f} %" for kind in ("mean_field", "corrected")),
                    ]
                rows.append(cells)
    header = [
        "graph", "batch", "fanout (seeds outward)", "sampler", "nodes drawn", "our sampler", "expected, plain", "corrected",
        "edges drawn", "our sampler", "expected, plain", "corrected",
    ]  # fmt: skip
    return markdown(header, rows, numbers_from=4)


def _mean(means: Answer, quantity: str) -> str:
    """Return a mean with its standard error."""
    mean, error = means[quantity], means[f"{quantity}_error"]
    return f"{figure(mean, 4)} ± {figure(error, 2)}"


def _prediction_table(answer: Answer) -> str:
    rows = []
    for name, found in answer["graphs"].items():
        part, setting = found["prediction"], found["settings"][0]
        rows.append(
            [
                name, f"{setting['batch']}", ",".join(map(str, setting["fanout"])), f"{part['bytes'] / 1e6:,.2f}",
                f"{figure(1e3 * part['time_s'])} ({between([1e3 * bound for bound in part['interval_s']])})",
                part["bottleneck"], f"{figure(part['speedup'])} ({between(part['speedup_interval'])})",
            ]
        )  # fmt: skip
    header = ["graph", "batch", "fanout", "sent [MB]", "mini-batch [ms]", "bottleneck", "offload against frontier"]
    return markdown(header, rows, numbers_from=3)


def _window_table(answer: Answer) -> str:
    rows = [
        [
            str(found["hour"]), str(found["nodes"]), f"{found['edges']:,}", f"{found['mean_degree']:.1f}",
            percent(found["kept_share"]), _mean(found["own"], "nodes"),
            *(f"{100 * found[kind]['nodes_off']:+.1f} %" for kind in KINDS),
        ]
        for found in answer["windows"]
    ]  # fmt: skip
    header = [
        "hour", "nodes", "edges", "mean degree", "edges kept from the hour before", "nodes drawn", "expected, plain",
        "with the correction of the hour before", "with its own",
    ]  # fmt: skip
    return markdown(header, rows, numbers_from=0)


def _last_table(answer: Answer) -> str:
    rows = [[name, f"{ratio:.3f}"] for name, ratio in answer["last_neighbors"].items()]
    return markdown(["sampler", "drawn, over what is uniform"], rows)
