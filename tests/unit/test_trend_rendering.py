"""Trends and comparisons, byte for byte and under hostile names. `UPDATE_GOLDEN=1 pytest` writes the files anew."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.histories import arm, comparable, night
from support.runs import tally

from evalaction.errors import Outcome
from evalaction.method.canonical import dumps
from evalaction.method.series.comparison import compare
from evalaction.method.series.entry import Entry
from evalaction.method.series.latency import Latency
from evalaction.method.series.trend import Trend, trend_json, trend_of
from evalaction.report.trend.comparison import Shown, comparison_json, comparison_markdown, comparison_text
from evalaction.report.trend.html import MOST_IN_PICTURE, MOST_ROWS, trend_page
from evalaction.report.trend.markdown import MOST_IN_CHART, mermaid, trend_markdown
from evalaction.report.trend.svg import HEIGHT, trend_svg
from evalaction.report.trend.text import trend_text

FOLDER = Path(__file__).parent.parent / "golden" / "trend"
GOOD = ["ppp"] * 27 + ["pkp"] * 3
WORSE = ["kkk"] * 12 + ["ppp"] * 15 + ["pkp"] * 3
HOSTILE = 'x"]\n```\n# pwn <img src=x onerror=alert(1)> @octocat http://evil.example [a](b) | \x1b[31m --> ::error::x'
IMAGE = {"image_os": "ubuntu24", "image_version": "20260101.1", "arch": "x86_64", "python": "3.12.1"}


def week() -> list[Entry]:
    """Two good nights, one that reached nobody, a new image, and two bad ones."""
    lost = arm("treatment", [], latency=Latency(None, None, None))
    return [
        night(1, GOOD, runner=IMAGE),
        night(2, GOOD, runner=IMAGE),
        night(3, GOOD, runner=IMAGE, outcome=Outcome.UNREACHABLE, arms=(lost,), breaks=("treatment:unreachable",)),
        night(4, ["upp", *GOOD[1:]], runner=IMAGE | {"image_version": "20260108.1"}, outcome=Outcome.INCONCLUSIVE),
        night(5, WORSE, runner=IMAGE | {"image_version": "20260108.1"}, outcome=Outcome.FAIL),
        night(6, WORSE, runner=IMAGE | {"image_version": "20260108.1"}, outcome=Outcome.FAIL),
    ]


def broken() -> Trend:
    return trend_of(week())


def begun() -> Trend:
    new = night(7, GOOD, comparable=comparable(3, exam_sha256="1" * 64), titles=("SYNTHETIC",))
    return trend_of([*week(), new], damaged=2)


def hostile() -> Trend:
    first, second = night(1, ["p"], name=HOSTILE), night(2, ["k"], name=HOSTILE, runner={"image_os": HOSTILE})
    asked = arm("treatment", ["k"], model=HOSTILE, endpoint=HOSTILE, requests_sha256="1" * 64)
    return trend_of([first, night(2, ["k"], name=HOSTILE, runner={"image_os": HOSTILE}, arms=(asked,)), second])


def pairs() -> Shown:
    then = tally({"treatment": ["ppp", "pkp", "kkk", "ppp"]}, ["a", "b", "c", HOSTILE])
    now = tally({"treatment": ["kpp", "ppp", "pkk", "ppu"]}, ["a", "b", "c", HOSTILE])
    return shown(compare(then, now, "treatment"))


def across() -> Shown:
    return shown(compare(tally({"treatment": ["pkpp", "pppp"]}), tally({"treatment": ["pu", "pp"]}), "treatment"))


def shown(arm: Any) -> Shown:
    return Shown(name="support-triage", then="2026-01-02 03:17", now="2026-01-03 03:17 (abc)", titles=("SMALL",), arms=(arm,))


def page(trend: Trend) -> str:
    return trend_page([trend])


RENDERERS: dict[str, Callable[[Trend], str]] = {"md": trend_markdown, "txt": trend_text, "html": page}
TRENDS: dict[str, Callable[[], Trend]] = {"broken": broken, "begun": begun, "hostile": hostile}
COMPARISONS: dict[str, Callable[[], Shown]] = {"pairs": pairs, "across": across}


def agrees(path: Path, text: str) -> None:
    data = text.encode("utf-8")
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_bytes(data)
    assert path.read_bytes() == data, f"{path.name} differs; if that is meant, run UPDATE_GOLDEN=1 pytest {__file__}"


@pytest.mark.parametrize("kind", RENDERERS)
@pytest.mark.parametrize("name", TRENDS)
def test_trends_as_recorded(name: str, kind: str) -> None:
    agrees(FOLDER / f"{name}.{kind}", RENDERERS[kind](TRENDS[name]()))


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_as_recorded(name: str) -> None:
    agrees(FOLDER / f"{name}.txt", comparison_text(COMPARISONS[name]()))
    agrees(FOLDER / f"{name}.md", comparison_markdown(COMPARISONS[name]()))


def test_no_file_is_left_over() -> None:
    expected = {f"{name}.{kind}" for name in TRENDS for kind in RENDERERS}
    assert {path.name for path in FOLDER.iterdir()} == expected | {
        f"{name}.{kind}" for name in COMPARISONS for kind in ("txt", "md")
    }


def test_the_alarm_is_said_first() -> None:
    trend = broken()
    assert trend.alarm
    assert "Drift alarm: over 4 runs 24 first draws got worse and 6 better" in trend_text(trend).splitlines()[2]
    assert '<p class="alarm">Drift alarm' in page(trend)


def test_the_chart_and_the_table_say_the_same() -> None:
    """Runs without rates are in the table and not in the chart."""
    text = trend_markdown(broken())
    [chart] = re.findall(r"```mermaid\n(.*?)\n```", text, re.DOTALL)
    numbers = [[float(one) for one in line.split(", ")] for line in re.findall(r"\[([\d., ]+)\]", chart)]
    assert numbers[0] == [1, 2, 4, 5, 6] and len(numbers[1]) == len(numbers[2]) == 5
    rows = {line.split(" | ")[0].strip("| "): line for line in text.splitlines() if re.match(r"\| \d", line)}
    exact = [found for found in zip(*numbers, strict=True) if found[0] != 4]
    assert all(f"{value:.1f} %" in rows[f"{run:.0f}"] for run, *values in exact for value in values)
    assert "26–27/30" in rows["4"] and numbers[2][2] == 88.3  # the middle of what a lost draw leaves open
    assert "unreachable" in rows["3"]


def test_a_run_whose_data_are_not_valid_is_no_point_of_the_chart() -> None:
    """Half of its draws lost, its middle would look like a fall of the model."""
    lost = night(2, ["puu", "uup", "uuu"], outcome=Outcome.INCONCLUSIVE, breaks=("treatment:transport",))
    text = trend_markdown(trend_of([night(1, ["ppp"] * 3), lost, night(3, ["ppp"] * 3)]))
    assert 'x-axis "run" [1, 3]' in text and "| 2 | 2026-01-03 | inconclusive | 1–3/3" in text


@pytest.mark.parametrize("kind", RENDERERS)
def test_with_two_arms_it_is_said_whose_rates_these_are(kind: str) -> None:
    alone, both = (trend_of([night(1, ["ppp"], control), night(2, ["ppp"], control)]) for control in ((), ["ppk"]))
    words = (
        html.escape("The rates are the treatment's.").replace("&#x27;", "&#39;")
        if kind == "html"
        else "The rates are the treatment's."
    )
    assert words in RENDERERS[kind](both) and words not in RENDERERS[kind](alone)


def test_what_is_not_shown_is_counted_in_words_that_fit_one_and_many() -> None:
    one = trend_text(trend_of([night(1, GOOD, comparable=comparable(3, exam_sha256="1" * 64)), night(2, GOOD)], damaged=1))
    assert "Not shown: 1 run of earlier series." in one and "Left out: 1 entry of the history that could not be read." in one
    assert "Not shown: 6 runs of earlier series." in trend_text(begun())


def test_with_one_draw_an_item_there_is_no_flip_in_the_chart() -> None:
    """It is not known, which is not none."""
    text = trend_markdown(trend_of([night(1, ["p", "k"]), night(2, ["k", "p"])]))
    assert "line [50.0, 50.0]" in text and "flip (bars)" not in text and "    bar [" not in text and "Bars" not in text


def test_one_run_has_no_chart() -> None:
    assert mermaid(trend_of([night(1, GOOD)]).points) == ""
    assert "```" not in trend_markdown(trend_of([night(1, GOOD)]))


def test_the_chart_holds_the_newest_thirty_runs() -> None:
    trend = trend_of([night(number, ["p"]) for number in range(1, 41)])
    axis = re.search(r'x-axis "run" \[(.*)\]', mermaid(trend.points))
    assert axis is not None and axis[1].split(", ") == [str(number) for number in range(41 - MOST_IN_CHART, 41)]
    text = trend_markdown(trend, rows=5)
    assert "35 older runs are in the history." in text and len(re.findall(r"^\| \d", text, re.MULTILINE)) == 5


@given(st.text(max_size=40))
def test_a_chart_holds_numbers_and_our_own_words_alone(name: str) -> None:
    name = name.encode("utf-8", "replace").decode()
    asked = arm("treatment", ["k"], model=name, endpoint=name)
    trend = trend_of([night(1, ["p"], name=name), night(2, ["k"], name=name, arms=(asked,))])
    assert mermaid(trend.points) == mermaid(trend_of([night(1, ["p"]), night(2, ["k"])]).points)


def test_hostile_names_are_text_in_markdown() -> None:
    text = trend_markdown(hostile())
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(text)
    kinds = [token.type for token in tokens]
    children = [child for token in tokens for child in token.children or []]
    assert kinds.count("heading_open") == 1 and kinds.count("fence") == 1 and kinds.count("table_open") == 1
    assert not any(child.type in {"link_open", "image", "em_open"} for child in children)
    assert {child.content for child in children if child.type == "html_inline"} <= {
        "<code>",
        "</code>",
        "<sub>",
        "</sub>",
        "<br>",
    }
    assert "@octocat" not in text


def test_hostile_names_steer_no_terminal_and_no_log() -> None:
    for text in (trend_text(hostile()), comparison_text(pairs())):
        assert "\x1b" not in text and "::error" not in text


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_hostile_names_are_text_in_the_page_and_nothing_is_loaded() -> None:
    parser = Tags()
    parser.feed(page(hostile()))
    assert not {tag for tag, _ in parser.found} & {"script", "img", "a", "link", "iframe", "object", "form"}
    assert not any(name.startswith("on") or name in {"src", "href", "style"} for _, attrs in parser.found for name in attrs)
    [policy] = [attrs["content"] for tag, attrs in parser.found if attrs.get("http-equiv")]
    assert policy is not None and policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy


@pytest.mark.parametrize("length", [1, 2, 60])
def test_the_picture_is_well_formed_and_tells_lines_apart_by_more_than_colour(length: int) -> None:
    points = trend_of([night(number, ["ppp", "pkp", "uuu"]) for number in range(1, length + 1)]).points
    root = ElementTree.fromstring(trend_svg(points))
    tag = "{http://www.w3.org/2000/svg}"
    dashes = {line.get("stroke-dasharray") for line in root.iter(f"{tag}polyline")}
    assert len(dashes) == (5 if length > 1 else 0)
    shapes = {kind: len(list(root.iter(tag + kind))) for kind in ("circle", "rect", "path", "polygon", "ellipse")}
    assert set(shapes.values()) == {length + 1}  # each line's marks and its key
    assert root.get("role") == "img" and root.get("aria-label")
    numbers = re.findall(r'(?:cx|cy|x1|x2|y1|y2|x|y)="(-?[\d.]+)"', trend_svg(points))
    assert all(0 <= float(number) <= 720 for number in numbers)


@pytest.mark.parametrize("top", [0, 1, 40, 900, 1_000, 4_000, 10_000, 700_000, 10**8])
def test_no_label_of_the_picture_is_cut(top: int) -> None:
    slow = arm("treatment", ["ppp"], latency=Latency(top, top, top))
    picture = ElementTree.fromstring(trend_svg(trend_of([night(1, ["ppp"], arms=(slow,))]).points))
    ends = [(float(one.get("x", "0")), one.text or "") for one in picture.iter("{http://www.w3.org/2000/svg}text")
            if one.get("text-anchor") == "end"]  # fmt: skip
    assert len(ends) == 7 and all(x - 0.62 * 11 * len(words) >= 0 for x, words in ends), ends


def test_of_a_long_history_the_page_draws_and_lists_the_newest_runs() -> None:
    text = page(trend_of([night(1, ["p"], run=f"{number:05}-1") for number in range(MOST_ROWS + 7)]))
    assert "7 older runs are in the history." in text and text.count("<tr><td>") == MOST_ROWS
    assert text.count("<title>run ") == 4 * MOST_IN_PICTURE and f"run {MOST_ROWS + 7}: reach" in text


def test_one_card_is_the_heading_of_its_page_and_several_have_one_above() -> None:
    assert re.findall(r"<h(\d)", page(broken())) == ["1"]
    assert re.findall(r"<h(\d)>(?:Trends of 2 cards)?", trend_page([broken(), hostile()])) == ["1", "2", "2"]


def test_every_measure_is_in_the_picture_with_its_interval() -> None:
    told = [
        title.text or "" for title in ElementTree.fromstring(trend_svg(broken().points)).iter("{http://www.w3.org/2000/svg}title")
    ]
    assert "run 4: stable pass 26–27/30 [70–97]" in told and "run 4: reach 89/90 98.9 % [86–100]" in told
    assert sum(": p95 120 [90–400] ms" in one for one in told) == 5  # of the run that reached nobody there is none


@pytest.mark.parametrize("times", [Latency(90, 120, None), Latency(None, None, None), Latency(0, 0, 0), Latency(1, 2, 10**400)])
def test_times_of_any_size_and_none_stay_in_the_picture(times: Latency) -> None:
    points = trend_of([night(1, ["ppp"]), night(2, ["ppp"], arms=(arm("treatment", ["ppp"], latency=times),))]).points
    heights = [float(one) for one in re.findall(r'(?:cy|y1|y2|y)="(-?[\d.]+)"', trend_svg(points))]
    assert heights and min(heights) >= 0 and max(heights) <= HEIGHT


def test_json_is_json_with_exact_evidence() -> None:
    value = json.loads(dumps(trend_json(broken())))
    assert value["drift"]["alarm"] is True and "/" in value["drift"]["evidence"]
    found = json.loads(dumps(comparison_json(pairs())))["arms"][0]
    assert (found["lost"], found["gained"], found["mcnemar_mid_p"], found["moved"]) == (1, 1, "3/4", "check")
    assert [pair["kind"] for pair in found["pairs"]] == ["lost", "broke", "broke", "gained", "steadied"]
    [passed] = json.loads(dumps(comparison_json(across())))["arms"]
    assert (passed["k"], passed["then"]["low"], passed["now"]["high"]) == (2, "3/4", "1")


def test_a_long_list_of_pairs_is_cut_and_counted() -> None:
    then, now = tally({"treatment": ["p"] * 80}), tally({"treatment": ["k"] * 80})
    text = comparison_text(shown(compare(then, now, "treatment")))
    assert "30 more are not listed" in text and text.count("mismatch") == 50 and "p under 0.0001" in text
