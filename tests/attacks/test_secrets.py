"""Keys: what an endpoint echoes, what a check prints, what lies in our own process. Real endpoint, real command, real box."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command import KEY, Project, environment, gated
from support.endpoint_server import answering, serving
from support.programs import best_rung

CHECK = """
import _candidate
print(_candidate.key)
got = _candidate.f()
assert got == 1, got
"""
CHANGES = {"exam.tasks": "tasks", "limits": ..., "draws.timeout_ms": 60_000, "checks": {"timeout_ms": 120_000}}


def files(*names: str) -> dict[str, bytes]:
    found = {"prompt.md": b"Be brief.\n"}
    for name in names:
        task = {"id": name, "prompt": f"Write {name}.", "extract": "raw"}
        found |= {f"tasks/{name}/task.json": json.dumps(task).encode(), f"tasks/{name}/check.py": CHECK.encode()}
    return found


def echo(received: Any) -> str:
    """A program that holds the request's Authorization header: printed, raised, returned, in halves, in other clothes."""
    header = received.headers["authorization"]
    key = header.removeprefix("Bearer ")
    name = json.loads(received.body)["messages"][-1]["content"].removeprefix("Write ").removesuffix(".")
    body = {
        "returned": f"def f(): return key\nkey = {key!r}\n",
        "raised": f"key = {header!r}\ndef f(): raise ValueError(key)\n",
        "printed": f"import sys\nkey = {key!r}\nprint(key)\nsys.stderr.write(key)\ndef f(): return 2\n",
        "exited": f"import sys\nkey = {key!r}\ndef f(): sys.exit(key)\n",
        "named": f"class E(Exception): pass\nkey = {key!r}\nE.__name__ = key\ndef f(): raise E(key)\n",
        "halves": f"key = {key[:15]!r} + {key[15:]!r}\ndef f(): return key\n",
        "far": f"key = 'x' * 225 + {key!r}\ndef f(): return key\n",
        "prose": f"Your header is {header}, is it not?",
    }
    return body[name]


ECHOES = ("returned", "raised", "printed", "exited", "named", "halves", "far", "prose")


def test_an_endpoint_that_echoes_its_key_into_programs_brings_it_nowhere(tmp_path: Path) -> None:
    best_rung()
    with serving(answering(echo)) as server:
        project = Project(tmp_path / "p", gated(2, CHANGES), files(*ECHOES), url=server.url)
        done = project.run()
        shown = project("report", "run")
    assert done.code == 0, done.said
    assert len(project.rows()) == 2 * len(ECHOES)
    told = {path.name: path.read_bytes() for path in (project.root / "run").rglob("*") if path.is_file()}
    told |= {"run": done.said.encode(), "report": shown.said.encode()}
    for name, data in told.items():
        assert KEY.encode() not in data, name
        assert KEY[3:].encode() not in data, name
        assert KEY.encode().hex().encode() not in data, name
    whole = [row for row in project.rows() if row["item"] not in ("halves", "far")]
    assert {row["verdict"] for row in whole} <= {"fail", None}
    assert not [row for row in project.rows() if KEY[:12] in json.dumps(row)]


def test_of_a_long_key_no_half_is_left_where_a_reason_is_cut(tmp_path: Path) -> None:
    best_rung()
    long = f"eyJ.{''.join(secrets.token_urlsafe(48) for _ in range(12))}.end"
    bodies = {
        "raised": f"key = {long[::-1]!r}[::-1]\ndef f(): raise ValueError('x' * 60 + key)\n",
        "far": f"key = 'x' * 100 + {long[::-1]!r}[::-1]\ndef f(): return key\n",
    }
    with serving(answering(lambda received: next(text for name, text in bodies.items() if name in str(received.body)))) as server:
        project = Project(tmp_path / "p", gated(1, CHANGES), files(*bodies), url=server.url)
        done = project.run(env={"EVAL_KEY": long})
    assert done.code == 0, done.said
    assert {row["verdict"] for row in project.rows()} == {"fail"}
    for path in (one for one in (project.root / "run").rglob("*") if one.is_file()):
        assert long[:16].encode() not in path.read_bytes(), path.name


def environments(root: Path) -> Iterator[bytes]:
    """Those of the processes that run in a folder."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "cwd").resolve() == root.resolve():
                yield (entry / "environ").read_bytes()


def test_while_programs_run_our_environment_shows_no_key(tmp_path: Path) -> None:
    best_rung()
    seen: list[tuple[bool, bool]] = []

    def look(received: Any) -> str:
        seen.extend((KEY.encode() in held, b"EVAL_URL" in held) for held in environments(tmp_path / "p"))
        return echo(received)

    with serving(answering(look)) as server:
        project = Project(tmp_path / "p", gated(1, CHANGES), files("prose", "returned"), url=server.url)
        assert project.run(env={"GITHUB_TOKEN": KEY}).code == 0
    if os.geteuid() == 0:  # others may not even look
        assert seen and set(seen) == {(False, True)}


def test_without_programs_nothing_of_our_environment_changes(tmp_path: Path) -> None:
    seen: list[bool] = []

    def look(received: Any) -> str:
        seen.extend(KEY.encode() in held for held in environments(tmp_path / "p"))
        return "7"

    with serving(answering(look)) as server:
        tasks = {"tasks.jsonl": json.dumps({"id": "a", "prompt": "Say 7.", "expected": "7"}).encode() + b"\n"}
        project = Project(tmp_path / "p", gated(1, {"limits": ...}), {**tasks, "prompt.md": b"x\n"}, url=server.url)
        assert project.run().code == 0
    assert any(seen)  # and so the test before this one can fail


LOOK = """
import sys
try:
    data = open(f"/proc/{sys.argv[1]}/environ", "rb").read()
except OSError as error:
    print(type(error).__name__)
else:
    print("WORKED" if sys.argv[2].encode() in data else "nothing")
"""
OURS = """
import os, subprocess, sys
from evalaction.sandbox import own
key = os.environ["SOME_KEY"]
def look():
    words = [sys.executable, "-c", LOOK, str(os.getpid()), key]
    return subprocess.run(words, capture_output=True, text=True, env={}).stdout.strip()
before = look()
names = own.forget([key])
forgotten = look()
own.close()
left = [name for name in ("SOME_KEY", "A_TOKEN", "COPY", "PLAIN") if name in os.environ]
print([before, forgotten, look(), sorted(names), left])
"""


def test_our_own_process_is_closed_to_others_and_forgets_its_keys() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux shows a process to others in this way")
    key = f"key-{secrets.token_hex(16)}"
    env = {**environment(), "SOME_KEY": key, "A_TOKEN": "t0ken", "COPY": f"x{key}y", "PLAIN": "plain"}
    options: dict[str, Any] = {"user": 54_321, "group": 54_321, "extra_groups": []} if os.geteuid() == 0 else {}
    python = os.path.realpath(sys.executable) if not options else "/usr/bin/python3"
    package = Path(env["PYTHONPATH"])
    if options and not all(place.stat().st_mode & 0o001 for place in (package, *package.parents)):
        pytest.skip("another user cannot read this checkout")
    source = f"LOOK = {LOOK!r}\n{OURS}"
    words = [python, "-B", "-c", source]
    done = subprocess.run(words, env=env, cwd="/", capture_output=True, text=True, check=False, timeout=60, **options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(["WORKED", "nothing", "PermissionError", ["A_TOKEN", "COPY", "SOME_KEY"], ["PLAIN"]])


def test_a_short_key_is_warned_about_by_name(tmp_path: Path) -> None:
    best_rung()
    with serving(answering(lambda _: "key = 1\ndef f(): return 1\n")) as server:
        project = Project(tmp_path / "p", gated(1, CHANGES), files("one"), url=server.url)
        done = project.run(env={"EVAL_KEY": "k3y"})
    assert done.code == 0 and "EVAL_KEY" in done.err and "k3y" not in done.err, done.said


@pytest.mark.parametrize("at", [0, 1, 7, 20])
def test_a_secret_that_lies_across_two_chunks_is_found(tmp_path: Path, at: int) -> None:
    from evalaction.engine.derive import find_leaks
    from evalaction.redaction import Redactor

    redactor = Redactor({"EVAL_KEY": KEY})
    (tmp_path / "rows.jsonl").write_bytes(b"x" * (2**20 - at) + KEY.encode() + b"y" * 100)
    (tmp_path / "clean").write_bytes(b"x" * (2**20 - at) + KEY[:-1].encode() + b"y" * 100)
    assert find_leaks(tmp_path, redactor) == [("rows.jsonl", "EVAL_KEY")]
