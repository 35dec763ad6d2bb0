"""openai/evals: the classes that compare texts become checks; graded ones, code and pointers are named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.importing import beside, card_of, exam_of, loads_whole, passes

from evalaction.errors import SourceError, UsageError
from evalaction.importers.imported import MIRROR, Imported
from evalaction.importers.openai_evals import convert

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"


def registry(*classes: str, **args: Any) -> bytes:
    entries = []
    for n, name in enumerate(classes):
        given = json.dumps({"samples_jsonl": f"d/s{n}.jsonl", **args})
        entries.append(f"e{n}:\n  id: e{n}.dev.v0\n  metrics: [accuracy]\n\ne{n}.dev.v0:\n  class: {name}\n  args: {given}\n")
    return "\n".join(entries).encode()


def lines(*samples: Any) -> str:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in samples)


def made(kind: str, *samples: Any, files: dict[str, str] | None = None, **args: Any) -> Imported:
    data = registry(f"evals.elsuite.basic.{kind}", **args)
    result = convert(data, file="evals/e.yaml", read=beside({"../data/d/s0.jsonl": lines(*samples), **(files or {})}))
    loads_whole(result)
    return result


@pytest.mark.parametrize(
    ("kind", "ideal", "args", "good", "bad"),
    [
        ("match:Match", "Yes", {}, ["Yes", "Yes, of course", " Yes"], ["yes", "No, Yes"]),
        ("match:Match", ["a", "b"], {}, ["a", "b2"], ["c a"]),
        ("includes:Includes", "x.y", {}, ["is x.y!"], ["xzy", "X.Y"]),
        ("includes:Includes", ["a", "b"], {"ignore_case": True}, ["the B"], ["c"]),
        ("json_match:JsonMatch", '{"a": [1, true]}', {}, ['{"a": [1.0, true]}'], ['{"a": [1]}', "x"]),
        ("json_validator:JsonValidator", None, {}, ["{}", "[1]"], ["x"]),
    ],
)
def test_classes_that_compare(kind: str, ideal: Any, args: dict[str, Any], good: list[str], bad: list[str]) -> None:
    (item,) = exam_of(made(kind, {"input": "?", "ideal": ideal}, **args)).items
    assert all(passes(item, reply) for reply in good) and not any(passes(item, reply) for reply in bad)


def test_examples_go_before_the_last_message() -> None:
    prompt = [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]
    shots = [{"sample": [{"role": "user", "content": f"q{n}"}, {"role": "assistant", "content": f"a{n}"}]} for n in range(3)]
    args = {"num_few_shot": 2, "few_shot_jsonl": "d/few.jsonl"}
    result = made("match:Match", {"input": prompt, "ideal": "x"}, files={"../data/d/few.jsonl": lines(*shots)}, **args)
    (item,) = exam_of(result).items
    assert isinstance(item.prompt, tuple)
    assert [message.content for message in item.prompt] == ["s", "q0", "a0", "q1", "a1", "q"]


@pytest.mark.parametrize(
    ("reply", "ideal", "alike"),
    [
        ("The cat!", ["cat"], True), ("cat", ["A cat, of course"], True), ("dog", ["cat"], False), ("", ["cat"], False),
        ("...", ["!"], True), ("an apple", ["pear", "Apple."], True), ("theory", ["ory"], True), ("it", ["a"], False),
    ],
)  # fmt: skip
def test_fuzzy_match_is_a_checker_beside_the_exam(reply: str, ideal: list[str], alike: bool) -> None:
    result = made("fuzzy_match:FuzzyMatch", {"input": "?", "ideal": ideal})
    assert card_of(result).exam.checker == "checker.py"
    (item,) = exam_of(result).items
    assert item.check.kind == "python" and item.check.fixture == ideal
    names: dict[str, Any] = {}
    exec(compile(result.files["checker.py"], "checker.py", "exec"), names)
    verdict, reason = names["checker"](reply, item.check.fixture)
    assert verdict is alike and isinstance(reason, str)


def test_several_evals_are_one_exam_with_tags() -> None:
    sample = lines({"input": "?", "ideal": "x"})
    data = registry("evals.elsuite.basic.match:Match", "evals.elsuite.basic.includes:Includes")
    result = convert(data, file="e.yaml", read=beside({"../data/d/s0.jsonl": sample, "../data/d/s1.jsonl": sample}))
    loads_whole(result)
    assert [item.tags for item in exam_of(result).items] == [("e0.dev.v0",), ("e1.dev.v0",)]


def test_the_endpoint_is_to_be_filled_in() -> None:
    card = card_of(made("match:Match", {"input": "?", "ideal": "x"}, max_tokens=7))
    assert card.name == "e0" and dict(card.endpoints["main"].params) == {"temperature": 0, "max_tokens": 7}


@pytest.mark.parametrize(
    ("name", "length"), [("match:Match", 500), ("json_match:JsonMatch", 512), ("fuzzy_match:FuzzyMatch", 100)]
)
def test_a_class_has_a_length_of_its_own(name: str, length: int) -> None:
    assert card_of(made(name, {"input": "?", "ideal": "7"})).endpoints["main"].params["max_tokens"] == length


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("evals.elsuite.modelgraded.classify:ModelBasedClassify", MIRROR),
        ("evals.elsuite.basic.json_validator:Other", "is code of its own"),
        ("mine.match:Match", "is code of its own"),
        ("evals.elsuite.basic.match:Match", "the file `../data/d/s0.jsonl` is not there"),
    ],
)
def test_evals_that_cannot_be_carried_are_one_loss(name: str, why: str) -> None:
    result = convert(registry(name), file="e.yaml", read=beside())
    assert (result.total, result.carried) == (1, 0) and why in result.lost_items[0].why and result.lost_items[0].line == 5


@pytest.mark.parametrize(
    ("text", "args", "why"),
    [
        (POINTER, {}, "Git LFS pointer"),
        ("x\n" * 50_001, {}, "at most 50,000"),
        (lines({"input": "?", "ideal": "x"}), {"num_few_shot": 1, "few_shot_jsonl": "gone.jsonl"}, "is not there"),
        (lines({"input": "?", "ideal": "x"}), {"num_few_shot": 1, "few_shot_jsonl": "d/s0.jsonl"}, "not lists of messages"),
        (lines({"input": "?", "ideal": "x"}), {"samples_jsonl": "x.csv"}, "not named as a JSONL file"),
    ],
)
def test_samples_that_cannot_be_read(text: str, args: dict[str, Any], why: str) -> None:
    data = registry("evals.elsuite.basic.match:Match", **args)
    result = convert(data, file="e.yaml", read=beside({"../data/d/s0.jsonl": text}))
    assert result.carried == 0 and why in result.lost_items[0].why


@pytest.mark.parametrize(
    ("kind", "sample", "why"),
    [
        ("match:Match", "not json", "this is not JSON"),
        ("match:Match", [1], "a JSON object"),
        ("match:Match", {"input": "?", "ideal": ""}, "not a text"),
        ("match:Match", {"input": "?", "ideal": ["a", 5]}, "not a text"),
        ("match:Match", {"input": "?"}, "not a text"),
        ("match:Match", {"input": [], "ideal": "x"}, "neither a text nor a list"),
        ("match:Match", {"input": [{"role": "system", "content": "x", "name": "example_user"}], "ideal": "x"}, "a `name`, say"),
        ("match:Match", {"input": [{"role": "tool", "content": "x"}], "ideal": "x"}, "another role"),
        ("json_match:JsonMatch", {"input": "?", "ideal": ["1", "2"]}, "compares with one"),
        ("json_match:JsonMatch", {"input": "?", "ideal": "{"}, "is not JSON"),
        ("json_match:JsonMatch", {"input": "?", "ideal": '{"a": [null]}'}, "holds null"),
    ],
)
def test_samples_that_cannot_be_carried_are_named(kind: str, sample: Any, why: str) -> None:
    result = made(kind, {"input": "?", "ideal": "1"}, sample)
    (loss,) = result.lost_items
    assert result.carried == 1 and why in loss.why and loss.place == "d/s0.jsonl:2"


def test_few_shots_need_messages_and_match() -> None:
    few = {"../data/d/few.jsonl": lines({"sample": [{"role": "user", "content": "q"}]})}
    args = {"num_few_shot": 1, "few_shot_jsonl": "d/few.jsonl"}
    assert "its `input` is a text" in made("match:Match", {"input": "?", "ideal": "x"}, files=few, **args).lost_items[0].why
    assert "only Match reads" in made("includes:Includes", {"input": "?", "ideal": "x"}, files=few, **args).lost_items[0].why


def test_arguments_that_are_not_read_are_named() -> None:
    result = made("match:Match", {"input": "?", "ideal": "x"}, seed=3)
    assert [loss.what for loss in result.lost_parts] == ["eval e0.dev.v0: `seed`"]


def test_what_is_no_registry_file_is_refused() -> None:
    with pytest.raises(SourceError, match="no registry file"):
        convert(b"a: 1\n", file="e.yaml", read=beside())
    with pytest.raises(UsageError, match="Samples alone"):
        convert(b"{}", file="samples.jsonl", read=beside())
    with pytest.raises(UsageError, match="holds no samples"):
        made("match:Match")


_IDEAL = st.one_of(st.text(max_size=5), st.lists(st.text(max_size=5), max_size=3), st.none(), st.integers(0, 3))
_INPUT = st.one_of(
    st.text(max_size=5),
    st.lists(
        st.fixed_dictionaries({"role": st.sampled_from(["user", "system", "x"]), "content": st.text(max_size=5)}), max_size=3
    ),
)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["match:Match", "includes:Includes", "json_match:JsonMatch", "json_validator:JsonValidator", "f:FuzzyMatch"]),
    st.lists(st.fixed_dictionaries({"input": _INPUT, "ideal": _IDEAL}), min_size=1, max_size=5),
)
def test_whatever_is_imported_can_be_read_and_counts_add_up(kind: str, samples: list[Any]) -> None:
    assert made(kind, *samples).total == len(samples)
