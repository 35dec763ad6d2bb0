"""What is said of draws that a cache answered: only of the kinds that were seen, and no kind is counted as 0."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.runs import SEED, card, facts, names, rows, say

from evalaction.method.counting.tally import Tally
from evalaction.method.judging.verdict import judge

BY_HEADER = "2 replies came from a cache by their own headers (‹x-cache› × 2)"
REPEATED = "1 reply repeated an earlier one of the same item, id and body"


@pytest.mark.parametrize(
    ("hit", "replay", "sentence"),
    [
        ("x-cache", False, f"{BY_HEADER}."),
        (None, True, f"{REPEATED}."),
        ("x-cache", True, f"{BY_HEADER}, and {REPEATED}."),
    ],
)
def test_the_sentence_names_what_was_seen(hit: str | None, replay: bool, sentence: str) -> None:
    grid = Tally(names(40), {}, ["treatment"], 2, SEED)
    for number, one in enumerate(rows({"treatment": ["pp"] * 40})):
        told = "same" if replay and number < 2 else f"r{number}"
        grid.add(replace(one, response_id=told, body_sha256="x", cache_hit=hit if number < 2 else None))
    (found,) = judge(card(draws=2), grid, facts(grid)).breaks
    assert (found.code, say(found.sentence)) == ("cached_draws", sentence)
