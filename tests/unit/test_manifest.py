"""The manifest: written and read back whole; strict with what somebody else may have written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import CountedClock, Stage, job_of, lost, manifest_of

from evalaction.engine.manifest import Ended, Manifest, manifest_from_json, manifest_to_json, read_manifest, write_manifest
from evalaction.errors import Outcome, SourceError, UsageError
from evalaction.method.report import Change, QuestionChange


def manifest(**changes: Any) -> Manifest:
    return manifest_of(job_of(Stage(CountedClock(), lambda sent: lost())), **changes)


TEXT = st.text(st.characters(exclude_categories=()), max_size=20)


@settings(max_examples=60)
@given(TEXT, st.dictionaries(TEXT, TEXT, max_size=3), TEXT)
def test_everything_survives(card_text: str, inputs: dict[str, str], tag: str) -> None:
    ended = Ended(outcome=Outcome.NOT_RUN, code="secrets_missing", sentence=tag)
    written = manifest(card_text=card_text, inputs=inputs, ended=ended, items=(("a", (tag,)),), run_url="https://x.invalid/1")
    text = json.dumps(manifest_to_json(written))
    assert manifest_from_json(json.loads(text)) == written


def test_what_two_commits_say_survives() -> None:
    ours, theirs = manifest().arms
    written = manifest(
        items=(("a", ()), ("b", ())),
        arms=(replace(ours, routes=("code", None)), replace(theirs, asked=replace(theirs.asked, commit="c" * 40))),
        levers=("model",),
        changes=(
            Change(lever="model", name="model", old="small", new="big"),
            Change(lever="prompt", name="prompts/a.md", old=None, new="1" * 12, diff=("+Be kind.",)),
        ),
        unchanged=(1,),
        left_out=("c",),
        question="base",
        question_changes=(QuestionChange(field="sign.margin", old="0.1", new="0.2", loosened=True),),
        base_missing=True,
    )
    assert manifest_from_json(json.loads(json.dumps(manifest_to_json(written)))) == written


def test_on_disk(tmp_path: Path) -> None:
    kept_apart = {"name": "namespaces", "how": "root", "checks": "split"}
    written = manifest(record={"terms": "https://x.invalid"}, rehearsal=True, base="b" * 40, isolation=kept_apart)
    write_manifest(tmp_path, written)
    assert read_manifest(tmp_path) == written
    assert [entry.name for entry in tmp_path.iterdir()] == ["manifest.json"]


def changed(path: str, value: Any) -> Any:
    held: Any = json.loads(json.dumps(manifest_to_json(manifest())))
    *parents, last = path.split(".")
    place = held
    for parent in parents:
        place = place[int(parent)] if parent.isdigit() else place[parent]
    if value is ...:
        del place[last]
    elif isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return held


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("format", "evalaction/manifest/2", "not in the form"),
        ("format", ..., "/format is missing"),
        ("planned", -1, "/planned must be a whole number"),
        ("planned", True, "/planned must be a whole number"),
        ("planned", 1.5, "/planned must be a whole number"),
        ("rehearsal", "no", "/rehearsal must be true or false"),
        ("card.sha256", "A" * 64, "/card/sha256 must be 64 lower-case hex digits"),
        ("card.more", 1, "/card/more is not a known field"),
        ("secret", "x", "/secret is not a known field"),
        ("parents", "b", "/parents must be a list"),
        ("parents", [1], "/parents must be text"),
        ("runner", {"arch": 1}, "/runner must be text"),
        ("runner", [], "/runner must be an object"),
        ("arms.0.arm", "third", "/arms/0/arm must be one of treatment, control"),
        ("arms.1.arm", "treatment", "treatment and control"),
        ("arms", [], "treatment and control"),
        ("items", [], "at least one"),
        ("items.0", ["t0001", []], "unique ids"),
        ("items.0", ["t0000"], "a pair"),
        ("items.0", "t0", "/items/0/ must be a list"),
        ("changes", [{"lever": "model"}], "/changes/0/name is missing"),
        ("changes", [{"lever": "model", "name": "m", "more": 1}], "/changes/0/more is not a known field"),
        ("unchanged", [1, 0], "/unchanged must be ascending whole numbers"),
        ("unchanged", [True], "/unchanged must be ascending whole numbers"),
        ("unchanged", [10_000], "positions among its items"),
        ("question", "ours", "/question must be one of base, head"),
        ("question_changes", [{"field": "x", "loosened": 1}], "/question_changes/0/loosened must be true or false"),
        ("question_changes", [{"field": "x", "more": 1}], "/question_changes/0/more is not a known field"),
        ("base_missing", "no", "/base_missing must be true or false"),
        ("arms.0.routes", [None], "one for each item"),
        ("arms.0.routes", [1], "/arms/0/routes must be text"),
        ("items.0.1", "tag", "/items/0/1 must be a list"),
        ("ended", {"outcome": "great", "code": "x", "sentence": ""}, "/ended/outcome must be one of"),
        ("ended", {"outcome": "usage", "code": "x", "sentence": 1}, "/ended/sentence must be text"),
    ],
)
def test_a_hostile_manifest_is_one_sentence(path: str, value: Any, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        manifest_from_json(changed(path, value), file="run/manifest.json")
    assert said in caught.value.sentence
    assert caught.value.sentence.startswith("run/manifest.json: ")


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"\xff", b'{"a":1,"a":2}', b"[" * 100_000, b'{"format":NaN}'])
def test_what_is_no_manifest(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(data)
    with pytest.raises(UsageError):
        read_manifest(tmp_path)


def test_no_run_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a run folder"):
        read_manifest(tmp_path / "none")


def test_too_large_to_be_ours(tmp_path: Path) -> None:
    with (tmp_path / "manifest.json").open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(UsageError, match="larger than 64 MiB"):
        read_manifest(tmp_path)
