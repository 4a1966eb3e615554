"""The pipeline's parts, each by itself: chunks over real channels, precisions, training, and mini-batches.

With PERFMODEL_REQUIRE_SAMPLERS=1 the comparison with PyG's layer must not be skipped.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import importlib
import math
import multiprocessing
import os
import socket
import struct
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from calibration.pipeline import shared_memory, tcp
from calibration.pipeline.batches import Alone, Batch, Loader, Workers, drawing, gather, seeds_of
from calibration.pipeline.chunks import (
    HEADER,
    Aggregate,
    Bytes,
    Header,
    PipelineError,
    Preallocated,
    Sending,
    aggregation,
    receive,
    regrown,
    send,
)
from calibration.pipeline.compute_node import neighbor_lists
from calibration.pipeline.precision import Codec, encoded_bytes
from calibration.pipeline.shared_memory import Ring, Signals, area
from calibration.pipeline.training import Trainer, mean_adjacency
from perfmodel.errors import SpecError
from perfmodel.graph.sampler import Csc, sample
from perfmodel.model.compile import compiled
from perfmodel.spec.precision import PRECISIONS

CHANNELS = ("tcp", "tcp that polls", "shared memory", "shared memory that polls")
SCALED = {"fp8": 448.0, "int8": 127.0, "int4": 7.0}
Floats = NDArray[np.float32]


class Counted:
    """A sender's end that counts what is on its way, and notes what was put."""

    def __init__(self, inner: Sending) -> None:
        self.inner, self.waiting, self.most = inner, 0, 0
        self.sizes: list[int] = []

    def put(self, header: Header, chunk: Bytes) -> None:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        self.sizes.append(chunk.size)
        self.inner.put(header, chunk)

    def acknowledged(self) -> Header:
        header = self.inner.acknowledged()
        self.waiting -= 1
        return header


SIGNALS = Signals.of(multiprocessing.get_context("spawn"))


@contextlib.contextmanager
def tcp_ends(most: int, polling: float = 0.0) -> Iterator[tuple[tcp.Connection, tcp.Connection]]:
    with tcp.listen() as listening:
        sender = tcp.connect(listening.getsockname())
        receiver, _ = listening.accept()
    with tcp.Connection(sender, most, polling) as one, tcp.Connection(receiver, most, polling) as other:
        yield one, other


@contextlib.contextmanager
def ends(channel: str, most: int, window: int) -> Iterator[tuple[Any, Any]]:
    """Open both ends of a channel; of the semaphores nothing must be left over."""
    polling = 2e-3 if channel.endswith("polls") else 0.0
    if channel.startswith("tcp"):
        with tcp_ends(most, polling) as both:
            yield both
        return
    with area(window, most) as where:
        one, other = Ring(where, SIGNALS, polling), Ring(where, SIGNALS, polling)
        try:
            yield one, other
        finally:
            one.close()
            other.close()
            left = [drained(SIGNALS.put), drained(SIGNALS.acknowledged)]
    assert left == [0, 0]


def drained(signal: Any) -> int:
    count = 0
    while signal.acquire(False):
        count += 1
    return count


@pytest.fixture(scope="module")
def thread() -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        yield pool


def random_bytes(size: int) -> Bytes:
    return np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)


# --- chunks


@pytest.mark.parametrize("policy", ["preallocated", "regrown"])
@pytest.mark.parametrize("channel", CHANNELS)
@settings(max_examples=25)
@given(
    chunk=st.integers(1, 5000),
    window=st.integers(1, 6),
    tensors=st.lists(st.tuples(st.integers(0, 9), st.sampled_from([-1, 0, 1])), min_size=1, max_size=4),
)
def test_what_arrives_is_what_was_sent(
    thread: concurrent.futures.ThreadPoolExecutor, channel: str, policy: str, chunk: int, window: int, tensors: Any
) -> None:
    """Sizes of nothing, of whole chunks, and of a byte less or more; one tensor after the other over one channel."""
    data = [random_bytes(max(0, chunks * chunk + more)) for chunks, more in tensors]
    with ends(channel, chunk, window) as (sender, receiver):
        aggregate = aggregation(policy)
        taken = thread.submit(
            lambda: [(number, held.copy()) for number, held in (receive(receiver, aggregate) for _ in data)]
        )
        counted = Counted(sender)
        for number, one in enumerate(data):
            counted.sizes.clear()
            chunks = send(counted, number, one, chunk, window)
            assert counted.waiting == 0
            assert len(counted.sizes) == chunks
            assert sum(counted.sizes) == one.size
            assert set(counted.sizes[:-1]) <= {chunk}
            assert 0 < counted.sizes[-1] <= chunk or counted.sizes == [0]
        assert counted.most <= window
        arrived = taken.result(10)
    assert [number for number, _ in arrived] == list(range(len(data)))
    for (_, held), one in zip(arrived, data, strict=True):
        np.testing.assert_array_equal(held, one)


def test_a_window_is_used() -> None:
    """With room for four chunks, four are on their way before the receiver has done anything."""
    with ends("shared memory", 10, 4) as (sender, receiver):
        for number in range(4):
            sender.put(Header(0, 40, 10 * number, 10), random_bytes(10))
        assert [receiver.take()[0].offset for _ in range(4)] == [0, 10, 20, 30]


@pytest.mark.parametrize(
    "headers",
    [
        [Header(0, 12, 4, 4)],
        [Header(0, 12, 0, 4), Header(0, 12, 8, 4)],
        [Header(0, 12, 0, 4), Header(0, 12, 0, 4)],
        [Header(0, 12, 0, 4), Header(1, 12, 4, 4)],
        [Header(0, 12, 0, 4), Header(0, 16, 4, 4)],
        [Header(0, 12, 0, 3), Header(0, 12, 4, 4)],
        [Header(0, 12, 0, 8), Header(0, 12, 8, 8)],
        [Header(0, 0, 0, 1)],
    ],
    ids=["late start", "gap", "repeated", "another tensor", "another size", "short chunk", "too long", "not empty"],
)
@pytest.mark.parametrize("policy", ["preallocated", "regrown"])
@pytest.mark.parametrize("channel", CHANNELS[::2])
def test_chunks_that_do_not_fit_together_are_refused(channel: str, policy: str, headers: Sequence[Header]) -> None:
    with ends(channel, 8, 2) as (sender, receiver):
        for header in headers:
            sender.put(header, random_bytes(header.size))
        with pytest.raises(PipelineError, match=r"tensor \d"):
            receive(receiver, aggregation(policy))
        drained(SIGNALS.put), drained(SIGNALS.acknowledged)


def test_an_acknowledgement_of_another_tensor_is_refused() -> None:
    with ends("tcp", 8, 1) as (sender, receiver):
        receiver.acknowledge(Header(7, 8, 0, 8))
        with pytest.raises(PipelineError, match="acknowledgement of tensor 7"):
            send(sender, 3, random_bytes(8), 8, 1)


@pytest.mark.parametrize("size", [9, 2**40, 2**64 - 1])
@pytest.mark.parametrize("channel", CHANNELS[::2])
def test_a_chunk_larger_than_agreed_is_refused(channel: str, size: int) -> None:
    with ends(channel, 8, 1) as (sender, receiver):
        sender.put(Header(0, 2**64 - 1, 0, size), random_bytes(8))
        with pytest.raises(PipelineError, match=f"{size} bytes"):
            receiver.take()


def test_a_side_that_closes_is_noticed() -> None:
    for awaited in ("take", "acknowledged"):
        with tcp_ends(64) as (one, other):
            other.close()
            with pytest.raises(PipelineError, match="closed the connection"):
                getattr(one, awaited)()


def test_a_side_that_closes_within_a_chunk_is_noticed() -> None:
    with tcp_ends(64) as (one, other):
        other._socket.sendall(HEADER.pack(0, 64, 0, 64) + bytes(63))
        other.close()
        with pytest.raises(PipelineError, match="closed the connection"):
            receive(one, regrown)


def test_sending_to_a_side_that_is_gone_is_noticed() -> None:
    """Reset, as the kernel does for a process that was killed with something unread."""
    with tcp_ends(1 << 16) as (one, other):
        other._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        other.close()
        with pytest.raises(PipelineError, match="connection broke while sending"):
            send(one, 0, random_bytes(1 << 20), 1 << 16, 100)
        with pytest.raises(PipelineError, match="connection broke while acknowledging"):
            one.acknowledge(Header(0, 0, 0, 0))


@pytest.mark.parametrize("polling", [0.0, 2e-3])
def test_silence_is_given_up(monkeypatch: pytest.MonkeyPatch, polling: float) -> None:
    monkeypatch.setattr(tcp, "TIMEOUT", 1)
    monkeypatch.setattr(shared_memory, "TIMEOUT", 0.1)
    with tcp_ends(64, polling) as (_, receiver), pytest.raises(PipelineError, match="nothing arrived for 1 s"):
        receiver.take()
    with ends("shared memory", 64, 1) as (_, other), pytest.raises(PipelineError, match=r"no signal came for 0\.1 s"):
        other.take()


def test_nobody_listens() -> None:
    with tcp.listen() as listening:
        address = listening.getsockname()
    with pytest.raises(PipelineError, match=f"no connection to 127.0.0.1:{address[1]}"):
        tcp.connect(address)


def test_a_port_can_be_used_again_at_once_but_not_by_two() -> None:
    """After a connection the system keeps the port for a minute; that is no reason to wait."""
    with tcp.listen() as listening:
        port = listening.getsockname()[1]
        with tcp.connect(("127.0.0.1", port)) as connected:
            accepted, _ = listening.accept()
            accepted.close()  # first: the waiting is on its side
            assert connected.recv(1) == b""
    with tcp.listen(port), pytest.raises(SpecError, match=f"{port}, one that is taken"):
        tcp.listen(port)


def put_together(aggregate: Aggregate, tensor: int, data: Bytes, chunk: int) -> Bytes:
    held = None
    for start in range(0, max(data.size, 1), chunk):
        part = data[start : start + chunk]
        held = aggregate(held, Header(tensor, data.size, start, part.size), part)
    assert held is not None
    return held


@given(size=st.integers(0, 300), chunk=st.integers(1, 100))
def test_both_ways_of_putting_together_give_the_same(size: int, chunk: int) -> None:
    data = random_bytes(size)
    for aggregate in (Preallocated(), regrown):
        np.testing.assert_array_equal(put_together(aggregate, 0, data, chunk), data)


def test_preallocated_buffers_are_kept_and_never_shared() -> None:
    aggregate = Preallocated()
    first = put_together(aggregate, 0, random_bytes(1000), 100)
    assert np.shares_memory(first, put_together(aggregate, 0, random_bytes(900), 64))
    assert np.shares_memory(first, put_together(aggregate, 0, random_bytes(1000), 1000))
    assert not np.shares_memory(first, put_together(aggregate, 1, random_bytes(1000), 100))
    larger = put_together(aggregate, 0, random_bytes(5000), 100)
    assert np.shares_memory(larger, put_together(aggregate, 0, random_bytes(1000), 100))


def test_regrown_buffers_are_new() -> None:
    data = random_bytes(100)
    for chunk in (10, 100):
        held = put_together(regrown, 0, data, chunk)
        assert not np.shares_memory(held, data)
        assert not np.shares_memory(held, put_together(regrown, 0, data, chunk))


# --- precisions


def to_bfloat16(value: float) -> float:
    """Round the bits of an fp32 to its upper half, ties to even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def to_float16(value: float) -> float:
    try:
        return float(struct.unpack("<e", struct.pack("<e", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def fp8_values() -> list[float]:
    """Return all finite magnitudes of E4M3: exponents with a bias of 7, three bits of mantissa, no infinity."""
    small = [mantissa / 8 * 2.0**-6 for mantissa in range(8)]
    normal = [(1 + mantissa / 8) * 2.0 ** (exponent - 7) for exponent in range(1, 16) for mantissa in range(8)]
    return [*small, *normal[:-1]]  # the last pattern is NaN


def sent_and_back(features: Floats, precision: str) -> Floats:
    codec = Codec(features.shape[1], precision)
    with np.errstate(all="ignore"):
        encoded = codec.encode(features)
        assert encoded.size == encoded_bytes(features.shape[0], features.shape[1], precision)
        return codec.decode(encoded, features.shape[0])


MAGNITUDES = st.one_of(
    st.floats(-1e3, 1e3, width=32), st.floats(width=32, allow_nan=False, allow_infinity=False), st.just(0.0)
).filter(lambda value: abs(value) < 3e38)
ROWS = st.integers(1, 9).flatmap(
    lambda width: st.lists(st.lists(MAGNITUDES, min_size=width, max_size=width), min_size=0, max_size=6).map(
        lambda rows: np.array(rows, np.float32).reshape(len(rows), width)
    )
)


@given(features=ROWS)
def test_fp32_is_untouched(features: Floats) -> None:
    np.testing.assert_array_equal(sent_and_back(features, "fp32"), features)


@pytest.mark.parametrize(("precision", "rounded"), [("fp16", to_float16), ("bf16", to_bfloat16)])
@given(features=ROWS)
def test_half_precisions_round_to_the_nearest(
    precision: str, rounded: Callable[[float], float], features: Floats
) -> None:
    expected = [[rounded(value) for value in row] for row in features.tolist()]
    np.testing.assert_array_equal(sent_and_back(features, precision), np.reshape(expected, features.shape))


@pytest.mark.parametrize("precision", ["int8", "int4"])
@given(features=ROWS)
def test_integers_are_off_by_half_a_step_at_most(precision: str, features: Floats) -> None:
    """A step is the row's largest magnitude over what the integers hold, but no smaller than the least normal fp32."""
    found = sent_and_back(features, precision)
    for row, back in zip(features.tolist(), found.tolist(), strict=True):
        step = max(max(map(abs, row)) / SCALED[precision], float(np.finfo(np.float32).tiny))
        for value, arrived in zip(row, back, strict=True):
            assert abs(value - arrived) <= 0.5 * step * (1 + 1e-4)
            assert value * arrived >= 0
            assert abs(arrived / step - round(arrived / step)) < 1e-3


@given(features=ROWS)
def test_fp8_takes_the_nearest_of_its_values(features: Floats) -> None:
    values = np.array(fp8_values())
    assert values[-1] == SCALED["fp8"]
    found = sent_and_back(features, "fp8")
    for row, back in zip(features.astype(np.float64), found.astype(np.float64), strict=True):
        scale = max(np.abs(row).max() / SCALED["fp8"], float(np.finfo(np.float32).tiny))
        for value, arrived in zip(row / scale, back / scale, strict=True):
            least = np.abs(values - abs(value)).min()
            assert abs(value - arrived) <= least + 1e-5 * max(1.0, abs(value))


@pytest.mark.parametrize("precision", sorted(PRECISIONS))
@given(features=ROWS)
def test_signs_are_alike_and_zeros_stay(precision: str, features: Floats) -> None:
    found = sent_and_back(features, precision)
    np.testing.assert_array_equal(sent_and_back(-features, precision), -found)
    np.testing.assert_array_equal(found[features == 0], 0.0)


@pytest.mark.parametrize("precision", sorted(SCALED))
def test_the_largest_of_a_row_is_kept(precision: str) -> None:
    """Rows have a scale of their own: a large neighbor costs a row nothing."""
    features = np.array([[1e-3, 0.0, -3e-3], [5e4, -7.0, 1.0], [3e38, -3e38, 0.0], [0.0, 0.0, 0.0]], np.float32)
    found = sent_and_back(features, precision)
    np.testing.assert_allclose(np.abs(found).max(axis=1), np.abs(features).max(axis=1), rtol=3e-7)


@pytest.mark.parametrize("precision", sorted(SCALED))
def test_rows_below_the_least_normal_number_keep_their_signs(precision: str) -> None:
    """Their scales would round to a step or two of the smallest fp32, and elements leave what an integer holds."""
    features = np.array([[2.5e-43, -2.5e-43, 1e-44], [1e-45, -1e-45, 0.0], [2e-38, -1e-38, 1e-45]], np.float32)
    found = sent_and_back(features, precision)
    assert (found * features >= 0).all()
    assert (np.abs(found - features) <= np.finfo(np.float32).tiny / 2).all()


@pytest.mark.parametrize("precision", sorted(SCALED))
def test_a_scaled_row_that_is_not_finite_arrives_without_a_finite_number(precision: str) -> None:
    """It can't be overlooked, and its neighbors are as they were."""
    good = [1.0, -2.0, 0.5]
    for bad in (math.nan, math.inf, -math.inf):
        found = sent_and_back(np.array([good, [1.0, bad, 2.0], good], np.float32), precision)
        assert not np.isfinite(found[1]).any()
        np.testing.assert_array_equal(found[[0, 2]], sent_and_back(np.array([good, good], np.float32), precision))


@pytest.mark.parametrize("precision", ["fp32", "fp16", "bf16"])
def test_other_precisions_hand_on_what_is_not_finite(precision: str) -> None:
    found = sent_and_back(np.array([[math.nan, math.inf, -math.inf, 1.0]], np.float32), precision)
    np.testing.assert_array_equal(found, [[math.nan, math.inf, -math.inf, 1.0]])


@pytest.mark.parametrize("precision", sorted(PRECISIONS))
def test_many_rows_are_as_good_as_few(precision: str) -> None:
    """Blocks of the scratch area, which the last one does not fill."""
    features = np.random.default_rng(0).standard_normal((2 * (1 << 15) // 33 + 5, 33)).astype(np.float32)
    alone = np.concatenate([sent_and_back(features[[row]], precision) for row in (0, 992, 993, -1)])
    np.testing.assert_array_equal(sent_and_back(features, precision)[[0, 992, 993, -1]], alone)


@pytest.mark.parametrize("precision", sorted(PRECISIONS))
@pytest.mark.parametrize(("rows", "dimension"), [(0, 8), (1, 1), (7, 64), (1000, 100), (13, 5)])
def test_bytes_are_those_of_the_model(precision: str, rows: int, dimension: int) -> None:
    """The model counts half a byte for each int4, so a row of odd width is half a byte longer than it says."""
    volume = compiled()["tensor_volume"]
    width, scale = PRECISIONS[precision]
    known = {
        "tensor_elements": float(rows * dimension),
        "element_width": width,
        "tensor_rows": rows,
        "scale_bytes": scale,
    }
    padding = rows / 2 if precision == "int4" and dimension % 2 else 0.0
    assert encoded_bytes(rows, dimension, precision) == volume.function(*[known[n] for n in volume.arguments]) + padding


def test_unknown_precisions() -> None:
    with pytest.raises(SpecError, match="nearest valid choice: fp16"):
        Codec(4, "fp61")


# --- training


def small_graph(nodes: int = 12, edges: int = 40) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(3)
    return rng.integers(0, nodes, edges), np.sort(rng.integers(0, nodes - 2, edges))


def dense_mean(source: NDArray[np.int64], target: NDArray[np.int64], nodes: int) -> NDArray[np.float64]:
    dense = np.zeros((nodes, nodes))
    for one, other in zip(source.tolist(), target.tolist(), strict=True):
        dense[other, one] += 1.0
    for row in dense:
        row /= max(row.sum(), 1.0)
    return dense


def reference_loss(dense: NDArray[np.float64], features: Any, labels: Any, weights: Sequence[Any]) -> float:
    """Return the cross-entropy in double precision, written out node by node."""
    flowing = np.asarray(features, np.float64)
    for number, (own, neighbor, bias) in enumerate(weights):
        flowing = flowing @ own + dense @ flowing @ neighbor + bias
        flowing = np.where(flowing > 0, flowing, 0) if number < len(weights) - 1 else flowing
    losses = [math.log(sum(math.exp(v) for v in row)) - row[label] for row, label in zip(flowing, labels, strict=False)]
    return float(sum(losses) / len(losses))


def weights_of(trainer: Trainer) -> list[list[NDArray[np.float64]]]:
    return [[part.astype(np.float64) for part in (layer.own, layer.neighbor, layer.bias)] for layer in trainer.layers]


@pytest.mark.parametrize("widths", [(5, 3), (5, 4, 3), (4, 6, 5, 3)])
def test_gradients_are_those_of_finite_differences(widths: tuple[int, ...]) -> None:
    """Differences of a loss in double precision that shares no code with the trainer."""
    source, target = small_graph()
    rng = np.random.default_rng(5)
    features, labels = rng.standard_normal((12, widths[0])).astype(np.float32), rng.integers(0, widths[-1], 4)
    trainer = Trainer(widths, rate=1.0)
    before, dense = weights_of(trainer), dense_mean(source, target, 12)
    loss = trainer.step(source, target, features, labels)
    assert loss == pytest.approx(reference_loss(dense, features, labels, before), rel=1e-5)
    for layer, (own, other) in enumerate(zip(before, weights_of(trainer), strict=True)):
        for part in range(3):
            stepped = own[part] - other[part]
            for place in np.ndindex(own[part].shape):
                slopes = []
                for shift in (1e-6, -1e-6):
                    own[part][place] += shift
                    slopes.append(reference_loss(dense, features, labels, before))
                    own[part][place] -= shift
                slope = (slopes[0] - slopes[1]) / 2e-6
                assert stepped[place] == pytest.approx(slope, rel=1e-4, abs=2e-6), (layer, part, place)


def test_loss_falls() -> None:
    source, target = small_graph(60, 300)
    rng = np.random.default_rng(7)
    features, labels = rng.random((60, 8), dtype=np.float32), rng.integers(0, 4, 20)
    trainer = Trainer((8, 16, 4), rate=0.2)
    losses = [trainer.step(source, target, features, labels) for _ in range(200)]
    assert losses[-1] < 0.6 * losses[0]
    assert max(losses) == losses[0]


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_the_adjacency_averages(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    """Repeated edges count as often as they are there; nodes without edges get nothing."""
    nodes, pairs = drawn
    ends = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    found = mean_adjacency(ends[:, 1], ends[:, 0], nodes).toarray()
    np.testing.assert_allclose(found, dense_mean(ends[:, 1], ends[:, 0], nodes), rtol=1e-6)


def test_a_layer_is_that_of_pyg() -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch, layers = importlib.import_module("torch"), importlib.import_module("torch_geometric.nn")
    except ImportError as error:
        if os.environ.get("PERFMODEL_REQUIRE_SAMPLERS") == "1":
            raise
        pytest.skip(f"not installed: {error.name}")
    source, target = small_graph()
    features = np.random.default_rng(5).standard_normal((12, 6)).astype(np.float32)
    trainer, labels = Trainer((6, 3), rate=1.0), np.array([0, 2, 1])
    (layer,) = trainer.layers
    theirs = layers.SAGEConv(6, 3, aggr="mean")
    with torch.no_grad():
        theirs.lin_l.weight.copy_(torch.from_numpy(layer.neighbor.T.copy()))
        theirs.lin_l.bias.copy_(torch.from_numpy(layer.bias))
        theirs.lin_r.weight.copy_(torch.from_numpy(layer.own.T.copy()))
    outputs = theirs(torch.from_numpy(features), torch.from_numpy(np.stack([source, target])))
    loss = torch.nn.functional.cross_entropy(outputs[:3], torch.from_numpy(labels))
    loss.backward()
    before = [layer.own.copy(), layer.neighbor.copy(), layer.bias.copy()]
    assert trainer.step(source, target, features, labels) == pytest.approx(loss.item(), rel=1e-5)
    gradients = [theirs.lin_r.weight.grad.T, theirs.lin_l.weight.grad.T, theirs.lin_l.bias.grad]
    for old, new, gradient in zip(before, (layer.own, layer.neighbor, layer.bias), gradients, strict=True):
        np.testing.assert_allclose(old - new, gradient.numpy(), atol=1e-6)


# --- mini-batches


@pytest.fixture(scope="module")
def csc() -> Csc:
    """Return a graph in which some nodes have no neighbors and some have hundreds."""
    rng = np.random.default_rng(11)
    weight = np.cumsum(np.exp(1.2 * rng.standard_normal(3000)))
    source, target = np.searchsorted(weight, rng.random((2, 9000)) * weight[-1])
    return Csc.from_edges(source, target, 3000)


def loader_of(csc: Csc, fanout: Sequence[int] = (5, 3), dimension: int = 7) -> Loader:
    rng = np.random.default_rng(1)
    features = rng.random((csc.nodes, dimension), dtype=np.float32)
    return Loader(drawing(csc, fanout), features, rng.integers(0, 9, csc.nodes))


@given(nodes=st.lists(st.integers(0, 19), max_size=40))
def test_gathered_rows_are_those_of_the_nodes(nodes: list[int]) -> None:
    features = np.arange(60, dtype=np.float32).reshape(20, 3)
    kept = np.full((40, 3), -1.0, np.float32)
    rows = gather(features, np.array(nodes, np.int64), kept)
    assert rows.tolist() == [[3.0 * node, 3.0 * node + 1, 3.0 * node + 2] for node in nodes]
    assert (kept[len(nodes) :] == -1.0).all()


def test_neighbor_lists_hold_the_edges_that_arrived(csc: Csc) -> None:
    drawn = sample(csc, np.arange(50), (-1, -1), rng=np.random.default_rng(0))
    found = neighbor_lists(drawn.source, drawn.target, drawn.nodes.size)
    expected = Csc.from_edges(drawn.source, drawn.target, drawn.nodes.size)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    for first, last in zip(expected.indptr[:-1], expected.indptr[1:], strict=True):
        assert sorted(found.indices[first:last]) == list(expected.indices[first:last])


def test_a_batch_is_what_the_sampler_draws(csc: Csc) -> None:
    """The buffers are kept: they grow to the largest batch, and smaller ones after it are right."""
    loader = loader_of(csc)
    rng = np.random.default_rng(1)
    features, labels = rng.random((3000, 7), dtype=np.float32), rng.integers(0, 9, 3000)
    for step, size in enumerate([10, 400, 1, 300, 400]):
        seeds = seeds_of(step, csc.nodes, size)
        found = loader.load(seeds, step)
        drawn = sample(csc, seeds, (5, 3), rng=np.random.default_rng(step))
        np.testing.assert_array_equal(found.features, features[drawn.nodes])
        np.testing.assert_array_equal(found.edge_index, [drawn.source, drawn.target])
        np.testing.assert_array_equal(found.labels, labels[seeds])


def test_seeds_are_distinct_and_change_with_the_step() -> None:
    batches = [seeds_of(step, 1000, 100) for step in range(5)]
    assert all(np.unique(seeds).size == 100 for seeds in batches)
    assert len({tuple(seeds) for seeds in batches}) == 5
    np.testing.assert_array_equal(seeds_of(3, 1000, 100), batches[3])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_workers_give_what_one_process_gives(csc: Csc, count: int) -> None:
    alone = Alone(loader_of(csc), csc.nodes, 64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads, which the workers do not use
        workers = Workers(loader_of(csc), csc.nodes, 64, count, 64 * 24, 64 * 20)
    try:
        for step in range(4, 11):
            (found, took), (expected, _) = workers.next(step), alone.next(step)
            assert 0 < took < 10
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    finally:
        workers.close()
    assert not any(process.is_alive() for process in workers._processes)


def test_nodes_without_neighbors_are_a_batch() -> None:
    lonely = Csc.from_edges([1], [0], 40)
    found: Batch = loader_of(lonely).load(np.arange(2, 10), 0)
    assert found.features.shape == (8, 7)
    assert found.edge_index.shape == (2, 0)
    assert Trainer((7, 4, 9)).step(found.edge_index[0], found.edge_index[1], found.features, found.labels) > 0
