"""The start: which interpreter is taken, what pip is given, and the sentence where it cannot go on."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
START = runpy.run_path(str(ROOT / "action" / "start.py"))
REAL = Path(getattr(sys, "_base_executable", sys.executable))
STUB = "#!/bin/sh\necho 'Python was not found; run without arguments to install from the Store.' >&2\nexit 9\n"
OLD = "#!/bin/sh\necho 'is Python 3.9, older than 3.11' >&2\nexit 1\n"
ALIEN = "\x7fELF"
SECRET = "sk-start-0123456789abcdef"


@dataclass(frozen=True)
class Said:
    code: int
    log: str
    output: str
    summary: str


@pytest.fixture
def box(tmp_path: Path) -> Path:
    for name in ("bin", "temp", "tools"):
        (tmp_path / name).mkdir()
    return tmp_path


def program(place: Path, text: str | Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(text, Path):
        place.symlink_to(text)
    else:
        place.write_text(text, encoding="utf-8")
        place.chmod(0o755)


def start(box: Path, what: str, environ: Mapping[str, str] | None = None, *, path: str | None = None) -> Said:
    """start.sh with a PATH of its own; bash itself is called by its place."""
    given = {
        "PATH": path or str(box / "bin"),
        "HOME": str(box),
        "RUNNER_TEMP": str(box / "temp"),
        "RUNNER_TOOL_CACHE": str(box / "tools"),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(box / "output"),
        "GITHUB_STEP_SUMMARY": str(box / "summary"),
        **(environ or {}),
    }
    command = [str(shutil.which("bash")), str(ROOT / "action" / "start.sh"), what]
    done = subprocess.run(command, env=given, cwd=box, capture_output=True, check=False, timeout=120)
    files = [(box / name).read_text(encoding="utf-8") if (box / name).exists() else "" for name in ("output", "summary")]
    return Said(done.returncode, (done.stdout + done.stderr).decode(), *files)


def test_the_first_that_really_starts_is_taken(box: Path) -> None:
    """A store stub, an old one and tool-cache binaries for another C library are passed over."""
    program(box / "tools/Python/3.12.9/x64/bin/python3", ALIEN)
    program(box / "tools/Python/3.13.1/x64/bin/python3", OLD)
    program(box / "bin/python3.12", STUB)
    program(box / "bin/python3", REAL)
    assert start(box, "find").output == f"python={box / 'bin/python3'}\n"


def test_the_tool_cache_goes_before_path(box: Path) -> None:
    program(box / "tools/Python/3.12.9/x64/bin/python3", REAL)
    program(box / "bin/python3", REAL)
    assert start(box, "find").output == f"python={box / 'tools/Python/3.12.9/x64/bin/python3'}\n"


def test_a_relative_entry_of_path_may_be_the_checkout(box: Path) -> None:
    program(box / "here/python3", REAL)
    assert start(box, "find", path="here").output == "python=\n"


def test_there_is_no_python(box: Path) -> None:
    program(box / "bin/python3", STUB)
    program(box / "bin/python", OLD)
    said = start(box, "run")
    assert said.code == 2
    assert "::error title=evalaction cannot start::There is no Python 3.11 or newer with pip on this runner" in said.log
    assert "Python was not found" in said.log
    assert "is Python 3.9, older than 3.11" in said.log
    assert said.output == "outcome=usage\n"
    assert "There is no Python 3.11 or newer" in said.summary


def test_a_named_python_is_not_replaced_by_another(box: Path) -> None:
    program(box / "bin/python3", REAL)
    named = {"EVALACTION_PYTHON_PATH": "/nowhere/python\n::set-output name=x::100%25"}
    assert start(box, "find", {"EVALACTION_PYTHON_PATH": "/nowhere/python"}).output == "python=/nowhere/python\n"
    said = start(box, "run", named)
    assert said.code == 2
    assert "The input python-path names no usable Python" in said.log
    assert [line for line in said.log.splitlines() if line.startswith("::")] == [said.log.strip()]


def test_windows_is_not_supported(box: Path) -> None:
    program(box / "bin/python3", REAL)
    said = start(box, "find", {"RUNNER_OS": "Windows"})
    assert said.code == 2
    assert "needs a Linux or macOS runner" in said.log


def test_pip_sees_the_way_to_the_index_and_no_secret(tmp_path: Path) -> None:
    config = tmp_path / ".config" / "pip" / "pip.conf"
    config.parent.mkdir(parents=True)
    config.write_text(
        "[global]\nindex_url = https://mirror.example/simple\ntarget = /x\ntrusted-host = mirror.example\n[install]\nuser=1\n",
        encoding="utf-8",
    )
    environ = {
        "HOME": str(tmp_path), "PATH": "/bin", "EVAL_KEY": SECRET, "EVALACTION_GITHUB_TOKEN": SECRET, "PIP_TARGET": "/y",
        "PIP_USER": "1",
        "PIP_CONSTRAINT": "c.txt", "PIP_TRUSTED_HOST": "other.example", "PIP_CERT": "/ca.pem", "HTTPS_PROXY": "http://proxy:3128",
        "PYTHONPATH": ".", "XDG_CONFIG_DIRS": str(tmp_path),
    }  # fmt: skip
    assert START["pip_environment"](environ, etc=tmp_path) == {
        "HOME": str(tmp_path), "PATH": "/bin", "HTTPS_PROXY": "http://proxy:3128", "PIP_INDEX_URL": "https://mirror.example/simple",
        "PIP_TRUSTED_HOST": "other.example", "PIP_CERT": "/ca.pem", "PIP_CONFIG_FILE": os.devnull,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["[global\n", "no section = 1\n", "[global]\n%(x)s\n", "\udcff"])
def test_a_configuration_that_cannot_be_read_settles_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "pip.conf").write_bytes(text.encode("utf-8", "surrogateescape"))
    environ = {"HOME": "/nowhere", "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    assert START["pip_environment"](environ, etc=tmp_path / "etc") == {"HOME": "/nowhere", "PIP_CONFIG_FILE": os.devnull}


def test_a_run_has_a_folder_and_an_artifact_of_its_own(tmp_path: Path) -> None:
    output = tmp_path / "output"
    environ = {"GITHUB_OUTPUT": str(output), "GITHUB_JOB": "a job: <é>", "EVALACTION_LEG": "3", "GITHUB_RUN_ATTEMPT": "2"}
    folders = [START["prepare_run"](tmp_path, environ) for _ in range(2)]
    assert len(set(folders)) == 2
    lines = [line.partition("=") for line in output.read_text(encoding="utf-8").splitlines()]
    names = [value for name, _, value in lines if name == "artifact-name"]
    assert len(set(names)) == 2
    assert all(name.startswith("evalaction-a-job--3-2-") for name in names)
    assert [value for name, _, value in lines if name == "upload-path"] == folders


def test_a_job_that_judges_reads_one_folder_and_uploads_another(tmp_path: Path) -> None:
    environ = {"EVALACTION_MODE": "judge", "EVALACTION_RUN_DIR": "drawn", "GITHUB_OUTPUT": str(tmp_path / "output")}
    folder = START["prepare_run"](tmp_path, environ)
    assert folder != "drawn" and f"upload-path={folder}\n" in (tmp_path / "output").read_text(encoding="utf-8")
    assert START["run_folders"](folder, environ) == {"EVALACTION_RUN_DIR": "drawn", "EVALACTION_JUDGED_DIR": folder}
    assert START["run_folders"](folder, {})["EVALACTION_RUN_DIR"] == folder


@pytest.mark.parametrize(
    "environ", [{"EVALACTION_MODE": "report"}, {"EVALACTION_MODE": "verify"}, {"EVALACTION_RUN_DIR": "a\nb=c"}]
)
def test_what_is_no_new_run_is_not_uploaded(tmp_path: Path, environ: dict[str, str]) -> None:
    START["prepare_run"](tmp_path, {"GITHUB_OUTPUT": str(tmp_path / "output"), **environ})
    assert not (tmp_path / "output").exists()


def test_bytecode_stays_out_of_the_callers_checkout(tmp_path: Path) -> None:
    assert START["inside_workspace"]({"GITHUB_WORKSPACE": str(ROOT)})
    assert not START["inside_workspace"]({"GITHUB_WORKSPACE": str(tmp_path)})
    assert not START["inside_workspace"]({})


def test_the_index_does_not_answer(box: Path) -> None:
    """One sentence, what pip said as plain text, and no half-made environment."""
    program(box / "bin/python3", REAL)
    environ = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_TIMEOUT": "2", "EVAL_KEY": SECRET}
    said = start(box, "run", environ)
    assert said.code == 2, said.log
    assert "::error title=evalaction cannot start::The packages that evalaction pins could not be installed" in said.log
    assert "PIP_INDEX_URL" in said.summary
    assert [place.name for place in (box / "temp").iterdir()] == []
    assert said.output == "outcome=usage\n"
    assert SECRET not in said.log + said.summary


def test_an_index_cannot_change_what_is_installed(box: Path) -> None:
    """A mirror that serves another wheel under the pinned name and version is refused by its hash."""
    name = "anyio-" + dict(_pins())["anyio"] + "-py3-none-any.whl"
    (box / "simple" / "anyio").mkdir(parents=True)
    (box / "simple" / "anyio" / name).write_bytes(b"PK\x03\x04 not what was locked")
    (box / "simple" / "anyio" / "index.html").write_text(f'<a href="{name}">{name}</a>', encoding="utf-8")
    program(box / "bin/python3", REAL)
    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: _Quiet(*args, directory=str(box)))
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        said = start(box, "run", {"PIP_INDEX_URL": f"http://127.0.0.1:{server.server_port}/simple", "PIP_RETRIES": "0"})
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert said.code == 2, said.log
    assert "HASHES" in said.log
    assert [place.name for place in (box / "temp").iterdir()] == []


def _pins() -> list[tuple[str, str]]:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return re.findall(r"^([a-z0-9-]+)==([^ ;]+)", lock, flags=re.MULTILINE)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name of the base class
        pass
