"""A checkout of depth 1 is enough: base, and a commit that a card names, are fetched alone from a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.changes import TwoCommits, against_base
from support.command import gated
from support.events import context, example
from support.git_http import GitServer, serving
from support.repos import Repo

from evalaction.engine.trial import Against, Trial, trial_of
from evalaction.errors import UsageError
from evalaction.github.base import find_base
from evalaction.registration.freeze import freeze
from evalaction.registration.git import Git


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served") as one:
        yield one


def merged(two: TwoCommits) -> tuple[str, str]:
    """The pull request's head and GitHub's merge of it."""
    head = two.change({"prompt.md": b"Be very brief.\n"})
    two.repo.git("checkout", "--quiet", "--detach", two.base)
    two.repo.git("merge", "--quiet", "--no-ff", "--message", "merge", head)
    merge = two.repo.git("rev-parse", "HEAD")
    two.repo.git("update-ref", "refs/pull/2/merge", merge)
    return head, merge


def trial(server: GitServer, two: TwoCommits, place: Path) -> Trial:
    head, merge = merged(two)
    clone = Repo(place)
    clone.git("remote", "add", "origin", f"{server.url}/repo/.git")
    clone.git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", merge)
    clone.git("checkout", "--quiet", "--detach", merge)
    git = Git(clone.root, protocols="http")
    event = example("pull_request.synchronize")
    event["pull_request"]["head"]["sha"] = head
    base = find_base(git, context("pull_request", event))
    assert base is not None and git.is_shallow()
    return trial_of(freeze(clone.root / "card.yaml"), Against(git=git, base=base.commit))


def test_base_is_fetched_alone(server: GitServer, tmp_path: Path) -> None:
    two = TwoCommits(server.folder / "repo")
    found = trial(server, two, tmp_path / "clone")
    assert found.base == two.base and found.arms["control"].files["prompt.md"] == b"Be brief.\n"
    assert found.arms["treatment"].files["prompt.md"] == b"Be very brief.\n"
    assert Repo(tmp_path / "clone", init=None).git("status", "--porcelain") == ""


def test_so_is_a_commit_that_the_card_names(server: GitServer, tmp_path: Path) -> None:
    two = TwoCommits(server.folder / "repo", gated())
    first = two.base
    two.change({"prompt.md": b"Second.\n"})
    two.base = two.change(card=against_base({"arms.control": {"ref": first}}))
    found = trial(server, two, tmp_path / "clone")
    assert found.arms["control"].commit == first and found.arms["control"].files["prompt.md"] == b"Be brief.\n"


def test_a_name_is_not_looked_for_elsewhere(server: GitServer, tmp_path: Path) -> None:
    two = TwoCommits(server.folder / "repo", gated())
    two.repo.git("tag", "v1")
    two.base = two.change(card=against_base({"arms.control": {"ref": "v1"}}))
    with pytest.raises(UsageError, match="write a full SHA into the card") as caught:
        trial(server, two, tmp_path / "clone")
    assert caught.value.code == "ref"


def test_a_commit_that_the_server_does_not_give(server: GitServer, tmp_path: Path) -> None:
    two = TwoCommits(server.folder / "repo", gated())
    two.base = two.change(card=against_base({"arms.control": {"ref": "1234567890" * 4}}))
    with pytest.raises(UsageError, match="could not be fetched") as caught:
        trial(server, two, tmp_path / "clone")
    assert caught.value.code == "ref"
