"""A card whose control is base, in a job: every event, and what a change may try against the card that judges it."""

from __future__ import annotations

import html
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.action import NAME, NUMBER, Demo, Step, demo_at
from support.changes import against_base
from support.command import exam, gated

from evalaction.registration.lock import lock

PROMPT = {"prompt.md": b"Be very brief.\n"}
NO_SECRETS: dict[str, str | None] = {"EVAL_KEY": None, "EVAL_URL": None}
ABSENT = "1234567890" * 4


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    with demo_at(tmp_path, against_base()) as one:
        yield one


def edited(demo: Demo, act: Callable[[Path], object], *, locked: str | None = None) -> None:
    """A commit of the pull request that does what writing files cannot; `locked` names a card to lock."""
    demo.repo.git("checkout", "--quiet", "-B", "topic", demo.head)
    act(demo.root)
    if locked:
        lock(demo.root / locked)
    demo.head = demo.repo.commit()
    demo.merge()


def systems(demo: Demo) -> dict[str, int]:
    """Calls by their system message."""
    found: dict[str, int] = {}
    for received in demo.model.requests:
        text = received.json["messages"][0]["content"].strip()
        found[text] = found.get(text, 0) + 1
    return found


def said(demo: Demo) -> str:
    return html.unescape(demo.comment().replace("<code>", "").replace("</code>", "")).replace("\u200b", "")


def test_both_arms_are_asked_each_at_its_commit(demo: Demo) -> None:
    demo.change(PROMPT)
    step = demo.step()
    assert step.code == 0, step.log
    assert systems(demo) == {"Be brief.": 8, "Be very brief.": 8}
    assert demo.base[:12] in said(demo) and "One lever moved: prompt" in said(demo) and "+Be very brief." in demo.comment()
    again = demo.step()
    assert again.outputs["reused"] == "true" and demo.model.count == 16


@pytest.mark.parametrize("env", [{}, NO_SECRETS])
def test_nothing_to_judge_needs_no_secret(demo: Demo, env: dict[str, str | None]) -> None:
    demo.change({"README.md": b"x"})
    step = demo.step(payload=demo.pull(fork=bool(env)), env=env)
    assert (step.code, step.outputs["outcome"], demo.model.count) == (0, "unchanged", 0), step.log
    assert step.outputs["check"] == "" and step.outputs["breaks"] == ""
    assert "nothing to judge: both arms send the same requests" in step.summary and "✅" not in step.summary
    assert not any(line.startswith("::error") for line in step.annotations())


def test_a_card_that_looks_away_says_so(demo: Demo) -> None:
    card = against_base({"arms.treatment.system": "old.md"})
    demo.change({**PROMPT, "old.md": exam()["prompt.md"], "card.yaml": cards.text(card)}, locked=True)
    step = demo.step()
    assert step.outputs["outcome"] == "unchanged"
    assert "Nothing that is sent (system prompt.md → old.md)." in said(demo)


def test_two_cards_of_one_question_keep_their_names(demo: Demo) -> None:
    beside(demo, "b.yaml", against_base({"name": "the second"}))
    demo.change(PROMPT)
    step = demo.step(env={"EVALACTION_CARD": "*.yaml"})
    assert step.code == 0 and demo.model.count == 16
    headings = [line for line in said(demo).splitlines() if line.startswith("## ")]
    assert sum("the second:" in line for line in headings) == sum("support-triage:" in line for line in headings) == 1


def test_a_copy_of_a_card_is_not_told_to_be_the_only_one(demo: Demo) -> None:
    demo.change({**PROMPT, "copy.yaml": (demo.root / "card.yaml").read_bytes()})
    step = demo.step(env={"EVALACTION_CARD": "copy.yaml"})
    assert step.outputs["outcome"] == "registered"
    assert "This card is new: base has none here, and none that was moved here." in said(demo)


def test_an_exam_that_fits_the_prompt_is_not_asked_yet(demo: Demo) -> None:
    easy = cards.jsonl([cards.item(number, expected="yes", prompt="Say yes.") for number in range(3)])
    demo.change({**PROMPT, "tasks.jsonl": easy}, locked=True)
    step = demo.step()
    assert step.code == 0 and systems(demo) == {"Be brief.": 8, "Be very brief.": 8}
    assert all("Say yes" not in str(received.json) for received in demo.model.requests)
    assert "applies from the next" in said(demo) and "exam.items 4 → 3 (1 removed, 3 changed)" in said(demo)


def test_its_own_question_is_asked_on_purpose_and_said_first(demo: Demo) -> None:
    easy = cards.jsonl([cards.item(number, expected=str(number)) for number in range(3)])
    demo.change({**PROMPT, "tasks.jsonl": easy}, locked=True)
    step = demo.step(env={"EVALACTION_QUESTION": "head"})
    assert step.code == 0 and systems(demo) == {"Be brief.": 6, "Be very brief.": 6}
    callouts = [line for line in said(demo).splitlines() if line.startswith("> - ")]
    assert "question: head" in callouts[0] and "exam.items 4 → 3 (1 removed)" in callouts[0]
    assert "question=head" in said(demo)


def test_a_dropped_control_still_judges(demo: Demo) -> None:
    demo.change({**PROMPT, "card.yaml": cards.text(gated(2, {"limits": {"min_check": 0}}))}, locked=True)
    step = demo.step()
    assert step.code == 0 and systems(demo) == {"Be brief.": 8, "Be very brief.": 8}
    assert "arms.control base → none (loosened)" in said(demo)


def test_an_answer_shown_again_tells_what_the_commit_at_hand_changes_in_the_question(demo: Demo) -> None:
    card = (demo.root / "card.yaml").read_bytes()
    demo.change(PROMPT)
    demo.step()
    demo.change({"card.yaml": cards.text(against_base({"draws.count": 1}))}, locked=True)
    step = demo.step()
    assert (step.code, step.outputs["reused"], demo.model.count) == (0, "true", 16), step.log
    callouts = [line for line in said(demo).splitlines() if line.startswith("> - ")]
    assert callouts[1].endswith("from the next pull request on: draws.count 2 → 1 (loosened).")
    assert "One lever moved: prompt" in said(demo) and "first attempt" not in said(demo)
    demo.change({"card.yaml": card})
    assert demo.step().outputs["reused"] == "true" and "loosened" not in said(demo)


def test_an_answer_drawn_beside_a_changed_question_keeps_nothing_of_that(demo: Demo) -> None:
    card = (demo.root / "card.yaml").read_bytes()
    demo.change({**PROMPT, "card.yaml": cards.text(against_base({"draws.count": 1}))}, locked=True)
    assert demo.step().outputs["reused"] == "false" and "draws.count 2 → 1 (loosened)" in said(demo)
    demo.change({"card.yaml": card})
    assert demo.step().outputs["reused"] == "true" and "loosened" not in said(demo)


def test_a_deleted_card_is_not_green(demo: Demo) -> None:
    edited(demo, lambda root: (root / "card.yaml").unlink())
    assert demo.step().code == 2
    assert demo.step(env={"EVALACTION_CARD": "*.yaml"}).code == 2  # the pattern matches nothing


def beside(demo: Demo, name: str, card: Mapping[str, Any]) -> None:
    """Another card at base."""
    demo.repo.git("checkout", "--quiet", "main")
    demo.repo.write({name: cards.text(card)})
    lock(demo.root / name)
    demo.base = demo.head = demo.repo.commit()


def outcomes(step: Step) -> dict[str, str]:
    return {card["card"]: card["outcome"] for card in step.cards()}


def test_a_card_that_is_deleted_beside_others_is_named(demo: Demo) -> None:
    beside(demo, "other.yaml", gated(2, {"name": "other"}))
    edited(demo, lambda root: (root / "card.yaml").unlink())
    env: dict[str, str | None] = {"EVALACTION_CARD": "*.yaml"}
    step = demo.step(env=env)
    assert step.code == 4 and outcomes(step) == {"card.yaml": "unregistered", "other.yaml": "pass"}
    assert "A card cannot be removed by what it judges" in said(demo)
    own = demo.step(env={**env, "EVALACTION_QUESTION": "head"})
    assert own.code == 0 and outcomes(own) == {"other.yaml": "pass"} and "takes it away" in own.log
    # Limits alone gate nothing of a change: such a card may go.
    demo.base = demo.head = demo.repo.git("rev-parse", "main")
    edited(demo, lambda root: (root / "other.yaml").unlink())
    assert outcomes(demo.step(env=env)) == {"card.yaml": "unchanged"}


def test_a_moved_card_is_judged_by_the_one_it_was(demo: Demo) -> None:
    def move(root: Path) -> None:
        (root / "eval").mkdir()
        for name in ("card.yaml", "prompt.md", "tasks.jsonl"):
            (root / name).rename(root / "eval" / name)
        (root / "eval" / "prompt.md").write_bytes(PROMPT["prompt.md"])
        (root / "eval" / "card.yaml").write_bytes(cards.text(against_base({"limits": {"min_check": 0}})))

    edited(demo, move, locked="eval/card.yaml")
    step = demo.step(env={"EVALACTION_CARD": "**/card.yaml"})
    assert step.code == 0 and outcomes(step) == {"eval/card.yaml": "pass"}, step.log
    assert systems(demo) == {"Be brief.": 8, "Be very brief.": 8}
    assert "limits.treatment.min_check none → 0" in said(demo)


def card_link(root: Path) -> None:
    (root / "real.txt").write_bytes((root / "card.yaml").read_bytes())
    (root / "card.yaml").unlink()
    (root / "card.yaml").symlink_to("real.txt")


def test_a_card_behind_a_symlink_is_not_green(demo: Demo) -> None:
    edited(demo, card_link)
    step = demo.step()
    assert step.code == 4 and step.outputs["breaks"] == "symlink" and demo.model.count == 0


def test_a_folder_that_became_a_symlink_leads_to_no_new_card(demo: Demo) -> None:
    def into_folder(root: Path) -> None:
        (root / "eval").mkdir()
        for name in ("card.yaml", "prompt.md", "tasks.jsonl"):
            shutil.move(root / name, root / "eval" / name)

    edited(demo, into_folder)
    demo.base = demo.head
    demo.repo.git("branch", "--force", "main", demo.base)

    def link(root: Path) -> None:
        (root / "eval").rename(root / "elsewhere")
        (root / "eval").symlink_to("elsewhere")
        (root / "elsewhere" / "card.yaml").write_bytes(cards.text(against_base({"name": "a new one", "draws.count": 1})))

    edited(demo, link, locked="elsewhere/card.yaml")
    step = demo.step(env={"EVALACTION_CARD": "eval/card.yaml"})
    assert step.code == 4 and step.outputs["breaks"] == "symlink" and demo.model.count == 0
    glob = demo.step(env={"EVALACTION_CARD": "e*/card.yaml"})
    assert glob.code == 4 and outcomes(glob) == {"eval/card.yaml": "unregistered", "elsewhere/card.yaml": "registered"}


def test_a_new_card_is_registered(demo: Demo) -> None:
    demo.repo.git("checkout", "--quiet", "-B", "topic", demo.head)
    demo.repo.write({"new.yaml": cards.text(against_base({"name": "new", "endpoints.main.url_env": "EVAL_OTHER"}))})
    lock(demo.root / "new.yaml")
    demo.change()
    step = demo.step(env={"EVALACTION_CARD": "new.yaml", "EVAL_OTHER": demo.model.url})
    assert (step.code, step.outputs["outcome"], demo.model.count) == (0, "registered", 0), step.log
    assert "judges from the next change on" in said(demo) and "✅" not in said(demo)


def test_a_key_goes_nowhere_that_base_does_not_know(demo: Demo) -> None:
    demo.change({"card.yaml": cards.text(against_base({"endpoints.main.url_env": "EVAL_OTHER"}))}, locked=True)
    step = demo.step(env={"EVAL_OTHER": demo.model.url})
    assert step.code == 4 and step.outputs["breaks"] == "endpoint_changed" and demo.model.count == 0


def test_nor_does_it_go_to_an_address_of_another_reference(demo: Demo) -> None:
    demo.repo.git("checkout", "--quiet", "-B", "evil", demo.base)
    demo.repo.write({"card.yaml": cards.text(gated(2, {"endpoints.main.url_env": "EVAL_OTHER"}))})
    lock(demo.root / "card.yaml")
    demo.repo.commit()
    beside(demo, "two.yaml", gated())
    demo.change({"two.yaml": b""})
    demo.repo.git("checkout", "--quiet", "topic")
    demo.repo.git("mv", "--force", "card.yaml", "x.txt")
    evil = against_base({"arms.control": {"ref": "evil"}, "exam.tasks": "tasks.jsonl"})
    demo.repo.write({"card.yaml": cards.text(evil)})
    lock(demo.root / "card.yaml")
    demo.change()
    demo.repo.git("checkout", "--quiet", "merged")
    step = demo.step(env={"EVALACTION_QUESTION": "head", "EVAL_OTHER": demo.model.url})
    assert step.code == 4 and step.outputs["breaks"] == "endpoint_changed" and demo.model.count == 0, step.log


def test_a_base_that_is_not_to_be_found(demo: Demo) -> None:
    demo.change(PROMPT, merge=False)
    payload = demo.pull()
    payload["pull_request"]["base"] |= {"sha": ABSENT, "ref": "gone"}
    step = demo.step(payload=payload)
    assert step.code == 2 and step.outputs["breaks"] == "base" and demo.model.count == 0
    assert "fetch-depth" in step.summary


def test_a_base_that_cannot_judge(demo: Demo) -> None:
    demo.repo.git("checkout", "--quiet", "main")
    demo.repo.write({"tasks.jsonl": cards.exam_text(5)})
    demo.base = demo.head = demo.repo.commit()
    demo.change(PROMPT, locked=True)
    step = demo.step()
    assert step.code == 4 and step.outputs["breaks"] == "base_unreadable" and demo.model.count == 0
    assert f"Base ({demo.base[:12]})" in said(demo) and "`question: head`" in said(demo)
    own = demo.step(env={"EVALACTION_QUESTION": "head"})
    assert own.code == 0 and systems(demo) == {"Be brief.": 10, "Be very brief.": 10}


@pytest.mark.parametrize("event", ["schedule", "workflow_dispatch"])
def test_without_a_base_there_is_no_sign(tmp_path: Path, event: str) -> None:
    with demo_at(tmp_path, against_base({"limits": {"min_check": 0.5}})) as demo:
        payload = {"repository": {"full_name": NAME, "default_branch": "main"}}
        step = demo.step(event, payload, env={"GITHUB_REF": "refs/heads/main"})
        assert step.code == 0 and systems(demo) == {"Be brief.": 8}, step.log
        assert "no base, no sign" in step.summary and step.outputs["sign"] == "0"


@pytest.mark.parametrize("claim", [{"claim": "not_behind", "margin": 0.1}, {"claim": "ahead"}])
def test_without_a_base_no_claim_is_told_to_hold(tmp_path: Path, claim: dict[str, Any]) -> None:
    sign = {**claim, "seed": "freeze-me-before-running"}
    with demo_at(tmp_path, against_base({"sign": sign, "limits": {"between": {"max_first_drop": 0.1}}}), tasks=30) as demo:
        payload = {"repository": {"full_name": NAME, "default_branch": "main"}}
        step = demo.step("schedule", payload, env={"GITHUB_REF": "refs/heads/main"})
        assert step.code == 0 and systems(demo) == {"Be brief.": 60}, step.log
        assert "measured, nothing gated" in step.summary and "✅" not in step.summary and "within" not in step.summary
        assert "Not judged, since no arm" in step.summary and "max_first_drop" in html.unescape(step.summary).replace(
            "&#95;", "_"
        )


def test_a_dispatch_may_name_a_base(demo: Demo) -> None:
    demo.change(PROMPT)
    payload = {"repository": {"full_name": NAME, "default_branch": "main"}}
    step = demo.step("workflow_dispatch", payload, env={"EVALACTION_BASE": "main", "GITHUB_REF": "refs/heads/topic"})
    assert step.code == 0 and systems(demo) == {"Be brief.": 8, "Be very brief.": 8}, step.log


def test_a_merge_queue_and_a_push(demo: Demo) -> None:
    demo.change(PROMPT)
    repository = {"full_name": NAME, "default_branch": "main"}
    queue = {
        "action": "checks_requested",
        "merge_group": {"base_sha": demo.base, "head_sha": demo.merged},
        "repository": repository,
    }
    ref = f"refs/heads/gh-readonly-queue/main/pr-{NUMBER}-{demo.base}"
    step = demo.step("merge_group", queue, env={"GITHUB_REF": ref})
    assert step.code == 0 and systems(demo) == {"Be brief.": 8, "Be very brief.": 8}, step.log
    push = {"before": demo.base, "after": demo.merged, "forced": False, "repository": repository}
    pushed = demo.step("push", push, env={"GITHUB_REF": "refs/heads/main"})
    assert pushed.code == 0 and demo.model.count == 32, pushed.log


@pytest.mark.parametrize(("before", "why"), [("0" * 40, "The push made this branch"), (None, "The push rewrote its branch")])
def test_a_push_that_is_compared_in_part_says_so(demo: Demo, before: str | None, why: str) -> None:
    other = demo.change({"README.md": b"before it was rewritten"}, merge=False)
    demo.head = demo.base
    demo.change(PROMPT, merge=False)
    demo.change({"README.md": b"x"}, merge=False)
    push = {"before": before or other, "forced": before is None, "repository": {"full_name": NAME, "default_branch": "main"}}
    step = demo.step("push", push, env={"GITHUB_REF": "refs/heads/topic"})
    assert (step.code, step.outputs["outcome"], demo.model.count) == (0, "unchanged", 0), step.log
    assert f"{why}, so the base is the parent of HEAD: what earlier commits of the branch change" in step.summary
    demo.change(PROMPT | {"prompt.md": b"Be kind.\n"}, merge=False)
    drawn = demo.step("push", push, env={"GITHUB_REF": "refs/heads/topic"})
    assert demo.model.count == 16 and f"{why}, so the base" in drawn.summary


def folders(demo: Demo, *names: str) -> None:
    """A card at base in each folder, with an exam and a prompt of its own."""
    demo.repo.git("checkout", "--quiet", "main")
    for name in names:
        files = {"card.yaml": cards.text(against_base({"name": name})), "prompt.md": f"I am {name}.\n".encode()}
        demo.repo.write({f"{name}/{path}": data for path, data in {**files, "tasks.jsonl": cards.exam_text(2)}.items()})
        lock(demo.root / name / "card.yaml")
    demo.base = demo.head = demo.repo.commit()


def test_changed_only_judges_what_differs(demo: Demo) -> None:
    folders(demo, "a", "b", "c")
    demo.change({"a/prompt.md": b"I am another.\n", "b/tasks.jsonl": cards.exam_text(3), "README.md": b"x"})
    env: dict[str, str | None] = {"EVALACTION_CARD": "?/card.yaml", "EVALACTION_CHANGED_ONLY": "true"}
    step = demo.step(env=env)
    # An exam that does not fit its card is no reason to look away.
    assert step.code == 4 and outcomes(step) == {"a/card.yaml": "pass", "b/card.yaml": "unregistered", "c/card.yaml": "unchanged"}
    assert systems(demo) == {"I am a.": 4, "I am another.": 4}
    assert "skipped: nothing of this card differs from base" in said(demo) and "changed-only=true" in said(demo)


def test_changed_only_without_a_base_judges_all(demo: Demo) -> None:
    folders(demo, "a", "b")
    payload = {"repository": {"full_name": NAME, "default_branch": "main"}}
    env = {"EVALACTION_CARD": "?/card.yaml", "EVALACTION_CHANGED_ONLY": "true", "GITHUB_REF": "refs/heads/main"}
    step = demo.step("schedule", payload, env=env)
    assert step.code == 0 and systems(demo) == {"I am a.": 4, "I am b.": 4}


def test_changed_only_skips_a_card_with_limits_too(demo: Demo) -> None:
    beside(demo, "limits.yaml", gated(2, {"name": "limits", "arms.treatment.system": "other.md"}))
    demo.change(PROMPT)
    step = demo.step(env={"EVALACTION_CARD": "*.yaml", "EVALACTION_CHANGED_ONLY": "true"})
    assert step.code == 0 and outcomes(step) == {"card.yaml": "pass", "limits.yaml": "unchanged"}, step.log


def test_a_skipped_card_tells_no_change_of_its_arms(tmp_path: Path) -> None:
    with demo_at(tmp_path, against_base({"arms.control": {"ref": "stable"}})) as demo:
        demo.repo.git("branch", "stable")
        demo.base = demo.head = demo.repo.commit(PROMPT)
        demo.change({"README.md": b"x"})
        step = demo.step(env={"EVALACTION_CHANGED_ONLY": "true"})
        assert (step.code, step.outputs["outcome"], demo.model.count) == (0, "unchanged", 0)
        assert "skipped: nothing of this card differs from base" in step.summary and "lever" not in step.summary


def reported(demo: Demo, step: Step) -> Step:
    """What the third of three jobs makes of the first one's artifact."""
    env = {
        "EVALACTION_MODE": "report",
        "EVALACTION_RUN_DIR": str(step.run_dir),
        "EVALACTION_ROWS_DIGEST": step.outputs["rows-digest"],
    }
    return demo.step(env=env)


@pytest.mark.parametrize("what", ["unchanged", "skipped", "registered", "gone", "drawn"])
def test_another_job_reports_the_same(demo: Demo, what: str) -> None:
    env: dict[str, str | None] = {"EVALACTION_CARD": "*.yaml"}
    if what == "registered":
        demo.repo.write({"new.yaml": cards.text(against_base({"name": "new"}))})
        lock(demo.root / "new.yaml")
        env["EVALACTION_CARD"] = "new.yaml"
    if what == "gone":
        beside(demo, "other.yaml", gated(2, {"name": "other"}))
        edited(demo, lambda root: (root / "card.yaml").unlink())
    elif what == "drawn":
        demo.change(PROMPT)
    else:
        demo.change({"README.md": b"x"})
    first = demo.step(
        env={**env, "EVALACTION_COMMENT": "false", "EVALACTION_CHANGED_ONLY": "true" if what == "skipped" else "false"}
    )
    second = reported(demo, first)
    assert second.code == first.code and outcomes(second) == outcomes(first), second.log
    if what == "drawn":
        assert "One lever moved: prompt" in said(demo)
