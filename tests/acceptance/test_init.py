"""`init` asks nothing, overwrites nothing, and what it writes can be locked, committed and verified at once."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from support.command import Done, evalaction
from support.repos import Repo

from evalaction.method.counting.halves import half_of

ROOT = Path(__file__).parents[2]


def commands(done: Done) -> list[str]:
    """The two commands that `init` says, as a user would copy them."""
    return [line.strip() for line in done.out.splitlines() if line.startswith("  ")]


def follow(line: str, repo: Repo) -> list[Done]:
    """Type a line of commands joined by `&&`; git runs as the tests have it."""
    done = []
    for part in line.split(" && "):
        program, *arguments = shlex.split(part)
        if program == "git":
            repo.git(*arguments)
        else:
            done.append(evalaction(*arguments, cwd=repo.root))
            assert done[-1].code == 0, done[-1].said
    return done


@pytest.mark.parametrize("pair", [False, True])
def test_what_it_writes_passes_lock_commit_and_verify(tmp_path: Path, pair: bool) -> None:
    repo = Repo(tmp_path / "app")
    done = evalaction("init", *(["--pair"] if pair else []), cwd=repo.root)
    assert done.code == 0, done.said
    first, second = commands(done)
    follow(first, repo)
    assert repo.git("status", "--porcelain") == "", "everything that it wrote is committed"
    (verified,) = follow(second, repo)
    assert ("registered: 84 items" if pair else "registered: 3 items, 1 arm") in verified.out
    assert ("about 84 items" in done.out) is pair


def test_the_workflow_is_the_published_one(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "app")
    evalaction("init", "checks/mail", cwd=repo.root)
    written = (repo.root / ".github/workflows/evaluation.yml").read_text(encoding="utf-8")
    published = (ROOT / "examples/workflows/pull-request.yml").read_text(encoding="utf-8")
    assert written == published.replace("eval/card.yaml", "checks/mail/card.yaml")
    assert "name: mail\n" in (repo.root / "checks/mail/card.yaml").read_text(encoding="utf-8")


def test_below_the_root_of_a_repository_the_workflow_goes_to_the_root(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "app")
    (repo.root / "service").mkdir()
    done = evalaction("init", cwd=repo.root / "service")
    written = (repo.root / ".github/workflows/evaluation.yml").read_text(encoding="utf-8")
    assert "service/eval/card.yaml" in written and str(repo.root / ".github/workflows/evaluation.yml") in done.out


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "app")
    repo.write({"eval/notes.md": b"mine", ".github/workflows/evaluation.yml": b"mine too"})
    done = evalaction("init", cwd=repo.root)
    assert done.code == 2 and "not empty" in done.err
    assert (repo.root / "eval/notes.md").read_bytes() == b"mine" and len(list((repo.root / "eval").iterdir())) == 1
    done = evalaction("init", "second", cwd=repo.root)
    assert done.code == 0 and "left as it is" in done.out and ".github" not in commands(done)[0]
    assert (repo.root / ".github/workflows/evaluation.yml").read_bytes() == b"mine too"


def test_outside_of_a_repository_the_first_command_makes_one(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    done = evalaction("init", "a b", cwd=tmp_path / "app")
    first, second = commands(done)
    assert first.startswith("git init && evalaction lock 'a b/card.yaml' && git add 'a b' .github/workflows/evaluation.yml")
    assert second == "evalaction verify 'a b/card.yaml'"


def test_a_folder_that_a_card_may_not_lie_in_is_refused(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "app")
    done = evalaction("init", ".git/eval", cwd=repo.root)
    assert done.code == 2 and not (repo.root / ".git/eval").exists()


def test_the_tasks_of_a_pair_fill_both_halves() -> None:
    tasks = [json.loads(line) for line in (ROOT / "evalaction/data/init/tasks.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(tasks) == 84 and len({task["prompt"] for task in tasks}) == 84
    ones = sum(half_of(task["id"], "eval-1") for task in tasks)
    assert 30 <= ones <= 54
