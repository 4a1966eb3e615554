"""Extra-P's answer to the same points, where it is installed (PyPI ``extrap``)."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from calibration.laws._base import Points
from studies.extrap_side_by_side.cases import Case


def _plain(modeler: Any) -> None:
    """Leave a modeler at its defaults."""


def _negative(modeler: Any) -> None:
    modeler.allow_negative_exponents = True


def _refining_parts(modeler: Any) -> None:
    single = importlib.import_module("extrap.modelers.single_parameter")
    modeler.single_parameter_modeler = single.all_modelers["Refining"]()


#: Name of a setting -> modeler, and what is changed in it; for one input and for two.
ONE_INPUT: Final[Mapping[str, tuple[str, Callable[[Any], None]]]] = {
    "default": ("Default", _plain),
    "basic": ("Basic", _plain),
    "basic, negative exponents": ("Basic", _negative),
    "refining": ("Refining", _plain),
    "segmented": ("Segmented", _plain),
}
TWO_INPUTS: Final[Mapping[str, tuple[str, Callable[[Any], None]]]] = {
    "default": ("Default", _plain),
    "refining": ("Default", _refining_parts),
}

#: The terms of the true law in Extra-P's normal form, as power of each input: what it can write down at all.
TERMS: Final[Mapping[str, tuple[tuple[float, ...], ...]]] = {
    "affine": ((1.0,),),
    "product": ((1.0, 1.0),),
    "shared_over_devices": ((-1.0,),),
}


def installed() -> bool:
    """Return whether Extra-P can be imported."""
    return importlib.util.find_spec("extrap") is not None


def settings(case: Case) -> Mapping[str, tuple[str, Callable[[Any], None]]]:
    """Return the settings to try, by name."""
    return ONE_INPUT if len(case.inputs) == 1 else TWO_INPUTS


def model(points: Points, setting: tuple[str, Callable[[Any], None]]) -> Any:
    """Return the function that Extra-P finds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that it uses, and that points below 1 leave logarithms out
        return _model(points, setting)


def _model(points: Points, setting: tuple[str, Callable[[Any], None]]) -> Any:
    entity = {
        name: getattr(importlib.import_module(f"extrap.entities.{name.lower()}"), name)
        for name in ("Experiment", "Parameter", "Coordinate", "Measurement", "Callpath", "Metric")
    }
    generator_class = importlib.import_module("extrap.modelers.model_generator").ModelGenerator
    experiment, path, metric = entity["Experiment"](), entity["Callpath"]("program"), entity["Metric"]("time")
    for letter in "pq"[: points.inputs.shape[0]]:
        experiment.add_parameter(entity["Parameter"](letter))
    experiment.add_metric(metric)
    experiment.add_callpath(path)
    for place, value in zip(points.inputs.T, points.output, strict=True):
        coordinate = entity["Coordinate"](*map(float, place))
        experiment.add_coordinate(coordinate)
        experiment.add_measurement(entity["Measurement"](coordinate, path, metric, [float(value)]))
    modeler, change = setting
    generator = generator_class(experiment, modeler)
    change(generator.modeler)
    generator.model_all()
    return generator.models[(path, metric)].hypothesis.function


def value(function: Any, case: Case) -> float:
    """Return a function's value at the case's far point; beyond the last segment, that of the last."""
    last = function.segments[-1] if hasattr(function, "segments") else function
    return float(np.ravel(np.asarray(last.evaluate(case.far[:, 0]), dtype=np.float64))[-1])


def recovered(function: Any, case: Case) -> bool:
    """Return whether a function holds the terms of the true law and no logarithm; for a max(), two such segments.

    A further term is forgiven: its coefficient is next to 0 wherever it was seen.
    """
    inputs = len(case.inputs)
    if hasattr(function, "segments"):
        below, above = (_powers(segment, inputs) for segment in function.segments)
        return case.law_name == "saturating" and below == [] and above == [(1.0,)]
    wanted = TERMS.get(case.law_name)
    powers = _powers(function, inputs)
    return wanted is not None and set(wanted) <= set(powers) and all(max(own) < float("inf") for own in powers)


def _powers(function: Any, inputs: int) -> list[tuple[float, ...]]:
    """Return the powers of each term; a term with a logarithm has none that a law could have."""
    found = []
    for term in function.compound_terms:
        powers = [0.0] * inputs
        pairs = getattr(term, "parameter_term_pairs", None)
        parts = [(pair[0], pair[1].simple_terms) for pair in pairs] if pairs is not None else [(0, term.simple_terms)]
        for position, simple_terms in parts:
            for simple in simple_terms:
                powers[position] += float(simple.exponent) if simple.term_type == "polynomial" else float("inf")
        found.append(tuple(powers))
    return found
