"""All constants of the machine at hand: those of every pipeline that runs on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calibration import machine_constants, snapshot_constants
from calibration.machine_constants import Group

GROUPS: Final[Sequence[Group]] = (*machine_constants.GROUPS, *snapshot_constants.GROUPS)
