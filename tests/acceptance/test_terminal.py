"""What a person sees on a terminal, in a log, in a pipe, and on a console that knows few characters."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from fcntl import ioctl
from pathlib import Path

import pytest
from support import cards
from support.command import Make, Project, Serve, environment, exam, gated, right
from support.endpoint_server import EndpointServer, answering, chat, response

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(project: Project, *arguments: str, columns: int = 100, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run on a pseudo-terminal of this width; the exit code and everything that was shown."""
    outside, inside = pty.openpty()
    ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "evalaction", *arguments],
        cwd=project.root, env=environment({"TERM": "xterm-256color", **project.env, **(env or {})}),
        stdin=inside, stdout=inside, stderr=inside, close_fds=True,
    )  # fmt: skip
    os.close(inside)
    seen = b""
    while select.select([outside], [], [], 30)[0]:
        try:
            data = os.read(outside, 65536)
        except OSError:  # the other side was closed
            break
        if not data:
            break
        seen += data
    os.close(outside)
    return process.wait(30), seen.decode()


def test_a_terminal_shows_a_bar_and_colour_and_no_log_lines(make: Make, serve: Serve) -> None:
    server = serve(answering(right, latency_s=0.05))
    project = make(gated(3, {"pace.concurrency": 1}), url=server.url)
    code, seen = on_terminal(project, "run", "--run-dir", "run")
    assert code == 0
    assert "| 0/12 [" in seen and "12 [00:0" in seen and " draws/s" in seen
    assert "draws written" not in seen
    assert ESCAPE.search(seen)


def test_prose_is_wrapped_to_a_narrow_terminal(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    assert project.run().code == 0
    _, seen = on_terminal(project, "report", "run", columns=60, env={"NO_COLOR": "1"})
    lines = seen.splitlines()
    prose = [line for line in lines if line.startswith("! ") or "outcome pass" in line or "Measured on" in line]
    assert len(prose) == 3 and max(map(len, prose)) <= 60


def test_no_color_is_obeyed(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    code, seen = on_terminal(project, "run", "--run-dir", "run", "--quiet", env={"NO_COLOR": "1"})
    assert code == 0 and not ESCAPE.search(seen)


def test_a_pipe_gets_no_escape_and_no_bar(make: Make, server: EndpointServer) -> None:
    done = make(url=server.url)("run", "--run-dir", "run")
    assert "\x1b" not in done.said and "\r" not in done.said
    assert done.err.splitlines() == ["8 calls planned", done.err.splitlines()[1]]
    assert re.fullmatch(r"8 of 8 draws written, 8 sent, \d+ s", done.err.splitlines()[1])


def test_the_reader_of_a_pipe_may_leave(make: Make, server: EndpointServer) -> None:
    project = make(url=server.url)
    assert project.run().code == 0
    for command in ("report run --format json", "score run", "selfcheck", "plan"):
        shell = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f"{sys.executable} -m evalaction {command} | head -n 1; exit ${{PIPESTATUS[0]}}"],
            cwd=project.root, env=environment(project.env), capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert (shell.returncode, shell.stderr) == (0, b""), command


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_changes_no_exit_code(make: Make, serve: Serve, closed: str) -> None:
    project = make(gated(2), url=serve(answering(lambda prompt: "wrong")).url)

    def code(command: str) -> int:
        words = f"{sys.executable} -m evalaction {command} {closed}"
        return subprocess.run(["bash", "-c", words], cwd=project.root, env=environment(project.env), check=False).returncode

    assert [code("--version"), code("selfcheck"), code("run --help"), code("nope")] == [0, 0, 0, 2]
    assert code("run --run-dir run") == 1
    assert project.results()["outcome"] == "fail" and len(project.rows()) == 8


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", ["report run --format csv", "report run", "selfcheck"])
def test_output_that_cannot_be_written_is_said_and_is_no_success(make: Make, server: EndpointServer, command: str) -> None:
    project = make(url=server.url)
    assert project.run().code == 0
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [sys.executable, "-m", "evalaction", *command.split()],
            cwd=project.root, env=environment(project.env), stdout=full, stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    said = process.stderr.decode()
    assert process.returncode == 2 and "The output cannot be written" in said and "Traceback" not in said


@pytest.mark.parametrize("quiet", [(), ("--quiet",)], ids=["progress", "quiet"])
def test_a_reader_that_leaves_turns_no_failure_green(make: Make, serve: Serve, quiet: tuple[str, ...]) -> None:
    server = serve(answering(lambda prompt: "wrong"))
    project = make(gated(2), url=server.url)
    reading, writing = os.pipe()
    os.close(reading)  # whatever is said meets a pipe without a reader
    process = subprocess.run(
        [sys.executable, "-m", "evalaction", "run", "--run-dir", "run", *quiet],
        cwd=project.root, env=environment(project.env), stdout=writing, stderr=writing, timeout=60, check=False,
    )  # fmt: skip
    os.close(writing)
    assert process.returncode == 1 and server.count == 8
    assert project.results()["outcome"] == "fail"


@pytest.mark.parametrize(
    "env",
    [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "cp1252"}],
    ids=["C", "C and nothing else", "cp1252"],
)
def test_a_console_that_cannot_print_a_character_does_not_crash(make: Make, serve: Serve, env: dict[str, str]) -> None:
    """A Windows console crashed on an emoji: confident-ai/deepeval#105, PraisonAI#3423."""
    server = serve(lambda received: response(chat("\U0001f600 \u2028 \u202e é", number=received.number)))
    hostile = [cards.item(number, id=f"é\U0001f600 {number}") for number in range(4)]
    project = make(gated(2), exam() | {"tasks.jsonl": cards.jsonl(hostile)}, url=server.url)
    process = subprocess.run(
        [sys.executable, "-m", "evalaction", "run", "--run-dir", "run"],
        cwd=project.root, env=environment({**project.env, **env}), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert process.returncode == 1 and b"Traceback" not in process.stderr
    assert b"support-triage" in process.stdout
    if "LC_ALL" in env and "PYTHONUTF8" in env:
        process.stdout.decode("ascii")
    table = (project.root / "run" / "rows.csv").read_bytes().decode("utf-8")
    assert "é\U0001f600 3" in table, "files are UTF-8 whatever the console is"
    for arguments in (["verify"], ["plan"], ["report", "run", "--format", "markdown"], ["--help"], ["nope"]):
        done = subprocess.run(
            [sys.executable, "-m", "evalaction", *arguments],
            cwd=project.root, env=environment({**project.env, **env}), capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode in {0, 2} and b"Traceback" not in done.stderr, arguments


def test_hostile_names_cannot_write_to_the_terminal(make: Make, serve: Serve) -> None:
    model = "evil \x1b]0;title\x07 \x1b[31m \u202e ::error::x"
    server = serve(lambda received: response(chat(right(received), number=received.number) | {"model": model}))
    project = make(url=server.url)
    code, seen = on_terminal(project, "run", "--run-dir", "run", "--quiet", env={"NO_COLOR": "1"})
    assert code == 0 and "evil " in seen
    assert "\u202e" not in seen and "\x07" not in seen and "::error" not in seen and "\x1b" not in seen
