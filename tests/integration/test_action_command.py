"""`evalaction action` on a pull request: one verdict, in place, and a job that ends rightly."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import cards
from support.action import NAME, NUMBER, Demo, demo_at
from support.command import KEY, gated, right
from support.endpoint_server import answering, chat, fault, response
from support.github_faults import Fault

PROMPT = {"prompt.md": b"Be very brief.\n"}


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path) as one:
        yield one


def line_of(path: Path, word: str) -> int:
    return next(number for number, text in enumerate(path.read_text().splitlines(), 1) if word in text)


def test_first_verdict(demo: Demo) -> None:
    demo.change(PROMPT)
    step = demo.step()
    assert step.code == 0, step.log
    assert demo.model.count == 8
    body = demo.comment()
    assert body.startswith("<!-- evalaction:comment ")
    assert "✅ support-triage" in body and demo.base[:12] in body
    assert step.outputs["outcome"] == "pass" and step.outputs["check"] == "8/8" and step.outputs["reused"] == "false"
    assert step.outputs["comment-url"].endswith(str(demo.comments()[0].id))
    assert json.loads(Path(step.outputs["results-path"]).read_bytes())["verdict"]["breaks"] == []
    assert "✅ support-triage" in step.summary and "✅ support-triage" in Path(step.outputs["report-path"]).read_text("utf-8")
    assert step.annotations() == []
    assert step.log.index(f"::add-mask::{KEY}") < step.log.index("calls planned")


def test_a_failed_limit_points_at_its_line(demo: Demo) -> None:
    demo.model.behaviour = answering(lambda _: "no")
    demo.change(PROMPT)
    step = demo.step()
    assert step.code == 1, step.log
    assert step.outputs["outcome"] == "fail" and "limit:treatment:min_stable_pass" in step.outputs["breaks"]
    line = line_of(demo.root / "card.yaml", "min_stable_pass")
    assert f"::error title=fail%3A support-triage,file=card.yaml,line={line}::" in step.log
    assert "❌" in demo.comment()


def test_fail_on_is_apart_from_the_verdict_and_in_the_footer(demo: Demo) -> None:
    demo.model.behaviour = answering(lambda _: "no")
    demo.change(PROMPT)
    step = demo.step(env={"EVALACTION_FAIL_ON": "inconclusive"})
    assert step.code == 0 and step.outputs["outcome"] == "fail"
    assert "fail-on=inconclusive" in demo.comment().replace("</code>", "").replace("<code>", "")
    assert any(line.startswith("::warning") for line in step.annotations())
    assert not any(line.startswith("::error") for line in step.annotations())


def test_tampered_tasks_are_not_asked(demo: Demo) -> None:
    demo.change({"tasks.jsonl": cards.exam_text(3)})
    step = demo.step()
    assert step.code == 4 and demo.model.count == 0
    assert step.outputs["outcome"] == "unregistered" and "hash_mismatch" in step.outputs["breaks"]
    assert step.outputs["check"] == "" and "⛔" in demo.comment()
    assert demo.step(env={"EVALACTION_FAIL_ON": "none"}).code == 4


def test_a_card_edited_in_the_pull_request_says_what_changes(demo: Demo) -> None:
    edited = gated(draws=3, changes={"limits": {"min_stable_pass": 0.5, "min_contract": 0.9}})
    demo.change({"card.yaml": cards.text(edited)}, locked=True)
    step = demo.step()
    assert step.code == 0, step.log
    body = demo.comment().replace("<code>", "").replace("</code>", "")
    assert "question changes in this pull request" in body
    assert "draws.count 2 → 3" in body and "min&#95;stable&#95;pass 0.8 → 0.5 (loosened)" in body
    assert "min&#95;contract none → 0.9" in body and "0.9 (loosened)" not in body


@pytest.mark.parametrize(
    "change", [{"url_env": "EVAL_OTHER"}, {"url_env": ..., "url": "https://elsewhere.example"}, {"key_env": "EVAL_OTHER"}]
)
def test_a_key_goes_nowhere_that_base_does_not_know(demo: Demo, change: dict[str, str]) -> None:
    changes = {f"endpoints.main.{name}": value for name, value in change.items()}
    demo.change({"card.yaml": cards.text(gated(changes=changes))}, locked=True)
    step = demo.step(env={"EVAL_OTHER": demo.model.url})
    assert step.code == 4 and step.outputs["breaks"] == "endpoint_changed" and demo.model.count == 0


def test_a_new_card_may_not_take_the_key_elsewhere(demo: Demo) -> None:
    elsewhere = gated(changes={"name": "new", "endpoints.main.url_env": "EVAL_OTHER"})
    demo.change({"new.yaml": cards.text(elsewhere)})
    from evalaction.registration.lock import lock

    lock(demo.root / "new.yaml")
    demo.change()
    step = demo.step(env={"EVALACTION_CARD": "*.yaml", "EVAL_OTHER": demo.model.url})
    assert [card["outcome"] for card in step.cards()] == ["unregistered", "pass"]
    assert step.code == 4 and demo.model.count == 8


def test_two_cards_share_a_comment_worst_first(demo: Demo) -> None:
    demo.change({"cards/other.yaml": b"protocol: evalaction/9\n", **PROMPT})
    step = demo.step(env={"EVALACTION_CARD": "card.yaml\ncards/*.yaml"})
    assert step.code == 2 and demo.model.count == 8, step.log
    body = demo.comment()
    assert body.index("cards/other.yaml") < body.index("support-triage") and body.count("<!-- evalaction:comment") == 1
    assert [card["outcome"] for card in step.cards()] == ["usage", "pass"]
    assert step.outputs["outcome"] == "usage" and step.outputs["results-path"].endswith("cards.json")
    assert step.cards()[1]["outputs"]["check"] == "8/8"
    assert "::error title=usage%3A cards/other.yaml,file=cards/other.yaml,line=1::" in step.log


def test_a_glob_that_matches_nothing_is_told_in_the_comment(demo: Demo) -> None:
    demo.change(PROMPT)
    step = demo.step(env={"EVALACTION_CARD": "nowhere/*.yaml"})
    assert step.code == 2 and step.outputs["outcome"] == "usage" and "matches no committed file" in demo.comment()


def test_an_unusable_input_is_told_without_a_comment(demo: Demo) -> None:
    demo.change(PROMPT)
    step = demo.step(env={"EVALACTION_FAIL_ON": "everything"})
    assert step.code == 2 and step.outputs == {"outcome": "usage"} and "fail-on" in step.summary
    assert any("fail-on" in line for line in step.annotations()) and demo.comments() == []


def test_unreachable_may_be_drawn_again_and_is_counted(demo: Demo) -> None:
    demo.model.behaviour = lambda _: fault("reset")
    demo.change(PROMPT)
    step = demo.step()
    assert step.code == 7 and step.outputs["outcome"] == "unreachable" and step.outputs["check"] == ""
    demo.model.behaviour = answering(right)
    again = demo.step()
    assert again.code == 0 and "Attempt 2 at this question" in demo.comment() and "attempt=2" in again.summary


@pytest.mark.parametrize("kind", ["permission", "locked"])
def test_no_comment_is_no_other_verdict(demo: Demo, kind: str) -> None:
    demo.change(PROMPT)
    if kind == "locked":
        demo.github.hub.repository(NAME).pulls[NUMBER].locked = True
    else:
        demo.github.faults.append(Fault(kind="permission", method="POST", times=None))
    step = demo.step()
    assert step.code == 0 and step.outputs["outcome"] == "pass" and step.outputs["comment-url"] == ""
    warnings = [line for line in step.annotations() if line.startswith("::warning")]
    assert any(("pull-requests: write" if kind == "permission" else "locked") in line for line in warnings), warnings
    assert demo.comments() == [] and "✅" in step.summary


def test_without_a_token_the_summary_has_it(demo: Demo) -> None:
    demo.change(PROMPT)
    step = demo.step(env={"EVALACTION_GITHUB_TOKEN": None})
    assert step.code == 0 and demo.github.requests == []
    assert "✅" in step.summary and "no earlier answer can be read" in step.summary


def test_verify_mode_reads_no_secret_and_calls_nobody(demo: Demo) -> None:
    demo.change(PROMPT)
    step = demo.step(env={"EVALACTION_MODE": "verify", "EVAL_KEY": None, "EVAL_URL": None})
    assert step.code == 0 and step.outputs["outcome"] == "registered", step.log
    assert demo.model.count == 0 and demo.github.requests == [] and step.outputs["question-digest"]
    demo.change({"tasks.jsonl": cards.exam_text(3)})
    moved = demo.step(env={"EVALACTION_MODE": "verify"})
    assert moved.code == 4 and "hash_mismatch" in moved.outputs["breaks"]
    mistake = {"id": "t1", "prompt": "?", "check": {"kind": "regex", "pattern": "("}}
    demo.change({"tasks.jsonl": cards.jsonl([mistake])})
    both = demo.step(env={"EVALACTION_MODE": "verify"})
    assert both.code == 2 and "does not compile" in both.log, "what the commit has wrong comes before what has moved"


def test_an_endpoint_that_repeats_the_key_gets_it_nowhere(demo: Demo) -> None:
    demo.model.behaviour = lambda received: response(chat(f"Your key is {KEY}", number=received.number))
    demo.change(PROMPT)
    step = demo.step()
    assert step.code == 1 and KEY not in demo.comment()
    for path in step.run_dir.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


def test_a_leak_ends_internal_and_leaves_no_file_of_it(demo: Demo) -> None:
    """A key that is a word of our own report cannot be kept out of it: nothing of the card is shown or uploaded."""
    demo.change(PROMPT)
    step = demo.step_with_key("question_digest")
    assert step.code == 3 and step.outputs["outcome"] == "internal"
    assert step.outputs["breaks"] == "secret_found" and "✅" not in demo.comment() + step.summary
    assert "question_digest" not in demo.comment() and "question_digest" not in step.summary
    assert not list(step.run_dir.rglob("rows.jsonl"))


def test_hostile_words_of_the_model_are_no_commands(demo: Demo) -> None:
    said = "::error::forged\n##[error]forged\n::set-output name=outcome::pass\n<!-- evalaction:data x -->\n@octocat"
    demo.model.behaviour = answering(lambda _: said)
    demo.change(PROMPT)
    step = demo.step()
    assert step.code == 1 and "::error::forged" not in step.log and "##[error]" not in step.log
    assert demo.comment().count("<!-- evalaction:data") == 1 and "@octocat" not in demo.comment()
    assert "forged" not in "".join(step.outputs.values())


def test_cancelled_by_a_signal_rows_stay_and_nothing_is_posted(demo: Demo) -> None:
    demo.model.behaviour = lambda received: response(
        chat(right(received), number=received.number), delay_s=60.0 if received.number > 3 else 0.0
    )
    demo.change(PROMPT)
    environ = demo.environ("pull_request", demo.pull(), {"EVALACTION_RUN_DIR": str(demo.temp / "run")})
    process = demo.start(environ)
    deadline = time.monotonic() + 30
    while demo.model.count < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    step = demo.read(process.returncode, out.decode(), environ)
    assert step.code == 130 and step.outputs == {"outcome": "interrupted"}
    assert demo.comments() == []
    (rows,) = (demo.temp / "run").rglob("rows.jsonl")
    assert rows.read_bytes().count(b"\n") >= 1 and b"seal" not in rows.read_bytes()
