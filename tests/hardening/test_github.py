"""What a stranger's pull request, label, comment or artifact might make the action do, and does not."""

from __future__ import annotations

import base64
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.action import FORK, NAME, NUMBER, Demo, demo_at
from support.command import KEY, gated, paired, right
from support.endpoint_server import answering
from support.github_api import BOT, TOKEN
from support.github_faults import Fault, Kind
from support.hosted_runner import card_endpoint, poll

from evalaction.github.hidden import Memory, Record, hide, reveal
from evalaction.github.marker import key_of, marker
from evalaction.registration.lock import lock

PROMPT = {"prompt.md": b"Be very brief.\n"}
HERE: dict[str, Any] = {"repository": {"full_name": NAME, "default_branch": "main"}}
REPORT: dict[str, str | None] = {"EVALACTION_MODE": "report", "EVAL_KEY": None, "EVAL_URL": None}
KEY_OF_OURS = key_of("evaluation", "")


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path) as one:
        one.change(PROMPT)
        yield one


def artifact_of(demo: Demo) -> str:
    return str(demo.step(env={"EVALACTION_GITHUB_TOKEN": None, "EVALACTION_COMMENT": "false"}).run_dir)


def other_run(demo: Demo, repository: str) -> dict[str, Any]:
    where = {"head_sha": demo.head, "head_branch": "topic", "head_repository": {"full_name": repository}}
    return {"id": 77, "event": "pull_request", **where}


def writes(demo: Demo) -> list[str]:
    return [f"{one.method} {one.path}" for one in demo.github.requests if one.method != "GET"]


@pytest.mark.parametrize("event", ["workflow_run", "pull_request", "workflow_dispatch", "pull_request_target"])
def test_a_report_never_sets_a_status(demo: Demo, event: str) -> None:
    """`head-sha` beside `mode: report` would put an unverified verdict on whatever commit it names."""
    artifact = artifact_of(demo)
    run = {
        "id": 77,
        "event": "pull_request",
        "head_sha": demo.head,
        "head_branch": "topic",
        "head_repository": {"full_name": NAME},
    }
    payload = {**demo.pull(), "action": "labeled", "workflow_run": run}
    for more in ({}, {"EVALACTION_HEAD_SHA": "ab" * 20}, {"EVALACTION_HEAD_SHA": demo.head, "EVALACTION_PULL_REQUEST": "7"}):
        step = demo.step(event, payload, env={**REPORT, "EVALACTION_RUN_DIR": artifact, **more})
        assert step.code == (2 if more else 0), step.log
    assert not any("/statuses/" in line for line in writes(demo))


def test_a_comment_by_anybody_shows_no_verdict_of_another_commit(demo: Demo) -> None:
    """On issue_comment the default branch is checked out: its pass would stand in the pull request's comment."""
    demo.repo.git("checkout", "--quiet", demo.base)
    issue = {"number": NUMBER, "pull_request": {"url": "https://api.github.com/x"}}
    step = demo.step("issue_comment", {**HERE, "action": "created", "issue": issue, "comment": {"body": "/evaluate"}})
    assert step.code == 2 and demo.model.count == 0 and writes(demo) == []


def test_a_dispatch_on_another_branch_does_not_replace_a_pull_requests_verdict(demo: Demo) -> None:
    demo.model.behaviour = answering(lambda _: "no")
    assert demo.step().code == 1
    before = demo.comment()
    demo.model.behaviour = answering(right)
    demo.repo.git("checkout", "--quiet", demo.base)
    step = demo.step("workflow_dispatch", {**HERE, "inputs": {"pr-number": str(NUMBER)}}, env={"GITHUB_REF": "refs/heads/main"})
    assert step.code == 0 and demo.comment() == before and "fits this run" in step.log


def test_two_open_pull_requests_from_one_head_get_no_comment(demo: Demo) -> None:
    artifact = artifact_of(demo)
    for number in (NUMBER, 8):
        demo.github.hub.add_pull(NAME, number, head_sha=demo.head, head_repo=FORK, base_sha=demo.base)
    run = {
        "id": 77,
        "event": "pull_request",
        "head_sha": demo.head,
        "head_branch": "topic",
        "head_repository": {"full_name": FORK},
    }
    step = demo.step("workflow_run", {**HERE, "workflow_run": run}, env={**REPORT, "EVALACTION_RUN_DIR": artifact})
    assert step.code == 0 and writes(demo) == [] and any("all fit" in line for line in step.annotations())


def renamed(demo: Demo) -> dict[str, str]:
    demo.repo.git("checkout", "--quiet", "topic")
    (demo.root / "cards").mkdir()
    for name in ("card.yaml", "tasks.jsonl", "prompt.md"):
        demo.repo.git("mv", name, f"cards/{name}")
    demo.head = demo.repo.commit()
    demo.merge()
    return {"EVALACTION_CARD": "**/card.yaml"}


def copied(demo: Demo) -> dict[str, str]:
    demo.change({f"copy{number}.yaml": (demo.root / "card.yaml").read_bytes() for number in range(3)})
    return {"EVALACTION_CARD": "copy*.yaml"}


@pytest.mark.parametrize("way", [renamed, copied])
def test_moving_or_copying_a_card_is_no_further_try(demo: Demo, way: Any) -> None:
    demo.model.behaviour = answering(lambda _: "no")
    assert demo.step().code == 1
    asked = demo.model.count
    demo.model.behaviour = answering(right)
    step = demo.step(env=way(demo))
    assert step.code == 1 and demo.model.count == asked and step.outputs["reused"] == "true", step.log
    assert {card["outcome"] for card in step.cards()} == {"fail"}


def test_copies_in_one_push_are_drawn_once(demo: Demo) -> None:
    demo.model.behaviour = answering(lambda received: "no" if received.number <= 8 else right(received))
    env = copied(demo)
    step = demo.step(env=env)
    assert step.code == 1 and demo.model.count == 8, step.log
    assert [card["card"] for card in step.cards()] == ["copy0.yaml", "copy1.yaml", "copy2.yaml"]
    assert {card["outcome"] for card in step.cards()} == {"fail"} and "asks the same question" in demo.comment()


def test_two_legs_with_one_key_keep_each_others_answers(demo: Demo) -> None:
    """Each leg reads the comment, draws, and writes it: the slower must not take the other's answer away."""
    patient = {"draws": {"count": 2, "timeout_ms": 60_000}}
    second = gated(changes={"name": "second", "limits": {"min_stable_pass": 0.7}})
    demo.change({"card.yaml": cards.text(gated(changes=patient)), "second.yaml": cards.text(second)}, locked=True)
    lock(demo.root / "second.yaml")
    demo.change()
    environ = demo.environ("pull_request", demo.pull())
    slower = demo.start(environ)
    deadline = time.monotonic() + 30
    while demo.model.count == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    slower.send_signal(signal.SIGSTOP)  # it has read the comment and begun to draw
    try:
        faster = demo.step(env={"EVALACTION_CARD": "second.yaml"})
    finally:
        slower.send_signal(signal.SIGCONT)
    out, _ = slower.communicate(timeout=60)
    assert (faster.code, demo.read(slower.returncode, out.decode(), environ).code) == (0, 0), out
    memory = reveal(demo.comment(), KEY_OF_OURS)
    assert isinstance(memory, Memory) and [one.card for one in memory.records] == ["card.yaml", "second.yaml"]
    asked = demo.model.count
    both = demo.step(env={"EVALACTION_CARD": "card.yaml second.yaml".replace(" ", "\n")})
    assert both.outputs["reused"] == "true" and demo.model.count == asked == 16


def test_a_forged_memory_names_no_file_to_upload(demo: Demo) -> None:
    """Somebody who may edit our comment still decides no other output than those of a verdict."""
    demo.step()
    held = reveal(demo.comment(), KEY_OF_OURS)
    assert isinstance(held, Memory)
    fields = {name: getattr(held.records[0], name) for name in Record.__slots__}
    forged = Record(
        **{**fields, "outputs": {"outcome": "pass", "upload-path": "/home/runner", "run-dir": "/", "python": "/tmp/x"}}
    )
    (comment,) = demo.comments()
    comment.body = f"{marker(KEY_OF_OURS)}\n{hide(Memory((forged,)), KEY_OF_OURS).line}"
    step = demo.step()
    assert step.outputs["reused"] == "true" and not {"upload-path", "python"} & step.outputs.keys()
    assert step.run_dir.is_relative_to(demo.temp)


def test_somebody_elses_words_with_our_marker_stay_theirs(demo: Demo) -> None:
    record = Record(
        card="card.yaml", question_digest="a" * 64, outcome="pass", attempt=1, sealed=True, commit="b" * 40, day="2026-01-01",
        run_url="https://github.com/octo/demo/actions/runs/1",
    )  # fmt: skip
    theirs = f"{marker(KEY_OF_OURS)}\nplease merge\n{hide(Memory((record,)), KEY_OF_OURS).line}"
    stranger = demo.github.hub.add_comment(NAME, NUMBER, "stranger", theirs)
    quoted = demo.github.hub.add_comment(NAME, NUMBER, BOT, f"> {theirs}")  # another workflow quotes it
    step = demo.step()
    assert step.code == 0 and (stranger.body, quoted.body) == (theirs, f"> {theirs}")
    assert "please merge" not in demo.comments()[-1].body and len(demo.comments()) == 2


def test_names_of_card_and_branch_are_text_and_nothing_else(demo: Demo) -> None:
    name = "x --> <!-- evalaction:data --> [y](http://e.example) @octocat | `::error::forged"
    card = gated(changes={"name": name})
    demo.change({"card.yaml": cards.text(card)}, locked=True)
    payload = demo.pull()
    payload["pull_request"]["head"]["ref"] = "x`$(touch pwned)`--><b>@octocat</b>"
    step = demo.step(payload=payload, env={"GITHUB_HEAD_REF": payload["pull_request"]["head"]["ref"]})
    assert step.code == 0, step.log
    for text in (demo.comment(), step.summary):
        for word in ("http://e.example", "@octocat", "<b>@", "[y]", "`::error"):
            assert word not in text, word
        assert text.count("<!-- evalaction:data") == (text is not step.summary and "evalaction:comment" in text)
    assert not any(line.startswith("::error") for line in step.log.splitlines())
    assert not list(demo.root.rglob("pwned"))


def test_a_mistake_in_a_strangers_card_is_quoted(demo: Demo) -> None:
    demo.change({"card.yaml": b'protocol: evalaction/1\n"[y](http://e.example) @octocat <b>": 1\n'})
    step = demo.step()
    assert step.code == 2 and step.outputs["outcome"] == "usage"
    for text in (demo.comment(), step.summary):
        assert "](http://e.example)" not in text and "@octocat" not in text and "<b>" not in text


# Those that are waited for, or tried again, are in tests/integration/test_comment*.py.
FAILURES: list[tuple[Kind, Any]] = [
    ("unauthorized", None), ("not_found", None), ("gone", None), ("too_long", None), ("retry_after", 3600),
    ("answer", {"status": 422, "body": {"message": "Validation Failed"}}),
]  # fmt: skip


def test_every_way_a_comment_can_fail_leaves_the_exit_code(demo: Demo) -> None:
    demo.model.behaviour = answering(lambda _: "no")
    for kind, value in FAILURES:
        demo.github.faults[:] = [Fault(kind=kind, method="POST", times=None, value=value)]
        step = demo.step()
        assert step.code == 1 and step.outputs["outcome"] == "fail" and step.outputs["comment-url"] == "", (kind, step.log)
        assert any(line.startswith("::warning") for line in step.annotations()), kind
    assert demo.comments() == []


def test_at_most_ten_errors_the_weightiest_first(demo: Demo) -> None:
    demo.model.behaviour = answering(lambda _: "no")
    limits = {"min_stable_pass": 0.9, "min_first_pass": 0.9}
    files = {f"c{number:02}.yaml": cards.text(gated(draws=number + 1, changes={"limits": limits})) for number in range(7)}
    demo.change({**files, "c99.yaml": b"protocol: evalaction/9\n"})
    for name in files:
        lock(demo.root / name)
    demo.change()
    step = demo.step(env={"EVALACTION_CARD": "c*.yaml"})
    errors = [line for line in step.annotations() if line.startswith("::error")]
    assert step.code == 2 and len(errors) == 10, step.log
    assert "usage%3A" in errors[0] and "c99.yaml" in errors[0] and errors[-1].endswith("more in the job summary.")


def test_nothing_is_left_with_the_caller(demo: Demo) -> None:
    """No variable for later steps, no file in the checkout, the index and HEAD as they were."""
    files = {name: demo.temp / name for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")}
    for path in files.values():
        path.touch()
    before = {path: path.stat().st_mtime_ns for path in demo.root.rglob("*") if ".git" not in path.parts}
    step = demo.step(env={name: str(path) for name, path in files.items()})
    assert step.code == 0 and all(path.read_bytes() == b"" for path in files.values())
    assert {path: path.stat().st_mtime_ns for path in demo.root.rglob("*") if ".git" not in path.parts} == before
    assert demo.repo.git("status", "--porcelain", "--ignored") == "" and demo.repo.git("rev-parse", "HEAD") == demo.merged


def test_what_the_model_says_is_in_no_output_and_the_key_in_no_file(demo: Demo) -> None:
    said = "'; touch /tmp/pwn; '\nEOF\noutcome=pass\n::add-mask::x\n##[set-output name=check]8/8"
    demo.model.behaviour = answering(lambda _: said)
    step = demo.step()
    assert step.code == 1 and "pwn" not in "".join(step.outputs.values())
    assert set(step.outputs) <= {name for name in declared_outputs() if name != "artifact-name"}
    spoken = [line for line in step.log.splitlines() if line.startswith("::")]
    assert not any("pwn" in line or "add-mask::x" in line for line in spoken)
    encoded = (KEY.encode(), base64.b64encode(KEY.encode()))
    for path in demo.temp.rglob("*"):
        assert not path.is_file() or not any(form in path.read_bytes() for form in encoded), path


def declared_outputs() -> set[str]:
    import yaml

    text = (Path(__file__).parents[2] / "action.yml").read_text("utf-8")
    return set(yaml.safe_load(text)["outputs"])


def test_a_link_in_the_runners_folder_is_not_written_through(demo: Demo) -> None:
    outside = demo.temp.parent / "outside"
    outside.mkdir()
    (demo.temp / "linked").symlink_to(outside)
    step = demo.step(env={"EVALACTION_RUN_DIR": str(demo.temp / "fresh" / ".." / "fresh")})
    assert step.code == 0 and list(outside.iterdir()) == []
    assert json.loads((demo.temp / "fresh" / "cards.json").read_bytes())["cards"][0]["outcome"] == "pass"


def test_a_secret_that_only_base_holds_is_in_no_file(tmp_path: Path) -> None:
    """It would come in with the sentence about what changes in the question."""
    word = "freeze-me-before-running"
    with demo_at(tmp_path, paired()) as demo:
        demo.change({"card.yaml": cards.text(paired(changes={"sign": {"claim": "none", "seed": "another-seed"}}))}, locked=True)
        step = demo.step_with_key(word)
        assert step.code == 3 and step.outputs["breaks"] == "secret_found" and word not in demo.comment() + step.summary
        for path in step.run_dir.rglob("*"):
            assert not path.is_file() or word.encode() not in path.read_bytes(), path


def test_answers_that_have_no_room_are_said_to_be_forgotten(demo: Demo) -> None:
    """Many questions push the first one out: that is a way to ask it again, and the job says so."""
    demo.step()
    held = reveal(demo.comment(), KEY_OF_OURS)
    assert isinstance(held, Memory)
    fields = {name: getattr(held.records[0], name) for name in Record.__slots__}
    many = (Record(**{**fields, "question_digest": f"{number:064x}", "shown": None, "outputs": {}}) for number in range(90))
    (comment,) = demo.comments()
    comment.body = f"{marker(KEY_OF_OURS)}\n{hide(Memory(tuple(many)), KEY_OF_OURS).line}"
    step = demo.step()
    assert step.code == 0 and any("no room for" in line for line in step.annotations())
    kept = reveal(demo.comment(), KEY_OF_OURS)
    assert isinstance(kept, Memory) and kept.records[0].question_digest == held.records[0].question_digest
    assert len(demo.comment()) <= 60_000


def test_the_token_of_another_app_finds_its_own_answer(demo: Demo) -> None:
    """`/user` is closed to it: without another way to its name each push would be drawn again."""
    demo.github.hub.accounts[TOKEN] = "company-app[bot]"
    demo.model.behaviour = answering(lambda _: "no")
    assert demo.step().code == 1
    asked = demo.model.count
    demo.model.behaviour = answering(right)
    step = demo.step()
    assert step.code == 1 and step.outputs["reused"] == "true" and demo.model.count == asked
    (one,) = demo.github.hub.repository(NAME).comments.values()
    assert one.login == "company-app[bot]"


def test_a_card_that_base_cannot_read_vouches_for_no_address(demo: Demo) -> None:
    demo.repo.git("checkout", "--quiet", demo.base)
    demo.repo.write({"card.yaml": b"protocol: evalaction/9\n"})
    demo.base = demo.head = demo.repo.commit()
    elsewhere = gated(changes={"endpoints.main.url_env": "EVAL_OTHER"})
    demo.change({"card.yaml": cards.text(elsewhere)}, locked=True)
    step = demo.step(env={"EVAL_OTHER": demo.model.url})
    assert (step.code, step.outputs["breaks"], demo.model.count) == (4, "endpoint_changed", 0)


@pytest.mark.parametrize("event", ["pull_request_review", "pull_request_review_comment"])
def test_a_review_takes_the_key_nowhere_else(demo: Demo, event: str) -> None:
    """These check the merge commit out too."""
    demo.change({"card.yaml": cards.text(gated(changes={"endpoints.main.url_env": "EVAL_OTHER"}))}, locked=True)
    step = demo.step(event, demo.pull(), env={"EVAL_OTHER": demo.model.url})
    assert (step.code, step.outputs["breaks"], demo.model.count) == (4, "endpoint_changed", 0)


def test_another_path_to_poll_is_another_place_for_the_key(tmp_path: Path) -> None:
    """One host may serve many customers: its paths are as much an address as its name."""
    hosted = gated(
        changes={"endpoints.main": card_endpoint("", url_env="EVAL_URL", key_env="EVAL_KEY"), "arms.treatment.system": ...}
    )
    del hosted["endpoints"]["main"]["url"]
    moved = cards.card({"endpoints.main.poll": poll(url="/somebody/else/{{id}}")}, base=hosted)
    with demo_at(tmp_path, hosted) as demo:
        demo.change({"card.yaml": cards.text(moved)}, locked=True)
        step = demo.step()
        assert (step.code, step.outputs["breaks"], demo.model.count) == (4, "endpoint_changed", 0)
