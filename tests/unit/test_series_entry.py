"""Entries as JSON and back; what lies in a history may be anybody's."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.histories import arm, comparable, night

from evalaction import schemas
from evalaction.errors import Outcome, SourceError
from evalaction.method.series.entry import Entry, LimitEntry
from evalaction.method.series.entry_json import entry_bytes, read_entry, to_json
from evalaction.method.series.latency import Latency
from evalaction.method.series.places import (
    MAX_ENTRY,
    Place,
    card_folder,
    is_marker,
    marker_file,
    place_of,
    read_place,
)  # fmt: skip

SCHEMA = jsonschema.Draft202012Validator(schemas.load("history"))
STRIPS = ["pkp", "ppp", "ucp"]
FULL = night(
    1,
    STRIPS,
    ["ppp", "pkk", "eee"],
    key="leg-2",
    run_url="https://github.example/octo/demo/actions/runs/1001",
    table_sha256="1" * 64,
    breaks=("limit:treatment:min_stable_pass", "control.h0:transport"),
    limits=(LimitEntry(key="treatment:min_stable_pass:tag with | bars", state="breached"),),
    titles=("SYNTHETIC", "SMALL"),
    runner={"image_os": "ubuntu24", "image_version": "20260101.1"},
)
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def path_of(entry: Entry) -> str:
    return place_of(entry).path


def lossless(entry: Entry) -> bool:
    return read_entry(entry_bytes(entry), path=path_of(entry)) == entry


@pytest.mark.parametrize(
    "entry",
    [
        FULL,
        night(1, ["p"]),
        night(1, ["pp"], commit=None, rows_sha256=None),
        night(1, ["p"], outcome=Outcome.UNREACHABLE, arms=(arm("treatment", [], model=None, latency=Latency(5, None, None)),)),
        night(1, ["p"], comparable=comparable(1, checker_sha256="2" * 64, parameters_sha256=None)),
    ],
)
def test_an_entry_is_read_back_as_it_was_and_fits_the_schema(entry: Entry) -> None:
    assert lossless(entry)
    SCHEMA.validate(json.loads(entry_bytes(entry)))


@given(st.lists(st.text("pkcue", min_size=3, max_size=3), min_size=1, max_size=6), st.text(max_size=20))
def test_any_strips_and_names(strips: list[str], name: str) -> None:
    entry = night(1, strips, name=name.encode("utf-8", "replace").decode())
    assert lossless(entry)


def test_the_counts_are_there_for_readers() -> None:
    value: Any = to_json(FULL)
    assert value["arms"][0]["tally"] == {
        "draws": 9, "reached": 8, "contracted": 7, "passed": 6, "checker_errors": 0, "runner_error_items": 1,
        "first": 2, "first_hi": 3, "stable": 1, "stable_hi": 1, "flip": 2, "flip_hi": 2,
    }  # fmt: skip
    one: Any = to_json(night(1, ["p"]))
    assert "flip" not in one["arms"][0]["tally"]


Change = Callable[[Any], object]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda value: value.update(format="evalaction/history/2"), "not in the form"),
        (lambda value: value.update(verdict="pass"), "/verdict is not a known field"),
        (lambda value: value["arms"][0].update(evidence="1000"), "evidence is not a known field"),
        (lambda value: value["card"].update(owner="x"), "owner is not a known field"),
        (lambda value: value["arms"][0]["tally"].update(passed=7), "the counts of treatment are not those of its draws"),
        (lambda value: value["arms"][0]["tally"].update(alarm=1), "alarm is not a known field"),
        (lambda value: value["arms"][0]["latency_ms"].update(low=500), "not an interval of times"),
        (lambda value: value["arms"][0]["latency_ms"].update(max=1), "max is not a known field"),
        (lambda value: value["arms"][0].update(strips="p"), "strips do not fit"),
        (lambda value: value["arms"][0].update(strips="xxxxxxxxx"), "unknown letter"),
        (lambda value: value["arms"][0].update(strips="ééééééééé"), "no entry of a history"),
        (lambda value: value["arms"][0].update(arm="baseline"), "no such arm: 'baseline'"),
        (lambda value: value["arms"].pop(), "its arms are not those of its series"),
        (lambda value: value["arms"].reverse(), "its arms are not those of its series"),
        (lambda value: value.update(items=0), "it has no items"),
        (lambda value: value.update(items=10**900), "strips do not fit"),
        (lambda value: value.update(outcome="usage"), "outcome must be one of"),
        (lambda value: value.update(outcome="unchanged"), "outcome must be one of"),
        (lambda value: value.update(titles=["VERIFIED"]), "titles holds an unknown word"),
        (lambda value: value.update(breaks=["a b"]), "breaks does not have its form"),
        (lambda value: value.update(breaks=["x"] * 501), "breaks has over 500 values"),
        (lambda value: value.update(runner={str(number): "x" for number in range(501)}), "runner has over 500 values"),
        (lambda value: value.update(run="../../x"), "run does not have its form"),
        (lambda value: value.update(run_url="javascript:alert(1)"), "run_url does not have its form"),
        (lambda value: value.update(commit="HEAD"), "commit does not have its form"),
        (lambda value: value.update(started_at="2026-01-02 03:17"), "started_at does not have its form"),
        (lambda value: value["card"].update(name="x" * 1001), "name is longer than 1,000 characters"),
        (lambda value: value["limits"][0].update(state="fine"), "state must be one of"),
        (lambda value: value["limits"][0].update(bound=1), "bound is not a known field"),
        (lambda value: value["comparable"].update(draws="3"), "draws must be a whole number"),
        (lambda value: value["comparable"].update(draws=True), "draws must be a whole number"),
        (lambda value: value.update(started_at="2026-01-03T03:17:00Z"), "lies in the place of another one"),
        (lambda value: value["comparable"].update(timeout_ms=2), "lies in the place of another one"),
    ],
)
def test_what_is_none_of_ours_is_refused(change: Change, says: str) -> None:
    value: Any = json.loads(entry_bytes(FULL))
    change(value)
    with pytest.raises(SourceError) as caught:
        read_entry(json.dumps(value).encode(), path=path_of(FULL))
    assert says in caught.value.sentence


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not strict JSON"),
        (b"[]", "/format is missing"),
        (b"\xff", "not strict JSON"),
        (b'{"a":1,"a":2}', "not strict JSON"),
        (b"[" * 300, "not strict JSON"),
        (b" " * (MAX_ENTRY + 1), "larger than 8 MiB"),
    ],
)
def test_what_is_no_json_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_entry(data, path=path_of(FULL))
    assert says in caught.value.sentence


@given(st.sampled_from(sorted(json.loads(entry_bytes(FULL)))), HOSTILE)
def test_whatever_stands_in_a_field_is_an_entry_or_a_sentence(name: str, value: Any) -> None:
    """What is read fits the published schema."""
    changed = {**json.loads(entry_bytes(FULL)), name: value}
    try:
        read_entry(json.dumps(changed).encode(), path=path_of(FULL))
    except SourceError:
        return
    SCHEMA.validate(changed)


def test_what_must_be_the_same_and_what_may_differ() -> None:
    same = comparable(3)
    assert same.differences(comparable(3)) == ()
    other = replace(same, exam_sha256="1" * 64, timeout_ms=5, parameters_sha256=None, arms=("treatment", "control"))
    assert same.differences(other) == ("exam.sha256", "draws.timeout_ms", "arms", "params")
    assert same.id != other.id and len(same.id) == 12
    assert night(1, ["ppp"]).comparable.id == night(9, ["kkk"], commit="b" * 40).comparable.id


@pytest.mark.parametrize(
    "field", ["exam_sha256", "ids_sha256", "checker_sha256", "items_sha256", "checks_sha256", "parameters_sha256"]
)
def test_every_digest_counts(field: str) -> None:
    changes: dict[str, Any] = {field: "f" * 64}
    other = comparable(3, **changes)
    assert len(comparable(3).differences(other)) == 1 and comparable(3).id != other.id


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": Outcome.REGISTERED},
        {"comparable": comparable(0)},
        {"arms": ()},
        {"comparable": comparable(3, ("treatment", "control"))},
    ],
)
def test_an_entry_that_must_not_be_cannot_be(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not an entry"):
        night(1, STRIPS, **changes)


def test_places() -> None:
    place = place_of(FULL)
    assert place.path == f"{place.card}/{FULL.comparable.id}/2026-01-02/1001-1/entry.json"
    assert read_place(place.path) == place
    assert place.card == card_folder("eval/nightly.yaml", "leg-2") and place.card.startswith("eval-nightly-")
    assert place < Place(place.card, place.series, "2026-01-03", "0")


@pytest.mark.parametrize(
    "path",
    [
        "entry.json",
        "a/b/c/entry.json",
        "../000000000000/2026-01-02/r/entry.json",
        "a/00000000000g/2026-01-02/r/entry.json",
        "a/000000000000/2026-01-02/../entry.json",
        "a/000000000000/2026-1-2/r/entry.json",
        "a/000000000000/2026-01-02/r/entry.json/x",
        "a/000000000000/2026-01-02/r/rows.csv",
        "a/000000000000/2026-01-02/r\n/entry.json",
    ],
)
def test_other_paths_are_no_places(path: str) -> None:
    assert read_place(path) is None


def test_no_two_cards_share_a_folder() -> None:
    names = ["eval/nightly.yaml", "eval/nightly.yml", "eval-nightly.yaml", "eval/nightly", "…", "", "x" * 500]
    folders = [card_folder(name) for name in names] + [card_folder("eval/nightly.yaml", "k"), card_folder("eval/nightly.yamlk")]
    assert len(set(folders)) == len(folders)
    assert all(read_place(f"{folder}/000000000000/2026-01-02/r/entry.json") for folder in folders)


def test_the_marker() -> None:
    assert is_marker(marker_file()) and is_marker(marker_file() + b"\n")
    assert not is_marker(b"{}") and not is_marker(b"")
