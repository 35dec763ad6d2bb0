"""GITHUB_OUTPUT and GITHUB_STEP_SUMMARY: read back by the runner's rules, within their sizes, without secrets."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.github.files import SUMMARY_BYTES, output_file, summary_file

GITHUB_LIMIT = 1024 * 1024


def read_outputs(data: bytes) -> dict[str, str]:
    """As the runner reads the file: `name=value` lines, or `name<<end` and all lines before `end`; the last one wins."""
    lines = data.decode("utf-8").split("\n")
    assert lines.pop() == "", "the file ends with a newline"
    found: dict[str, str] = {}
    while lines:
        line = lines.pop(0)
        equals, here = line.find("="), line.find("<<")
        if equals >= 0 and (here < 0 or equals < here):
            found[line[:equals]] = line[equals + 1 :]
            continue
        assert here >= 0, line
        end = lines.index(line[here + 2 :])
        found[line[:here]] = "\n".join(lines[:end])
        del lines[: end + 1]
    return found


def test_outputs_are_single_lines() -> None:
    outputs = {
        "outcome": "fail",
        "breaks": "halves_disagree,limit:treatment:max_flip_rate",
        "first-pass": "53/64",
        "comment-url": "https://x/y?a=b<<c#d",
    }
    made = output_file(outputs, {})
    assert read_outputs(made.data) == outputs and made.warnings == ()


@pytest.mark.parametrize("value", ["a\nb", "a\r", "x\nEOF", "\x00", "a\u2028b", "a\n::set-output name=outcome::pass", "\x85"])
def test_a_value_of_several_lines_is_a_mistake_of_ours(value: str) -> None:
    with pytest.raises(ValueError, match="one line"):
        output_file({"outcome": value}, {})


@pytest.mark.parametrize("name", ["", "a=b", "a<<b", "A", "a\n", "a b", "-a", "ä"])
def test_names_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match="output"):
        output_file({name: "x"}, {})


@pytest.mark.parametrize(
    "value",
    ["key=sk-12345678", "sk%2D12345678", base64.b64encode(b"x:sk-12345678").decode(), "sk-&#49;2345678", b"sk-12345678".hex()],
)
def test_a_value_with_a_secret_is_left_out_and_named(value: str) -> None:
    made = output_file({"comment-url": value, "outcome": "pass"}, {"EVAL_KEY": "sk-12345678"})
    assert read_outputs(made.data) == {"outcome": "pass"}
    (warning,) = made.warnings
    assert "comment-url" in str(warning) and "EVAL_KEY" in str(warning) and "sk-" not in str(warning)


def test_a_short_secret_counts_here_since_the_runner_masks_every_length() -> None:
    made = output_file({"sign": "1", "outcome": "pass", "earned": "true"}, {"A": "1", "B": "true\n", "C": ""})
    assert read_outputs(made.data) == {"outcome": "pass"}
    assert len(made.warnings) == 2


def test_each_line_of_a_secret_counts() -> None:
    assert output_file({"exam-id": "abcd"}, {"A": "first line\nabcd\n"}).data == b""


def test_a_very_long_value_is_left_out() -> None:
    made = output_file({"breaks": "x" * 20_001, "outcome": "fail"}, {})
    assert read_outputs(made.data) == {"outcome": "fail"}
    assert "20,001 characters" in str(made.warnings)


def test_a_lone_surrogate_does_not_lose_the_rest() -> None:
    assert read_outputs(output_file({"breaks": "a\ud800", "outcome": "fail"}, {}).data)["outcome"] == "fail"


def fixed(text: str) -> Callable[[int], str]:
    return lambda _: text


def test_a_summary_follows_what_is_there_already() -> None:
    assert summary_file([fixed("## a\n"), fixed("## b")], already=0).data == b"## a\n\n## b\n"
    assert summary_file([fixed("## a\n")], already=12).data == b"\n\n## a\n"
    assert summary_file([], already=12).data == b""


@pytest.mark.parametrize("char", ["x", "漢", "🙂", "é"])
@pytest.mark.parametrize("already", [0, 500_000, 990_000, 1_000_000, 1_048_576])
def test_a_summary_is_measured_in_bytes_with_what_is_there(char: str, already: int) -> None:
    wide = fixed(char * 600_000)
    made = summary_file([fixed("## worst\n"), wide, wide, fixed("## last\n")], already=already)
    assert already + len(made.data) <= max(SUMMARY_BYTES, already + 200) and SUMMARY_BYTES < GITHUB_LIMIT
    made.data.decode("utf-8")
    if already < 990_000:
        assert b"## worst" in made.data and b"## last" in made.data and b"left out for size" in made.data
    assert made.warnings


def test_a_document_is_told_how_much_it_may_take() -> None:
    told: list[int] = []

    def document(limit: int) -> str:
        told.append(limit)
        return "x" * (limit - 1)

    made = summary_file([document] * 4, already=100_000)
    assert made.warnings == () and len(told) == 4
    assert min(told) > 220_000 and max(told) - min(told) < 10 and len(made.data) <= SUMMARY_BYTES - 100_000


@given(st.lists(st.text(max_size=50), max_size=5), st.integers(0, 2_000_000))
def test_no_summary_grows_past_the_limit(texts: list[str], already: int) -> None:
    made = summary_file([fixed(text) for text in texts], already=already)
    assert not made.data or already + len(made.data) <= SUMMARY_BYTES
    assert bool(made.warnings) or len(made.data) >= sum(len(text.rstrip("\n").encode("utf-8", "replace")) for text in texts)


def test_two_additions_in_a_row_are_one_file() -> None:
    data = output_file({"outcome": "fail"}, {}).data + output_file({"sign": "0"}, {}).data
    assert read_outputs(data) == {"outcome": "fail", "sign": "0"}
