"""`evalaction report`: every format prints the file of the run, byte for byte, whatever the console's encoding is."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.command import Make, Serve, environment, exam, paired
from support.endpoint_server import Answer, Received, chat, response

FILES = {
    "markdown": "comment.md", "summary": "summary.md", "html": "report.html", "junit": "junit.xml", "csv": "rows.csv",
    "json": "results.json", "badge": "badge.json",
}  # fmt: skip


def odd(received: Received) -> Answer:
    return response(chat("größer als “never”" if received.number % 3 else "0", number=received.number))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_each_format_is_the_file_of_the_run(make: Make, serve: Serve, encoding: str) -> None:
    project = make(paired(2), exam(4), url=serve(odd).url)
    project.run()
    for form, name in FILES.items():
        printed = subprocess.run(
            [sys.executable, "-m", "evalaction", "report", "run", "--format", form],
            cwd=project.root, env=environment({"PYTHONIOENCODING": encoding}), capture_output=True, timeout=60, check=True,
        )  # fmt: skip
        assert printed.stdout == (project.root / "run" / name).read_bytes(), form
        assert not printed.stderr


def test_the_formats_of_a_refused_run(make: Make) -> None:
    project = make(paired(2, {"sign.claim": "differ"}), exam(40), url="http://127.0.0.1:9")
    assert project.run().code == 5
    folder = project.root / "run"
    for form in ("html", "junit", "badge"):
        assert project("report", "run", "--format", form).out.encode() == (folder / FILES[form]).read_bytes()
    assert b'name="treatment" tests="40" failures="0" errors="0" skipped="40"' in (folder / "junit.xml").read_bytes()
    assert 'is-inconclusive"' in (folder / "report.html").read_text("utf-8")
