"""Which question is asked of which arms: every part at one commit, whatever the change does to the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.changes import TwoCommits, against_base
from support.command import exam, gated

from evalaction.engine.prepare import settle
from evalaction.errors import Outcome, Settled, UnregisteredError, UsageError
from evalaction.method.arms import moved_levers
from evalaction.method.changes import changes_of
from evalaction.registration.causes import LFS
from evalaction.registration.git import MissingObject

SIGN = {"claim": "not_behind", "margin": 0.1, "seed": "freeze-me-before-running"}


def asked(two: TwoCommits, arm: str = "control", item: int = 0) -> str:
    prepared = two.prepared()
    return str(prepared.requests[arm][item].body)  # type: ignore[index]


def levers(two: TwoCommits) -> tuple[tuple[str, ...], list[tuple[str, str | None, str | None]]]:
    prepared = two.prepared()
    arms = prepared.arms["treatment"], prepared.arms["control"]
    changes = changes_of(*arms, redact=str)
    return moved_levers(*arms), [(one.name, one.old, one.new) for one in changes if not one.diff]


def test_both_arms_at_their_commits(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r")
    two.change({"prompt.md": b"Be very brief.\n"})
    trial = two.trial()
    assert (trial.asked_by, trial.base, trial.base_path, trial.new, trial.base_missing) == (
        "base",
        two.base,
        "card.yaml",
        None,
        False,
    )
    assert [source.commit for source in trial.arms.values()] == [two.head, two.base]
    assert [dict(source.files)["prompt.md"] for source in trial.arms.values()] == [b"Be very brief.\n", b"Be brief.\n"]
    assert (trial.question.commit, trial.judged.commit) == (two.base, two.head)
    prepared = two.prepared()
    assert prepared.unchanged == frozenset() and prepared.planned == 30 * 2 * 2
    assert levers(two) == (("prompt",), [])


@pytest.mark.parametrize(
    ("change", "lever", "told"),
    [
        ({"endpoints.main.model": "big"}, "model", [("model", "some-model", "big")]),
        ({"endpoints.main.params": {"max_tokens": 500}}, "parameters", [("max_tokens", "400", "500")]),
        ({"endpoints.main.url_env": "OTHER_URL"}, "endpoint", [("url_env", "EVAL_URL", "OTHER_URL")]),
        ({"arms.treatment": {"endpoint": "main", "system": "other.md"}}, "prompt", []),
        ({"arms.treatment": {"endpoint": "main"}}, "prompt", []),
    ],
)
def test_each_lever_is_a_changed_arm(tmp_path: Path, change: Mapping[str, Any], lever: str, told: list[Any]) -> None:
    two = TwoCommits(tmp_path / "r")
    two.change(card=against_base(change))
    assert levers(two) == ((lever,), told)


def test_a_moved_prompt_file_is_a_moved_file(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r")
    two.repo.git("mv", "prompt.md", "moved.md")
    two.change(card=against_base({"arms.treatment.system": "moved.md"}))
    prepared = two.prepared()
    arms = prepared.arms["treatment"], prepared.arms["control"]
    assert [(one.name, one.old, one.new) for one in changes_of(*arms, redact=str)] == [("system", "prompt.md", "moved.md")]
    with pytest.raises(Settled) as caught:
        settle(prepared)  # what is sent is the same
    assert caught.value.outcome is Outcome.UNCHANGED


def test_the_exam_that_fits_the_new_prompt_waits_for_the_next_change(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r")
    easy = cards.jsonl([cards.item(number, expected="brief") for number in range(31)])
    two.change({"prompt.md": b"Say brief.\n", "tasks.jsonl": easy})
    prepared = two.prepared()
    assert [item.check.expected for item in prepared.exam.items[:3]] == ["0", "1", "2"] and len(prepared.exam.items) == 30
    [change] = prepared.trial.question_changes
    assert (change.field, change.old, change.new) == ("exam.items", "30", "31 (1 added, 30 changed)")
    own = two.prepared("head")
    assert len(own.exam.items) == 31 and own.trial.asked_by == "head" and own.trial.question_changes == (change,)
    assert own.arms["control"].source.commit == two.base and own.question_digest != prepared.question_digest


def test_what_is_loosened_is_named_and_does_not_count(tmp_path: Path) -> None:
    strict = against_base({"sign": SIGN, "limits": {"min_check": 0.9}})
    two = TwoCommits(tmp_path / "r", strict, exam(84))
    two.change({"prompt.md": b"x"}, against_base({"sign": SIGN | {"margin": 0.5}, "draws.count": 1, "limits": ...}))
    trial = two.trial()
    assert {(one.field, one.loosened) for one in trial.question_changes} == {
        ("draws.count", True), ("sign.margin", True), ("limits.treatment.min_check", True),
    }  # fmt: skip
    assert trial.question.card.sign is not None and trial.question.card.sign.margin is not None
    assert trial.question.card.sign.margin.text == "0.1" and two.prepared().card.draws.count == 2


@pytest.mark.parametrize(
    "control",
    [
        None,
        {"arms.control": {"endpoint": "main", "system": "other.md"}},
        {"arms.control": {"ref": "topic"}},
    ],
)
def test_a_control_cannot_be_dropped_by_what_it_judges(tmp_path: Path, control: Mapping[str, Any] | None) -> None:
    two = TwoCommits(tmp_path / "r")
    two.repo.git("branch", "topic")
    two.change({"prompt.md": b"x"}, gated() if control is None else against_base(control))
    trial = two.trial()
    assert trial.asked_by == "base" and trial.arms["control"].commit == two.base
    assert "arms.control" in [one.field for one in trial.question_changes]


def test_a_control_that_is_added_judges_from_the_next_change_on(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r", gated())
    two.change({"prompt.md": b"x"}, against_base())
    trial = two.trial()
    assert list(trial.arms) == ["treatment"] and trial.asked_by == "base"
    assert trial.question.card.limits and not trial.judged.card.limits
    assert [(one.field, one.old, one.new) for one in trial.question_changes[:1]] == [("arms.control", None, "base")]


def test_a_card_that_is_not_judged_against_base_asks_its_own_question(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r", gated())
    two.change(card=gated(3))
    trial = two.trial()
    assert (trial.asked_by, trial.question.commit, trial.base, trial.base_path) == (None, two.head, two.base, "card.yaml")


def test_a_new_card_is_registered(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r", gated(), {**exam(30), "README.md": b"x"})
    two.repo.git("rm", "--quiet", "card.yaml")
    two.change(card=against_base({"name": "another"}), at="new.yaml")
    with pytest.raises(Settled) as caught:
        settle(two.prepared())
    assert caught.value.outcome is Outcome.REGISTERED and caught.value.code == "registered"
    ordinary = TwoCommits(tmp_path / "s", gated())
    ordinary.change(card=gated(3, {"name": "another"}), at="new.yaml")
    assert ordinary.trial().new is None and ordinary.trial().base_path is None


@pytest.mark.parametrize("name", ["support-triage", "another"])
def test_a_card_that_was_moved_is_still_judged_by_itself(tmp_path: Path, name: str) -> None:
    two = TwoCommits(tmp_path / "r", against_base({"sign": SIGN}), exam(84))
    (two.repo.root / "eval").mkdir()
    for file in ("prompt.md", "tasks.jsonl"):
        two.repo.git("mv", file, f"eval/{file}")
    two.move("eval/card.yaml")
    loosened = {"margin": 0.5} if name == "support-triage" else {}  # by its name, or by its question
    two.change({"eval/prompt.md": b"x"}, against_base({"sign": SIGN | loosened, "name": name}), at="eval/card.yaml")
    trial = two.trial()
    assert (trial.asked_by, trial.base_path, trial.judged.card_path) == ("base", "card.yaml", "eval/card.yaml")
    assert trial.arms["control"].files["prompt.md"] == b"Be brief.\n"
    assert [one.field for one in trial.question_changes] == (["sign.margin"] if loosened else [])


def test_a_copy_is_a_new_card(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r")
    two.change({"prompt.md": b"x"}, against_base(), at="copy.yaml")
    assert two.trial().new is not None


def link(path: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / path).rename(root / "real")
        (root / path).symlink_to("real")

    return change


def write(path: str, data: bytes) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / path).write_bytes(data)

    return change


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "card": (write("card.yaml", b"protocol: x\n"), "card.yaml"),
    "card link": (link("card.yaml"), "card.yaml is a symlink there"),
    "prompt link": (link("prompt.md"), "prompt.md is a symlink there"),
    "prompt lfs": (write("prompt.md", LFS + b"\n"), "prompt.md is in Git LFS there"),
    "pins": (write("tasks.jsonl", cards.exam_text(31)), "exam.sha256 in the card is not that of the committed exam"),
    "exam": (write("tasks.jsonl", b"no exam"), "tasks.jsonl:1"),
}


@pytest.mark.parametrize("what", list(BROKEN))
def test_a_base_that_cannot_judge_is_named_with_the_remedy(tmp_path: Path, what: str) -> None:
    break_it, said = BROKEN[what]
    two = TwoCommits(tmp_path / "r")
    good = {path: (two.repo.root / path).read_bytes() for path in ("card.yaml", "prompt.md", "tasks.jsonl")}
    break_it(two.repo.root)
    two.base = two.repo.commit()
    for path, data in good.items():
        (two.repo.root / path).unlink()
        (two.repo.root / path).write_bytes(data)
    two.change({"prompt.md": b"x"})
    with pytest.raises(UnregisteredError) as caught:
        two.trial()
    error = caught.value
    assert (error.code, error.outcome.exit_code) == ("base_unreadable", 4)
    assert error.sentence.startswith(f"Base ({two.base[:12]}) holds no card that can judge this change: ")
    assert f"{said} Repair" not in error.sentence and ". Repair it at base first" in error.sentence
    assert said in error.sentence and "`question: head`" in error.sentence


@pytest.mark.parametrize("what", ["card", "card link", "prompt link", "prompt lfs"])
def test_by_its_own_question_the_repair_of_such_a_base_can_be_merged(tmp_path: Path, what: str) -> None:
    break_it, said = BROKEN[what]
    two = TwoCommits(tmp_path / "r")
    good = {path: (two.repo.root / path).read_bytes() for path in ("card.yaml", "prompt.md")}
    break_it(two.repo.root)
    two.base = two.repo.commit()
    for path in good:
        (two.repo.root / path).unlink()
    two.change(good)
    new = two.trial("head").new
    assert new is not None and said in new and new.endswith("), so there is nothing to compare this one with yet.")
    two.change(card=gated())
    assert (alone := two.trial("head")).new is None and list(alone.arms) == ["treatment"]


@pytest.mark.parametrize("question", ["base", "head"])
@pytest.mark.parametrize("lacks", ["card.yaml", "prompt.md", "tasks.jsonl"])
def test_a_clone_that_lacks_files_of_base_is_no_base_without_them(tmp_path: Path, question: Any, lacks: str) -> None:
    two = TwoCommits(tmp_path / "r")
    blob = two.repo.git("rev-parse", f"HEAD:{lacks}")
    two.change({"prompt.md": b"x", "tasks.jsonl": cards.exam_text(31)}, against_base({"draws.count": 3}))
    if question == "head" and lacks == "tasks.jsonl":
        return  # base's exam is not asked
    (two.repo.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(MissingObject, match=rf"This clone lacks {lacks} of commit {two.base[:12]}.*without a filter") as caught:
        two.trial(question)
    assert (caught.value.code, caught.value.outcome.exit_code) == ("shallow", 2)


def test_by_its_own_question_against_a_base_whose_exam_is_broken(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r")
    two.repo.write({"tasks.jsonl": cards.exam_text(31)})
    two.base = two.repo.commit()
    two.change({"prompt.md": b"x"})
    prepared = two.prepared("head")
    assert prepared.trial.asked_by == "head" and len(prepared.exam.items) == 31
    assert prepared.arms["control"].source.commit == two.base
    # Without base's exam the hashes are what differs.
    assert [one.field for one in prepared.trial.question_changes] == ["exam.sha256", "exam.ids_sha256"]


def test_by_its_own_question_where_base_has_no_card_to_read(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r")
    good = two.card.read_bytes()
    two.repo.write({"card.yaml": b"protocol: x\n"})
    two.base = two.repo.commit()
    two.change({"card.yaml": good})
    trial = two.trial("head")
    assert trial.new is not None and "cannot be read" in trial.new
    two.change(card=gated())
    assert two.trial().asked_by is None  # its own question, as before


def test_a_control_at_a_reference(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r", gated())
    two.repo.git("tag", "v1.4")
    two.change({"prompt.md": b"Second.\n"})
    two.base = two.change({"prompt.md": b"Third.\n"}, against_base({"arms.control": {"ref": "v1.4"}}))
    two.change({"prompt.md": b"Fourth.\n"})
    trial = two.trial()
    assert trial.asked_by is None and trial.arms["treatment"].files["prompt.md"] == b"Fourth.\n"
    assert trial.arms["control"].files["prompt.md"] == b"Be brief.\n"
    assert trial.arms["control"].commit == two.repo.git("rev-parse", "v1.4")
    assert [source.commit for source in two.trial(base=False).arms.values()] == [two.head, two.repo.git("rev-parse", "v1.4")]


@pytest.mark.parametrize(("ref", "said"), [("none", "no branch or tag 'none'"), ("empty", "`arms.control.ref`|cannot be read")])
def test_a_reference_that_cannot_be_a_control(tmp_path: Path, ref: str, said: str) -> None:
    two = TwoCommits(tmp_path / "r", gated())
    two.repo.git("checkout", "--quiet", "--orphan", "empty")
    two.repo.git("rm", "--quiet", "-r", "--force", ".")
    two.repo.commit({"x": b"1"})
    two.repo.git("checkout", "--quiet", "main")
    two.change(card=against_base({"arms.control": {"ref": ref}}))
    with pytest.raises(UsageError, match=said) as caught:
        two.trial()
    assert caught.value.code == "ref"
    assert re.search(r"is not in it\. Let `arms.control.ref` name a commit|set `fetch-depth: 0`", caught.value.sentence)


def test_a_control_at_a_reference_needs_a_repository(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r", against_base({"arms.control": {"ref": "main"}}))
    from evalaction.engine.trial import trial_of
    from evalaction.registration.freeze import freeze

    with pytest.raises(UsageError, match="needs a git repository"):
        trial_of(freeze(two.card), None)


def test_without_a_base_the_treatment_stands_alone(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r", against_base({"sign": SIGN, "limits": {"min_check": 0.5}}), exam(30))
    trial = two.trial(base=False)
    assert trial.base_missing and list(trial.arms) == ["treatment"] and trial.base is None and trial.asked_by is None


def with_hints(items: str, sign: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Forty items, of which every fourth has a hint: a template that repeats it changes these alone."""
    card = against_base({
        "arms.treatment": {"endpoint": "main", "template": "t.txt"},
        "sign": {"claim": "none", "seed": "s", "items": items, **(sign or {})},
    })  # fmt: skip
    lines = [{"id": f"t{n:02}", "vars": {"n": str(n), "hint": "kind" if n % 4 == 0 else ""}, "expected": "x"} for n in range(40)]
    return card, {"tasks.jsonl": cards.jsonl(lines), "t.txt": b"Say {{n}}.{{hint}}"}


def test_only_the_items_that_change(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r", *with_hints("changed"))
    two.change({"t.txt": b"Say {{n}}.{{hint}}{{hint}}"})
    prepared = two.prepared()
    assert [item.id for item in prepared.exam.items] == [f"t{n:02}" for n in range(0, 40, 4)]
    assert [item.index for item in prepared.exam.items] == list(range(10))
    assert len(prepared.left_out) == 30 and prepared.unchanged == frozenset() and prepared.planned == 10 * 2 * 2
    assert all(len(requests) == 10 for requests in prepared.requests.values())
    assert [one.messages[0].content for one in prepared.arms["treatment"].asked[:2]] == ["Say 0.kindkind", "Say 4.kindkind"]
    assert prepared.exam.sha256 == prepared.trial.question.exam.sha256


def test_items_that_do_not_change_are_marked(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r", *with_hints("all"))
    two.change({"t.txt": b"Say {{n}}.{{hint}}{{hint}}"})
    prepared = two.prepared()
    assert prepared.unchanged == frozenset(n for n in range(40) if n % 4) and prepared.left_out == ()
    assert prepared.planned == 40 * 2 * 2 and not prepared.same


@pytest.mark.parametrize("items", ["all", "changed"])
def test_nothing_changes(tmp_path: Path, items: str) -> None:
    two = TwoCommits(tmp_path / "r", *with_hints(items))
    two.change({"README.md": b"x"})
    prepared = two.prepared()
    assert prepared.same and len(prepared.exam.items) == 40
    with pytest.raises(Settled) as caught:
        settle(prepared)
    assert caught.value.outcome is Outcome.UNCHANGED


def test_the_same_words_to_another_address_are_another_arm(tmp_path: Path) -> None:
    two = TwoCommits(tmp_path / "r")
    two.change(card=against_base({"endpoints.main.url_env": "OTHER_URL"}))
    prepared = two.prepared()
    assert prepared.requests["treatment"] == prepared.requests["control"] and prepared.unchanged == frozenset()
    settle(prepared)


def test_two_arms_of_one_card_may_ask_the_same(tmp_path: Path) -> None:
    """An A/A run is drawn."""
    two = TwoCommits(tmp_path / "r", against_base({"arms.control": {"endpoint": "main", "system": "prompt.md"}}))
    prepared = two.prepared()
    assert prepared.same
    settle(prepared)


def test_no_program_sees_the_exam_that_it_is_asked(tmp_path: Path) -> None:
    router = {"api": "command", "run": ["python3", "llm/main.py"], "paths": ["llm"]}
    fields = {"endpoints.router": router, "arms.treatment": {"endpoint": "router"}, "exam.tasks": "llm/tasks.jsonl"}
    text = exam(30)["tasks.jsonl"]
    two = TwoCommits(tmp_path / "r", against_base(fields), {"llm/main.py": b"1", "llm/tasks.jsonl": text})
    # The card of the change calls another file its exam, and leaves the one of base among its program's.
    two.change({"llm/main.py": b"2", "other.jsonl": text}, against_base({**fields, "exam.tasks": "other.jsonl"}))
    for arm in two.prepared().arms.values():
        assert [path for path in arm.source.files if path.startswith("/")] == ["/llm/main.py"]


def test_an_arm_that_fits_the_items_of_its_own_commit_alone(tmp_path: Path) -> None:
    def items(*names: str) -> dict[str, bytes]:
        lines = [{"id": f"t{number}", "vars": dict.fromkeys(names, "x"), "expected": "x"} for number in range(3)]
        return {"tasks.jsonl": cards.jsonl(lines), "t.txt": "".join(f"{{{{{name}}}}}" for name in names).encode()}

    two = TwoCommits(tmp_path, against_base({"arms.treatment": {"endpoint": "main", "template": "t.txt"}}), items("a"))
    two.change({"t.txt": b"{{b}}"})
    with pytest.raises(UsageError, match=r"has no `b` among its `vars`, which t.txt names$"):
        two.prepared()
    two.change(items("a", "b"))
    with pytest.raises(UsageError, match=r"which t.txt names\. A change is judged by base's question.*merge the exam first"):
        two.prepared()
    assert len(two.prepared("head").exam.items) == 3
    two.change(items("b"))
    with pytest.raises(UsageError, match=r"has no `a`.*which t.txt names\. This is about the control, as commit"):
        two.prepared("head")
