"""A stub server per test and projects in folders of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.command import Make, Project, Serve, exam, gated, right
from support.endpoint_server import EndpointServer, answering, serving


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda behaviour: stack.enter_context(serving(behaviour))


@pytest.fixture
def server(serve: Serve) -> EndpointServer:
    """A server that is always right about "Say 7."."""
    return serve(answering(right))


@pytest.fixture
def make(tmp_path: Path) -> Make:
    made: list[Project] = []

    def build(card: dict[str, Any] | bytes | None = None, files: dict[str, bytes] | None = None, **how: Any) -> Project:
        project = Project(
            tmp_path / f"project{len(made)}", gated() if card is None else card, exam() if files is None else files, **how
        )
        made.append(project)
        return project

    return build
