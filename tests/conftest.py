"""Tests forbid by default: no network but loopback, no user git configuration, no real home, no proxies."""

from __future__ import annotations

import signal
import tempfile
import threading
from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.option.allow_hosts = "127.0.0.1,::1,localhost"
    # A shell that starts the tests in the background has interrupts ignored, and every process of a test would inherit that.
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of their own: pytest numbers its folders, and to find the next number it looks at all that lie beside it."""
    return tmp_path_factory.mktemp("homes")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Counting lines doubles a test's time, and what must be covered wholly is so by its unit tests."""
    for item in items:
        if Path(__file__).parent / "unit" not in item.path.parents:
            item.add_marker("no_cover")


@pytest.fixture(autouse=True)
def closed_world(homes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", tempfile.mkdtemp(dir=homes))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(homes.parent))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "test@example.invalid")
