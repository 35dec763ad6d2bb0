"""`--resume` draws only what is missing, keeps what is there byte for byte, and refuses other frozen inputs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.drawing import BOTH, CountedClock, Stage, asked_of, job_of, manifest_of, reached

from evalaction.engine.conduct import Sitting, conduct
from evalaction.engine.manifest import ArmRecord
from evalaction.engine.readback import tail_of
from evalaction.engine.reading import rows_of
from evalaction.engine.run import Drawn
from evalaction.errors import EvalactionError, SourceError, UnregisteredError, UsageError
from evalaction.method.canonical import digest
from evalaction.method.report import Counts, QuestionChange


def sit(folder: Path, *, resume: bool, manifest: dict[str, Any] | None = None, **options: Any) -> tuple[Drawn, Stage]:
    clock = CountedClock()
    stage = Stage(clock, lambda sent: reached(f"{sent.endpoint} {sent.item} {sent.draw}"))
    job = job_of(stage, **options)
    sitting = Sitting(folder=folder, manifest=manifest_of(job, **(manifest or {})), job=job, resume=resume)
    drawn = clock.run(conduct(sitting, clock=clock, progress=lambda counts: None))
    assert sorted(row.index for row in rows_of(folder / "rows.jsonl", job.grid, end=tail_of(folder).body)) == list(
        range(len(job.grid))
    )
    return drawn, stage


@pytest.fixture
def whole(tmp_path: Path) -> tuple[Path, list[bytes], list[bytes]]:
    sit(tmp_path, resume=False)
    rows = (tmp_path / "rows.jsonl").read_bytes().splitlines(keepends=True)
    texts = (tmp_path / "texts.jsonl").read_bytes().splitlines(keepends=True)
    return tmp_path, rows[:-1], texts


@pytest.mark.parametrize(
    ("rows_kept", "torn_row", "texts_kept", "torn_text"),
    [
        (0, b"", 0, b""),
        (0, b"", 1, b""),
        (10, b"", 10, b""),
        (10, b"", 11, b""),
        (10, b"", 10, b'{"index":'),
        (10, b'{"index":3,"it', 11, b""),
        (23, b"{", 24, b""),
        (24, b"", 24, b""),
        (24, b'{"seal":{"sha', 24, b""),
    ],
)
def test_after_a_kill_anywhere(
    whole: tuple[Path, list[bytes], list[bytes]], rows_kept: int, torn_row: bytes, texts_kept: int, torn_text: bytes
) -> None:
    folder, rows, texts = whole
    kept = b"".join(rows[:rows_kept])
    (folder / "rows.jsonl").write_bytes(kept + torn_row)
    (folder / "texts.jsonl").write_bytes(b"".join(texts[:texts_kept]) + torn_text)
    drawn, stage = sit(folder, resume=True)
    assert len(stage.sent) == 24 - rows_kept
    assert drawn.counts == Counts(planned=24, sent=24, written=24)
    assert (folder / "rows.jsonl").read_bytes().startswith(kept)
    kept_texts = [json.loads(line) for line in (folder / "texts.jsonl").read_text().splitlines()]
    assert sorted(text["index"] for text in kept_texts) == list(range(24)), "every row has its text, once"
    assert tail_of(folder).seal is not None


def test_a_run_killed_before_its_journal(tmp_path: Path) -> None:
    sit(tmp_path, resume=False)
    for name in ("rows.jsonl", "texts.jsonl"):
        (tmp_path / name).unlink()
    drawn, stage = sit(tmp_path, resume=True)
    assert len(stage.sent) == 24
    assert drawn.ended == "complete"


TREATMENT, CONTROL = (ArmRecord(arm=arm, asked=asked_of(arm), requests_sha256=digest(arm)) for arm in BOTH)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("question_digest", {"question_digest": digest("other")}),
        ("commit", {"commit": "d" * 40}),
        ("base", {"base": "d" * 40}),
        ("card_path", {"card_path": "other.yaml"}),
        ("card_sha256", {"card_sha256": digest("other")}),
        ("exam_sha256", {"exam_sha256": digest("other")}),
        ("ids_sha256", {"ids_sha256": digest("other")}),
        ("checker_sha256", {"checker_sha256": digest("other")}),
        ("items", {"items": (("other", ()),)}),
        ("planned", {"planned": 25}),
        ("rehearsal", {"rehearsal": True}),
        ("synthetic", {"synthetic": True}),
        ("tool_version", {"tool_version": "9"}),
        ("runner.image_version", {"runner": {"arch": "x86_64", "python": "3.12.1", "image_version": "2"}}),
        ("runner.python", {"runner": {"arch": "x86_64", "python": "3.13.0"}}),
        ("requests_sha256 of treatment", {"arms": (replace(TREATMENT, requests_sha256=digest("x")), CONTROL)}),
        ("model of treatment", {"arms": (replace(TREATMENT, asked=asked_of("treatment", model="other")), CONTROL)}),
        ("number of arms", {"arms": (TREATMENT,)}),
        ("question", {"question": "head"}),
        ("question_changes", {"question_changes": (QuestionChange(field="draws.count", old="1", new="2"),)}),
        ("base_missing", {"base_missing": True}),
        ("unchanged", {"unchanged": (0,)}),
        ("left_out", {"left_out": ("t9999",)}),
        ("routes of control", {"arms": (TREATMENT, replace(CONTROL, routes=("code",)))}),
        ("commit of control", {"arms": (TREATMENT, replace(CONTROL, asked=replace(CONTROL.asked, commit="c" * 40)))}),
    ],
)
def test_other_frozen_inputs_are_refused_by_name(
    whole: tuple[Path, list[bytes], list[bytes]], field: str, changes: dict[str, Any]
) -> None:
    folder, rows, _ = whole
    (folder / "rows.jsonl").write_bytes(b"".join(rows[:9]))
    before = {entry.name: entry.read_bytes() for entry in folder.iterdir()}
    with pytest.raises(UnregisteredError, match=f"its {field} differs") as caught:
        sit(folder, resume=True, manifest=changes)
    assert caught.value.code == "resume_differs"
    assert {entry.name: entry.read_bytes() for entry in folder.iterdir()} == before


def test_what_is_not_frozen_may_differ(whole: tuple[Path, list[bytes], list[bytes]]) -> None:
    folder, rows, _ = whole
    (folder / "rows.jsonl").write_bytes(b"".join(rows[:9]))
    manifest = (folder / "manifest.json").read_bytes()
    sit(folder, resume=True, manifest={"started_at": "2027", "inputs": {"fail-on": "fail"}, "run_url": "https://x.invalid"})
    assert (folder / "manifest.json").read_bytes() == manifest, "the first sitting's manifest stands"


@pytest.mark.parametrize("line", [b"garbage\n", b'{"index":3}\n'])
def test_a_broken_line_in_the_middle_is_never_cut(whole: tuple[Path, list[bytes], list[bytes]], line: bytes) -> None:
    folder, rows, _ = whole
    broken = b"".join([*rows[:3], line, *rows[4:9]])
    (folder / "rows.jsonl").write_bytes(broken)
    with pytest.raises(SourceError, match=r"rows\.jsonl:4: "):
        sit(folder, resume=True)
    assert (folder / "rows.jsonl").read_bytes() == broken


def test_a_broken_text_in_the_middle_is_never_cut(whole: tuple[Path, list[bytes], list[bytes]]) -> None:
    folder, rows, texts = whole
    (folder / "rows.jsonl").write_bytes(b"".join(rows[:9]))
    broken = b"".join([*texts[:3], b"garbage\n", *texts[4:9]])
    (folder / "texts.jsonl").write_bytes(broken)
    with pytest.raises(SourceError, match=r"texts\.jsonl:4: "):
        sit(folder, resume=True)
    assert (folder / "texts.jsonl").read_bytes() == broken


def test_a_duplicate_row_is_refused(whole: tuple[Path, list[bytes], list[bytes]]) -> None:
    folder, rows, _ = whole
    (folder / "rows.jsonl").write_bytes(b"".join([*rows[:9], rows[2]]))
    with pytest.raises(EvalactionError) as caught:
        sit(folder, resume=True)
    assert caught.value.code == "duplicate_draw"


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        sit(tmp_path / "none", resume=True)
    with pytest.raises(UsageError, match="is not a run folder"):
        sit(tmp_path, resume=True)


def test_a_new_run_never_takes_an_unfinished_ones_folder(whole: tuple[Path, list[bytes], list[bytes]]) -> None:
    folder, rows, _ = whole
    (folder / "rows.jsonl").write_bytes(b"".join(rows[:9]))
    with pytest.raises(UsageError, match="--resume"):
        sit(folder, resume=False)
    assert (folder / "rows.jsonl").read_bytes() == b"".join(rows[:9])
