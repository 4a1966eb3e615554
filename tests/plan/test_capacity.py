"""Whole plans: what they agree with, laws that they keep, what they say where nothing is enough."""

from __future__ import annotations

import json
import math
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import perfmodel as pm
from perfmodel.errors import SpecError
from perfmodel.plan.capacity import planned
from perfmodel.plan.demand import demand
from perfmodel.plan.growth import counts, factors, grown
from perfmodel.plan.planner import Demands
from perfmodel.plan.read import fleet_of
from perfmodel.plan.what_if import break_even, number_of, sweep, sweep_of, tornado
from perfmodel.spec.fleet import Growth, Periods

KNOWN = Demands()


def plan(table: dict[str, Any], **changes: Any) -> Any:
    return planned(fleet_of(table, {key.replace("__", "."): value for key, value in changes.items()}), KNOWN)


@pytest.mark.parametrize(
    ("workload", "system", "growth"),
    [
        ("ogbn-products", "lgnnic-doca-dma", Growth(nodes=1.4, features=1.2)),
        ("ogbn-mag", "lgnnic-local", Growth(nodes=1.1, edges=1.6)),
        ("histogram", "buddy-dpu", Growth(values={"workload.messages": 1.5})),
    ],
)
def test_demand_is_what_predict_says_of_the_grown_workload(workload: str, system: str, growth: Growth) -> None:
    scenario, periods = pm.load_scenario(workload, system), Periods(count=3, length="1000 d")
    changes = grown(scenario, growth, periods, "jobs.0")
    found = demand(scenario, changes)
    times = found.alone(found.stages, found.batches[:, None])
    for t in range(3):
        estimate = pm.predict(scenario.replace(changes[t]) if changes[t] else scenario)
        assert times[t, 0] == pytest.approx(estimate.time_s, rel=1e-9)
        assert found.batches[t] * times[t, 0] == pytest.approx(estimate.epoch_time_s, rel=1e-9)
        assert np.quantile(times[t, 1:], [0.05, 0.95]) == pytest.approx(estimate.interval_s, rel=0.02)
        for need in estimate.memory:
            assert found.memory[need.where][t, 0] == pytest.approx(need.need_bytes, rel=1e-9)


def test_growth_compounds_by_the_year_or_follows_a_table() -> None:
    periods = Periods(count=5, length="91.3125 d")
    assert factors(16.0, periods) == pytest.approx([1, 2, 4, 8, 16])
    assert factors((1.0, 1.5, 1.2, 3.0, 2.0), periods).tolist() == [1.0, 1.5, 1.2, 3.0, 2.0]
    assert counts(2.0, Growth(jobs=16.0), periods) == (2, 4, 8, 16, 32)
    assert counts(1.0, Growth(jobs=1.01), periods) == (1, 2, 2, 2, 2)


def test_a_grown_graph_keeps_its_mean_degree_unless_edges_grow_by_themselves() -> None:
    scenario, periods = pm.load_scenario("reddit", "lgnnic-local"), Periods(count=2, length="365.25 d")
    nodes, edges = 232_965.0, scenario.workload.graph.relations[0].edges
    for growth, factor in ((Growth(nodes=2.0), 2.0), (Growth(nodes=2.0, edges=3.0), 3.0)):
        later = scenario.replace(grown(scenario, growth, periods, "jobs.0")[1]).workload
        assert later.graph.node_types["node"].nodes == pytest.approx(2 * nodes)
        assert later.graph.relations[0].edges == pytest.approx(factor * edges)
        assert later.sampling.seeds.nodes == pytest.approx(2 * 153_431)


def test_plan_of_the_example() -> None:
    found = pm.plan_capacity("three-jobs")
    assert found.feasible
    assert found.proof is not None
    assert found.proof.gap == 0.0
    assert found.cost == pytest.approx(found.proof.cost)
    assert found.cost == pytest.approx(found.capital + found.energy_cost)
    assert sum(order.price for order in found.orders) == pytest.approx(found.capital)
    for order in found.orders:
        assert found.periods[order.period].bought[order.name] == order.units
    for period in found.periods:
        assert min(period.p_meets_target.values()) >= 0.9
        assert period.p_all <= min(period.p_meets_target.values())
        assert all(run.epoch_time_s <= run.target_s for run in period.jobs)
        assert min(each.headroom for each in period.resources) >= -1e-9
        joules = period.energy_cost / found_price()
        assert period.energy_j == pytest.approx(joules)
    document = json.loads(json.dumps(found.to_dict()))
    assert document["schema"] == 1
    assert {"period", "fleet", "cost", "energy_j", "limiting", "headroom", "p_meets_target"} <= set(
        document["periods"][0]
    )
    assert "fleets/three-jobs" in document["inputs"]


def found_price() -> float:
    """Return the example's price of a joule."""
    return 0.15 / 3.6e6


def test_one_job_alone_needs_what_a_calculator_says(table: dict[str, Any]) -> None:
    """One job on one type of device: epoch time at the 90 % quantile over the target, rounded up."""
    table["jobs"] = [{"name": "only", "workload": "ogbn-products", "epochs_per_day": 5000, "devices": ["host"]}]
    scenario = pm.load_scenario("ogbn-products", "lgnnic-local")
    one = demand(scenario, [{}])
    slow = float(np.quantile(one.alone(one.stages, one.batches[:, None])[0, 1:], 0.9)) * float(one.batches[0])
    found = plan(table)
    units = math.ceil(slow * 5000 / 86400)
    assert units > 3
    assert [period.fleet["host"] for period in found.periods] == [units] * 3
    assert found.periods[0].fleet["rack"] == math.ceil(2 * units / 8)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["nodes", "edges", "features", "jobs"]),
    st.floats(1.0, 2.0),
    st.floats(1.05, 1.6),
    st.integers(0, 1),
)
def test_more_growth_never_lowers_the_cost(
    table: dict[str, Any], what: str, growth: float, more: float, job: int
) -> None:
    key = f"jobs.{job}.growth.{what}"
    less, most = (planned(fleet_of(table, {key: value}), KNOWN) for value in (growth, growth * more))
    if less.feasible and most.feasible:
        assert less.cost <= most.cost + 1e-6
    assert less.feasible >= most.feasible


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 1), st.floats(1000.0, 60000.0), st.floats(0.3, 1.0))
def test_a_cheaper_device_never_raises_the_cost(
    table: dict[str, Any], device: int, price: float, factor: float
) -> None:
    key = f"devices.{device}.price"
    dear, cheap = (planned(fleet_of(table, {key: value}), KNOWN) for value in (price, price * factor))
    assert cheap.cost <= dear.cost + 1e-6


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0.3, 0.98), st.floats(0.0, 0.5))
def test_a_higher_confidence_never_shrinks_the_fleet(table: dict[str, Any], confidence: float, more: float) -> None:
    """Of one type of device no unit fewer; of several no cheaper fleet, as they may be exchanged."""
    higher = min(0.99, confidence + more)
    low, high = (planned(fleet_of(table, {"confidence": value}), KNOWN) for value in (confidence, higher))
    assert low.cost <= high.cost + 1e-6
    assert min(min(period.p_meets_target.values()) for period in high.periods) >= higher
    for job in table["jobs"]:
        job["devices"] = ["host"]
    low, high = (planned(fleet_of(table, {"confidence": value}), KNOWN) for value in (confidence, higher))
    for one, other in zip(low.periods, high.periods, strict=True):
        assert one.fleet["host"] <= other.fleet["host"]


def test_lead_times_say_when_to_order(table: dict[str, Any]) -> None:
    table["devices"][1]["lead_time"] = "100 d"
    found = plan(table)
    hosts = [order for order in found.orders if order.name == "host"]
    assert hosts
    for order in hosts:
        assert order.arrives_s - order.order_s == pytest.approx(100 * 86400)
        assert order.arrives_s == pytest.approx(found.periods[order.period].start_s)


class TestWhatIsMissing:
    def test_a_budget(self, table: dict[str, Any]) -> None:
        whole = plan(table)
        found = plan(table, money__budget=whole.cost * 0.999)
        assert not found.feasible
        assert found.missing.rule == "budget"
        assert found.missing.need == pytest.approx(whole.cost)
        assert found.missing.period == len(found.periods) == 2

    def test_memory_that_a_grown_graph_no_longer_fits_in(self, table: dict[str, Any]) -> None:
        table["jobs"][0] |= {"devices": ["nic"], "growth": {"nodes": [1, 1.5, 9]}}
        found = plan(table)
        assert found.missing.period == 2
        assert found.missing.rule == "memory.memory_node"
        assert found.missing.limit == 16 * 2**30
        assert found.missing.need > found.missing.limit
        assert "products" in found.missing.dropped
        assert "nic" in found.missing.message
        assert len(found.periods) == 2

    def test_units_above_a_maximum(self, table: dict[str, Any]) -> None:
        table["jobs"][0]["epochs_per_day"] = 3000
        whole = plan(table, devices__nic__maximum=0)
        most = whole.periods[1].fleet["host"]
        found = plan(table, devices__nic__maximum=0, devices__host__maximum=most)
        assert found.missing.rule == "maximum"
        assert found.missing.period == 2
        assert found.missing.need == whole.periods[2].fleet["host"]
        assert 0.4 < found.missing.share_met < 1.0

    def test_devices_that_come_too_late(self, table: dict[str, Any]) -> None:
        table["periods"]["notice"] = "10 d"
        for device in table["devices"]:
            device["lead_time"] = "60 d"
        found = plan(table)
        assert (found.missing.rule, found.missing.period, found.periods) == ("lead_time", 0, ())
        assert plan(table, devices__host__owned=9, shared__rack__owned=3).feasible

    def test_replicas(self, table: dict[str, Any]) -> None:
        table["jobs"][1] |= {"deadline": "1 s", "replicas": 4}
        found = plan(table)
        assert found.missing.rule == "replicas"
        assert found.missing.dropped == ("social",)

    def test_who_goes_first(self, table: dict[str, Any]) -> None:
        table["jobs"] = [
            {
                "name": name,
                "workload": "ogbn-products",
                "epochs_per_day": 1500,
                "devices": ["host"],
                "priority": priority,
            }
            for name, priority in (("low", 1), ("high", 3), ("middle", 2))
        ]
        alone = plan({**table, "jobs": table["jobs"][:1]}).periods[0].fleet["host"]
        found = plan(table, devices__host__maximum=2 * alone)
        assert found.missing.dropped == ("low",)


class TestWhatIf:
    def test_values_of_a_sweep(self) -> None:
        assert sweep_of("a.b=1.2..3.0:10")[1] == [1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0]
        assert sweep_of("a=1000..2000 USD:3") == ("a", ["1000.0 USD", "1500.0 USD", "2000.0 USD"])
        assert sweep_of("a=x, y") == ("a", ["x", "y"])

    @pytest.mark.parametrize("text", ["a", "=1..2:3", "a=", "a=1..2:1", "a=1..x:4", "a=1..2:many"])
    def test_bad_sweeps(self, text: str) -> None:
        with pytest.raises(SpecError, match="--sweep"):
            sweep_of(text)

    def test_each_point_is_the_plan_itself(self, table: dict[str, Any]) -> None:
        points = sweep(table, "jobs.products.growth.nodes", [1.2, 2.5], KNOWN)
        for point in points:
            own = plan(table, jobs__0__growth__nodes=point.value)
            assert (point.cost, dict(point.fleet)) == (own.cost, dict(own.periods[-1].fleet))
        assert points[0].cost < points[1].cost

    def test_a_tornado_has_the_widest_first(self, table: dict[str, Any]) -> None:
        bars = tornado(table, 0.3, KNOWN)
        swings = [bar.swing for bar in bars]
        assert swings == sorted(swings, reverse=True)
        keys = {bar.key for bar in bars}
        assert {"jobs.0.growth.nodes", "jobs.1.deadline", "devices.0.price", "money.energy_price", "confidence"} <= keys
        energy = next(bar for bar in bars if bar.key == "money.energy_price")
        assert energy.low.cost < energy.high.cost

    def test_break_even_is_where_both_cost_the_same(self, table: dict[str, Any]) -> None:
        found = break_even(table, "devices.host.price", 1000.0, 200_000.0, "host", "nic", KNOWN)
        (crossing,) = found.crossings
        assert (crossing.below, crossing.above) == ("host", "nic")
        costs = [
            plan(table, **{f"devices__{other}__maximum": 0, "devices__host__price": crossing.value}).cost
            for other in ("nic", "host")
        ]
        assert costs[0] == pytest.approx(costs[1], rel=1e-3)

    def test_numbers_with_units(self, table: dict[str, Any]) -> None:
        assert number_of(table, "jobs.social.deadline", "10 min") == 600.0
        assert number_of(table, "devices.0.set.system.link.bandwidth", "2 GB/s") == 2e9


def test_schema_accepts_the_example(table: dict[str, Any]) -> None:
    from perfmodel.cli.schema import _schema

    jsonschema.validate(table, _schema("fleets"))
