"""What constants of the machine at hand are fitted to: kernels, and the phases that predict them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from calibration.fit import Constant
from calibration.measurements import Record
from perfmodel.model.compile import compiled

DEVICE: Final = "devices/this-machine"

Values = Mapping[str, float]
Predict = Callable[[Record, Values], float]


@dataclasses.dataclass(frozen=True)
class Group:
    """Constants that are fitted together.

    Attributes
    ----------
    phase : str
        Step of a prediction whose residual this group's scatter is.
    kernels : tuple of str
    constants : mapping of quantity to Constant
        By the names of the nomenclature.
    predict : callable
        From a record and all constants known so far to a time [s].
    chosen : callable
        From the kernels' records to those that are fitted to, with what they need of one another.
    """

    phase: str
    kernels: tuple[str, ...]
    constants: Mapping[str, Constant]
    predict: Predict
    chosen: Callable[[Sequence[Record]], Sequence[Record]] = lambda records: records


def around(record: Record, values: Values) -> dict[str, float]:
    """Return the values with the time since the record's last block."""
    away = float(record.point["away"]) + record.time
    return {**values, "batch_time": away, "receiver_displacement_time": values["displacement_time"]}


def phase(name: str, known: Values, **more: float) -> float:
    """Evaluate one phase at numbers given by the names of the nomenclature."""
    found, arguments = compiled()[name], {**known, **more}
    return float(found.function(*[arguments[argument] for argument in found.arguments]))
