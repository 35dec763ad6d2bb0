"""The gate of the README through act: what a pull request gets, what is called, and how the job ends."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support import cards
from support.act import KEY, REPOSITORY
from support.command import exam, gated, paired, right
from support.endpoint_server import Received, answering, fault, response
from support.github_api import BOT, Fault
from support.site import NUMBER, Site, by_arm, locked

pytestmark = pytest.mark.action

AHEAD = {"sign": {"claim": "ahead", "seed": "freeze-me-before-running"}}


def test_earned(site: Site) -> None:
    """On a machine that has installed nothing yet."""
    site.server.behaviour = answering(by_arm)
    site.start(paired(1, AHEAD), exam(84))
    site.push({"eval/prompt.md": b"Be very brief.\n"})
    ran = site.run(installed=False)
    assert (ran.code, ran.jobs) == (0, {"evaluation": "success"}), ran.log
    assert {name: ran.outputs[name] for name in ("outcome", "earned", "sign", "reach", "breaks", "reused")} == {
        "outcome": "pass", "earned": "true", "sign": "1", "reach": "84/84", "breaks": "", "reused": "false",
    }  # fmt: skip
    assert len(site.server.requests) == 168
    assert "## ✅ support-triage" in site.comment
    assert "## ✅ support-triage" in ran.summary
    assert ran.outputs["comment-url"].endswith(f"#issuecomment-{site.ours[0].id}")
    [artifact] = ran.uploaded
    assert artifact == ran.outputs["artifact-name"]
    files = [place for place in (ran.artifacts / artifact).rglob("*") if place.is_file()]
    assert {"manifest.json", "rows.jsonl", "results.json", "SHA256SUMS", "cards.json"} <= {place.name for place in files}
    assert not [place for place in files if KEY.encode() in place.read_bytes()]


def test_not_earned(site: Site) -> None:
    site.start(paired(1, AHEAD), exam(84))
    site.push({"eval/prompt.md": b"Be very brief.\n"})
    ran = site.run()
    assert (ran.code, ran.jobs) == (1, {"evaluation": "failure"}), ran.log
    assert (ran.outputs["outcome"], ran.outputs["earned"], ran.outputs["sign"]) == ("fail", "false", "0")
    assert ran.outputs["breaks"] == "gap_below_floor_or_unscored"
    assert "## ❌ support-triage" in site.comment
    assert ran.annotations("error")
    assert len(ran.uploaded) == 1
    assert len(site.server.requests) == 168


def test_tampered_tasks(site: Site) -> None:
    """The exam is not what the card was locked for: no call is made."""
    site.start()
    site.push({"eval/tasks.jsonl": cards.exam_text(4, tags=["easier"])})
    ran = site.run()
    assert ran.jobs == {"evaluation": "failure"}, ran.log
    assert ran.outputs["outcome"] == "unregistered"
    assert "hash_mismatch" in ran.outputs["breaks"]
    assert site.server.requests == []
    assert "exam.sha256 in the card is not that of the committed exam" in site.comment
    assert ran.outputs["reach"] == ""


def test_the_card_is_edited_in_the_pull_request(site: Site) -> None:
    """A loosened limit is said to be loosened, with its old value."""
    site.start(gated(2, {"limits": {"min_stable_pass": 0.8}}))
    locked(site.repo, "eval/card.yaml", gated(2, {"limits": {"min_stable_pass": 0.1}}), exam())
    edited = (site.repo.root / "eval/card.yaml").read_bytes()
    site.repo.git("checkout", "--quiet", "--", ".")
    site.push({"eval/card.yaml": edited})
    ran = site.run()
    assert ran.outputs["outcome"] == "pass", ran.log
    [said] = [line for line in site.comment.splitlines() if "The question changes in this pull request" in line]
    assert "loosened" in said
    assert "0.8" in said
    assert "0.1" in said


def test_a_key_does_not_go_to_an_address_that_only_the_pull_request_names(site: Site) -> None:
    site.start()
    moved = gated(2, {"endpoints.main.url_env": ..., "endpoints.main.url": site.server.url + "/elsewhere"})
    locked(site.repo, "eval/card.yaml", moved, exam())
    edited = (site.repo.root / "eval/card.yaml").read_bytes()
    site.repo.git("checkout", "--quiet", "--", ".")
    site.push({"eval/card.yaml": edited})
    ran = site.run()
    assert (ran.outputs["outcome"], ran.outputs["breaks"]) == ("unregistered", "endpoint_changed"), ran.log
    assert site.server.requests == []
    assert "endpoint" in site.comment


def test_transport(site: Site) -> None:
    """Lost draws are no verdict on the model: neither a pass nor a fail."""

    def behaviour(received: Received) -> Any:
        return fault("reset") if received.number % 2 else answering(right)(received)

    site.server.behaviour = behaviour
    site.start(gated(2), exam(20))
    site.push()
    ran = site.run()
    assert ran.jobs == {"evaluation": "failure"}, ran.log
    assert ran.outputs["outcome"] == "inconclusive"
    assert "transport" in ran.outputs["breaks"]
    assert "❌" not in site.comment.splitlines()[1]


def test_nothing_of_an_arm_arrives(site: Site) -> None:
    site.server.behaviour = lambda received: response({"error": "no"}, status=503)
    site.start()
    site.push()
    ran = site.run()
    assert (ran.jobs, ran.outputs["outcome"]) == ({"evaluation": "failure"}, "unreachable"), ran.log
    assert len(site.server.requests) == 4


@pytest.mark.parametrize(("kind", "said"), [("permission", "pull-requests: write"), ("locked", "locked")])
def test_no_permission(site: Site, kind: Any, said: str) -> None:
    """The comment that cannot be written is a warning; the verdict stands."""
    site.hub.faults.append(Fault(kind, method="POST", times=None))
    site.start()
    site.push()
    ran = site.run()
    assert (ran.code, ran.outputs["outcome"]) == (0, "pass"), ran.log
    assert ran.outputs["comment-url"] == ""
    assert site.comments == []
    assert [text for text in ran.annotations("warning") if said in text], ran.log
    assert "✅ support-triage" in ran.summary


def test_the_same_question_pushed_twice(site: Site) -> None:
    site.start()
    site.push({"eval/prompt.md": b"Be very brief.\n"})
    first = site.run()
    asked = len(site.server.requests)
    site.push()
    second = site.run()
    assert (first.outputs["reused"], second.outputs["reused"]) == ("false", "true"), second.log
    assert (second.code, second.outputs["outcome"]) == (0, "pass")
    assert len(site.server.requests) == asked == 8
    assert second.outputs["question-digest"] == first.outputs["question-digest"]
    assert "answered before" in site.comment
    assert "/actions/runs/1000" in site.comment


def test_a_second_push_updates_the_comment_in_place(site: Site) -> None:
    site.start()
    site.push({"eval/prompt.md": b"Be very brief.\n"})
    site.run()
    [before] = site.ours
    site.push({"eval/prompt.md": b"Be slow.\n"})
    ran = site.run()
    [after] = site.ours
    assert (after.id, ran.outputs["reused"]) == (before.id, "false"), ran.log
    assert len(site.server.requests) == 16


def test_ours_is_the_201st_of_250_comments(site: Site) -> None:
    site.start()
    site.push({"eval/prompt.md": b"Be very brief.\n"})
    for number in range(200):
        site.hub.hub.add_comment(REPOSITORY, NUMBER, f"person{number}", f"Comment {number}.")
    site.run()
    forged = site.ours[0].body
    for number in range(49):
        site.hub.hub.add_comment(
            REPOSITORY, NUMBER, "mallory" if number else BOT, f"See above:\n{forged}" if number % 2 else "Hm."
        )
    site.push({"eval/prompt.md": b"Be slow.\n"})
    ran = site.run()
    assert ran.code == 0, ran.log
    assert len(site.comments) == 250
    assert [place for place, comment in enumerate(site.comments, 1) if comment.body.startswith("<!-- evalaction")] == [201]


def test_two_cards(site: Site) -> None:
    """One comment with the worse one first, one status, the outputs of each in a file."""
    locked(site.repo, "eval/support/card.yaml", gated(1, {"name": "good"}), exam())
    bad = exam() | {"tasks.jsonl": cards.exam_text(4, expected="never")}
    locked(site.repo, "eval/routing/one.yaml", gated(1, {"name": "bad"}), bad)
    site.base = site.repo.commit()
    site.push()
    ran = site.run("several-cards.yml")
    assert (ran.jobs, ran.outputs["outcome"]) == ({"evaluations": "failure"}, "fail"), ran.log
    assert site.comment.index("bad") < site.comment.index("good")
    [artifact] = ran.uploaded
    listed = json.loads((ran.artifacts / artifact / "cards.json").read_text(encoding="utf-8"))["cards"]
    assert [(one["card"], one["outcome"]) for one in listed] == [
        ("eval/routing/one.yaml", "fail"), ("eval/support/card.yaml", "pass"),
    ]  # fmt: skip
    assert len(site.server.requests) == 8


def test_two_runs_at_once_end_in_one_comment(site: Site) -> None:
    site.start()
    site.push()
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda _: site.run(), range(2)))
    assert [ran.code for ran in runs] == [0, 0], runs[0].log + runs[1].log
    assert len(site.ours) == 1
    assert len(runs[0].uploaded) == 2


def test_missing_secrets_fail_the_job_and_are_no_verdict(site: Site) -> None:
    site.start()
    site.push()
    ran = site.run(secrets={})
    assert (ran.jobs, ran.outputs["outcome"]) == ({"evaluation": "failure"}, "not_run"), ran.log
    assert site.server.requests == []
    assert "NOT RUN" in site.comment
