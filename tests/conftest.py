"""What all tests share: a cache and profiles of the session's own, and processes that run the same perfmodel as the tests."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator

import pytest
from hypothesis import settings

import perfmodel

# the same examples in every run: a failure that comes and goes tells nobody anything
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")

# before tests are collected, which lists the catalog: a machine that was measured once, in place of this one
os.environ["PERFMODEL_PROFILES"] = str(pathlib.Path(__file__).parent / "data" / "profiles")


@pytest.fixture(scope="session", autouse=True)
def _own_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    root = str(pathlib.Path(perfmodel.__file__).parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERFMODEL_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("PYTHONPATH", path)
        yield
