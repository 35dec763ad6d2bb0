"""Workflow commands, read back by a reader written after the runner's own rules."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.github.commands import Annotation, Level, annotate, fenced, masks, new_token, plain, resume, stop
from evalaction.method.records import Quoted

COMMAND = re.compile(r"\A::(?P<name>[a-z-]+)(?: (?P<properties>.*?))?::(?P<data>.*)\Z", re.DOTALL)
HOSTILE = [
    "::error::forged", "##[error]forged", "a\n::set-output name=x::y", "x\r::add-mask::e", "%0A::error::x",
    "##[add-mask]the", "::", ":::", "##", "##[",
    "%", "%25", "\x1b[2J", "\u202e", "::stop-commands::t", "a,file=/etc/passwd", "a:b,c", "\u2028::error::x",
    "\ud800", "EOF", "'; touch /tmp/pwn; '",
]  # fmt: skip


def unescape(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for code, char in pairs:
        text = text.replace(code, char)
    return text


def read(line: str) -> tuple[str, dict[str, str], str]:
    """Command, properties and data of a line, as the runner takes them apart."""
    match = COMMAND.match(line)
    assert match and "\n" not in line and "\r" not in line
    properties = dict(part.split("=", 1) for part in (match["properties"] or "").split(",") if part)
    data = unescape(match["data"], (("%0D", "\r"), ("%0A", "\n"), ("%25", "%")))
    escaped = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))
    return match["name"], {name: unescape(value, escaped) for name, value in properties.items()}, data


def note(text: str, **more: object) -> Annotation:
    return Annotation(level="error", text=("Case ", Quoted(text), " failed."), **more)  # type: ignore[arg-type]


def test_an_annotation_points_at_the_line_it_is_about() -> None:
    (line,) = annotate(
        [Annotation(level="error", text=("min_stable_pass is 0.80.",), file="eval/card.yaml", line=12, title="fail")]
    )
    assert line == "::error title=fail,file=eval/card.yaml,line=12::min_stable_pass is 0.80."
    assert annotate([Annotation(level="notice", text=("Hello.",), line=3)]) == ("::notice::Hello.",)


def test_odd_paths_and_titles_stay_in_their_property() -> None:
    path = "a,line=1:%\r\n::error::b.yaml"
    (line,) = annotate([note("x", file=path, line=2, title="t,file=x::y\n")])
    name, properties, _ = read(line)
    assert name == "error" and set(properties) == {"title", "file", "line"}
    assert properties["file"] == path and properties["line"] == "2"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_one_harmless_line(text: str) -> None:
    (line,) = annotate([note(text)])
    name, properties, data = read(line)
    assert name == "error" and properties == {}
    assert data.startswith("Case ") and data.endswith(" failed.")
    assert "##[" not in line and "::" not in data and "\n" not in data and "\x1b" not in data
    line.encode()


@settings(max_examples=100)
@given(
    st.text(max_size=200), st.sampled_from(["error", "warning", "notice"]), st.text(max_size=30), st.text(min_size=1, max_size=30)
)
def test_any_text_is_one_command(text: str, level: Level, title: str, file: str) -> None:
    (line,) = annotate([Annotation(level=level, text=(text, Quoted(text)), title=title, file=file)])
    name, properties, data = read(line)
    assert name == level and properties["file"] == file
    assert set(properties) <= {"title", "file"}
    assert "##[" not in data and "::" not in data and len(data) <= 1000


def test_at_most_ten_of_each_level_the_heaviest_first_and_the_rest_counted() -> None:
    made = [note(str(number), weight=number) for number in range(25)]
    made += [Annotation(level="warning", text=(f"w{number}",)) for number in range(10)]
    lines = annotate(made)
    errors = [line for line in lines if line.startswith("::error")]
    warnings = [line for line in lines if line.startswith("::warning")]
    assert len(errors) == 10 and errors[0] == "::error::Case 24 failed." and errors[8] == "::error::Case 16 failed."
    assert errors[9] == "::error::16 more in the job summary."
    assert warnings == [f"::warning::w{number}" for number in range(10)]
    assert len(annotate(made[:11])) == 10 and annotate(made[:11])[9].endswith("2 more in the job summary.")


def test_a_sentence_is_cut_before_it_is_escaped() -> None:
    assert plain(("x" * 2000,)) == "x" * 999 + "…"
    assert len(plain((Quoted("y" * 2000),))) == 120


def test_every_secret_is_masked_each_line_of_it_too() -> None:
    key = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\n}\n-----END KEY-----\n"
    assert masks({"A": "sk-12345678", "B": key, "C": "sk-12345678", "short": "1234567", "none": ""}) == (
        "::add-mask::sk-12345678",
        "::add-mask::-----BEGIN KEY-----%0AMIIEpAIBAAKCAQEA%0A}%0A-----END KEY-----%0A",
        "::add-mask::-----BEGIN KEY-----%0AMIIEpAIBAAKCAQEA%0A}%0A-----END KEY-----",
        "::add-mask::-----BEGIN KEY-----",
        "::add-mask::MIIEpAIBAAKCAQEA",
        "::add-mask::-----END KEY-----",
    )


@given(st.text(min_size=8, max_size=40))
def test_a_mask_carries_the_very_value(value: str) -> None:
    lines = masks({"X": value})
    assert lines
    for line in lines:
        assert read(line)[0] == "add-mask"
    assert read(lines[0])[2] == value


def test_text_between_stop_and_resume() -> None:
    token = new_token()
    assert re.fullmatch("[0-9a-f]{32}", token) and token != new_token()
    assert fenced(HOSTILE, token) == (f"::stop-commands::{token}", *HOSTILE, f"::{token}::")
    assert (stop(token), resume(token)) == (f"::stop-commands::{token}", f"::{token}::")
    with pytest.raises(ValueError, match="token"):
        fenced(["something", f"::{token}::", "::error::free"], token)
