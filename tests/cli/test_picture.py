"""``perfmodel picture``: real files that open, labels with units, nothing on top of another, readable in gray."""

from __future__ import annotations

import itertools
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from PIL import Image

import perfmodel as pm
from perfmodel.errors import SpecError
from perfmodel.pictures import draw, pictures, save
from perfmodel.pictures._base import FILLS, HATCHES, fill, labels_of, luminance, style
from perfmodel.pictures.devices import curves
from perfmodel.pictures.fleet import over_time
from perfmodel.pictures.front import front
from perfmodel.pictures.measured import panels
from perfmodel.pictures.phases import stacks
from perfmodel.pictures.regimes import regimes

RESULTS = pathlib.Path(__file__).parents[1] / "data" / "results"
Document = Mapping[str, Any]


def old(name: str) -> Document:
    found: Document = json.loads((RESULTS / f"{name}-schema-1.json").read_text(encoding="utf-8"))
    return found


def estimates(changes: list[dict[str, Any]], **more: Any) -> list[pm.Estimate]:
    scenario = pm.load_scenario("ogbn-products", "lgnnic-doca-dma")
    other = pm.load_scenario("ogbn-products", "lgnnic-doca-dma", "no-offload-frontier") if more.get("against") else None
    return [pm.predict(scenario.replace(change), other) for change in changes]


PLANS = [
    {}, {"plan.precision.features": "fp16"}, {"plan.overlap": "pipelined"},
    {"plan.placement.sampling": "compute-node", "plan.fetch": "frontier", "plan.placement.quantization": "compute-node"},
]  # fmt: skip
COUNTS = [
    {"plan.devices": count, "plan.precision.features": name} for name in ("fp32", "int8") for count in (8, 1, 2, 4)
]
MAP = {
    "x": {
        "key": "system.link.bandwidth",
        "what": "link bandwidth",
        "unit": "B/s",
        "now": 1e10,
        "values": [1e9, 1e10, 1e11],
    },
    "y": {"key": "plan.devices", "what": "memory nodes", "unit": "", "now": 1.0, "values": [1.0, 2.0]},
    "placements": [
        "sampling memory-node, quantization compute-node",
        "sampling compute-node, quantization compute-node",
    ],
    "best": [[0, 1, 1], [None, 0, 1]],
}


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """Return what each picture is drawn from."""
    from calibration.published.buddy import validate as buddy

    search = dict(old("search"))
    return {
        "phases": estimates(PLANS),
        "devices": estimates(COUNTS, against=True),
        "measured": {"schema": 1, "perfmodel": pm.__version__, **buddy(None, None)},
        "front": search,
        "regimes": {**search, "explanation": {**search["explanation"], "regime_map": MAP}},
        "fleet": pm.CapacityPlan.from_dict(old("plan")),
    }


LABELS = {
    "phases": ["time of a mini-batch, phase by phase [s]", "mini-batch, 90 % interval", "sampling", "frontier_lookup"],
    "devices": ["devices (plan.devices) [1]", "[1]", "features fp32", "features int8"],
    "measured": ["measured [1]", "predicted, 90 % interval [1]", "as measured", "memory-to-communication ratio"],
    "front": ["time [ms]", "plan.devices [1]", "plan of the front"],
    "regimes": ["link bandwidth [B/s]", "memory nodes [1]", "nothing feasible", "now"],
    "fleet": ["units in service [1]", "cost [1000 USD]", "start of the period [years]", "host", "energy"],
}
each_kind = pytest.mark.parametrize("kind", LABELS)


def test_every_picture_is_tested() -> None:
    assert set(LABELS) == set(pictures())


@each_kind
def test_svg_has_its_labels_with_units(kind: str, results: dict[str, Any], tmp_path: pathlib.Path) -> None:
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    for path in (first, second):
        save(draw(kind, results[kind], title="as asked"), str(path))
    assert first.read_bytes() == second.read_bytes()
    text = first.read_text(encoding="utf-8")
    assert "<dc:date>" not in text
    words = [
        "".join(node.itertext()).strip()
        for node in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")
    ]
    for label in [*LABELS[kind], "as asked"]:
        assert any(label in each for each in words), (label, words)


@each_kind
def test_png_opens_with_its_size(kind: str, results: dict[str, Any], tmp_path: pathlib.Path) -> None:
    path = tmp_path / "picture.png"
    figure = draw(kind, results[kind])
    save(figure, str(path))
    with Image.open(path) as image:
        assert image.size == tuple(int(150 * inches + 1e-9) for inches in figure.get_size_inches())
        gray = np.asarray(image.convert("L"), dtype=float)
    assert gray.std() > 15
    assert 0 < np.mean(gray < 250) < 0.9


@each_kind
def test_no_text_leaves_the_picture_or_covers_another(kind: str, results: dict[str, Any]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = draw(kind, results[kind])
    canvas = FigureCanvasAgg(figure)
    with style():
        figure.set_dpi(150)
        canvas.draw()
    boxes = {text.get_text(): text.get_window_extent() for text in texts_of(figure)}
    assert len(boxes) > 5
    width, height = canvas.get_width_height()
    for text, box in boxes.items():
        assert min(box.x0, box.y0) >= -1, text
        assert max(box.x1 - width, box.y1 - height) <= 1, text
    for (one, a), (other, b) in itertools.combinations(boxes.items(), 2):
        overlap = min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
        assert not overlap, (one, other)


def texts_of(figure: Any) -> list[Any]:
    """Return the texts that are drawn: labels, titles, legends, and ticks within the axes' limits."""
    found = [text for legend in figure.legends for text in legend.get_texts()]
    found += list(figure.texts)
    for axes in figure.axes:
        found += [axes.title, axes.xaxis.label, axes.yaxis.label]
        found += [] if axes.get_legend() is None else axes.get_legend().get_texts()
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            found += [
                tick.label1
                for tick in axis.get_major_ticks()
                if low <= tick.get_loc() <= high and tick.label1.get_visible()
            ]
    return [text for text in found if text.get_text().strip() and text.get_visible()]


def test_areas_are_told_apart_in_gray() -> None:
    """Neighbors by how bright they are, and all of them by their hatch."""
    looks = [fill(place) for place in range(len(FILLS))]
    assert len({look["hatch"] for look in looks}) == len(looks) == len(HATCHES)
    for one, other in itertools.pairwise(looks):
        assert abs(luminance(one["facecolor"]) - luminance(other["facecolor"])) > 0.3
    for look in looks:
        ink = look["edgecolor"] if look["edgecolor"].startswith("#") else "#ffffff"
        assert abs(luminance(look["facecolor"]) - luminance(ink)) > 0.3
    many = {(fill(place)["facecolor"], fill(place)["hatch"]) for place in range(24)}
    assert len(many) == 24


def test_stacked_areas_differ_in_the_gray_picture() -> None:
    """What the eye sees of each area in gray, hatch and all, is brighter or darker than its neighbor in the stack."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    estimate = pm.predict(pm.load_scenario("sssp", "buddy-dpu"))
    names = list(stacks([estimate.to_dict()]).phases)
    figure = draw("phases", estimate)
    canvas = FigureCanvasAgg(figure)
    with style():
        figure.set_dpi(300)
        canvas.draw()
    picture = np.asarray(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("L"), dtype=float)[::-1]
    brightness = {}
    for container in figure.axes[0].containers[: len(names)]:
        box = container.patches[0].get_window_extent()
        if box.width > 20:
            inner = box.padded(-3)
            area = picture[int(inner.y0) : int(inner.y1), int(inner.x0) : int(inner.x1)]
            brightness[names.index(container.get_label())] = area.mean()
    assert len(brightness) >= 6
    neighbors = [(one, other) for one, other in itertools.pairwise(brightness) if other == one + 1]
    assert len(neighbors) >= 5
    assert min(abs(brightness[one] - brightness[other]) for one, other in neighbors) > 20


def test_what_phases_shows(results: dict[str, Any]) -> None:
    documents = [each.to_dict() for each in results["phases"]]
    data = stacks(documents)
    assert data.times == [each.time_s for each in results["phases"]]
    for place, estimate in enumerate(results["phases"]):
        assert sum(times[place] for times in data.phases.values()) == pytest.approx(
            sum(p.time_s for p in estimate.phases)
        )
    assert len(set(data.labels)) == len(PLANS)
    assert "features fp16" in data.labels[1]
    assert data.feasible == [each.feasible for each in results["phases"]]
    assert labels_of([documents[0], documents[0]]) == [
        "ogbn-products on lgnnic-doca-dma (1)", "ogbn-products on lgnnic-doca-dma (2)"
    ]  # fmt: skip


def test_what_devices_shows(results: dict[str, Any]) -> None:
    data = curves([each.to_dict() for each in results["devices"]])
    assert [curve.label for curve in data.curves] == ["features fp32", "features int8"]
    for curve in data.curves:
        assert curve.devices == [1, 2, 4, 8]
        assert all(low < speedup < high for speedup, (low, high) in zip(curve.speedups, curve.intervals, strict=True))
    assert "no-offload-frontier" in data.over


def test_what_fronts_maps_and_fleets_show(results: dict[str, Any]) -> None:
    found = front([results["front"]])
    assert found.first.values == sorted(found.first.values)
    assert found.second.values == sorted(found.second.values, reverse=True)
    shown = regimes([results["regimes"]])
    assert (shown.best, shown.across.values) == (MAP["best"], [1e9, 1e10, 1e11])
    plan = results["fleet"]
    fleet = over_time([plan.to_dict()])
    assert sum(fleet.capital) + sum(fleet.energy) == pytest.approx(plan.cost)
    assert fleet.units["host"] == [period.fleet["host"] for period in plan.periods]
    assert "smartnic" not in fleet.units


def test_what_measured_shows(results: dict[str, Any]) -> None:
    data = panels([results["measured"]])
    assert list(data.panels) == ["1"]
    assert sum(len(each.measured) for each in data.panels["1"]) == len(results["measured"]["rows"])
    seconds = [
        {"quantity": "transfer", "measured": 2.0, "predicted": 3.0},
        {"quantity": "speedup", "measured": 2, "predicted": 1},
    ]
    mixed = panels([{**results["measured"], "rows": [*seconds, {"quantity": "x", "measured": 0.0, "predicted": 1.0}]}])
    assert {unit: [each.quantity for each in points] for unit, points in mixed.panels.items()} == {
        "s": ["transfer"], "1": ["speedup"]
    }  # fmt: skip
    assert len(draw("measured", {**results["measured"], "rows": seconds}).axes) == 2


# --- the command


@pytest.fixture
def file(tmp_path: pathlib.Path) -> Any:
    def write(document: Any, name: str = "result.json") -> str:
        path = tmp_path / name
        path.write_text(json.dumps(document), encoding="utf-8")
        return str(path)

    return write


def test_from_predictions_to_a_picture(command: Any, file: Any, tmp_path: pathlib.Path) -> None:
    predict = ("predict", "reddit", "--system", "lgnnic-doca-dma", "--json")
    files = [
        file(command(*predict, *more).document, f"{place}.json") for place, more in enumerate(([], ["--plan", "fp16"]))
    ]
    out = tmp_path / "phases.svg"
    outcome = command("picture", "phases", *files, "--out", str(out), "--title", "Reddit, twice")
    assert (outcome.status, outcome.out) == (0, f"picture written to {out}\n")
    assert "Reddit, twice" in out.read_text(encoding="utf-8")


def test_without_a_kind_all_are_told(command: Any) -> None:
    lines = command("picture").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == sorted(pictures())


def without(document: Document, key: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != key}


@pytest.mark.parametrize(
    ("kind", "document", "out", "words"),
    [
        ("phase", old("predict"), "a.svg", "nearest valid choice: phases"),
        ("phases", old("predict"), "a.pdf", "must end with .png or .svg, got"),
        ("phases", old("predict"), "no/where/a.svg", "must lie in a directory that exists"),
        ("phases", old("plan"), "a.svg", "must be one or more results of predict, got a document without phases"),
        ("phases", {**old("predict"), "schema": 2}, "a.svg", "schema: must be at most 1"),
        ("devices", without(old("predict"), "against"), "a.svg", "must be of predict --against PLAN"),
        ("devices", {**old("predict"), "plan": {}}, "a.svg", "must have a plan with plan.devices"),
        ("front", {**old("search"), "objectives": [{"name": "time", "unit": "s"}]}, "a.svg", "with two objectives"),
        ("front", {**old("search"), "pareto": []}, "a.svg", "nothing feasible was found"),
        ("regimes", {**old("search"), "explanation": {}}, "a.svg", "must hold a map"),
        ("fleet", {**old("plan"), "periods": []}, "a.svg", "must have a period with a fleet"),
        ("measured", old("predict"), "a.svg", "must be one result of validate"),
        (
            "measured",
            {"schema": 1, "rows": [], "by_quantity": {}, "summary": {}},
            "a.svg",
            "a row with positive numbers",
        ),
    ],
)
def test_bad_requests(
    command: Any, file: Any, tmp_path: pathlib.Path, kind: str, document: Any, out: str, words: str
) -> None:
    assert words in command("picture", kind, file(document), "--out", str(tmp_path / out)).sentence
    assert not (tmp_path / out).exists()


def test_bad_arguments(command: Any, file: Any) -> None:
    assert "FILE: must be one result of plan" in command("picture", "fleet").sentence
    assert "--out: must be given" in command("picture", "fleet", file(old("plan"))).sentence
    plan = file(old("plan"))
    assert (
        "must be one result of plan, got 2 results"
        in command("picture", "fleet", plan, plan, "--out", "a.svg").sentence
    )


def test_without_matplotlib_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "matplotlib" else real(name))
    with pytest.raises(
        SpecError, match="picture: needs matplotlib, got none installed; nearest valid choice: pip install"
    ):
        draw("fleet", old("plan"))


def test_what_is_shown_needs_no_matplotlib() -> None:
    """Neither pyplot, which looks for a screen, once a picture is drawn."""
    code = (
        "import sys; from perfmodel.pictures import pictures; list(pictures()); assert 'matplotlib' not in sys.modules\n"
        "from perfmodel.documents import load; from perfmodel.pictures import draw\n"
        f"draw('fleet', load({str(RESULTS / 'plan-schema-1.json')!r})); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
