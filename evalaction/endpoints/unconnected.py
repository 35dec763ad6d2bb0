"""What the APIs share that open no connection: there is no path to append, and no header to send."""

from __future__ import annotations

from evalaction.method.card import Endpoint


def path(base: str, _endpoint: Endpoint) -> str:
    return base


def key_headers(_key: str) -> tuple[tuple[str, str], ...]:
    """None: a program holds its own variables, and scripted replies need no key."""
    return ()


def own_headers() -> tuple[tuple[str, str], ...]:
    return ()
