"""`mode: report`: another job's run folder, verified by its digest or said not to be, and hostile until shown otherwise."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.action import NAME, NUMBER, Demo, Step, demo_at
from support.command import gated
from support.endpoint_server import answering
from support.github_api import TOKEN

UNVERIFIED = "Reported by the pull request's own run, not verified."
DRAW: dict[str, str | None] = {"EVALACTION_GITHUB_TOKEN": None, "EVALACTION_COMMENT": "false"}
REPORT: dict[str, str | None] = {"EVALACTION_MODE": "report", "EVAL_KEY": None, "EVAL_URL": None}


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path) as one:
        one.change({"prompt.md": b"Be very brief.\n"})
        yield one


def drawn(demo: Demo, **env: str | None) -> tuple[Step, Path]:
    """The job with the secrets, and the artifact that its run folder became."""
    step = demo.step(env={**DRAW, **env})
    artifact = demo.temp / f"artifact-{demo.runs}"
    shutil.copytree(step.run_dir, artifact)
    return step, artifact


def report(demo: Demo, artifact: Path, digest: str | None = None, **env: str | None) -> Step:
    return demo.step(env={**REPORT, "EVALACTION_RUN_DIR": str(artifact), "EVALACTION_ROWS_DIGEST": digest, **env})


def other_run(demo: Demo, *, event: str = "pull_request", repository: str = "somebody/demo", **more: str) -> dict[str, Any]:
    run = {"id": 77, "run_attempt": 1, "event": event, "head_sha": demo.head, "head_branch": "topic", **more}
    return {"workflow_run": {**run, "head_repository": {"full_name": repository}}, "repository": {"full_name": NAME}}


def after(demo: Demo, artifact: Path, **how: Any) -> Step:
    """The privileged workflow after the fork's."""
    demo.github.hub.add_pull(NAME, NUMBER, head_sha=demo.head, head_repo="somebody/demo", base_sha=demo.base)
    env = {**REPORT, "EVALACTION_RUN_DIR": str(artifact), "GITHUB_REF": "refs/heads/main", **how.pop("env", {})}
    return demo.step("workflow_run", other_run(demo, **how), env=env)


def test_a_split_job_reports_what_was_drawn(demo: Demo) -> None:
    step, artifact = drawn(demo)
    assert step.code == 0 and demo.github.requests == []
    asked = demo.model.count
    told = report(demo, artifact, step.outputs["rows-digest"])
    assert told.code == 0, told.log
    assert told.outputs["check"] == "8/8"
    assert "✅" in demo.comment() and UNVERIFIED not in demo.comment() and demo.model.count == asked
    again = demo.step()  # the answer was remembered
    assert again.outputs["reused"] == "true" and demo.model.count == asked


def test_a_job_that_answers_from_the_comment_is_reported_from_it(demo: Demo) -> None:
    demo.step()
    asked = demo.model.count
    step, artifact = drawn(demo, EVALACTION_GITHUB_TOKEN=TOKEN)
    assert step.outputs["reused"] == "true" and demo.model.count == asked
    told = report(demo, artifact, step.outputs["rows-digest"])
    assert told.code == 0 and told.outputs["reused"] == "true" and told.outputs["check"] == "8/8"


def test_other_rows_are_refused(demo: Demo) -> None:
    step, artifact = drawn(demo)
    (rows,) = artifact.rglob("rows.jsonl")
    rows.write_bytes(rows.read_bytes().replace(b'"pass"', b'"fail"', 1))
    told = report(demo, artifact, step.outputs["rows-digest"])
    assert told.code == 4 and told.outputs["breaks"] == "rows_digest" and "✅" not in demo.comment()


def test_a_limit_lowered_in_the_manifest_is_refused(demo: Demo) -> None:
    demo.model.behaviour = answering(lambda _: "no")
    step, artifact = drawn(demo)
    (manifest,) = artifact.rglob("manifest.json")
    text = manifest.read_text()
    assert '\\"min_stable_pass\\": 0.8' in text
    manifest.write_text(text.replace('\\"min_stable_pass\\": 0.8', '\\"min_stable_pass\\": 0.0'))
    assert report(demo, artifact, step.outputs["rows-digest"]).code == 4


def test_a_calibration_is_never_posted(demo: Demo) -> None:
    _, artifact = drawn(demo)
    (manifest,) = artifact.rglob("manifest.json")
    value = json.loads(manifest.read_bytes())
    value["inputs"] = {"calibration": "1 of 1"}
    manifest.write_text(json.dumps(value))
    told = report(demo, artifact)
    assert told.code == 2 and told.outputs["outcome"] == "usage"
    assert "✅" not in demo.comment() and "never posted" in demo.comment()


def test_what_the_drawing_job_found_out_is_said_where_its_digest_vouches_for_it(demo: Demo) -> None:
    edited = gated(changes={"limits": {"min_stable_pass": 0.1}})
    demo.change({"card.yaml": cards.text(edited)}, locked=True)
    step, artifact = drawn(demo)
    assert report(demo, artifact, step.outputs["rows-digest"]).code == 0
    assert "question changes in this pull request" in demo.comment() and "(loosened)" in demo.comment()
    value = json.loads((artifact / "cards.json").read_bytes())
    value["cards"][0]["said"] = [["Approved by the maintainers."]]
    (artifact / "cards.json").write_text(json.dumps(value))
    assert report(demo, artifact, step.outputs["rows-digest"]).code == 4
    assert after(demo, artifact).code == 0
    assert "Approved" not in "".join(one.body for one in demo.comments())


def test_a_refused_card_cannot_be_left_out(demo: Demo) -> None:
    demo.change({"broken.yaml": b"protocol: evalaction/9\n"})
    step, artifact = drawn(demo, EVALACTION_CARD="*.yaml")
    value = json.loads((artifact / "cards.json").read_bytes())
    value["cards"] = [card for card in value["cards"] if card["card"] != "broken.yaml"]
    (artifact / "cards.json").write_text(json.dumps(value))
    assert step.code == 2 and report(demo, artifact, step.outputs["rows-digest"]).code == 4


def test_copies_of_a_card_are_reported_from_the_one_that_was_drawn(demo: Demo) -> None:
    demo.change({"copy.yaml": (demo.root / "card.yaml").read_bytes()})
    step, artifact = drawn(demo, EVALACTION_CARD="*.yaml")
    told = report(demo, artifact, step.outputs["rows-digest"])
    assert (step.code, told.code, demo.model.count) == (0, 0, 8), told.log
    assert [card["outputs"]["check"] for card in told.cards()] == ["8/8", "8/8"]


def test_a_forks_own_run_is_said_not_to_be_verified(demo: Demo) -> None:
    _, artifact = drawn(demo)
    told = after(demo, artifact)
    assert told.code == 0, told.log
    first = demo.comment().split("\n")[1]
    assert UNVERIFIED in first and told.summary.startswith("> **Reported")
    assert "/actions/runs/77" in demo.comment()
    assert demo.github.hub.repository(NAME).statuses == []
    assert not any("statuses" in request.path for request in demo.github.requests)
    # It answers no question: the next run of the same workflow is reported on its own merits.
    demo.model.behaviour = answering(lambda _: "no")
    _, worse = drawn(demo)
    assert after(demo, worse).code == 1


def test_a_digest_does_not_verify_across_workflows(demo: Demo) -> None:
    step, artifact = drawn(demo)
    told = after(demo, artifact, env={"EVALACTION_ROWS_DIGEST": step.outputs["rows-digest"]})
    assert told.code == 0 and UNVERIFIED in demo.comment()


@pytest.mark.parametrize(
    "how",
    [
        {"event": "push"}, {"event": "pull_request_target"}, {"repository": "else/demo"}, {"head_branch": "other"},
        {"head_sha": "ab" * 20},
    ],
)  # fmt: skip
def test_a_run_that_is_no_pull_requests_is_not_commented(demo: Demo, how: dict[str, str]) -> None:
    _, artifact = drawn(demo)
    told = after(demo, artifact, **how)
    assert told.code == 0 and demo.comments() == [] and "✅" in told.summary


def test_what_the_artifact_says_of_itself_counts_for_nothing(demo: Demo) -> None:
    demo.model.behaviour = answering(lambda _: "no")
    _, artifact = drawn(demo)
    listed = json.loads((artifact / "cards.json").read_bytes())
    listed["cards"][0]["outcome"] = "pass"
    listed["cards"][0]["outputs"] = {"outcome": "pass", "check": "8/8"}
    (artifact / "cards.json").write_text(json.dumps(listed))
    for name in ("comment.md", "summary.md"):
        for path in artifact.rglob(name):
            path.write_text("## ✅ forged [link](https://evil.example)")
    (manifest,) = artifact.rglob("manifest.json")
    value = json.loads(manifest.read_bytes()) | {"run_url": "https://evil.example/a"}
    manifest.write_text(json.dumps(value))
    told = after(demo, artifact)
    assert told.code == 1 and told.outputs["check"] == "0/8"
    assert "evil.example" not in demo.comment() and "forged" not in demo.comment() + told.summary


def test_reused_without_an_answer_of_ours_is_refused(demo: Demo) -> None:
    _, artifact = drawn(demo)
    card = {"card": "card.yaml", "folder": None, "reused": True, "question_digest": "ab" * 32, "outcome": "pass"}
    (artifact / "cards.json").write_text(json.dumps({"format": "evalaction/cards/1", "cards": [card]}))
    assert after(demo, artifact).code == 2


def test_a_refusal_is_reported_as_one(demo: Demo) -> None:
    demo.change({"tasks.jsonl": cards.exam_text(3)})
    step, artifact = drawn(demo)
    assert step.code == 4
    told = report(demo, artifact, step.outputs["rows-digest"])
    assert told.code == 4 and "refused this card" in demo.comment()


def test_missing_secrets_stay_not_run_in_the_job_that_reports(demo: Demo) -> None:
    step, artifact = drawn(demo, EVAL_KEY=None, EVALACTION_FAIL_ON="none")
    assert step.code == 0 and step.outputs["outcome"] == "not_run"
    told = report(demo, artifact, step.outputs["rows-digest"])
    assert told.code == 6 and told.outputs["outcome"] == "not_run" and "NOT RUN" in demo.comment()
    assert "✅" not in demo.comment() + told.summary


def test_without_the_digest_the_verdict_is_said_not_to_be_verified_and_not_remembered(demo: Demo) -> None:
    _, artifact = drawn(demo)
    assert report(demo, artifact).code == 0 and UNVERIFIED in demo.comment()
    assert demo.step().outputs["reused"] == "false"


def folder(artifact: Path) -> Path:
    return next(path for path in artifact.iterdir() if path.is_dir())


def listed(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def spoil(artifact: Path) -> None:
        value = json.loads((artifact / "cards.json").read_bytes())
        change(value)
        (artifact / "cards.json").write_text(json.dumps(value))

    return spoil


def link(name: str) -> Callable[[Path], None]:
    def spoil(artifact: Path) -> None:
        path = folder(artifact) / name
        path.unlink()
        path.symlink_to("/etc/passwd")

    return spoil


def sparse(name: str, size: int) -> Callable[[Path], None]:
    def spoil(artifact: Path) -> None:
        with (folder(artifact) / name).open("r+b") as file:
            file.truncate(size)

    return spoil


def linked_list(artifact: Path) -> None:
    (artifact / "cards.json").unlink()
    (artifact / "cards.json").symlink_to("/etc/passwd")


def many_entries(artifact: Path) -> None:
    for number in range(5_001):
        (folder(artifact) / f"f{number}").touch()


HOSTILE: dict[str, Callable[[Path], object]] = {
    "nothing": lambda artifact: (artifact / "cards.json").unlink(),
    "not json": lambda artifact: (artifact / "cards.json").write_text("{"),
    "deep json": lambda artifact: (artifact / "cards.json").write_text("[" * 100_000),
    "twice": lambda artifact: (artifact / "cards.json").write_text('{"format": 1, "format": 2}'),
    "no cards": listed(lambda value: value.update(cards=[])),
    "many cards": listed(lambda value: value.update(cards=value["cards"] * 101)),
    "one folder twice": listed(lambda value: value["cards"].append({**value["cards"][0], "card": "b.yaml"})),
    "path up": listed(lambda value: value["cards"][0].update(folder="../artifact")),
    "absolute": listed(lambda value: value["cards"][0].update(folder="/etc")),
    "no folder": listed(lambda value: value["cards"][0].update(folder="elsewhere")),
    "odd card": listed(lambda value: value["cards"][0].update(card="a\u202eb")),
    "link": link("manifest.json"),
    "linked rows": link("rows.jsonl"),
    "linked list": linked_list,
    "pipe": lambda artifact: os.mkfifo(folder(artifact) / "extra"),
    "deep": lambda artifact: (folder(artifact) / "a" / "b").mkdir(parents=True),
    "huge rows": sparse("rows.jsonl", (512 << 20) + 1),
    "huge manifest": sparse("manifest.json", (64 << 20) + 1),
    "huge all": sparse("rows.csv", (1 << 30) + 1),
    "many entries": many_entries,
    "odd name": lambda artifact: (folder(artifact) / "a b").touch(),
    "cut rows": sparse("rows.jsonl", 900),
    "no manifest": lambda artifact: (folder(artifact) / "manifest.json").unlink(),
    "manifest of another form": lambda artifact: (folder(artifact) / "manifest.json").write_text('{"format": "x"}'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_artifacts(demo: Demo, artifact_of: Callable[[Demo], Path], name: str) -> None:
    artifact = artifact_of(demo)
    HOSTILE[name](artifact)
    told = after(demo, artifact)
    assert told.code in {2, 4, 5}, told.log
    assert "✅" not in demo.comment() + told.summary
    assert "root:" not in demo.comment() + told.summary + told.log


@pytest.fixture(scope="module")
def first_artifact(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {"folder": tmp_path_factory.mktemp("kept")}


@pytest.fixture
def artifact_of(first_artifact: dict[str, Path], tmp_path: Path) -> Callable[[Demo], Path]:
    """The run folder of one drawing, drawn once for all hostile artifacts."""

    def copied(demo: Demo) -> Path:
        kept = first_artifact["folder"] / "artifact"
        if not kept.exists():
            shutil.copytree(drawn(demo)[1], kept)
        return Path(shutil.copytree(kept, tmp_path / "artifact"))

    return copied


def test_a_reports_folder_must_be_named(demo: Demo) -> None:
    assert report(demo, Path(), None, EVALACTION_RUN_DIR=None).code == 2
    assert report(demo, demo.temp / "nowhere").code == 2
