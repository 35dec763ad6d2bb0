"""The drawing loop with counted time and a real journal: once each, in order, paced, gated, bound to the request."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.drawing import CountedClock, Said, Sent, Stage, exactly_ok, job_of, lost, manifest_of, reached

from evalaction.engine.conduct import Sitting, conduct
from evalaction.engine.readback import tail_of
from evalaction.engine.reading import rows_of
from evalaction.engine.run import Drawn, Job
from evalaction.method.card import Pace
from evalaction.method.records import Completion, Item, Row
from evalaction.method.report import Counts


def play(
    folder: Path, reply: Callable[[Sent], Completion], *, latency: float = 0.05, resume: bool = False, **options: Any
) -> tuple[Drawn, Stage, Job]:
    clock = CountedClock()
    stage = Stage(clock, reply, latency)
    job = job_of(stage, **options)
    seen: list[Counts] = []
    sitting = Sitting(folder=folder, manifest=manifest_of(job), job=job, resume=resume)
    drawn = clock.run(conduct(sitting, clock=clock, progress=seen.append))
    assert [counts.written for counts in seen] == sorted(counts.written for counts in seen)
    assert stage.open == 0, "every connection is closed"
    return drawn, stage, job


def rows(folder: Path, job: Job) -> list[Row]:
    return list(rows_of(folder / "rows.jsonl", job.grid, end=tail_of(folder).body))


def test_planned_sent_written(tmp_path: Path) -> None:
    drawn, stage, job = play(tmp_path, lambda sent: reached(), items=7, draws=3)
    assert drawn.ended == "complete"
    assert drawn.counts == Counts(planned=42, sent=42, written=42)
    assert len(stage.sent) == 42
    assert Counter((s.endpoint, s.item, s.draw) for s in stage.sent).most_common(1)[0][1] == 1
    assert sorted(row.index for row in rows(tmp_path, job)) == list(range(42))
    tail = tail_of(tmp_path)
    assert tail.seal is not None
    assert (tail.seal.planned, tail.seal.sent, tail.seal.written) == (42, 42, 42)


def test_sent_in_the_planned_order_after_the_first_replies(tmp_path: Path) -> None:
    _, stage, job = play(tmp_path, lambda sent: reached(), items=9, draws=2, pace=Pace(concurrency=1))
    assert [(s.item, s.endpoint, s.draw) for s in stage.sent] == [(p.item, p.arm, p.draw) for p in job.grid]


def test_draws_are_bound_to_their_request_not_to_their_arrival(tmp_path: Path) -> None:
    chance = random.Random(7)
    clock = CountedClock()
    stage = Stage(clock, lambda sent: reached(f"{sent.endpoint} {sent.item} {sent.draw}"))

    async def slow(item: Item, completion: Completion) -> Said:
        await clock.sleep(chance.random())
        return await exactly_ok(item, completion)

    job = job_of(stage, items=6, draws=4, judge=slow)
    clock.run(conduct(Sitting(folder=tmp_path, manifest=manifest_of(job), job=job), clock=clock, progress=lambda counts: None))
    written = rows(tmp_path, job)
    assert [row.index for row in written] != sorted(row.index for row in written), "they arrived in another order"
    for line in (tmp_path / "texts.jsonl").read_text().splitlines():
        kept = json.loads(line)
        assert kept["text"] == f"{kept['arm']} {int(kept['item'][1:])} {kept['draw']}"
    assert [json.loads(line)["index"] for line in (tmp_path / "texts.jsonl").read_text().splitlines()] == [
        row.index for row in written
    ]


def test_a_slow_judge_does_not_hold_a_slot(tmp_path: Path) -> None:
    """Judging of 0.05 s beside replies of 0.05 s: overlapped, not added."""
    clock = CountedClock()
    stage = Stage(clock, lambda sent: reached(), 0.05)

    async def slow(item: Item, completion: Completion) -> Said:
        await clock.sleep(0.05)
        return await exactly_ok(item, completion)

    job = job_of(stage, items=20, draws=2, pace=Pace(concurrency=8), judge=slow)
    start = clock.now()
    clock.run(conduct(Sitting(folder=tmp_path, manifest=manifest_of(job), job=job), clock=clock, progress=lambda counts: None))
    assert clock.now() - start < 80 / 8 * 0.05 + 0.15


@pytest.mark.parametrize("slots", [1, 3, 8, 64])
def test_concurrency_is_never_exceeded(tmp_path: Path, slots: int) -> None:
    _, stage, _ = play(tmp_path, lambda sent: reached(), items=20, draws=2, pace=Pace(concurrency=slots), latency=1.0)
    assert stage.most == slots


def test_no_later_draw_before_every_arm_has_reached_once(tmp_path: Path) -> None:
    """The control's only reply is late: the free slots wait instead of asking for draw 1."""
    clock = CountedClock()

    def reply(sent: Sent) -> Completion:
        return reached() if sent.endpoint == "treatment" or sent.draw or sent.item == 0 else lost()

    stage = Stage(clock, reply, 1.0)
    job = job_of(stage, items=3, draws=3, pace=Pace(concurrency=8))
    clock.run(conduct(Sitting(folder=tmp_path, manifest=manifest_of(job), job=job), clock=clock, progress=lambda counts: None))
    answered = next(sent.at for sent in stage.sent if sent.endpoint == "control" and sent.item == 0) + 1.0
    assert min(sent.at for sent in stage.sent if sent.draw) >= answered
    assert len(stage.sent) == 18


def test_a_wrong_model_name_ends_after_draw_0(tmp_path: Path) -> None:
    drawn, stage, job = play(
        tmp_path,
        lambda sent: lost("status:404", status=404, error="no such model") if sent.endpoint == "control" else reached(),
        items=10,
        draws=5,
    )
    assert drawn.ended == "unreachable"
    assert {sent.draw for sent in stage.sent} == {0}
    assert sum(sent.endpoint == "control" for sent in stage.sent) == 10
    assert drawn.counts == Counts(planned=100, sent=len(stage.sent), written=len(stage.sent))
    tail = tail_of(tmp_path)
    assert tail.seal is not None
    assert tail.seal.ended == "unreachable"
    assert {row.columns.reach_reason for row in rows(tmp_path, job) if row.arm == "control"} == {"status:404"}


def test_retry_after_holds_both_arms(tmp_path: Path) -> None:
    def reply(sent: Sent) -> Completion:
        return (
            lost("status:429", status=429, retry_after_ms=10_000, retry_after_raw="10")
            if len(stage.sent) > 20 and sent == stage.sent[20]
            else reached()
        )

    clock = CountedClock()
    stage = Stage(clock, reply)
    job = job_of(stage, items=20, draws=2, pace=Pace(concurrency=2))
    drawn = clock.run(
        conduct(Sitting(folder=tmp_path, manifest=manifest_of(job), job=job), clock=clock, progress=lambda counts: None)
    )
    arrived = stage.sent[20].at + 0.05
    later = [sent for sent in stage.sent if sent.at > arrived]
    assert min(sent.at for sent in later) >= arrived + 10
    assert {sent.endpoint for sent in later[:4]} == {"treatment", "control"}
    assert drawn.counts == Counts(planned=80, sent=80, written=80), "the 429 was not tried again"
    assert [row.retry_after for row in rows(tmp_path, job) if row.retry_after] == ["10"]


def test_a_long_retry_after_is_reported_not_waited_for(tmp_path: Path) -> None:
    drawn, stage, _ = play(
        tmp_path,
        lambda sent: lost("status:429", retry_after_ms=3_600_000) if sent.item == 1 else reached(),
        pace=Pace(max_wait_ms=30_000),
    )
    assert drawn.too_long_ms == 3_600_000
    assert stage.clock.now() < 1002


def test_every_call_answers_429(tmp_path: Path) -> None:
    """One request a draw, a bounded wall time, no retry."""
    drawn, stage, _ = play(
        tmp_path,
        lambda sent: lost("status:429", retry_after_ms=1000) if sent.item else reached(),
        items=4,
        draws=5,
        pace=Pace(concurrency=1),
    )
    assert drawn.counts == Counts(planned=40, sent=40, written=40)
    assert len(stage.sent) == 40
    assert stage.clock.now() < 1000 + 30 * 1.1 + 3


def test_an_outage_halfway_hits_both_arms(tmp_path: Path) -> None:
    _, _, job = play(
        tmp_path, lambda sent: reached() if sent.at < 1000.5 else lost("connect"), items=30, draws=2, pace=Pace(concurrency=4)
    )
    down = Counter(row.arm for row in rows(tmp_path, job) if not row.columns.reach)
    assert down["treatment"] > 10
    assert abs(down["treatment"] - down["control"]) <= 4


def test_the_deadline_leaves_an_unsealed_run_that_can_be_finished(tmp_path: Path) -> None:
    drawn, stage, job = play(
        tmp_path, lambda sent: reached(), items=10, draws=4, pace=Pace(concurrency=2, deadline_ms=1000), latency=0.25
    )
    assert drawn.ended == "deadline"
    assert drawn.counts.sent == drawn.counts.written == len(stage.sent) == 8
    assert tail_of(tmp_path).seal is None
    assert json.loads((tmp_path / "paused.json").read_text())["ended"] == "deadline"
    before = (tmp_path / "rows.jsonl").read_bytes()
    drawn, more, job = play(tmp_path, lambda sent: reached(), items=10, draws=4, pace=Pace(concurrency=2), resume=True)
    assert drawn.counts == Counts(planned=80, sent=80, written=80)
    assert len(more.sent) == 72
    assert (tmp_path / "rows.jsonl").read_bytes().startswith(before)
    assert not (tmp_path / "paused.json").exists()
    assert sorted(row.index for row in rows(tmp_path, job)) == list(range(80))


def test_a_sealed_run_has_nothing_left_to_draw(tmp_path: Path) -> None:
    play(tmp_path, lambda sent: reached())
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    drawn, stage, _ = play(tmp_path, lambda sent: reached(), resume=True)
    assert stage.sent == []
    assert drawn.counts == Counts(planned=24, sent=24, written=24)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


def test_a_second_run_draws_afresh(tmp_path: Path) -> None:
    """No cache: the same card drawn twice sends twice the requests, each with its own body."""
    counter = iter(range(1000))
    for name in ("a", "b"):
        _, stage, _ = play(tmp_path / name, lambda sent: reached(str(next(counter))))
        assert len(stage.sent) == 24
    texts = [json.loads(line)["text"] for name in "ab" for line in (tmp_path / name / "texts.jsonl").read_text().splitlines()]
    assert len(set(texts)) == 48


def test_a_resumed_run_remembers_that_an_arm_never_reached(tmp_path: Path) -> None:
    reply: Callable[[Sent], Completion] = lambda sent: lost() if sent.endpoint == "control" else reached()  # noqa: E731
    options: dict[str, Any] = {"items": 6, "draws": 2, "latency": 0.25}
    drawn, _, _ = play(tmp_path, reply, pace=Pace(concurrency=1, deadline_ms=2500), **options)
    assert drawn.ended == "deadline"
    drawn, stage, _ = play(tmp_path, reply, pace=Pace(concurrency=1), resume=True, **options)
    assert drawn.ended == "unreachable"
    assert {sent.draw for sent in stage.sent} == {0}


@pytest.mark.parametrize(("keep", "texts"), [("full", "x" * 500), ("head", "x" * 240), ("none", None)])
def test_kept_text(tmp_path: Path, keep: Any, texts: str | None) -> None:
    play(tmp_path, lambda sent: reached("x" * 500), items=1, draws=1, keep_text=keep)
    path = tmp_path / "texts.jsonl"
    assert path.exists() == (texts is not None)
    if texts is not None:
        assert {json.loads(line)["text"] for line in path.read_text().splitlines()} == {texts}


def test_redacted_then_cut_then_written(tmp_path: Path) -> None:
    secret = "ghp_" + "s" * 40

    def redact(text: str) -> str:
        return text.replace(secret, "***")

    def reply(sent: Sent) -> Completion:
        if sent.item == 1:
            return lost("status:400", error="e" * 230 + secret, retry_after_raw=secret)
        text = ("{" if sent.item == 2 else "") + "t" * 230 + secret
        return reached(text, served_model="m" * 230 + secret, finish_reason=secret, response_id=secret, trace={secret: [secret]})

    _, _, job = play(tmp_path, reply, items=4, draws=1, redact=redact)
    everything = b"".join(entry.read_bytes() for entry in tmp_path.iterdir()).decode()
    assert secret[:10] not in everything
    assert "e" * 230 + '***"' in everything
    row = next(row for row in rows(tmp_path, job) if row.item == "t0002")
    assert row.raw_head == "{" + "t" * 230 + "***"
    assert row.trace == {"***": ["***"]}


def test_private_exams_leave_no_text(tmp_path: Path) -> None:
    play(
        tmp_path,
        lambda sent: lost("status:400", error="private") if sent.item == 1 else reached("{private"),
        draws=1,
        keep_text="none",
    )
    assert b"private" not in (tmp_path / "rows.jsonl").read_bytes()
    assert not (tmp_path / "texts.jsonl").exists()


def test_a_bug_in_a_judge_is_ours_and_keeps_the_rows(tmp_path: Path) -> None:
    count = iter(range(100))

    async def broken(item: Item, completion: Completion) -> Said:
        if next(count) == 5:
            raise RuntimeError("a bug")
        return await exactly_ok(item, completion)

    with pytest.raises(RuntimeError, match="a bug"):
        play(tmp_path, lambda sent: reached(), judge=broken)
    assert tail_of(tmp_path).seal is None
    assert len((tmp_path / "rows.jsonl").read_bytes().splitlines()) >= 5


def test_one_arm(tmp_path: Path) -> None:
    drawn, _, job = play(tmp_path, lambda sent: reached(), arms=("treatment",), items=3, draws=2)
    assert drawn.counts == Counts(planned=6, sent=6, written=6)
    assert {row.arm for row in rows(tmp_path, job)} == {"treatment"}
