"""M-DGNN on hardware that the paper does not have, and on more devices than it tried."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from perfmodel.estimate import predict
from perfmodel.evaluation import evaluate
from perfmodel.model.compile import compiled
from perfmodel.spec.scenario import Scenario, load_scenario
from studies._base import Answer

SYSTEMS: Final = ("m-base", "m-p2p", "m-dgnn", "blad")
DEVICES: Final = (1, 2, 4, 8, 16, 32, 64)
GAIN: Final = 0.05  # of another device, below which it is past the knee


def _pcie(generation: int) -> dict[str, Any]:
    return {"system.link": f"pcie-gen{generation}-x4", "system.uplink": f"pcie-gen{generation}-x16"}


def _flash(**changes: Any) -> dict[str, Any]:
    return {f"system.storage.flash.{name}": value for name, value in changes.items()}


#: Samsung 970 Pro as NVMeVirt models it (ssd_config.h): 8 channels of 2 units, 35.76 us a read, 21.5 us of firmware beside it.
TLC: Final = _flash(
    channels=8.0,
    packages=2.0,
    dies=1.0,
    planes=1.0,
    array_read="35.76 us",
    firmware_time="21.5 us",
    firmware_cores=64.0,
)
#: SmartSSD: Gen3 x4; flash like the 144d:a808 drive that LogNIC measured (444,000 reads of 4 KiB a second, 71 us alone).
SMARTSSD: Final = {
    **_pcie(3),
    **_flash(channels=8.0, packages=4.0, dies=1.0, planes=1.0, array_read="66 us"),
}
#: Its peer-to-peer reads of 16 KiB come at 0.31 GB/s (Vitis_Accel_Examples): 53 us each, however short.
SMARTSSD_PEER: Final = "53 us"
#: 64 B from one BlueField-3 to another take 2.81 us, one at a time (BlueField-3_Tests).
BLUEFIELD_3: Final = "2.81 us"

HARDWARE: Final[Mapping[str, Mapping[str, Any]]] = {
    "as published": {},
    "PCIe Gen5": _pcie(5),
    "PCIe Gen4": _pcie(4),
    "flash buses of 2,400 MT/s": _flash(channel_bandwidth="2.4 GB/s"),
    "flash reads in 3 us": _flash(array_read="3 us"),
    "only rows cross the flash bus": _flash(transfer="row"),
    "flash of a Samsung 970 Pro": TLC,
    "host software of 2 us": {"system.host.stack.time_per_pass": "2 us"},
    "a state in one message": {"workload.model.messages": 1.0 / 128.0},
    "BlueField-3 as peer engine": {"system.storage.peer.time_per_message": BLUEFIELD_3},
    "SmartSSD, own peer-to-peer": {**SMARTSSD, "system.storage.peer.time_per_message": SMARTSSD_PEER},
    "SmartSSD, own peer-to-peer, no pool": {
        **SMARTSSD, "system.storage.peer.time_per_message": SMARTSSD_PEER, "plan.pool.policy": "none",
    },
}  # fmt: skip


def on_hardware(dataset: str, layers: int) -> Answer:
    """Return frame times and speedups of all hardware for one dataset and depth."""
    return {words: _on(dataset, layers, changes) for words, changes in HARDWARE.items()}


def _on(dataset: str, layers: int, changes: Mapping[str, Any]) -> Answer:
    own = predict(_scenario("m-dgnn", dataset, layers, changes))
    others = {
        system: predict(_scenario(system, dataset, layers, changes)).time_s for system in ("m-base", "m-p2p", "blad")
    }
    return {
        "time": own.time_s,
        "bottleneck": own.bottleneck,
        "over": {system: time / own.time_s for system, time in others.items()},
    }


def _scenario(system: str, dataset: str, layers: int, changes: Mapping[str, Any]) -> Scenario:
    """Return one system on changed hardware; a plan's change and the peer engine's are M-DGNN's and M-P2P's."""
    kept = {key: value for key, value in changes.items() if _is_of(key, system)}
    return load_scenario(f"dgnn-{dataset}", f"mdgnn-{system}", None, None, {**kept, "plan.frame_length": float(layers)})


def _is_of(key: str, system: str) -> bool:
    if key.startswith("plan."):
        return system == "m-dgnn"
    if system == "blad":
        return ".peer." not in key and not key.endswith(".transfer")
    return True


def over_devices(dataset: str, layers: int) -> Answer:
    """Return throughput over one device, and the knee beyond which another device gains less than a twentieth."""
    found: Answer = {}
    for system in ("m-base", "m-dgnn"):
        scenario = load_scenario(f"dgnn-{dataset}", f"mdgnn-{system}", changes={"plan.frame_length": float(layers)})
        times = evaluate(scenario, {"plan.devices": [float(count) for count in DEVICES]})["time_s"]
        shared, serial = _two_terms(scenario)
        found[system] = {
            "throughput": (times[0] / times).tolist(),
            "serial_over_shared": serial / shared,
            "knee": knee(shared, serial),
            "most": (shared + serial) / serial,
        }
    return found


def _two_terms(scenario: Scenario) -> tuple[float, float]:
    """Return what devices share out and what they do not, of a frame on one device [s]."""
    one, two = evaluate(scenario, {"plan.devices": [1.0, 2.0]})["time_s"]
    return float(2 * (one - two)), float(2 * two - one)


def knee(shared: float, serial: float, gain: float = GAIN) -> int:
    """Return the number of devices beyond which another one gains less.

    Examples
    --------
    >>> knee(1.0, 0.2)
    8
    >>> shares = [(1 / n + 0.2) / (1 / (n + 1) + 0.2) - 1 for n in (7, 8)]
    >>> shares[0] > 0.05 > shares[1]
    True
    """
    phase = compiled()["scaling_knee"]
    values = {"serial_share_of_one": serial / (shared + serial), "least_gain": gain}
    return math.ceil(float(phase.function(*[values[name] for name in phase.arguments])))


def law(rows: Mapping[str, tuple[float, int]]) -> Answer:
    """Return b/a of ``T = a s/N + b (s - 1)`` from throughputs of 16 devices over one.

    Parameters
    ----------
    rows : mapping of name to (throughput over one device, layers)
    """
    found = {}
    for name, (throughput, layers) in rows.items():
        serial = (16.0 / throughput - 1.0) / 15.0
        found[name] = float(np.divide(serial, 1.0 - serial)) * layers / (layers - 1.0)
    return found
