"""`mode: draw`, `mode: judge`, `mode: report`: three jobs, of which the second may lie about what it judged and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.action import Demo, Step, demo_at
from support.command import KEY, files_of, gated, right
from support.endpoint_server import answering
from support.github_api import TOKEN
from support.programs import best_rung

from evalaction.engine.journal import line_of
from evalaction.engine.score import planned_rows, score
from evalaction.errors import Outcome, UnregisteredError
from evalaction.method.canonical import sha256
from evalaction.method.counting.row_json import row_from_json, row_to_json
from evalaction.registration.lock import lock

Env = dict[str, str | None]
QUIET: Env = {"EVALACTION_GITHUB_TOKEN": None, "EVALACTION_COMMENT": "false"}
BARE: Env = {"EVAL_KEY": None, "EVAL_URL": None}
DRAW: Env = {**QUIET, "EVALACTION_MODE": "draw"}
JUDGE: Env = {**QUIET, **BARE, "EVALACTION_MODE": "judge"}
REPORT: Env = {**BARE, "EVALACTION_MODE": "report"}


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path) as one:
        one.change({"prompt.md": b"Be very brief.\n"})
        yield one


def handed_on(demo: Demo, step: Step) -> Path:
    """The artifact that a run folder became."""
    artifact = demo.temp / f"artifact-{demo.runs}"
    shutil.copytree(step.run_dir, artifact)
    return artifact


def drawn(demo: Demo, **env: str | None) -> tuple[Step, Path]:
    step = demo.step(env={**DRAW, **env})
    return step, handed_on(demo, step)


def judged(demo: Demo, artifact: Path, digest: str | None, **env: str | None) -> tuple[Step, Path]:
    step = demo.step(env={**JUDGE, "EVALACTION_RUN_DIR": str(artifact), "EVALACTION_ROWS_DIGEST": digest, **env})
    return step, handed_on(demo, step)


def reported(demo: Demo, artifact: Path, digest: str | None, **env: str | None) -> Step:
    return demo.step(env={**REPORT, "EVALACTION_RUN_DIR": str(artifact), "EVALACTION_ROWS_DIGEST": digest, **env})


def folder(artifact: Path) -> Path:
    return next(path for path in sorted(artifact.iterdir()) if path.is_dir())


def test_drawn_judged_and_reported(demo: Demo) -> None:
    first, artifact = drawn(demo)
    assert (first.code, first.outputs["outcome"]) == (0, "registered"), first.log
    assert "8 of 8 draws; not judged yet" in first.summary and not (folder(artifact) / "rows.jsonl").exists()
    digest = first.outputs["rows-digest"]
    second, rows = judged(demo, artifact, digest)
    assert (second.code, second.outputs["outcome"], second.outputs["check"]) == (0, "pass", "8/8"), second.log
    assert (rows / "cards.json").read_bytes() == (artifact / "cards.json").read_bytes()
    assert json.loads((rows / "judged.json").read_bytes())["cards"][0]["outcome"] == "pass"
    third = reported(demo, rows, digest, EVALACTION_JUDGED_DIGEST=second.outputs["rows-digest"])
    assert (third.code, third.outputs["check"]) == (0, "8/8"), third.log
    assert "✅" in demo.comment() and "not verified" not in demo.comment() and demo.model.count == 8
    again = demo.step(env={"EVALACTION_MODE": "draw"})  # the answer was remembered
    assert again.outputs["reused"] == "true" and demo.model.count == 8


def test_draws_alone_are_no_verdict(demo: Demo) -> None:
    first, artifact = drawn(demo)
    told = reported(demo, artifact, first.outputs["rows-digest"])
    assert (told.code, told.outputs["outcome"]) == (2, "usage"), told.log
    assert "drawn and not judged yet" in demo.comment() and "✅" not in demo.comment() + told.summary


def test_the_judging_job_is_not_asked_to_trust_its_artifact(demo: Demo) -> None:
    first, artifact = drawn(demo)
    draws = folder(artifact) / "draws.jsonl"
    draws.write_bytes(draws.read_bytes().replace(b'"status":200', b'"status":201', 1))
    second, _ = judged(demo, artifact, first.outputs["rows-digest"])
    assert (second.code, second.outputs["breaks"]) == (4, "rows_digest"), second.log


def test_another_commit_is_not_judged(demo: Demo) -> None:
    first, artifact = drawn(demo)
    demo.change({"tasks.jsonl": cards.exam_text(5)}, locked=True)
    second, rows = judged(demo, artifact, first.outputs["rows-digest"])
    assert (second.code, second.outputs["breaks"]) == (4, "not_the_drawn"), second.log
    assert "checkout of the commit that was drawn" in second.summary and not (folder(rows) / "rows.jsonl").exists()
    assert reported(demo, rows, first.outputs["rows-digest"]).code == 2


def test_a_secret_in_the_judging_job_is_warned_about(demo: Demo) -> None:
    first, artifact = drawn(demo)
    second, _ = judged(demo, artifact, first.outputs["rows-digest"], EVAL_KEY=KEY)
    assert second.code == 0 and any("take EVAL_KEY out of this job" in line for line in second.annotations())


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Demo, str, Path]]:
    """A demo whose model is wrong about one item in four, the digest of its drawing and the judged artifact."""
    with demo_at(tmp_path_factory.mktemp("kept"), gated(changes={"limits.min_stable_pass": 0.9})) as demo:
        demo.model.behaviour = answering(lambda received: "no" if right(received) == "2" else right(received))
        demo.change({"prompt.md": b"Be very brief.\n"})
        first, artifact = drawn(demo)
        second, rows = judged(demo, artifact, first.outputs["rows-digest"])
        assert (second.code, second.outputs["check"]) == (1, "6/8"), second.log
        yield demo, first.outputs["rows-digest"], rows


def resealed(path: Path, change: Callable[[list[dict[str, Any]]], Any], **seal: Any) -> None:
    """The lines of a journal changed, under a seal that fits them again: what a job that judges can write."""
    values = [json.loads(line) for line in path.read_bytes().splitlines()]
    last = values.pop()["seal"]
    change(values)
    data = b"".join(map(line_of, values))
    path.write_bytes(data + line_of({"seal": {**last, "sha256": sha256(data), "written": len(values), **seal}}))


def every(**fields: Any) -> Callable[[list[dict[str, Any]]], None]:
    def change(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row.update(fields)

    return change


def unreach(rows: list[dict[str, Any]]) -> None:
    """What failed is said never to have arrived."""
    for row in rows:
        if row["verdict"] == "fail":
            for name in ("contract", "check", "check_reason", "text_sha256", "parsed_sha256"):
                row.pop(name, None)
            row.update(reach=False, reach_reason="timeout", verdict="runner_error")


def swap(rows: list[dict[str, Any]]) -> None:
    rows[0], rows[1] = rows[1], rows[0]


LIES: dict[str, tuple[Callable[[list[dict[str, Any]]], Any], str]] = {
    "reach": (unreach, "another reach"),
    "times": (every(ms=1), "another ms"),
    "start": (every(started_at="2020-01-01T00:00:00.000Z"), "another started_at"),
    "status": (every(status=201), "another status"),
    "usage": (every(usage={"input": 1}), "another usage"),
    "model": (every(served_model="a better one"), "another served_model"),
    "endpoint": (every(endpoint="other"), "another endpoint"),
    "request": (every(request_sha256="ab" * 32), "another request_sha256"),
    "reply": (every(body_sha256="ab" * 32), "another body_sha256"),
    "beginning": (every(raw_head="Sure!"), "another raw_head"),
    "redacted": (every(redacted=True), "another redacted"),
    "order": (swap, "another index"),
    "fewer": (lambda rows: rows.pop(), "counts otherwise"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_judging_job_cannot_change_what_was_drawn(kept: tuple[Demo, str, Path], tmp_path: Path, name: str) -> None:
    run = shutil.copytree(folder(kept[2]), tmp_path / "run")
    assert score(run).verdict.outcome is Outcome.FAIL
    change, words = LIES[name]
    resealed(run / "rows.jsonl", change)
    for read in (score, lambda path: list(planned_rows(path))):
        with pytest.raises(UnregisteredError, match=words) as found:
            read(run)
        assert found.value.code == "draws_differ"


def test_a_changed_row_is_told_as_one(kept: tuple[Demo, str, Path], tmp_path: Path) -> None:
    demo, digest, judged_rows = kept
    artifact = shutil.copytree(judged_rows, tmp_path / "artifact")
    resealed(folder(artifact) / "rows.jsonl", unreach)
    told = reported(demo, artifact, digest)
    assert (told.code, told.outputs["outcome"], told.outputs["breaks"]) == (4, "unregistered", "draws_differ"), told.log
    assert "has another reach" in told.summary and "✅" not in demo.comment() + told.summary


def counted_more(artifact: Path) -> None:
    resealed(folder(artifact) / "rows.jsonl", list, sent=99)


def both(artifact: Path) -> None:
    for name in ("draws.jsonl", "rows.jsonl"):
        resealed(folder(artifact) / name, every(ms=1))


def without_draws(artifact: Path) -> None:
    """As if it had been judged where it was drawn."""
    path = folder(artifact) / "manifest.json"
    path.write_text(path.read_text("utf-8").replace(' "judged_apart": true,\n', ""), "utf-8")
    (folder(artifact) / "draws.jsonl").unlink()


def lower_limit(artifact: Path) -> None:
    path = folder(artifact) / "manifest.json"
    text = path.read_text("utf-8")
    assert '\\"min_stable_pass\\": 0.9' in text
    path.write_text(text.replace('\\"min_stable_pass\\": 0.9', '\\"min_stable_pass\\": 0.0'), "utf-8")


def dropped_card(artifact: Path) -> None:
    path = artifact / "cards.json"
    value = json.loads(path.read_bytes())
    value["cards"][0]["folder"] = None
    path.write_text(json.dumps(value), "utf-8")


def unsealed(artifact: Path) -> None:
    path = folder(artifact) / "rows.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def another_note(artifact: Path) -> None:
    (folder(artifact) / "judging.json").write_bytes(b'{"format": "evalaction/judging/2"}')


FORGED: dict[str, tuple[Callable[[Path], None], int, str]] = {
    "counts of the seal": (counted_more, 4, "draws_differ"),
    "draws and rows alike": (both, 4, "rows_digest"),
    "no draws": (without_draws, 4, "rows_digest"),
    "a lower limit": (lower_limit, 4, "rows_digest"),
    "a card left out": (dropped_card, 4, "rows_digest"),
    "no seal": (unsealed, 2, "not_judged"),
    "no rows": (lambda artifact: (folder(artifact) / "rows.jsonl").unlink(), 2, "not_judged"),
    "no note of the judging": (lambda artifact: (folder(artifact) / "judging.json").unlink(), 2, "run_dir"),
    "a note that is none": (another_note, 2, "usage"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_else_a_judging_job_may_try(kept: tuple[Demo, str, Path], tmp_path: Path, name: str) -> None:
    demo, digest, judged_rows = kept
    artifact = shutil.copytree(judged_rows, tmp_path / "artifact")
    spoil, code, broken = FORGED[name]
    spoil(artifact)
    told = reported(demo, artifact, digest)
    assert (told.code, told.outputs["breaks"]) == (code, broken), told.log
    assert "✅" not in demo.comment() + told.summary


def passing(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row.pop("check_reason", None)
        row.update(check=True, verdict="pass")


def test_what_a_judging_job_can_lie_about(kept: tuple[Demo, str, Path], tmp_path: Path) -> None:
    """Its columns are its own word; whoever does not trust the path of its artifact hands its digest on as well."""
    demo, digest, judged_rows = kept
    own = demo.step(env={**JUDGE, "EVALACTION_RUN_DIR": str(judged_rows), "EVALACTION_ROWS_DIGEST": digest})
    artifact = shutil.copytree(judged_rows, tmp_path / "artifact")
    lines = [json.loads(line) for line in (folder(artifact) / "rows.jsonl").read_bytes().splitlines()[:-1]]
    passing(lines)
    resealed(folder(artifact) / "rows.jsonl", lambda rows: rows.__setitem__(slice(None), [_in_order(row) for row in lines]))
    told = reported(demo, artifact, digest, EVALACTION_COMMENT="false")
    assert (told.code, told.outputs["check"]) == (0, "8/8"), told.log
    bound = reported(demo, artifact, digest, EVALACTION_JUDGED_DIGEST=own.outputs["rows-digest"], EVALACTION_COMMENT="false")
    assert (bound.code, bound.outputs["breaks"]) == (4, "rows_digest"), bound.log


def _in_order(row: dict[str, Any]) -> dict[str, Any]:
    return row_to_json(row_from_json(row))


CHECK = b"import _candidate\nassert _candidate.double(4) == 8\n"


def coding() -> dict[str, bytes]:
    card = {
        "protocol": "evalaction/1",
        "name": "doubling",
        "exam": {"tasks": "code", "data": "synthetic"},
        "endpoints": {"main": {"api": "openai", "url_env": "EVAL_URL", "key_env": "EVAL_KEY", "model": "some-model"}},
        "arms": {"treatment": {"endpoint": "main"}},
        "draws": {"count": 2, "timeout_ms": 20_000},
        "checks": {"timeout_ms": 120_000},
        "limits": {"min_first_pass": 0.5},
    }
    files = {"card.yaml": json.dumps(card).encode()}
    for name in ("one", "two", "three", "four"):
        files |= {f"code/{name}/task.json": json.dumps({"prompt": name}).encode(), f"code/{name}/check.py": CHECK}
    return files


CODE = {
    "one": "def double(x):\n    return 2 * x\n", "two": "def double(x):\n    return x * x * x\n",
    "three": "I would rather not.",
    "four": f"import os\nprint(os.environ.get('EVAL_KEY'), {KEY!r})\ndef double(x):\n    os._exit(0)\n",
}  # fmt: skip


def test_code_of_a_model_runs_in_the_job_without_the_key_alone(demo: Demo) -> None:
    best_rung()
    demo.own_process = True
    demo.model.behaviour = answering(lambda received: CODE[received.json["messages"][-1]["content"]])
    demo.change(coding(), locked=True)
    first, artifact = drawn(demo)
    assert first.code == 0 and "isolation" not in json.loads((folder(artifact) / "manifest.json").read_bytes()), first.log
    assert not any(KEY.encode() in data for data in files_of(folder(artifact)).values())
    second, rows = judged(demo, artifact, first.outputs["rows-digest"])
    assert "2 replies held the value of a secret" in second.summary and second.outputs["first-pass"] == "1/4", second.log
    assert "isolation" in json.loads((folder(rows) / "judging.json").read_bytes())
    told = reported(demo, rows, first.outputs["rows-digest"])
    assert (told.code, second.code) == (1, 1) and "isolation=" in demo.comment() + told.log, told.log
    single = demo.step(env={**QUIET, "EVALACTION_COMMENT": "false"})
    columns = [
        sorted(
            (row["index"], row["verdict"], row.get("contract_reason"), row.get("check_reason"), row["text_sha256"])
            for row in map(json.loads, next(path.rglob("rows.jsonl")).read_bytes().splitlines()[:-1])
            if row["item"] != "four"
        )
        for path in (single.run_dir, rows)
    ]
    assert columns[0] == columns[1] and len(columns[0]) == 6


def test_one_of_several_cards_at_each_end(demo: Demo) -> None:
    """Drawn, a copy of it, one that cannot be read, one whose key is another than at base: each ends as in a single job."""
    card = json.loads((demo.root / "card.yaml").read_bytes())
    other = json.loads(json.dumps(card))
    other["endpoints"]["main"]["key_env"] = "OTHER_KEY"
    files = {"copy.yaml": cards.text(card), "broken.yaml": b"protocol: evalaction/9\n", "moved.yaml": cards.text(other)}
    demo.change(files)
    first, artifact = drawn(demo, EVALACTION_CARD="*.yaml")
    assert demo.model.count == 8 and first.code == 2, first.log
    _, rows = judged(demo, artifact, first.outputs["rows-digest"])
    told = reported(demo, rows, first.outputs["rows-digest"])
    ends = {card["card"]: card["outcome"] for card in told.cards()}
    assert ends == {"card.yaml": "pass", "copy.yaml": "pass", "broken.yaml": "usage", "moved.yaml": "unregistered"}, told.log
    listed = {one["card"]: one["outcome"] for one in json.loads((rows / "judged.json").read_bytes())["cards"]}
    assert listed == ends | {"copy.yaml": "registered"} and demo.model.count == 8


def based(demo: Demo) -> None:
    """Base judges changes against itself from here on."""
    card = gated(changes={"arms.control": "base", "limits": ..., "sign": {"claim": "none", "seed": "freeze-me-before-running"}})
    demo.change({"card.yaml": cards.text(card)}, locked=True)
    demo.base = demo.merged


def through(demo: Demo, **env: str | None) -> tuple[Step, Step, Step]:
    first, artifact = drawn(demo, **env)
    second, rows = judged(demo, artifact, first.outputs["rows-digest"])
    return first, second, reported(demo, rows, first.outputs["rows-digest"])


def test_against_base_and_unchanged(demo: Demo) -> None:
    based(demo)
    demo.head = demo.base
    demo.change({"note.md": b"nothing\n"})
    first, second, third = through(demo)
    assert [step.outputs["outcome"] for step in (first, second, third)] == ["unchanged"] * 3, third.log
    demo.change({"prompt.md": b"Be brief, and kind.\n"})
    first, second, third = through(demo)
    assert [step.outputs["outcome"] for step in (first, second, third)] == ["registered", "pass", "pass"], third.log
    assert demo.model.count == 16 and "prompt" in demo.comment()
    demo.change({"prompt.md": b"Be kind.\n"})
    by_head = through(demo, EVALACTION_QUESTION="head")  # what the other two jobs know of it is in the run
    assert [step.outputs["outcome"] for step in by_head] == ["registered", "pass", "pass"], by_head[1].log


def test_a_new_card_is_registered(demo: Demo) -> None:
    sign = {"claim": "none", "seed": "freeze-me-before-running"}
    demo.repo.write({"new.yaml": cards.text(gated(changes={"name": "new", "arms.control": "base", "limits": ..., "sign": sign}))})
    lock(demo.root / "new.yaml")
    demo.change({"new.yaml": (demo.root / "new.yaml").read_bytes()})
    assert [step.outputs["outcome"] for step in through(demo, EVALACTION_CARD="new.yaml")] == ["registered"] * 3
    assert demo.model.count == 0


def test_a_missing_key_stays_not_run(demo: Demo) -> None:
    assert [step.outputs["outcome"] for step in through(demo, EVAL_KEY=None)] == ["not_run"] * 3
    assert "NOT RUN" in demo.comment() and demo.model.count == 0


def test_an_earlier_answer_goes_through_all_three(demo: Demo) -> None:
    assert demo.step().code == 0
    first, artifact = drawn(demo, EVALACTION_GITHUB_TOKEN=TOKEN)
    assert first.outputs["reused"] == "true" and demo.model.count == 8
    second, rows = judged(demo, artifact, first.outputs["rows-digest"])
    assert (second.code, second.outputs["outcome"]) == (0, "registered"), second.log
    told = reported(demo, rows, first.outputs["rows-digest"])
    assert told.code == 0 and told.outputs["reused"] == "true" and told.outputs["check"] == "8/8", told.log
