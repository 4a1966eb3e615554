"""Holds the model against M-DGNN's published numbers, varies what they leave open, and asks about other hardware."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from calibration.published import mdgnn
from calibration.published.mdgnn_quantities import Quantities
from calibration.published.mdgnn_table import DATASETS, Configuration, Published
from studies._base import Answer, Study, between, figure, markdown, percent
from studies.mdgnn.assumptions import crossed, varied
from studies.mdgnn.hardware import DEVICES, law, on_hardware, over_devices

DEPTHS: Final = (4, 16, 32)
CASES: Final = (("reddit", 4), ("reddit", 32), ("amazon", 4), ("amazon", 32))
_KEPT: Final = (
    "id", "system", "baseline", "dataset", "layers", "csds", "quantity", "measured", "predicted", "ape", "interval",
    "inside_interval", "properties",
)  # fmt: skip


def compute() -> Answer:
    """Validate, leave rows out, vary assumptions, and predict what the paper does not have."""
    quick = checked()
    rows = mdgnn.read_table()
    outside = {row["id"] for row in quick["rows"] if "contradicted" in row["properties"]}
    return {**quick, "left_out": crossed(rows, outside), "assumptions": varied(rows, outside)}


def checked() -> Answer:
    """Return all of the answer that needs no further fit."""
    found = mdgnn.validate()
    scaling = {
        row["id"]: (row["measured"], int(row["layers"]))
        for row in found["rows"]
        if row["quantity"] == "throughput over 1 CSD" and row["system"] == "m-dgnn"
    }
    return {
        "rows": [{name: row[name] for name in _KEPT} for row in found["rows"]],
        "summary": found["summary"],
        "conflicts": found["conflicts"],
        "fitted_parameters": found["fitted_parameters"],
        "law": law(scaling),
        "figure_8": end_to_end(),
        "devices": {f"{dataset}, {layers} layers": over_devices(dataset, layers) for dataset, layers in CASES},
        "hardware": {f"{dataset}, {layers} layers": on_hardware(dataset, layers) for dataset, layers in CASES[::3]},
    }


def end_to_end() -> Answer:
    """Return throughput over M-Base of all systems, datasets and depths of Figure 8, which prints no numbers."""
    systems = ("esdg", "blad", "dgc", "m-p2p", "m-dgnn")
    row = Published("", "normalized throughput", "", "m-base", 4, (), 1.0, 0.0, "x", "point", ())
    asked = {
        (dataset, layers, system): row._replace(
            id=f"{system} {dataset} {layers}", system=system, configurations=(Configuration(dataset, layers, 4),)
        )
        for dataset in DATASETS
        for layers in DEPTHS
        for system in systems
    }
    model = Quantities(list(asked.values()))
    found: Answer = {}
    for (dataset, layers, system), one in asked.items():
        found.setdefault(dataset, {}).setdefault(str(layers), {})[system] = float(model.row(one)[0])
    return found


def tables(answer: Answer) -> dict[str, str]:
    """Return the README's tables."""
    return {
        "rows": _rows(answer), "conflicts": _conflicts(answer), "groups": _groups(answer),
        "assumptions": _assumptions(answer), "figure_8": _figure(answer), "devices": _devices(answer),
        "hardware": _hardware(answer),
    }  # fmt: skip


def _rows(answer: Answer) -> str:
    rows = [
        [
            row["id"],
            row["quantity"],
            f"{row['measured']:g}",
            figure(row["predicted"]),
            percent(row["ape"], 1),
            percent(answer["left_out"]["rows"].get(row["id"]), 1),
            between(row["interval"], 3),
            ", ".join(row["properties"]),
        ]
        for row in answer["rows"]
    ]
    header = ["row", "number", "published", "predicted", "error", "error when left out", "90 % interval", ""]
    return markdown(header, rows, 2)


def _conflicts(answer: Answer) -> str:
    rows = [
        [", ".join(found["rows"]), percent(found["least_error"], 1), ", ".join(found["set_apart"])]
        for found in answer["conflicts"]
    ]
    return markdown(["rows that cannot hold together", "one is off by at least", "set apart"], rows)


def _groups(answer: Answer) -> str:
    rows = [
        [
            words,
            str(len(found["rows"])),
            percent(found["median"], 1),
            percent(max(found["rows"].values()), 1),
            ", ".join(found["lost"]) or "none",
        ]
        for words, found in answer["left_out"]["groups"].items()
    ]
    header = ["left out", "rows", "median error", "largest", "constants that nothing else fixes"]
    return markdown(header, rows)


def _assumptions(answer: Answer) -> str:
    rows = [
        [
            found["words"],
            percent(found["median"], 1),
            percent(found["mean"], 1),
            f"{percent(found['largest'], 1)} ({found['worst']})",
        ]
        for found in answer["assumptions"]
    ]
    return markdown(["assumption, fitted again", "median error", "mean", "largest"], rows)


def _figure(answer: Answer) -> str:
    systems = ("esdg", "blad", "dgc", "m-p2p", "m-dgnn")
    rows = [
        [dataset, layers, *(figure(found[layers][system], 2 if found[layers][system] < 1 else 3) for system in systems)]
        for dataset, found in answer["figure_8"].items()
        for layers in map(str, DEPTHS)
    ]
    return markdown(["dataset", "layers", *systems], rows)


def _devices(answer: Answer) -> str:
    rows = [
        [
            words,
            system,
            *(figure(value) for value in found["throughput"][1:]),
            str(found["knee"]),
            figure(found["most"]),
        ]
        for words, of_case in answer["devices"].items()
        for system, found in of_case.items()
    ]
    return markdown(["model", "system", *(f"{count} devices" for count in DEVICES[1:]), "knee", "at most"], rows, 2)


def _hardware(answer: Answer) -> str:
    rows = []
    cases = list(answer["hardware"].values())
    for words in cases[0]:
        cells = []
        for of_case in cases:
            found = of_case[words]
            over: Mapping[str, Any] = found["over"]
            cells += [
                f"{figure(1e3 * found['time'])} ms ({found['bottleneck']})",
                *(figure(over[system]) for system in ("m-base", "m-p2p", "blad")),
            ]
        rows.append([words, *cells])
    header = ["hardware"]
    for words in answer["hardware"]:
        header += [f"{words}: a frame", "over M-Base", "over M-P2P", "over BLAD"]
    return markdown(header, rows)


STUDY = Study("mdgnn", compute, tables)
