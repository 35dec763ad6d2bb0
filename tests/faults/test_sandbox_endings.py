"""A process that is ended in its last moments: whoever keeps it must not do what only the zygote may, at its own end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import evalaction

# SIGTERM comes where a keeper has its report and is about to send it, or is about to say what went wrong.
KEEPER = """
import os, signal, sys
from evalaction.sandbox.runtime import keeper
def term():
    os.kill(os.getpid(), signal.SIGTERM)
class Late(Exception):
    def __str__(self):
        term()
        return "late"
def done(*_):
    return {"exit": 0}
def ended(*_):
    term()
def failed(*_):
    raise Late
class Json:
    @staticmethod
    def dumps(report):
        term()
        return real.dumps(report)
real, keeper.json, keeper._keep = keeper.json, Json, {"done": done, "ended": ended, "failed": failed}[sys.argv[1]]
try:
    keeper.keep(None, None, 0, [], 1)
finally:
    sys.stderr.write("it left")
"""


@pytest.mark.parametrize(("how", "report"), [("done", {"exit": 0}), ("ended", {"ended": True}), ("failed", {"ended": True})])
def test_an_end_that_comes_late_never_leaves_the_keeper(how: str, report: dict[str, object]) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("the box is Linux's")
    env = {"PYTHONPATH": str(Path(evalaction.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", KEEPER, how], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, report, "")
