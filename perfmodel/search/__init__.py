"""Search: spaces of plans, their exact sweep, Optuna's studies, proofs and explanations.

The package is the function, too: ``perfmodel.search(scenario, space)`` is ``perfmodel.search.run.search``.
"""

from __future__ import annotations

import sys
import types
from typing import Any


class _Callable(types.ModuleType):
    """A module that searches when it is called: importing it lays it over the function's name in the package above."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Search, as ``perfmodel.search.run.search`` does."""
        from perfmodel.search.run import search

        return search(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
