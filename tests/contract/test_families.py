"""Every family: its specs and its model are found, go together, and refuse to be mixed with another's."""

from __future__ import annotations

import pytest

import perfmodel as pm
from perfmodel.errors import SpecError
from perfmodel.model import families as models
from perfmodel.spec import families as specs
from perfmodel.spec.catalog import names, shipped_table

FAMILIES = sorted(specs.families())


def of_family(kind: str, family: str) -> list[str]:
    return [name for name in names(kind) if specs.family_of(shipped_table(kind, name), name).name == family]


def test_each_family_has_specs_and_a_model() -> None:
    assert sorted(models.families()) == FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_has_entries_of_every_kind(family: str) -> None:
    assert all(of_family(kind, family) for kind in ("workloads", "systems", "plans"))
    assert specs.families()[family].default_plan in of_family("plans", family)


@pytest.mark.parametrize("family", FAMILIES)
def test_stages_named_by_the_policy_are_stages(family: str) -> None:
    model = models.families()[family]
    named = set()
    for workload in of_family("workloads", family):
        for system in of_family("systems", family):
            if not system.startswith("this-machine"):
                named |= {step.stage for step in models.family(pm.load_scenario(workload, system)).steps()}
    assert set(model.fetch) <= named


@pytest.mark.parametrize(("family", "other"), [(a, b) for a in FAMILIES for b in FAMILIES if a != b])
def test_families_do_not_mix(family: str, other: str) -> None:
    workload = of_family("workloads", family)[0]
    with pytest.raises(SpecError, match=f"must be a system of the workload's family, {family}") as caught:
        pm.load_scenario(workload, of_family("systems", other)[0])
    assert set(str(caught.value.nearest).split(" | ")) <= set(of_family("systems", family))
    with pytest.raises(SpecError, match="must be a plan of the workload's family"):
        pm.load_scenario(workload, of_family("systems", family)[0], of_family("plans", other)[0])


def test_a_family_that_is_not_there() -> None:
    table = {**shipped_table("workloads", "reddit"), "family": "sampled-trainning"}
    with pytest.raises(SpecError, match=r"workload: family.*must be one of") as caught:
        pm.load_scenario(table, "lgnnic-local")
    assert caught.value.nearest == "sampled-training"
