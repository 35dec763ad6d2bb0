"""Rooms stay open for the whole test run: an attack meets what all before it have left."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from attacks.rooms import Rooms, opened


@pytest.fixture(scope="session")
def rooms() -> Iterator[Rooms]:
    with opened() as made:
        yield made
