"""Scoring a run folder offline: the same bytes every time, and refusals for folders that were meddled with."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.drawing import CountedClock, Sent, Stage, job_of, lost, manifest_of, reached

from evalaction.engine.conduct import Sitting, conduct, leave_refusal
from evalaction.engine.derive import derive, drop_derived, find_leaks
from evalaction.engine.manifest import Ended, read_manifest, write_manifest
from evalaction.engine.run import Job
from evalaction.engine.score import planned_rows, score
from evalaction.errors import EvalactionError, Outcome
from evalaction.method.card import Pace
from evalaction.method.records import Completion
from evalaction.redaction import Redactor

DERIVED = {"results.json", "rows.csv", "comment.md", "summary.md", "report.html", "junit.xml", "badge.json", "SHA256SUMS"}


def drawn(folder: Path, reply: Callable[[Sent], Completion], *, resume: bool = False, **options: Any) -> Job:
    clock = CountedClock()
    stage = Stage(clock, reply)
    changes = options.pop("manifest", {})
    job = job_of(stage, **options)
    manifest = manifest_of(job, **changes)
    clock.run(conduct(Sitting(folder=folder, manifest=manifest, job=job, resume=resume), clock=clock, progress=lambda c: None))
    return job


def files(folder: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


def codes(folder: Path) -> tuple[Outcome, list[str]]:
    report = score(folder)
    return report.verdict.outcome, [found.code for found in report.verdict.breaks]


def refusal(folder: Path) -> str:
    with pytest.raises(EvalactionError) as caught:
        score(folder)
    return caught.value.code


def test_derived_again_byte_for_byte(tmp_path: Path) -> None:
    drawn(tmp_path, lambda sent: reached("ok" if (sent.item + sent.draw) % 5 else "no"), items=40)
    derive(tmp_path)
    before = files(tmp_path)
    assert before.keys() >= DERIVED
    drop_derived(tmp_path)
    assert not DERIVED & files(tmp_path).keys()
    derive(tmp_path)
    assert files(tmp_path) == before
    derive(tmp_path)
    assert files(tmp_path) == before
    checked = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, capture_output=True, check=False)
    assert checked.returncode == 0


def test_the_order_in_which_draws_arrived_changes_nothing_derived(tmp_path: Path) -> None:
    reply: Callable[[Sent], Completion] = lambda sent: reached("ok" if (sent.item + sent.draw) % 5 else "no")  # noqa: E731
    results = []
    for slots in (1, 9):
        folder = tmp_path / str(slots)
        drawn(folder, reply, items=12, pace=Pace(concurrency=slots))
        derive(folder)
        results.append((folder / "rows.csv").read_bytes())
    assert results[0] == results[1]


def test_rows_csv_is_in_planned_order(tmp_path: Path) -> None:
    job = drawn(tmp_path, lambda sent: reached(), items=12, draws=2, pace=Pace(concurrency=7))
    derive(tmp_path)
    lines = (tmp_path / "rows.csv").read_bytes().decode().split("\r\n")
    assert lines[0].startswith("task,arm,draw,verdict")
    assert lines[-1] == ""
    planned = [f"{job.grid.ids[p.item]},{p.arm},{p.draw}" for p in job.grid]
    assert [",".join(line.split(",")[:3]) for line in lines[1:-1]] == planned
    assert [row.index for row in planned_rows(tmp_path)] == list(range(48))


def test_one_arm_has_the_first_protocols_three_columns_too(tmp_path: Path) -> None:
    one = cards.text(cards.card({"draws.count": 2, "name": "freeze-me-before-running"})).decode()
    drawn(tmp_path, lambda sent: reached(), items=30, draws=2, arms=("treatment",), manifest={"card_text": one})
    report = derive(tmp_path)
    assert report.verdict.outcome is Outcome.PASS
    lines = (tmp_path / "verdicts.csv").read_bytes().split(b"\r\n")
    assert lines[0] == b"task,draw,verdict"
    assert len(lines) == 62
    assert {line.rsplit(b",", 1)[1] for line in lines[1:-1]} == {b"pass"}


def test_counts_and_verdict(tmp_path: Path) -> None:
    drawn(tmp_path, lambda sent: reached(), items=40)
    report = score(tmp_path)
    assert report.verdict.outcome is Outcome.PASS
    assert (report.counts.planned, report.counts.sent, report.counts.written) == (240, 240, 240)
    assert report.provenance.rows_sha256 == json.loads((tmp_path / "rows.jsonl").read_bytes().splitlines()[-1])["seal"]["sha256"]


def unsealed(folder: Path, **options: Any) -> list[bytes]:
    drawn(folder, lambda sent: reached(), items=30, draws=1, manifest={}, **options)
    return (folder / "rows.jsonl").read_bytes().splitlines(keepends=True)


def test_one_missing_control_draw_is_a_partial_grid(tmp_path: Path) -> None:
    lines = unsealed(tmp_path)[:-1]
    victim = next(line for line in lines if b'"control"' in line)
    (tmp_path / "rows.jsonl").write_bytes(b"".join(line for line in lines if line != victim))
    outcome, broken = codes(tmp_path)
    assert outcome is Outcome.INCONCLUSIVE
    assert broken == ["partial_grid"]
    report = derive(tmp_path)
    assert report.arms == ()


def test_a_complete_but_unsealed_run_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"".join(unsealed(tmp_path)[:-1]))
    assert codes(tmp_path) == (Outcome.INCONCLUSIVE, ["partial_grid"])


def test_a_torn_line_is_not_counted_and_not_touched(tmp_path: Path) -> None:
    lines = unsealed(tmp_path)[:-1]
    torn = b"".join(lines)[:-20]
    (tmp_path / "rows.jsonl").write_bytes(torn)
    report = score(tmp_path)
    assert report.counts.written == 59
    assert (tmp_path / "rows.jsonl").read_bytes() == torn


def test_killed_before_the_first_row(tmp_path: Path) -> None:
    unsealed(tmp_path)
    (tmp_path / "rows.jsonl").unlink()
    assert codes(tmp_path) == (Outcome.INCONCLUSIVE, ["partial_grid"])
    assert list(planned_rows(tmp_path)) == []


def with_row(folder: Path, place: int, **changes: Any) -> None:
    lines = unsealed(folder)[:-1]
    row = json.loads(lines[place]) | changes
    lines[place] = json.dumps(row).encode() + b"\n"
    (folder / "rows.jsonl").write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"index": 60}, "unknown_draw"),
        ({"index": 17}, "wrong_index"),
        ({"item": "t9999"}, "wrong_index"),
        ({"arm": "third"}, "usage"),
        ({"half": 7}, "usage"),
        ({"verdict": "fail"}, "usage"),
        ({"reach": False}, "usage"),
        ({"secret": 1}, "usage"),
        ({"ms": -1}, "usage"),
    ],
)
def test_a_row_that_does_not_belong(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    with_row(tmp_path, 3, **changes)
    assert refusal(tmp_path) == code


def test_another_request_than_the_items_other_draws(tmp_path: Path) -> None:
    drawn(tmp_path, lambda sent: reached(), items=30, draws=2)
    lines = (tmp_path / "rows.jsonl").read_bytes().splitlines(keepends=True)[:-1]
    lines[70] = json.dumps(json.loads(lines[70]) | {"request_sha256": "0" * 64}).encode() + b"\n"
    (tmp_path / "rows.jsonl").write_bytes(b"".join(lines))
    assert refusal(tmp_path) == "wrong_request"


def test_a_draw_twice_is_refused(tmp_path: Path) -> None:
    """Retry until it passes, last one wins: never."""
    lines = unsealed(tmp_path)[:-1]
    (tmp_path / "rows.jsonl").write_bytes(b"".join([*lines, lines[4]]))
    assert refusal(tmp_path) == "duplicate_draw"


def test_rows_after_the_seal(tmp_path: Path) -> None:
    lines = unsealed(tmp_path)
    (tmp_path / "rows.jsonl").write_bytes(b"".join([*lines, lines[4]]))
    assert refusal(tmp_path) == "seal_broken"


@pytest.mark.parametrize(
    "line", [b"\n", b"null\n", b"[]\n", b'"x"\n', b"{}\n", b"[" * 100_000 + b"\n", b"\xff\n", b"\0" * 50 + b"\n"]
)
def test_a_line_that_is_no_row(tmp_path: Path, line: bytes) -> None:
    lines = unsealed(tmp_path)[:-1]
    (tmp_path / "rows.jsonl").write_bytes(b"".join([*lines[:5], line + b"\n", *lines[5:]]))
    with pytest.raises(EvalactionError, match=r"rows\.jsonl:6: This line is not a row"):
        score(tmp_path)


def test_a_tampered_row_under_a_seal(tmp_path: Path) -> None:
    data = b"".join(unsealed(tmp_path))
    (tmp_path / "rows.jsonl").write_bytes(data.replace(b'"ms":50', b'"ms":51', 1))
    assert refusal(tmp_path) == "seal_broken"


def test_rows_of_another_plan(tmp_path: Path) -> None:
    unsealed(tmp_path)
    manifest = read_manifest(tmp_path)
    write_manifest(tmp_path, replace(manifest, planned=61))
    assert refusal(tmp_path) == "manifest_differs"
    write_manifest(tmp_path, replace(manifest, arms=manifest.arms[:1], planned=30))
    assert refusal(tmp_path) == "manifest_differs"


def test_an_arm_that_never_reached(tmp_path: Path) -> None:
    drawn(tmp_path, lambda sent: lost("status:404") if sent.endpoint == "control" else reached(), items=30)
    outcome, broken = codes(tmp_path)
    assert outcome is Outcome.UNREACHABLE
    assert broken == ["control:unreachable"]
    assert derive(tmp_path).arms == ()


def test_the_deadline_is_named(tmp_path: Path) -> None:
    drawn(tmp_path, lambda sent: reached(), items=30, pace=Pace(concurrency=1, deadline_ms=1000))
    report = score(tmp_path)
    assert report.verdict.outcome is Outcome.INCONCLUSIVE
    assert "deadline" in str(report.verdict.breaks[0].sentence)


def test_a_long_wait_is_said(tmp_path: Path) -> None:
    drawn(
        tmp_path,
        lambda sent: lost("status:429", retry_after_raw="86400", retry_after_ms=86_400_000) if sent.item == 3 else reached(),
        items=60,
    )
    said = str(score(tmp_path).callouts)
    assert "6 replies asked for a longer wait" in said
    assert "86400" in said


def test_a_rehearsal_is_never_sealed(tmp_path: Path) -> None:
    drawn(tmp_path, lambda sent: reached(), items=30, manifest={"rehearsal": True})
    assert b'"seal"' not in (tmp_path / "rows.jsonl").read_bytes()
    report = score(tmp_path)
    assert "REHEARSAL" in report.titles
    assert report.verdict.outcome is Outcome.PASS


def test_a_refused_run_leaves_manifest_and_report_and_its_folder_may_be_used_again(tmp_path: Path) -> None:
    job = job_of(Stage(CountedClock(), lambda sent: reached()), items=30)
    ended = Ended(outcome=Outcome.NOT_RUN, code="secrets_missing", sentence="EVAL_KEY is not set.")
    leave_refusal(tmp_path, manifest_of(job, ended=ended))
    report = derive(tmp_path)
    assert report.verdict.outcome is Outcome.NOT_RUN
    assert files(tmp_path).keys() == {"manifest.json"} | DERIVED - {"rows.csv"}
    drawn(tmp_path, lambda sent: reached(), items=30)
    assert files(tmp_path).keys() == {"manifest.json", "rows.jsonl", "texts.jsonl"}
    assert score(tmp_path).verdict.outcome is Outcome.PASS


def test_finished_files_are_searched_for_secrets(tmp_path: Path) -> None:
    drawn(tmp_path, lambda sent: reached(), items=30)
    secret = "sk-" + "q7" * 20
    assert find_leaks(tmp_path, Redactor({"EVAL_KEY": secret})) == []
    (tmp_path / "comment.md").write_text(secret)
    assert find_leaks(tmp_path, Redactor({"EVAL_KEY": secret})) == [("comment.md", "EVAL_KEY")]


def test_scoring_writes_nothing(tmp_path: Path) -> None:
    drawn(tmp_path, lambda sent: reached(), items=30)
    before = {entry.name: (entry.stat().st_mtime_ns, entry.stat().st_ino) for entry in tmp_path.iterdir()}
    tmp_path.chmod(0o500)
    try:
        score(tmp_path)
    finally:
        tmp_path.chmod(0o700)
    assert {entry.name: (entry.stat().st_mtime_ns, entry.stat().st_ino) for entry in tmp_path.iterdir()} == before
