"""`evalaction action` night after night: what is kept, the issues, and that whatever GitHub refuses changes no verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.action import NAME, Demo, Step, demo_at
from support.command import KEY, exam, gated, right
from support.endpoint_server import answering, response
from support.github_api import Fault
from support.github_state import Issue, Repository

from evalaction.method.series.entry_json import read_entry
from evalaction.method.series.places import read_place
from evalaction.registration.lock import lock

SCHEDULE = {"schedule": "17 3 * * *"}
BRANCH = "evalaction-history"
NIGHT: dict[str, str | None] = {
    "GITHUB_REF": "refs/heads/main",
    "EVALACTION_HISTORY": BRANCH,
    "EVALACTION_ISSUE_ON_BREAKAGE": "true",
}
CARD = gated(3, {"limits": {"min_stable_pass": 0.8, "min_reach": 0.9}})


def wrong(received: Any) -> str:
    return "never" if int(right(received)) < 2 else right(received)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path, CARD) as one:
        one.github.hub.repository(NAME).commit_files({"card.yaml": b"x"}, branch="main")
        yield one


def night(demo: Demo, *, event: str = "schedule", payload: Any = None, **more: Any) -> Step:
    return demo.step(event, SCHEDULE if payload is None else payload, {**NIGHT, **more})


def repository(demo: Demo) -> Repository:
    return demo.github.hub.repository(NAME)


def entries(demo: Demo) -> list[str]:
    """Outcomes of the entries on the branch, oldest first."""
    found = repository(demo)
    if f"refs/heads/{BRANCH}" not in found.refs:
        return []
    listed = found.files(found.commits[found.refs[f"refs/heads/{BRANCH}"]]["tree"])
    paths = sorted(path for path in listed if read_place(path))
    return [read_entry(found.blobs[listed[path][2]], path=path).outcome.value for path in paths]


def issues(demo: Demo) -> list[Issue]:
    return list(repository(demo).issues.values())


def test_an_issue_is_opened_kept_up_to_date_and_closed(demo: Demo) -> None:
    """A night on which the endpoint is dead says nothing about the model: the issue stays as it is."""
    demo.model.behaviour = answering(wrong)
    opened = night(demo)
    assert opened.code == 1, opened.log
    [issue] = issues(demo)
    assert issue.title.startswith("Nightly evaluation: limit min_stable_pass is broken (card ")
    assert "min&#95;stable&#95;pass of treatment is breached: 2/4 items" in issue.body
    body = issue.body
    demo.model.behaviour = lambda _: response({"error": "down"}, status=503)
    dead = night(demo)
    assert dead.code == 7 and "unreachable" in dead.summary and (issue.state, issue.body) == ("open", body), dead.log
    demo.model.behaviour = answering(wrong)
    worse = night(demo)
    assert worse.code == 1 and issues(demo) == [issue] and issue.state == "open"
    assert issue.body != body and "```mermaid" in issue.body
    demo.model.behaviour = answering(right)
    better = night(demo)
    assert better.code == 0 and (issue.state, issue.state_reason) == ("closed", "completed")
    assert "**It holds again.**" in issue.body
    assert entries(demo) == ["fail", "unreachable", "fail", "pass"]


def test_every_breached_limit_has_its_own_issue_and_one_that_left_the_card_is_closed(demo: Demo) -> None:
    demo.model.behaviour = answering(wrong)
    night(demo)
    assert [issue.state for issue in issues(demo)] == ["open"]
    card = demo.root / "card.yaml"
    card.write_bytes(card.read_bytes().replace(b'"min_stable_pass"', b'"min_check"'))
    demo.repo.commit()
    step = night(demo)
    assert step.code == 1, step.log
    old, new = issues(demo)
    assert old.state == "closed" and "no longer in the card" in old.body
    assert new.state == "open" and "min_check" in new.title


def test_the_drift_alarm_opens_an_issue_although_every_limit_holds(tmp_path: Path) -> None:
    """A new series closes it: what was compared with is gone."""
    card = gated(3, {"limits": {"min_reach": 0.9}})
    with demo_at(tmp_path, card) as demo:
        demo.repo.write(exam(10))
        lock(demo.root / "card.yaml")
        demo.repo.commit()
        demo.github.hub.repository(NAME).commit_files({"card.yaml": b"x"}, branch="main")
        assert night(demo).code == 0
        demo.model.behaviour = answering(lambda received: "never")
        step = night(demo)
        assert step.code == 0 and any("Drift alarm" in line for line in step.annotations()), step.log
        assert "Drift alarm: over 1 run 10 first draws got worse and 0 better" in step.summary
        [issue] = issues(demo)
        assert issue.state == "open" and issue.title.startswith("Nightly evaluation: drift alarm (card ")
        path = demo.root / "card.yaml"
        path.write_bytes(path.read_bytes().replace(b"10000", b"9000"))
        demo.repo.commit()
        step = night(demo)
        assert step.code == 0 and issue.state == "closed", step.log
        assert "A new series, since draws.timeout" in issue.body and "A new series" in step.summary
        assert "cannot be compared any more" in issue.body and "It holds again" not in issue.body


def test_a_job_that_reports_keeps_the_history_of_a_run_that_it_can_vouch_for(demo: Demo) -> None:
    """The three-job form: the job that draws has no token that writes."""
    drawn = night(demo, EVALACTION_GITHUB_TOKEN="", EVALACTION_HISTORY=None, EVALACTION_ISSUE_ON_BREAKAGE=None)
    given: dict[str, Any] = {"EVALACTION_MODE": "report", "EVALACTION_RUN_DIR": str(drawn.run_dir), "EVAL_KEY": None}
    unsure = night(demo, **given)
    assert unsure.code == 0 and entries(demo) == [] and "this run adds nothing" in unsure.log, unsure.log
    sure = night(demo, **given, EVALACTION_ROWS_DIGEST=drawn.outputs["rows-digest"])
    assert sure.code == 0 and entries(demo) == ["pass"], sure.log


@pytest.mark.parametrize(
    ("event", "payload", "ref"),
    [
        ("workflow_dispatch", {"repository": {"full_name": NAME, "default_branch": "main"}}, "refs/tags/main"),
        ("push", {"repository": {"full_name": NAME, "default_branch": "main"}, "before": "0" * 40}, "refs/heads/topic"),
    ],
)
def test_nothing_is_kept_of_other_branches(demo: Demo, event: str, payload: Any, ref: str) -> None:
    demo.model.behaviour = answering(wrong)
    step = night(demo, event=event, payload=payload, GITHUB_REF=ref)
    assert step.code == 1 and "this run adds nothing" in step.log
    assert entries(demo) == [] and issues(demo) == []


def test_nothing_is_kept_of_a_pull_request(demo: Demo) -> None:
    demo.change({"prompt.md": b"Be very brief.\n"})
    step = demo.step(env={name: value for name, value in NIGHT.items() if name != "GITHUB_REF"})
    assert step.code == 0 and "this run adds nothing" in step.log
    assert entries(demo) == [] and len(demo.comments()) == 1


def test_a_push_to_the_default_branch_is_kept_and_opens_no_issue(demo: Demo) -> None:
    demo.model.behaviour = answering(wrong)
    payload = {"repository": {"full_name": NAME, "default_branch": "main"}, "before": "0" * 40}
    step = night(demo, event="push", payload=payload)
    assert step.code == 1 and entries(demo) == ["fail"] and issues(demo) == []


def test_without_permissions_there_are_warnings_and_the_same_verdict(demo: Demo) -> None:
    demo.model.behaviour = answering(wrong)
    demo.github.faults.append(Fault("permission", method="POST", path="/git/", times=None, value="contents=write"))
    demo.github.faults.append(Fault("permission", method="POST", path="/issues$", times=None, value="issues=write"))
    step = night(demo)
    assert step.code == 1 and step.outputs["outcome"] == "fail"
    said = "\n".join(step.annotations())
    assert "`contents: write`" in said and "`issues: write`" in said


def test_without_a_token_there_is_a_warning(demo: Demo) -> None:
    step = night(demo, EVALACTION_GITHUB_TOKEN="")
    assert step.code == 0 and "needs the input github-token" in step.log


@pytest.mark.parametrize("kind", ["not_found", "html"])
def test_whatever_github_answers_the_verdict_stands(demo: Demo, kind: Any) -> None:
    demo.github.faults.append(Fault(kind, path="/(branches|git|issues)", times=None))
    step = night(demo)
    assert step.code == 0 and step.outputs["outcome"] == "pass", step.log
    assert step.annotations()


def test_somebodys_branch_is_left_alone(demo: Demo) -> None:
    tip = repository(demo).commit_files({"README.md": b"mine"}, branch=BRANCH)
    step = night(demo)
    assert step.code == 0 and "of ours at its root" in step.log
    assert repository(demo).refs[f"refs/heads/{BRANCH}"] == tip
    default = night(demo, EVALACTION_HISTORY="main")
    assert default.code == 0 and "is the default branch" in default.log


def test_hostile_entries_change_nothing_and_are_counted(demo: Demo) -> None:
    night(demo)
    found = repository(demo)
    listed = found.files(found.commits[found.refs[f"refs/heads/{BRANCH}"]]["tree"])
    [path] = [path for path in listed if read_place(path)]
    place = read_place(path)
    assert place is not None
    kept = {name: found.blobs[sha] for name, (_, _, sha) in listed.items()}
    forged = kept[path].replace(b'"outcome":"pass"', b'"outcome":"fail\\n::error::pwned"')
    hostile = {f"{place.card}/{place.series}/2020-01-0{day}/x/entry.json": data for day, data in ((1, forged), (2, b"{"))}
    found.commit_files({**kept, **hostile}, branch=BRANCH)
    step = night(demo)
    assert step.code == 0 and "Left out: 2 entries of the history that could not be read" in step.summary, step.log
    assert "pwned" not in step.log + step.summary


def test_two_cards_have_a_history_each(demo: Demo) -> None:
    demo.repo.write({"third.yaml": demo.root.joinpath("card.yaml").read_bytes().replace(b'"count": 3', b'"count": 2')})
    demo.repo.commit()
    step = night(demo, EVALACTION_CARD="card.yaml\nthird.yaml")
    assert step.code == 0 and entries(demo) == ["pass", "pass"], step.log
    assert step.summary.count("### SMALL · Trend of") == 2


def test_no_secret_is_in_a_history(demo: Demo) -> None:
    demo.model.behaviour = answering(lambda received: f"the key is {KEY}")
    step = night(demo)
    assert step.code == 1, step.log
    assert entries(demo) == ["fail"]
    assert not any(KEY.encode() in blob for blob in repository(demo).blobs.values())
    assert all(KEY not in issue.body for issue in issues(demo))
