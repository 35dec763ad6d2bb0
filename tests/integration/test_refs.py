"""Names of commits that a card may hold, compared with what git itself accepts."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalaction.method.reading.refs import full_sha, is_name

PARTS = st.sampled_from(
    ["a", "B1", "é", ".", "..", "/", "-", "@", "@{", "{", "^", "~", ":", "?", "*", "[", "\\", " ", ".lock", "HEAD", "refs"]
)


def git_accepts(name: str) -> bool:
    # In a folder that is no repository there is nothing that `@{-1}` could be worked out from.
    argv = ["git", "check-ref-format", "--branch", name]
    return subprocess.run(argv, cwd="/", capture_output=True, check=False).returncode == 0


@settings(max_examples=100, deadline=None)
@given(st.lists(PARTS, min_size=1, max_size=5).map("".join))
@example("--upload-pack=x")
@example("HEAD")
@example("main@{1}")
@example("v1.4")
@example("feature/a-b_c.d@e")
def test_every_name_that_a_card_may_hold_is_one_to_git(name: str) -> None:
    if is_name(name):
        assert git_accepts(name)


@pytest.mark.parametrize("name", ["v1.4", "feature/a-b_c.d@e", "refs/tags/x", "é", "a{b}", "release-2026"])
def test_ordinary_names_may_be_held(name: str) -> None:
    assert is_name(name) and git_accepts(name)


def test_shas() -> None:
    assert full_sha("A" * 40) == "a" * 40 and full_sha("0" * 64) == "0" * 64
    assert full_sha("a" * 39) is None and full_sha("a" * 41) is None and full_sha("g" * 40) is None
