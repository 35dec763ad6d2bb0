"""A real Chromium, driven over the pipe of its DevTools protocol: no port, no driver, no bundled browser."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
PATIENCE_S = 90.0
# The browser reads commands from 3 and writes answers to 4, whatever numbers the pipes have here.
_LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
    "--force-color-profile=srgb", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


def chromium() -> str | None:
    """The browser to use: the one that CHROMIUM names, or the first of the usual names."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def needs_browser() -> str:
    """The browser's path; skips the test with a sentence where there is none."""
    found = chromium()
    if found is None:
        pytest.skip("There is no Chromium here: install it, or name it in the variable CHROMIUM.")
    return found


class Browser:
    """One process. Commands are answered in order; events wait until somebody asks for them."""

    def __init__(self, program: str, home: Path) -> None:
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()
        flags = [*_FLAGS, f"--user-data-dir={home}", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(to_child), str(from_child), program, *flags, "about:blank"],
            pass_fds=(to_child, from_child), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(home)},
        )  # fmt: skip
        os.close(to_child)
        os.close(from_child)
        self._held = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """One command and its answer. Raises RuntimeError for an error, TimeoutError when none comes."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self._out, json.dumps(command).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                answer: dict[str, Any] = message["result"]
                return answer
            self.events.append(message)

    def _message(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self._held:
            if not select.select([self._in], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self._held += chunk
        line, _, self._held = self._held.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        os.close(self._out)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)


class Page:
    """A tab with a file opened in it, its console, its exceptions and its requests kept."""

    def __init__(
        self, browser: Browser, *, width: int, height: int, features: Mapping[str, str], phone: bool, script: bool
    ) -> None:
        self._browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self._target = target
        self._session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setScriptExecutionDisabled", value=not script)
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.send("Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in features.items()])

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.send(method, self._session, **parameters)

    def open(self, path: Path) -> Self:
        """Open a file and wait until it and two frames are there."""
        before = len(self._events("Page.loadEventFired"))
        self.send("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + PATIENCE_S
        while len(self._events("Page.loadEventFired")) == before:
            if time.monotonic() > end:
                raise TimeoutError("the page does not load")
            self.send("Runtime.evaluate", expression="0")
        return self

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited. Raises AssertionError when it throws."""
        said = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    def settle(self) -> None:
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def key(self, key: str, *, control: bool = False) -> None:
        """Press and release a key, as the keyboard does."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, " ": 32, "Home": 36, "End": 35, "PageDown": 34, "PageUp": 33}
        codes |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        common = {"key": key, "windowsVirtualKeyCode": codes[key], "modifiers": 2 if control else 0}
        self.send("Input.dispatchKeyEvent", type="rawKeyDown", **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)
        self.settle()

    def write(self, text: str) -> None:
        self.send("Input.insertText", text=text)
        self.settle()

    def click(self, selector: str) -> None:
        """Click in the middle of the first element that matches, wherever it is on the page."""
        found = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=found[0], y=found[1], button="left", clickCount=1)
        self.settle()

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.innerText)")
        return found

    def screenshot(self, path: Path, *, until: str | None = None) -> None:
        """The page from its top to its end, or to the end of the first element that matches."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        if until:
            size["height"] = self.run(
                f"scrollY + document.querySelector({json.dumps(until)}).getBoundingClientRect().bottom + 16"
            )
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        said = self.send("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(said["data"]))

    def _events(self, method: str) -> list[dict[str, Any]]:
        return [
            event["params"] for event in self._browser.events
            if event.get("method") == method and event.get("sessionId") == self._session
        ]  # fmt: skip

    @property
    def complaints(self) -> list[Any]:
        """Everything on the console, in the log (violations of the policy too), and every exception."""
        self.settle()
        return [
            *self._events("Runtime.consoleAPICalled"),
            *self._events("Log.entryAdded"),
            *self._events("Runtime.exceptionThrown"),
        ]

    @property
    def requests(self) -> list[str]:
        return [event["request"]["url"] for event in self._events("Network.requestWillBeSent")]

    def close(self) -> None:
        self._browser.send("Target.closeTarget", targetId=self._target)


@contextmanager
def started(program: str) -> Iterator[Browser]:
    """A browser with a profile of its own, ended with the block."""
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as home:
        browser = Browser(program, Path(home))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser,
    path: Path,
    *,
    width: int = 1200,
    height: int = 900,
    dark: bool = False,
    phone: bool = False,
    script: bool = True,
) -> Iterator[Page]:
    """A tab with the page in it."""
    features = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
    page = Page(browser, width=width, height=height, features=features, phone=phone, script=script)
    try:
        yield page.open(path)
    finally:
        page.close()
