"""What is assumed of Buddy's experiment, varied one by one and fitted again: which published numbers still come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from calibration.published import buddy
from calibration.published.buddy_constants import CONSTANTS, SLOWER_CORE
from calibration.published.buddy_model import APPLICATIONS, Buddy, Case
from calibration.published.buddy_quantities import Asked, answer, quantity_of, speedup
from perfmodel.spec.catalog import load
from studies._base import Answer


class Assumption(NamedTuple):
    """One thing that the review leaves open, with another value for it."""

    words: str
    plan: Mapping[str, Any] = {}
    agent: Mapping[str, Any] = {}
    host: Mapping[str, Any] = {}
    message_factor: float = 1.0
    message_size: float = 0.0
    sizes: Mapping[str, float] = {}
    run_length: float = 0.0
    slower_core: float = SLOWER_CORE

    def changes(self, case: Case) -> dict[str, Any]:
        """Return what a case has in place of the catalog's numbers."""
        found: dict[str, Any] = {f"plan.{key}": value for key, value in self.plan.items()}
        found |= {f"system.host.{key}": value for key, value in self.host.items()}
        if case.system != "none":
            found |= {f"system.agent.{key}": value for key, value in self.of_agent(case.system).items()}
        workload: Any = load("workloads", case.application)
        size = self.message_size or self.sizes.get(case.application, workload.message_size * self.message_factor)
        run = self.run_length or workload.run_length
        return found | {"workload.message_size": size, "workload.run_length": run}

    def of_agent(self, system: str) -> Mapping[str, Any]:
        """Return what an agent has: the DPU its own, spare cores the host's."""
        return self.agent if system == "dpu" else self.host


def _bytes(host: float, slower_core: float = SLOWER_CORE) -> dict[str, Mapping[str, Any]]:
    """Return the time of copying a byte, on both kinds of core."""
    keys = ("routing.time_per_routed_byte", "routing.time_per_delivered_byte")
    return {"host": dict.fromkeys(keys, host), "agent": dict.fromkeys(keys, host * slower_core)}


_COPY: Final = 0.05e-9
ASSUMPTIONS: Final = (
    Assumption("as in the catalog"),
    Assumption("2 processes on a node", plan={"processes": 2}),
    Assumption("8 processes on a node", plan={"processes": 8}),
    Assumption("4 nodes", plan={"nodes": 4}),
    Assumption("the DPU's memory at 0.4 of its peak", agent={"memory_efficiency": 0.4}),
    Assumption("the DPU's memory at 0.8 of its peak", agent={"memory_efficiency": 0.8}),
    Assumption("a DPU's core takes 1.2 times as long as the host's", slower_core=1.2, **_bytes(_COPY, 1.2)),  # type: ignore[arg-type]
    Assumption("a DPU's core takes 2 times as long as the host's", slower_core=2.0, **_bytes(_COPY, 2.0)),  # type: ignore[arg-type]
    Assumption("copying costs nothing", **_bytes(0.0)),  # type: ignore[arg-type]
    Assumption("copying costs twice as much", **_bytes(2 * _COPY)),  # type: ignore[arg-type]
    Assumption("all messages twice as large", message_factor=2.0),
    Assumption("all messages of 32 B", message_size=32.0),
    Assumption("the transpose's messages of 38 B (64-bit indices)", sizes={"sparse-transpose": 38.0}),
    Assumption("triangle counting's messages of 30 B", sizes={"triangle-counting": 30.0}),
    Assumption("targets at random in all applications", run_length=1.0),
)


def varied() -> list[Answer]:
    """Fit again under every assumption, and hold the result against the published numbers."""
    return [_varied(assumption) for assumption in ASSUMPTIONS]


def _varied(assumption: Assumption) -> Answer:
    rows = [row for row in buddy.read_table() if not row.setting and "memory-to" not in row.quantity]
    found = buddy.fitted(rows, slower_core=assumption.slower_core, changes=assumption.changes)
    table = buddy.profile_table(CONSTANTS, [constant.start for constant in CONSTANTS])
    model = Buddy(table, buddy.with_followers(found.values, assumption.slower_core), assumption.changes)
    predicted = {
        row.id: float(answer(model, quantity_of(row.quantity, row.unit, row.id), row, row.id)[0]) for row in rows
    }
    speedups = {name: float(speedup(Asked(model, Case(name, "dpu"), ""))[0]) for name in APPLICATIONS}
    return {
        "words": assumption.words,
        "predicted": predicted,
        "missed": sorted(row.id for row in rows if abs(predicted[row.id] / row.value - 1) > buddy.BOUND),
        "speedups": speedups,
        "wrong_directions": sorted(name for name, gains in buddy.DIRECTIONS.items() if (speedups[name] > 1.0) != gains),
        "constants": {
            constant.fields[0]: float(value) for constant, value in zip(CONSTANTS, found.values, strict=True)
        },
    }
