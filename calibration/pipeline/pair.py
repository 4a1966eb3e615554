"""Two processes that run a pipeline, started together for any number of configurations.

Nothing hangs and nothing is left: a process that ends takes the other with it and is reported, both end with their
parent, and every wait has a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from multiprocessing import connection
from multiprocessing.connection import Connection as Pipe
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Self

from calibration.pipeline.chunks import CutOff, PipelineError
from calibration.pipeline.process import one_thread
from perfmodel.errors import SpecError

PATIENCE = 120.0  # seconds that a configuration may take without an answer
LAST_WORDS = 2.0  # seconds that a process has for saying what went wrong, once the other has lost it


class Pair:
    """Two processes, each with a pipe on which configurations go out and clocks come back.

    Parameters
    ----------
    context : SpawnContext
    names : sequence of str
        Of the two, for sentences.
    serve : callable
        What both run; gets its own arguments and then its end of the pipe.
    arguments : sequence of tuple
        Of each.

    Attributes
    ----------
    patience : float
        How long nothing may happen [s].
    """

    def __init__(
        self,
        context: SpawnContext,
        names: Sequence[str],
        serve: Callable[..., None],
        arguments: Sequence[tuple[Any, ...]],
    ) -> None:
        self.patience = PATIENCE
        self._names = names
        self._pipes: list[Pipe] = []
        self._processes: list[BaseProcess] = []
        try:
            with one_thread():
                for own in arguments:
                    ours, theirs = context.Pipe()
                    process = context.Process(target=serve, args=(*own, theirs), daemon=False)
                    process.start()
                    theirs.close()
                    self._pipes.append(ours)
                    self._processes.append(process)
        except BaseException:  # Ctrl-C, or no process to be had: nobody else can end the one that is there
            self.close()
            raise

    @property
    def processes(self) -> dict[str, int]:
        """Return the process ids of the two."""
        return {name: process.pid or 0 for name, process in zip(self._names, self._processes, strict=True)}

    def _send(self, number: int, message: dict[str, Any]) -> None:
        try:
            self._pipes[number].send(message)
        except OSError:
            self._give_up(f"the {self._names[number]} ended")

    def _answers(self) -> list[Any]:
        """Wait for an answer of each, whichever comes first."""
        answers: dict[int, Any] = {}
        while len(answers) < 2:
            for number in self._ready([n for n in (0, 1) if n not in answers]):
                answers[number] = self._answer(number)
        return [answers[0], answers[1]]

    def _ready(self, numbers: Sequence[int]) -> list[int]:
        """Wait until one of the processes has something to say; one that ended is found here."""
        waiting = [self._pipes[number] for number in numbers]
        sentinels = {process.sentinel: name for process, name in zip(self._processes, self._names, strict=True)}
        ready = connection.wait([*waiting, *sentinels], self.patience)
        spoken = [number for number in numbers if self._pipes[number] in ready]
        if spoken:
            return spoken
        ended = [sentinels[found] for found in ready if isinstance(found, int)]
        self._give_up(f"the {ended[0]} ended" if ended else f"nothing happened for {self.patience:g} s")
        return []

    def _answer(self, number: int) -> Any:
        self._ready([number])
        try:
            kind, content = self._pipes[number].recv()
        except (EOFError, OSError):
            self._give_up(f"the {self._names[number]} ended")
        if kind == "bad input":
            self.close()
            raise SpecError(*content)
        if kind == "cut off":
            self._blame(1 - number)
        if kind != "done":
            self._give_up(f"the {self._names[number]}: {content}")
        return content

    def _blame(self, number: int) -> None:
        """Let a process say why the other lost it, where it has something to say."""
        found = connection.wait([self._pipes[number], self._processes[number].sentinel], LAST_WORDS)
        if found:
            self._answer(number)

    def _give_up(self, why: str) -> None:
        self.close()
        raise PipelineError(why)

    def close(self) -> None:
        """End both processes."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(0.5)
            if process.is_alive():
                process.kill()
                process.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def serve(pipe: Pipe, steps: Callable[[dict[str, Any]], Any]) -> None:
    """Answer every configuration that comes through the pipe, until it is closed."""
    while True:
        try:
            settings = pipe.recv()
        except (EOFError, OSError):
            return
        answer: tuple[str, Any]
        try:
            answer = ("done", steps(settings))
        except SpecError as error:
            answer = ("bad input", (error.where, error.rule, error.got, error.nearest))
        except CutOff as error:
            answer = ("cut off", str(error))
        except (PipelineError, MemoryError, OSError) as error:
            answer = ("failed", str(error) or type(error).__name__)
        try:
            pipe.send(answer)
        except OSError:
            return
