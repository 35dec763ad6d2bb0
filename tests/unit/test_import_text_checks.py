"""Several requirements are one check: it accepts exactly what meets all of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.checks.kinds import prepare
from evalaction.importers.items import jsonl
from evalaction.importers.text_checks import ANYTHING, Need, literal, one_check
from evalaction.method.exams.items import item_of
from evalaction.method.exams.sources import read_jsonl


def accepts(fields: dict[str, Any], reply: str) -> bool:
    (raw,) = read_jsonl(jsonl([{"id": "x", "prompt": "?", **fields}]), file="tasks.jsonl")
    return prepare(item_of(raw, 0).check)(reply, reply.strip()) is None


def meets(need: Need, reply: str) -> bool:
    fold = str.lower if need.fold else str
    text, wanted = fold(reply.strip()), [fold(one) for one in need.texts]
    found = {
        "whole": lambda one: text == one,
        "anywhere": lambda one: one in text,
        "start": text.startswith,
        "end": text.endswith,
    }[need.kind]
    return any(map(found, wanted)) is not need.negated


WORDS = st.text("aB.*+?()[]{}|\\^$ é\n-", min_size=1, max_size=3).filter(lambda text: text == text.strip())
NEEDS = st.builds(
    Need,
    kind=st.sampled_from(["whole", "anywhere", "start", "end"]),
    texts=st.lists(WORDS, min_size=1, max_size=3).map(tuple),
    fold=st.booleans(),
    negated=st.booleans(),
)


@given(st.lists(NEEDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1, max_size=5).map("".join))
def test_a_conjunction_is_one_check(needs: list[Need], reply: str) -> None:
    assert accepts(one_check(needs), reply) is all(meets(need, reply) for need in needs)


@given(NEEDS)
def test_every_need_accepts_its_own_text_or_none_of_its_texts(need: Need) -> None:
    assert all(accepts(one_check([need]), text) is not need.negated for text in need.texts)


@pytest.mark.parametrize(
    ("need", "fields"),
    [
        (Need(kind="whole", texts=("a.b",)), {"expected": "a.b"}),
        (Need(kind="anywhere", texts=("a.b",)), {"check": {"kind": "contains", "value": "a.b"}}),
        (Need(kind="anywhere", texts=("Refund 5 %",), fold=True), {"check": {"kind": "regex", "pattern": "(?ai:Refund 5 %)"}}),
        (Need(kind="start", texts=("a", "b")), {"check": {"kind": "regex", "pattern": r"\A(?:a|b)"}}),
        (Need(kind="anywhere", texts=("a",), negated=True), {"check": {"kind": "regex", "pattern": r"\A(?!(?s:.*)a)(?s:.)"}}),
    ],
)
def test_a_single_need_is_said_in_the_plainest_kind(need: Need, fields: dict[str, Any]) -> None:
    assert one_check([need]) == fields


@pytest.mark.parametrize(
    ("kind", "wanted", "taken", "refused"),
    [
        ("start", " A", ["A", " A", "A."], ["B", "the A"]),
        ("start", "A ", ["A b"], ["Ab"]),
        ("end", "B\n", ["B", "a B\n"], ["B."]),
        ("end", " B", ["a B"], ["aB"]),
        ("whole", " A\n", ["A", " A\n"], ["A."]),
    ],
)
def test_white_space_at_an_edge_does_not_make_a_check_that_no_reply_can_pass(
    kind: Any, wanted: str, taken: list[str], refused: list[str]
) -> None:
    """The reply is compared without its own: a text that begins with a blank would never be found there."""
    for texts in ((wanted,), (wanted, "never")):
        check = one_check([Need(kind=kind, texts=texts)])
        assert all(accepts(check, reply) for reply in taken) and not any(accepts(check, reply) for reply in refused)


def test_folding_ascii_does_not_fold_the_long_s() -> None:
    need = Need(kind="anywhere", texts=("yes",), fold=True)
    assert accepts(one_check([need]), "YES") and not accepts(one_check([need]), "yeſ")
    assert accepts(one_check([Need(kind="anywhere", texts=("ÉTÉ",), fold=True)]), "un été")


def test_anything_is_every_reply() -> None:
    assert accepts(ANYTHING, "{}") and accepts(ANYTHING, "\n x")


@given(st.text(max_size=20))
def test_a_literal_matches_its_text_alone(text: str) -> None:
    import re

    assert re.fullmatch(literal(text), text)
    assert not re.fullmatch(literal(text), text + "x")
