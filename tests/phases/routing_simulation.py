"""Event-by-event simulations of message routing, written from what processes, agents and caches do, not from the formulas.

``simulate``: application processes do their work, wait for a free buffer of their ring, fill it, and hand it over; it crosses
to the agent and waits for one of its threads, which sorts it, delivers as much as has arrived from other nodes meanwhile (all
are alike), and gives it back. What is sorted leaves over the node's one link. ``simulate_inline``: the same without an agent.

``sent_off``: an agent with fewer aggregation buffers than next hops closes one for every message that finds none open.
``escaped``: arriving lines go into random places of a cache, and what they find there is gone.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Generator

import simpy


@dataclasses.dataclass(frozen=True)
class Node:
    """One of several like nodes; times of one buffer in seconds, those of work and routing varied by ``jitter``."""

    buffers: int
    processes: int
    threads: int
    window: int
    work: float
    filling: float
    handing_over: float
    routing: float
    delivering: float
    crossing: float = 0.0
    latency: float = 0.0
    slowdown: float = 1.0
    wire: float = 0.0
    wire_latency: float = 0.0
    jitter: float = 0.0


def simulate(node: Node) -> float:
    """Return when every buffer is routed, and what left the node has arrived [s]."""
    environment = simpy.Environment()
    threads = simpy.Resource(environment, node.threads)
    wire, crossing = simpy.Resource(environment), simpy.Resource(environment)
    jobs: list[simpy.Process] = []
    processes = [
        environment.process(_application(environment, node, threads, wire, crossing, jobs, random.Random(number)))
        for number in range(node.processes)
    ]
    environment.run(environment.all_of(processes))
    environment.run(environment.all_of(jobs))
    return float(environment.now)


def _application(
    environment: simpy.Environment,
    node: Node,
    threads: simpy.Resource,
    wire: simpy.Resource,
    crossing: simpy.Resource,
    jobs: list[simpy.Process],
    rng: random.Random,
) -> Generator:
    ring = simpy.Container(environment, capacity=node.window, init=node.window)
    for _ in range(node.buffers):
        yield environment.timeout(node.work * _varied(node, rng))
        yield ring.get(1)
        yield environment.timeout(node.filling + node.handing_over)
        jobs.append(environment.process(_buffer(environment, node, threads, wire, crossing, ring, jobs, rng)))


def _buffer(
    environment: simpy.Environment,
    node: Node,
    threads: simpy.Resource,
    wire: simpy.Resource,
    crossing: simpy.Resource,
    ring: simpy.Container,
    jobs: list[simpy.Process],
    rng: random.Random,
) -> Generator:
    with crossing.request() as turn:
        yield turn
        yield environment.timeout(node.crossing)
    yield environment.timeout(node.latency)
    with threads.request() as turn:
        yield turn
        yield environment.timeout((node.routing + node.delivering) * node.slowdown * _varied(node, rng))
    jobs.append(environment.process(_transfer(environment, node, wire)))
    yield environment.timeout(node.latency)
    yield ring.put(1)


def _varied(node: Node, rng: random.Random) -> float:
    """Draw a factor of mean one."""
    return rng.uniform(1 - node.jitter, 1 + node.jitter)


def _transfer(environment: simpy.Environment, node: Node, wire: simpy.Resource) -> Generator:
    with wire.request() as turn:
        yield turn
        yield environment.timeout(node.wire)
    yield environment.timeout(node.wire_latency)


def simulate_inline(node: Node) -> float:
    """Return when every process has done its work, routed its buffers and delivered what arrived [s]."""
    environment = simpy.Environment()
    wire = simpy.Resource(environment)
    flights: list[simpy.Process] = []

    def application() -> Generator:
        for _ in range(node.buffers):
            yield environment.timeout(node.work + node.filling + node.routing + node.delivering)
            flights.append(environment.process(_transfer(environment, node, wire)))

    processes = [environment.process(application()) for _ in range(node.processes)]
    environment.run(environment.all_of(processes))
    environment.run(environment.all_of(flights))
    return float(environment.now)


def sent_off(messages: int, capacity: int, open_buffers: int, next_hops: int, run: float, seed: int) -> int:
    """Return how many aggregation buffers are sent off, by drawing every message's next hop."""
    rng = random.Random(seed)
    held: dict[int, int] = {}
    transfers, target = 0, rng.randrange(next_hops)
    for _ in range(messages):
        if rng.random() < 1.0 / run:
            target = rng.randrange(next_hops)
        if target not in held and len(held) == open_buffers:
            del held[rng.choice(list(held))]
            transfers += 1
        held[target] = held.get(target, 0) + 1
        if held[target] == capacity:
            del held[target]
            transfers += 1
    return transfers + len(held)


def escaped(lines: int, waiting: int, arrivals: int, seed: int) -> float:
    """Return the share of arriving lines that are no longer in a cache when they are read, ``waiting`` arrivals later."""
    rng = random.Random(seed)
    cache: list[int] = [-1] * lines
    place: dict[int, int] = {}
    lost = 0
    for number in range(arrivals):
        slot = rng.randrange(lines)
        cache[slot], place[number] = number, slot
        read = number - waiting
        if read >= 0:
            lost += cache[place.pop(read)] != read
    return lost / max(arrivals - waiting, 1)


def steady(node: Node) -> float:
    """Return the time that a long run takes for each buffer of a process [s]: two runs, without filling and draining."""
    longer = dataclasses.replace(node, buffers=3 * node.buffers)
    return (simulate(longer) - simulate(node)) / (longer.buffers - node.buffers)


def drawn(seed: int, processes: int | None = None, threads: int | None = None) -> Node:
    """Draw a node whose costs lie around each other, so that any of them may be the slowest."""
    rng = random.Random(seed)
    many, workers = processes or rng.randint(1, 6), threads or rng.randint(1, 8)

    def cost(likely: float = 1.0) -> float:
        return 1e-6 * 10 ** rng.uniform(-1, 0.5) if rng.random() < likely else 0.0

    share = workers / many  # of the threads, for each process
    return Node(
        buffers=144,
        processes=many,
        threads=workers,
        window=rng.choice([1, 2, 3, 4, 8, 16]),
        work=cost(),
        filling=cost(0.7) / 2,
        handing_over=cost(0.5) / 5,
        routing=cost() * share,
        delivering=cost(0.7) * share,
        crossing=cost(0.5) / many / 3,
        latency=cost(0.7) * math.sqrt(10),
        wire=cost(0.5) / many,
        wire_latency=cost(0.5),
    )
