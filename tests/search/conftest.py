"""A PostgreSQL server that the tests of this folder share."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

_PATH = pathlib.Path(__file__).parent / "postgres.py"


def _module() -> Any:
    found = sys.modules.get("perfmodel_tests_postgres")
    if found is None:
        spec = importlib.util.spec_from_file_location("perfmodel_tests_postgres", _PATH)
        assert spec is not None
        assert spec.loader is not None
        found = sys.modules["perfmodel_tests_postgres"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A server; without its binaries tests are skipped, unless PERFMODEL_REQUIRE_POSTGRES=1."""
    module = _module()
    try:
        context = module.running()
        server = context.__enter__()
    except module.NoServer as error:
        if os.environ.get("PERFMODEL_REQUIRE_POSTGRES") == "1":
            raise
        pytest.skip(f"no PostgreSQL server can be started: {str(error).splitlines()[0]}")
    yield server
    context.__exit__(None, None, None)
