"""Paths and globs of the `card` input against tracked files."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.errors import UsageError
from evalaction.github.cards import match_cards

TRACKED = [
    "card.yaml", "eval/b/card.yaml", "eval/a/card.yaml", "eval/a/deep/card.yaml", "eval/[x].yaml", "eval/x.yaml",
    "eval/.hidden/card.yaml",
    "évaluation/card.yaml", "Z/card.yaml", "eval/a/tasks.jsonl",
]  # fmt: skip


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["card.yaml"], ["card.yaml"]),
        (["./card.yaml", "card.yaml"], ["card.yaml"]),
        (["eval/*/card.yaml"], ["eval/.hidden/card.yaml", "eval/a/card.yaml", "eval/b/card.yaml"]),
        (["eval/[ab]/card.yaml"], ["eval/a/card.yaml", "eval/b/card.yaml"]),
        (["eval/?/card.yaml"], ["eval/a/card.yaml", "eval/b/card.yaml"]),
        (["eval/[x].yaml"], ["eval/[x].yaml"]),  # the path itself comes before the pattern
        (["eval/[!a].yaml"], ["eval/x.yaml"]),
        (["*.yaml"], ["card.yaml"]),
        (["*/card.yaml"], ["Z/card.yaml", "évaluation/card.yaml"]),  # by bytes, not by any language
        (["eval/**/card.yaml"], ["eval/.hidden/card.yaml", "eval/a/card.yaml", "eval/a/deep/card.yaml", "eval/b/card.yaml"]),
        (["nowhere/card.yaml"], ["nowhere/card.yaml"]),  # freezing says what is wrong with it
    ],
)  # fmt: skip
def test_matches(patterns: list[str], expected: list[str]) -> None:
    assert match_cards(patterns, TRACKED) == tuple(expected)


def test_two_stars_also_match_no_folder() -> None:
    assert match_cards(["**/card.yaml"], TRACKED)[:2] == ("Z/card.yaml", "card.yaml")
    assert set(match_cards(["**"], TRACKED)) == set(TRACKED)


@pytest.mark.parametrize("pattern", ["eval/*/none.yaml", "**/*.yml", "CARD.*", "eval/**/x/*"])
def test_a_pattern_without_a_match_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match="matches no committed file"):
        match_cards(["card.yaml", pattern], TRACKED)


@pytest.mark.parametrize(
    "pattern",
    [
        "/card.yaml",
        "../card.yaml",
        "a/../card.yaml",
        "a//b",
        "a\\b",
        ".git/config",
        "",
        "./",
        "a\x00b",
        "**/..",
        "\u202ecard.yaml",
        "C:\\x",
    ],
)
def test_a_pattern_that_leaves_the_repository_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match="The input card names"):
        match_cards([pattern], TRACKED)


def test_too_many_cards() -> None:
    with pytest.raises(UsageError, match="at most 100"):
        match_cards(["*.yaml"], [f"{number}.yaml" for number in range(101)])


def test_a_file_name_that_is_not_utf8_does_not_get_in_the_way() -> None:
    assert match_cards(["*.yaml"], ["b\udcff.yaml", "a.yaml"]) == ("a.yaml", "b\udcff.yaml")


def test_no_pattern_hangs_it() -> None:
    begin = time.process_time()
    with pytest.raises(UsageError):
        match_cards(["*a" * 60 + "b", "**/" * 60 + "*b"], ["/".join(["a" * 60] * 30)])
    assert time.process_time() - begin < 5


@given(st.lists(st.text(st.sampled_from("ab/"), min_size=1, max_size=8), min_size=1, max_size=6))
def test_the_order_of_files_and_patterns_does_not_matter(files: list[str]) -> None:
    good = [file for file in files if not file.startswith("/") and not file.endswith("/") and "//" not in file]
    found = match_cards(good, good)
    assert found == match_cards(good[::-1], sorted(good)) == tuple(sorted(set(good)))
