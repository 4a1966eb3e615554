"""Running snapshots on several processes: one parent, which is the host, and what all their clocks say.

Nothing hangs and nothing is left: a process that ends takes the others with it and is named, all end with their parent, every
wait has a limit, and the file that they share has no name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import selectors
import tempfile
import time
from collections.abc import Mapping, Sequence
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection as Pipe
from types import TracebackType
from typing import Any

from calibration.disturbance import Pulse
from calibration.pipeline.chunks import CutOff, PipelineError
from calibration.pipeline.configuration import room
from calibration.pipeline.nameless import nameless
from calibration.pipeline.process import one_thread, settle
from calibration.pipeline.snapshot_device import Device
from calibration.pipeline.snapshot_messages import HOST, Envelope, Kind, Mailbox, receive_long, send_long
from calibration.pipeline.snapshot_reference import reference
from calibration.pipeline.snapshot_run import MOST_ON_THE_WAY, Matrix, SnapshotRun, store_features
from perfmodel.errors import SpecError

PATIENCE = 60.0  # seconds without any message
LAST_WORDS = 2.0  # seconds that a process has for saying what went wrong, once another has lost it
_UPDATED = 5e-4  # seconds in which processes are done with the update of their weights
WARM_UP = 2  # frames before the clocks count: at the second one the cache has seen a window move


@dataclasses.dataclass(frozen=True)
class FrameTimes:
    """One frame.

    Attributes
    ----------
    total : float
        From its start to the start of the next one [s].
    phases : mapping of str to float
        By the host's clock: ``graphs``, ``forward``, ``backward`` (until the last process has handed in its gradients),
        ``update`` [s].
    work : sequence of mapping of str to float
        Of each process by its own clock: ``read``, ``graph``, ``cell``, ``send``, ``wait``, ``cell_backward``,
        ``graph_backward`` [s].
    hits, misses : int
        Pages, of all processes together.
    pulse : float
        The longest of a fixed computation on each core before and after the frame [s].
    """

    total: float
    phases: Mapping[str, float]
    work: Sequence[Mapping[str, float]]
    hits: int
    misses: int
    pulse: float = 0.0


@dataclasses.dataclass(frozen=True)
class _Ends:
    """What a process is given as it starts: pipes to the parent, and to the processes that it may have beside it."""

    command: Pipe
    host: Pipe
    onward: Mapping[int, Pipe]
    back: Mapping[int, Pipe]


class SnapshotPipeline:
    """Processes that hold snapshots, started once for any number of runs.

    Parameters
    ----------
    processes : int
        As many as the largest run needs.
    """

    def __init__(self, processes: int) -> None:
        self._cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self._files = contextlib.ExitStack()
        self._own_pulse = Pulse()
        self._commands: list[Pipe] = []
        self._boxes: list[Mailbox] = []
        self._processes: list[Any] = []
        context = get_context("spawn")
        try:
            ends = self._pipes(context, processes)
            with one_thread():
                for number, own in enumerate(ends):
                    arguments = (number, self._core(number), os.getpid(), own)
                    process = context.Process(target=_serve, args=arguments, daemon=True)
                    process.start()
                    self._processes.append(process)
            for pipe in {id(pipe): pipe for own in ends for pipe in _pipes_of(own)}.values():
                pipe.close()
        except BaseException:  # Ctrl-C, or no process to be had: nobody else can end those that are there
            self.close()
            raise

    def _pipes(self, context: Any, processes: int) -> list[_Ends]:
        commands, hosts = ([context.Pipe() for _ in range(processes)] for _ in range(2))
        self._commands = [ours for ours, _ in commands]
        self._boxes = [Mailbox(ours, MOST_ON_THE_WAY) for ours, _ in hosts]
        onward: list[dict[int, Pipe]] = [{} for _ in range(processes)]
        back: list[dict[int, Pipe]] = [{} for _ in range(processes)]
        for first, second in [(n, n + 1) for n in range(processes - 1)] + [(n, 0) for n in range(1, processes)]:
            onward[first][second], back[second][first] = context.Pipe()
        return [_Ends(commands[n][1], hosts[n][1], onward[n], back[n]) for n in range(processes)]

    def _core(self, number: int) -> int | None:
        return self._cores[number % len(self._cores)] if self._cores else None

    @property
    def processes(self) -> dict[str, int]:
        """Return the process ids."""
        return {f"process {number}": process.pid or 0 for number, process in enumerate(self._processes)}

    def run(self, asked: SnapshotRun, verify: bool = True) -> list[FrameTimes]:
        """Run the frames of a configuration, after ``WARM_UP`` that are not timed.

        Parameters
        ----------
        asked : SnapshotRun
        verify : bool
            Do the same training in this process too, and compare every hidden state of the first frame, the last one of
            each frame, and the weights at the end.

        Raises
        ------
        PipelineError
            A process ended, a state did not arrive as it was sent or not once, or nothing happened for too long.
        SpecError
            More processes than were started, no room for the features, no direct reads.
        """
        if asked.processes > len(self._processes):
            most = str(len(self._processes))
            raise SpecError("SnapshotRun.processes", "must be at most those that were started", asked.processes, most)
        frames = range(WARM_UP + asked.frames)
        with self._stored(asked, frames[-1] + asked.window) as path, self._on_core(asked.processes):
            for number in range(asked.processes):
                self._command(number, {"asked": asked, "frames": frames, "path": path})
            host = _Host(asked, self._boxes[: asked.processes], self._watched(asked.processes))
            try:
                clocks, pulses = [], [self._pulse()]
                for frame in frames:
                    clocks.append(host.frame(frame))
                    pulses.append(self._pulse())
            except (CutOff, TimeoutError) as error:
                self._blame(str(error))
            except PipelineError as error:
                self._give_up(str(error))
            finally:
                host.close()
            answers = [self._answer(number) for number in range(asked.processes)]
        _check(asked, frames, answers, host.relayed, verify)
        return _joined(clocks, answers, [max(beside) for beside in itertools.pairwise(pulses)])

    def _pulse(self) -> float:
        """Return the longer of a fixed computation on each core, while the processes wait for their next frame [s]."""
        if not self._cores:
            return self._own_pulse()
        time.sleep(_UPDATED)
        before, found = os.sched_getaffinity(0), []
        try:
            for core in self._cores:
                os.sched_setaffinity(0, {core})
                found.append(self._own_pulse())
        finally:
            os.sched_setaffinity(0, before)
        return max(found)

    @contextlib.contextmanager
    def _stored(self, asked: SnapshotRun, snapshots: int) -> Any:
        """Write the features of all snapshots to a file that has no name."""
        with room(), nameless(tempfile.gettempdir()) as (file, path):
            store_features(asked, snapshots, file)
            if asked.reading == "direct":
                os.fsync(file.fileno())
            yield path

    @contextlib.contextmanager
    def _on_core(self, processes: int) -> Any:
        """Let the host have the core that fewest processes have."""
        if not self._cores:
            yield
            return
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self._cores[processes % len(self._cores)]})
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)

    def _watched(self, processes: int) -> list[Any]:
        """Return what becomes readable when a process has something to say of its own, or has ended."""
        return [*self._commands[:processes], *(process.sentinel for process in self._processes)]

    def _command(self, number: int, message: Mapping[str, Any]) -> None:
        try:
            self._commands[number].send(message)
        except OSError:
            self._blame(f"process {number} ended")

    def _answer(self, number: int) -> Any:
        sentinels = [process.sentinel for process in self._processes]
        if not connection.wait([self._commands[number], *sentinels], PATIENCE):
            self._give_up(f"nothing happened for {PATIENCE:g} s")
        if not self._commands[number].poll(0):
            self._blame(f"process {number} said nothing")
        try:
            kind, content = self._commands[number].recv()
        except (EOFError, OSError):
            self._blame(f"process {number} ended")
        if kind == "bad input":
            self.close()
            raise SpecError(*content)
        if kind == "cut off":
            self._blame(content)
        if kind != "done":
            self._give_up(f"process {number}: {content}")
        return content

    def _blame(self, otherwise: str) -> None:
        """Find who ended or failed first; what others say of a broken pipe is only what follows."""
        until = time.monotonic() + LAST_WORDS
        while time.monotonic() < until:
            for number, process in enumerate(self._processes):
                if process.exitcode is not None:
                    self._give_up(f"process {number} ended")
            for number, pipe in enumerate(self._commands):
                with contextlib.suppress(EOFError, OSError):
                    if pipe.poll(0):
                        kind, content = pipe.recv()
                        if kind == "bad input":
                            self.close()
                            raise SpecError(*content)
                        if kind == "failed":
                            self._give_up(f"process {number}: {content}")
            time.sleep(0.02)
        self._give_up(otherwise or "a process was lost")

    def _give_up(self, why: str) -> None:
        self.close()
        raise PipelineError(why)

    def close(self) -> None:
        """End all processes."""
        for pipe in [*self._commands, *(box.connection for box in self._boxes)]:
            pipe.close()
        for process in self._processes:
            process.join(0.5)
            if process.is_alive():
                process.kill()
                process.join()
        self._files.close()

    def __enter__(self) -> SnapshotPipeline:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Host:
    """The parent's part in a run: starts frames, passes states on one by one, adds gradients up."""

    def __init__(self, asked: SnapshotRun, boxes: Sequence[Mailbox], watched: Sequence[Any]) -> None:
        self._asked, self._boxes = asked, boxes
        self._selector = selectors.DefaultSelector()
        for number, box in enumerate(boxes):
            self._selector.register(box.connection, selectors.EVENT_READ, number)
        for other in watched:
            self._selector.register(other, selectors.EVENT_READ, None)
        self.relayed = 0

    def close(self) -> None:
        self._selector.close()

    def frame(self, frame: int) -> tuple[float, dict[str, float]]:
        """Take one frame through; returns its time and that of its phases [s]."""
        times = [time.perf_counter()]
        self._tell(Kind.START, frame)
        self._wait_for(Kind.READY, frame)
        times.append(time.perf_counter())
        self._tell(Kind.GO, frame)
        gradients, turned = self._cells(frame)
        times += [turned, time.perf_counter()]
        total = gradients[0]
        for gradient in gradients[1:]:
            total = total + gradient
        for number, box in enumerate(self._boxes):
            send_long(box, Envelope(Kind.WEIGHTS, frame, 0, 0, 0, HOST, number), total)
        times.append(time.perf_counter())
        names = ("graphs", "forward", "backward", "update")
        phases = {name: after - before for name, before, after in zip(names, times, times[1:], strict=False)}
        return times[-1] - times[0], phases

    def _tell(self, kind: Kind, frame: int) -> None:
        for number, box in enumerate(self._boxes):
            box.send(Envelope(kind, frame, 0, 0, 0, HOST, number))

    def _wait_for(self, kind: Kind, frame: int) -> None:
        left = set(range(len(self._boxes)))
        while left:
            for number in self._ready():
                self._boxes[number].expect(Envelope(kind, frame, 0, 0, 0, number, HOST))
                left.discard(number)

    def _cells(self, frame: int) -> tuple[list[Matrix], float]:
        """Pass states on until every process has handed in its gradients; returns those, and when the pass turned."""
        gradients: dict[int, Matrix] = {}
        turned = 0.0
        while len(gradients) < len(self._boxes):
            for number in self._ready():
                envelope, content = self._boxes[number].receive()
                if envelope.kind in (Kind.STATE, Kind.GRADIENT):
                    self._boxes[envelope.target].send(envelope, content)
                    self.relayed += 1
                elif envelope.kind == Kind.TURNED:
                    turned = time.perf_counter()
                else:
                    expected = Envelope(Kind.WEIGHTS, frame, 0, 0, 0, number, HOST)
                    if envelope != expected:
                        raise PipelineError(f"process {number} sent what was not asked for")
                    size = self._asked.weight_bytes
                    gradients[number] = receive_long(self._boxes[number], expected, size, content)
        return [gradients[number] for number in range(len(self._boxes))], turned

    def _ready(self) -> list[int]:
        """Wait until a process has sent something."""
        found = self._selector.select(PATIENCE)
        if not found:
            raise TimeoutError(f"nothing happened for {PATIENCE:g} s")
        numbers = [key.data for key, _ in found if key.data is not None]
        if not numbers:
            raise CutOff("")
        return numbers


def _check(
    asked: SnapshotRun, frames: Sequence[int], answers: Sequence[Mapping[str, Any]], relayed: int, verify: bool
) -> None:
    """Compare what arrived with what had to, and what was computed with the same training in one process."""
    steps = (asked.window - 1) * asked.layers * 2 * len(frames) if asked.processes > 1 else 0
    received = sum(frame["received"] for answer in answers for frame in answer["frames"])
    through = steps * asked.fragments if asked.exchange == "host" else 0
    if (received, relayed) != (steps, through):
        raise PipelineError(f"{received} states and {relayed} messages came, {steps} and {through} were sent")
    if not verify:
        return
    expected = reference(asked, frames)
    states = [digest for answer in answers for digest in answer["states"]]
    if sorted(states) != sorted(expected.states):
        raise PipelineError("the hidden states are not those of the same training in one process")
    lasts: dict[int, list[str]] = {number: list(answer["last"]) for number, answer in enumerate(answers)}
    if [lasts[asked.owner(frame + asked.window - 1)].pop(0) for frame in frames] != expected.last:
        raise PipelineError("the last hidden states are not those of the same training in one process")
    if {answer["weights"] for answer in answers} != {expected.weights}:
        raise PipelineError("the weights are not those of the same training in one process")


def _joined(
    clocks: Sequence[tuple[float, Mapping[str, float]]], answers: Sequence[Mapping[str, Any]], pulses: Sequence[float]
) -> list[FrameTimes]:
    found = []
    for number, (total, phases) in list(enumerate(clocks))[WARM_UP:]:
        own = [answer["frames"][number] for answer in answers]
        hits, misses = (sum(frame[name] for frame in own) for name in ("hits", "misses"))
        found.append(FrameTimes(total, phases, [frame["phases"] for frame in own], hits, misses, pulses[number]))
    return found


def _pipes_of(ends: _Ends) -> list[Pipe]:
    return [ends.command, ends.host, *ends.onward.values(), *ends.back.values()]


def _serve(number: int, core: int | None, parent: int, ends: _Ends) -> None:
    """Run one process: configurations come through the pipe, clocks go back."""
    settle(core, parent)
    while True:
        try:
            settings = ends.command.recv()
        except (EOFError, OSError):
            return
        answer: tuple[str, Any]
        try:
            answer = ("done", _device_run(number, settings, ends))
        except SpecError as error:
            answer = ("bad input", (error.where, error.rule, error.got, error.nearest))
        except CutOff as error:
            answer = ("cut off", str(error))
        except (PipelineError, MemoryError, OSError) as error:
            answer = ("failed", str(error) or type(error).__name__)
        try:
            ends.command.send(answer)
        except OSError:
            return
        if answer[0] != "done":
            return


def _device_run(number: int, settings: Mapping[str, Any], ends: _Ends) -> dict[str, Any]:
    asked: SnapshotRun = settings["asked"]
    boxes = {"host": Mailbox(ends.host, MOST_ON_THE_WAY)}
    if asked.processes > 1:
        after, before = (number + 1) % asked.processes, (number - 1) % asked.processes
        boxes["next"] = Mailbox(ends.onward[after], MOST_ON_THE_WAY)
        boxes["previous"] = Mailbox(ends.back[before], MOST_ON_THE_WAY)
    device = Device(asked, number, settings["path"], boxes)
    try:
        return device.run(settings["frames"])
    finally:
        device.close()
