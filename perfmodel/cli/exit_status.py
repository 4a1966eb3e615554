"""Exit statuses of every command."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """What the exit status says."""

    DONE = 0
    BUG = 1
    BAD_INPUT = 2
    NOT_REACHED = 3
    """No feasible plan, or a validation outside its stated bound."""
