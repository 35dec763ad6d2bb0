"""A judging that is killed, moved or lied to: it goes on or begins again with the same rows, and overwrites nobody else's."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.command import Done, Project, exam, files_of, gated, right
from support.endpoint_server import answering, serving

from evalaction.engine.journal import line_of
from evalaction.engine.judge import Bench, judge_draws
from evalaction.engine.prepare import load_prepared
from evalaction.engine.runner import runner_identity
from evalaction.engine.trial import trial_of
from evalaction.errors import EvalactionError, Interrupted
from evalaction.method.canonical import sha256
from evalaction.method.report import Counts

BARE: dict[str, str | None] = {"EVAL_KEY": None, "EVAL_URL": None}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Path]]:
    """A project, and its run as it was drawn; `judged` beside it as it was judged undisturbed."""
    root = tmp_path_factory.mktemp("kept") / "project"
    with serving(answering(lambda received: "no" if right(received) == "2" else right(received))) as server:
        project = Project(root, gated(), exam(), url=server.url)
        assert project("run", "--draw-only", "--quiet", "--run-dir", "drawn").code == 0
    shutil.copytree(root / "drawn", root / "judged")
    assert judge(project, root / "judged").code == 1
    yield project, root / "drawn"


@pytest.fixture
def run(kept: tuple[Project, Path], tmp_path: Path) -> Path:
    """A copy of the judged run."""
    return shutil.copytree(kept[1].parent / "judged", tmp_path / "run")


def judge(project: Project, folder: Path) -> Done:
    return project("judge", str(folder), "--quiet", env=BARE)


@pytest.mark.parametrize(
    ("rows", "torn"), [(0, b""), (0, b'{"ind'), (3, b""), (3, b'{"index":5,"it'), (8, b""), (8, b'{"seal":{"sh')]
)
def test_after_a_kill_anywhere(kept: tuple[Project, Path], run: Path, rows: int, torn: bytes) -> None:
    whole = files_of(run)
    (run / "rows.jsonl").write_bytes(b"".join(whole["rows.jsonl"].splitlines(keepends=True)[:rows]) + torn)
    assert judge(kept[0], run).code == 1
    assert files_of(run) == whole


def test_a_judging_of_another_machine_is_begun_again(kept: tuple[Project, Path], run: Path) -> None:
    whole = files_of(run)
    note = json.loads(whole["judging.json"])
    (run / "judging.json").write_text(json.dumps(note | {"runner": {**note["runner"], "python": "3.99.0"}}), "utf-8")
    lines = whole["rows.jsonl"].splitlines(keepends=True)
    (run / "rows.jsonl").write_bytes(b"".join(lines[:2]) + b'{"not": "a row"}\n')
    assert judge(kept[0], run).code == 1
    assert files_of(run) == whole


def changed(path: Path, change: Callable[[list[dict[str, Any]]], None], *, seal: bool) -> bytes:
    values = [json.loads(line) for line in path.read_bytes().splitlines()]
    last = values.pop()["seal"]
    change(values)
    data = b"".join(map(line_of, values))
    data += line_of({"seal": {**last, "sha256": sha256(data)}}) if seal else b""
    path.write_bytes(data)
    return data


@pytest.mark.parametrize("seal", [True, False])
def test_rows_of_somebody_else_are_refused_and_stay(kept: tuple[Project, Path], run: Path, *, seal: bool) -> None:
    held = changed(run / "rows.jsonl", lambda rows: rows[0].update(ms=1), seal=seal)
    done = judge(kept[0], run)
    assert done.code == 4 and "another ms" in done.err
    assert (run / "rows.jsonl").read_bytes() == held


def test_a_drawing_that_was_killed_is_finished_and_judged(tmp_path: Path) -> None:
    with serving(answering(right)) as server:
        project = Project(tmp_path / "project", gated(), exam(), url=server.url)
        assert project("run", "--draw-only", "--quiet", "--run-dir", "run").code == 0
        folder = project.root / "run"
        lines = (folder / "draws.jsonl").read_bytes().splitlines(keepends=True)
        (folder / "draws.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:20])
        early = judge(project, folder)
        assert early.code == 5 and "not finished" in early.err
        other = project("run", "--resume", "--quiet", "--run-dir", "run")
        assert other.code == 4 and "judged_apart differs" in other.err
        done = project("run", "--resume", "--draw-only", "--quiet", "--run-dir", "run")
        assert done.code == 0 and server.count == 8 + 5, done.said
        assert (folder / "draws.jsonl").read_bytes().startswith(b"".join(lines[:3]))
    assert judge(project, folder).code == 0
    assert sorted(json.loads(line)["index"] for line in (folder / "texts.jsonl").read_text("utf-8").splitlines()) == list(
        range(8)
    )


def test_a_signal_leaves_whole_rows_and_the_next_judging_goes_on(
    kept: tuple[Project, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalaction.engine.judge.AT_ONCE", 1)
    project, drawn = kept
    folder = shutil.copytree(drawn, tmp_path / "run")
    prepared = load_prepared(project.root / "card.yaml", {}, lambda frozen: trial_of(frozen, None), rehearse_only=False)
    bench = Bench(folder=folder, environ={}, identity=runner_identity(os.environ))

    def strike(counts: Counts) -> None:
        if counts.written == 2:
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted, match="of 8 draws are judged"):
        asyncio.run(judge_draws(prepared, bench, None, progress=strike))
    held = (folder / "rows.jsonl").read_bytes()
    assert held.count(b"\n") >= 2 and held.endswith(b"\n") and b'"seal"' not in held
    asyncio.run(judge_draws(prepared, bench, None, progress=lambda counts: None))
    assert (folder / "rows.jsonl").read_bytes() == (drawn.parent / "judged" / "rows.jsonl").read_bytes()


def test_a_check_that_cannot_be_run_seals_nothing(
    kept: tuple[Project, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes wrong in one judgement ends the judging, with the rows so far."""
    project, drawn = kept
    folder = shutil.copytree(drawn, tmp_path / "run")
    prepared = load_prepared(project.root / "card.yaml", {}, lambda frozen: trial_of(frozen, None), rehearse_only=False)
    bench = Bench(folder=folder, environ={}, identity=runner_identity(os.environ))
    monkeypatch.setattr("evalaction.checks.process.Child.start", _no_process)
    with pytest.raises(EvalactionError, match="does not start"):
        asyncio.run(judge_draws(prepared, bench, None, progress=lambda counts: None))
    assert (folder / "rows.jsonl").read_bytes() == b""


def _no_process(*_: Any, **__: Any) -> None:
    raise OSError(12, "Cannot allocate memory")


def test_an_exam_that_changed_is_another_one(kept: tuple[Project, Path], run: Path, tmp_path: Path) -> None:
    other = Project(tmp_path / "other", gated(), exam(5) | {"tasks.jsonl": cards.exam_text(5)})
    done = other("judge", str(run))
    assert done.code == 4 and "differs" in done.err
