"""The page: the same words and numbers as every other renderer, nothing active in it that is not ours, nothing fetched."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import pages
from support.pages import render_html
from support.report_strategies import reports
from support.reports import GOLDEN, HOSTILE, behind, enormous, small_single, synthetic

from evalaction.method.report import Report
from evalaction.report import figures
from evalaction.report.html.assets import script, style
from evalaction.report.html.page import Drawn

FOLDER = Path(__file__).parent.parent / "golden" / "page"
CASES: dict[str, Callable[[], tuple[Report, Drawn | None]]] = {
    "small": pages.small,
    "refused": pages.refused,
    "hostile": pages.hostile,
}
ANY_REPORT = st.one_of(reports(), st.sampled_from(sorted(GOLDEN)).map(lambda name: GOLDEN[name]()))
VOID = {"meta", "br", "input", "link", "rect", "path", "circle", "polyline"}


class Parts(HTMLParser):
    """Elements, attributes and nesting as a parser reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute of {tag} is there twice"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"


def without_assets(page: str) -> str:
    """The page with style, script and their digests left out: those are read in their own files."""
    page = page.replace(style(), "STYLE").replace(script(), "SCRIPT")
    return re.sub(r"sha256-[A-Za-z0-9+/=]{44}", "sha256-DIGEST", page)


@pytest.mark.parametrize("name", CASES)
def test_page_as_recorded(name: str) -> None:
    data = without_assets(render_html(*CASES[name]())).encode()
    path = FOLDER / f"{name}.html"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_bytes(data)
    assert path.read_bytes() == data, f"{path.name} differs; if that is meant, run UPDATE_GOLDEN=1 pytest {__file__}"


@given(ANY_REPORT)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_page_says_what_the_others_say(report: Report) -> None:
    said = pages.shown(render_html(report))
    outcome = report.verdict.outcome
    assert f"outcome {outcome.value} (exit {outcome.exit_code})" in said
    for arm in report.arms:
        rates, draws = arm.columns, arm.draws
        for value in (rates.reach, rates.contract, rates.check, rates.end_to_end):
            assert figures.rate(value) in said
        for bounded in (draws.first, draws.stable, draws.flip):
            assert bounded is None or figures.bounded(bounded) in said


@given(ANY_REPORT)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_only_our_own_elements_are_in_it(report: Report) -> None:
    parts = Parts(render_html(report))
    assert not parts.open
    tags = [tag for tag, _ in parts.elements]
    assert tags.count("script") == 1 and tags.count("style") == 1 and tags.count("h1") == 1
    assert not {"img", "iframe", "link", "object", "embed", "form", "base", "b", "video"} & set(tags)
    for tag, attributes in parts.elements:
        assert not [name for name in attributes if name.startswith("on") or name in {"style", "src", "srcset", "srcdoc"}]
        assert tag == "a" or "href" not in attributes


@pytest.mark.parametrize("make", [pages.small, pages.hostile])
def test_nothing_untrusted_ends_the_block_of_data(make: Callable[[], tuple[Report, Drawn]]) -> None:
    report, drawn = make()
    page = render_html(report, drawn)
    tags = [tag for tag, _ in Parts(page).elements]
    assert tags.count("script") == 2
    data = pages.data_of(page)
    assert data["ids"] == [*drawn.cells.ids]
    size = len(drawn.cells.ids) * drawn.cells.draws
    places = [(arm, cell) for arm in drawn.cells.arms for cell in range(size) if drawn.texts.size(arm, cell)]
    assert data["whole"].keys() == {str(drawn.cells.arms.index(arm) * size + cell) for arm, cell in places}


def test_links_lead_only_where_we_vouch_for() -> None:
    hrefs = [attributes["href"] for _, attributes in Parts(render_html(behind())).elements if "href" in attributes]
    assert hrefs == ["#provenance", behind().provenance.run_url]
    bad = [attributes["href"] for _, attributes in Parts(render_html(*pages.hostile())).elements if "href" in attributes]
    assert bad == ["#draws-grid"]


def test_the_policy_names_exactly_our_style_and_script() -> None:
    page = render_html(*pages.small())
    policy = next(attributes["content"] for tag, attributes in Parts(page).elements if "http-equiv" in attributes) or ""
    inside = {name: re.search(rf"<{name}>(.*?)</{name}>", page, re.DOTALL) for name in ("script", "style")}
    for name, found in inside.items():
        assert found is not None
        digest = base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|\.src\b|fetch\(", script())
    assert not re.search(r"url\(|@import|https?:", style() + script())


def test_titles_and_marks_go_before_all_else() -> None:
    assert 'class="verdict is-neutral"' in render_html(synthetic())
    assert pages.shown(render_html(synthetic())).index("SYNTHETIC") < pages.shown(render_html(synthetic())).index(
        "all limits hold"
    )
    assert "<title>SMALL (n=12) · support-triage: all limits hold</title>" in render_html(small_single())


def test_hostile_text_is_shown_as_text() -> None:
    said = pages.shown(render_html(*pages.hostile()))
    for text in HOSTILE:
        if text.isprintable():
            assert text in said
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x08\x1b\x9b\ud800-\udfff]", render_html(*pages.hostile()))


def test_long_lists_are_cut_and_say_so() -> None:
    page = render_html(enormous())
    assert "4,800 more in results.json." in page
    assert "100 more in results.json" in page and " …</li>" in page
    assert len(page) < 3_000_000


def test_an_unfinished_run_has_its_draws_and_no_rates() -> None:
    cells = pages.cells({"treatment": ["p.", "k."]})
    page = render_html(GOLDEN["unreachable"](), Drawn(cells, pages.Held()))
    assert pages.data_of(page)["sides"][0]["letters"] == "p.k."
    assert not pages.data_of(page)["judged"]
    assert "Latency and tokens" not in page and "Every draw" in page


def test_what_did_not_change_and_where_it_was_sent_is_in_the_data() -> None:
    cells = pages.cells(
        {"control": ["p", "p"], "treatment": ["p", "k"]},
        unchanged=(0,),
        routes={"treatment": (None, "tag code"), "control": (None, None)},
    )
    data = pages.data_of(render_html(behind(), Drawn(cells, pages.Held())))
    assert data["unchanged"] == [0]
    assert data["routes"] == [[[""], [0, 2]], [["", "tag code"], [0, 1, 1, 1]]]


def test_templates_are_loaded_only_where_a_page_is_rendered() -> None:
    code = "import sys, evalaction.engine.derive, evalaction.cli.commands.report; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0
