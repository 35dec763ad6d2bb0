"""The page in a real Chromium: quiet, offline, usable by mouse, keyboard and eye, whatever a model wrote into it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support import pages
from support.browser import Browser, Page, needs_browser, opened, started
from support.histories import night
from support.pages import render_html
from support.reports import GOLDEN, HOSTILE, behind

from evalaction.method.series.trend import trend_of
from evalaction.report.html.page import Drawn
from evalaction.report.trend.html import trend_page

CASES = {"small": pages.small, "refused": pages.refused, "hostile": pages.hostile}
IDS = ".row:not([hidden]) .id bdi"

# Contrast of every element with text of its own against what is painted behind it, after WCAG 2.2.
CONTRAST = """(() => {
  const parse = (text) => {
    const found = text.match(/[\\d.]+/g).map(Number);
    const scale = text.startsWith("color(") ? 1 : 255;
    return { rgb: found.slice(0, 3).map((part) => part / scale), alpha: found.length > 3 ? found[3] : 1 };
  };
  const over = (top, bottom) => top.rgb.map((part, at) => part * top.alpha + bottom[at] * (1 - top.alpha));
  const light = (rgb) => {
    const [r, g, b] = rgb.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    if (!element) return [1, 1, 1];
    const colour = parse(getComputedStyle(element).backgroundColor);
    return colour.alpha === 1 ? colour.rgb : over(colour, behind(element.parentElement));
  };
  const low = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest("script, noscript, option")) continue;
    const style = getComputedStyle(element);
    const ink = parse(element instanceof SVGElement ? style.fill : style.color);
    const ground = behind(element);
    const [a, b] = [light(over(ink, ground)), light(ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push([element.tagName, element.className.baseVal ?? element.className, ratio.toFixed(2)]);
  }
  return low;
})()"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = needs_browser()
    with started(program) as running:
        try:
            running.send("Browser.getVersion")
        except (RuntimeError, BrokenPipeError) as error:
            pytest.skip(f"{program} does not start here ({error}).")
        yield running


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    written = {}
    for name, make in CASES.items():
        written[name] = folder / f"{name}.html"
        written[name].write_bytes(render_html(*make()).encode())
    return written


@pytest.fixture
def small(browser: Browser, files: dict[str, Path]) -> Iterator[Page]:
    with opened(browser, files["small"]) as page:
        yield page
        assert not page.complaints


def label(page: Page) -> str:
    """What a screen reader is told of the active draw."""
    said: str = page.run("document.getElementById('active-draw').getAttribute('aria-label')")
    return said


def fill(page: Page, selector: str, value: str, event: str) -> None:
    """Give a field a value as its user would."""
    page.run(
        f"(() => {{ const e = document.querySelector({selector!r}); e.value = {value!r};"
        f"e.dispatchEvent(new Event({event!r})); }})()"
    )
    page.settle()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", CASES)
def test_quiet_offline_and_readable(browser: Browser, files: dict[str, Path], name: str, dark: bool) -> None:
    with opened(browser, files[name], dark=dark) as page:
        page.run("for (const one of document.querySelectorAll('details')) one.open = true")
        if name != "refused":
            page.click(".row .d")
        assert page.run(CONTRAST) == []
        assert not page.complaints
        assert page.requests == [files[name].as_uri()]
        background = page.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, background[4:-1].split(","))) < 384) == dark


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_wider_than_the_screen(browser: Browser, files: dict[str, Path], name: str, width: int) -> None:
    with opened(browser, files[name], width=width, phone=width < 500) as page:
        page.run("for (const one of document.querySelectorAll('details')) one.open = true")
        page.settle()
        assert page.run("[document.documentElement.scrollWidth, visualViewport.scale]") == [width, 1]


def test_twenty_draws_of_two_arms_are_in_view_at_once(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "many.html"
    drawn = Drawn(pages.cells({"control": ["p" * 20], "treatment": ["pkcue" * 4]}), pages.Held())
    path.write_text(render_html(behind(), drawn), encoding="utf-8")
    with opened(browser, path) as page:
        last = page.run(
            "(() => { const box = (one) => document.querySelector(one).getBoundingClientRect();"
            "return box('.view').right - box('.row .d[data-column=\\'39\\']').right; })()"
        )
        assert last >= 0


def test_on_a_telephone_the_main_tables_are_whole(browser: Browser, files: dict[str, Path]) -> None:
    """Nothing of them has to be scrolled to the side, and they stay tables for those who hear them."""
    with opened(browser, files["small"], width=360, height=740, phone=True) as page:
        page.run("for (const one of document.querySelectorAll('details')) one.open = true")
        cut = page.run(
            "['columns', 'draws', 'halves', 'moved', 'limits'].flatMap((name) =>"
            "[...document.querySelectorAll(`[data-section=${name}] .scroll`)].filter((one) => one.scrollWidth > one.clientWidth))"
            ".length"
        )
        assert cut == 0
        said = page.send("Accessibility.getFullAXTree")["nodes"]
        roles = [node["role"]["value"] for node in said if not node["ignored"]]
        assert roles.count("table") >= 5 and {"columnheader", "rowheader", "cell"} <= set(roles)
        words = [node["name"]["value"] for node in said if not node["ignored"] and node["role"]["value"] == "columnheader"]
        assert {"reach", "contract ∣ reach", "check ∣ contract", "end to end", "stable pass", "reason"} <= set(words)


def test_on_a_telephone_the_draw_that_was_asked_for_comes_first(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["small"], width=360, height=740, phone=True) as page:
        for column, first in ((5, "treatment, draw 0: check failed"), (0, "control, draw 0: pass")):
            page.click(f".row[data-place='0'] .d[data-column='{column}']")
            top = page.run(
                "[...document.querySelectorAll('.side .one')].sort((one, other) => one.getBoundingClientRect().top"
                "- other.getBoundingClientRect().top)[0].querySelector('.said').innerText"
            )
            assert top == first
            page.key("Escape")


def test_every_heading_and_table_is_there_for_those_who_hear_the_page(browser: Browser, files: dict[str, Path]) -> None:
    """Also what lies below the screen."""
    with opened(browser, files["small"], height=300) as page:
        said = [node for node in page.send("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
        names = [node["name"]["value"] for node in said if node["role"]["value"] == "heading"]
        shown = page.run(
            "[...document.querySelectorAll('h1, section > h2, summary > h2, summary > h3')].map((one) => one.innerText)"
        )
        assert sorted(names) == sorted(shown)
        assert {"What moved", "Latency and tokens", "Provenance", "Whole digests"} <= set(names)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_trend_is_quiet_offline_and_readable(browser: Browser, tmp_path: Path, dark: bool) -> None:
    """The page has no script; on a telephone its chart stays large enough to read, and scrolls."""
    path = tmp_path / "trend.html"
    path.write_text(trend_page([trend_of([night(1, ["ppp", "pkp"]), night(2, ["kkk", "ppu"])])]), encoding="utf-8")
    with opened(browser, path, width=390, phone=True, dark=dark) as page:
        assert page.run(CONTRAST) == [] and not page.complaints and page.requests == [path.as_uri()]
        assert page.run("[document.documentElement.scrollWidth, visualViewport.scale]") == [390, 1]
        assert page.run("document.querySelector('svg text').getBoundingClientRect().height") > 9
        background = page.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, background[4:-1].split(","))) < 384) == dark


@pytest.mark.parametrize("width", [390, 1200])
def test_with_one_draw_the_names_of_the_arms_stand_apart(browser: Browser, tmp_path: Path, width: int) -> None:
    path = tmp_path / "one.html"
    drawn = Drawn(pages.cells({"control": ["p"] * 2, "treatment": ["k"] * 2}), pages.Held())
    path.write_text(render_html(behind(), drawn), encoding="utf-8")
    with opened(browser, path, width=width, phone=width < 500) as page:
        ends = page.run(
            "[...document.querySelectorAll('.head .named')].flatMap((one) => { const range = document.createRange();"
            "range.selectNodeContents(one); const box = range.getBoundingClientRect(); return [box.left, box.right]; })"
        )
        assert len(ends) == 4 and ends == sorted(ends)


def test_a_click_opens_what_was_said(small: Page) -> None:
    assert small.texts(IDS) == ["t0014", "t0052", "t0031", "t0007"]
    small.click(".row[data-place='0'] .d[data-column='5']")
    assert small.texts(".side h3") == ["t0014 · treatment, draw 0: check failed"]
    control, treatment = small.texts(".side .one")
    assert "control, draw 0: pass" in control and '{"label": "refund", "draw": 0}' in control
    for words in ("treatment, draw 0: check failed", "check\nnot met", "checker’s reason\nmismatch", "latency\n40 ms"):
        assert words in treatment
    small.click(".side button")
    assert small.run("document.querySelector('.side').hidden")


def test_what_came_instead_of_a_reply(small: Page) -> None:
    small.click(".row[data-place='3'] .d[data-column='7']")
    assert "What came instead" in small.texts(".side .one")[1] and '{"error": "overloaded"}' in small.texts(".side pre")[1]
    assert "why not\nstatus:503" in small.texts(".side .one")[1]
    assert "latency\n1,250 ms" in small.texts(".side .one")[0] and "finish reason\nstop" in small.texts(".side .one")[0]


def test_the_keyboard_reaches_everything(small: Page) -> None:
    small.run("document.querySelector('.view').focus()")
    assert label(small) == "control, draw 0: pass"
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        small.key(key)
    assert label(small) == "control, draw 2: check failed"
    small.key("End")
    assert label(small) == "treatment, draw 4: check failed"
    small.key("Enter")
    assert small.texts(".side h3") == ["t0052 · treatment, draw 4: check failed"]
    small.key("ArrowDown")
    assert small.texts(".side h3") == ["t0031 · treatment, draw 4: pass"], "the panel follows"
    small.key("Escape")
    assert small.run("document.querySelector('.side').hidden")
    small.key("End", control=True)
    small.key("Home")
    assert label(small) == "control, draw 0: check failed"
    small.key("Home", control=True)
    small.key(" ")
    assert small.texts(".side h3") == ["t0014 · control, draw 0: pass"]


def test_focus_can_be_seen(small: Page) -> None:
    seen = set()
    for _ in range(14):
        small.key("Tab")
        seen.add(
            small.run(
                "(() => { const e = document.activeElement; const s = getComputedStyle(e);"
                "return [e.tagName, parseFloat(s.outlineWidth) >= 1 && s.outlineStyle !== 'none'].join(); })()"
            )
        )
    assert {one for one in seen if not one.startswith("BODY")} <= {"A,true", "BUTTON,true", "DIV,true", "SUMMARY,true"}
    assert {"A,true", "BUTTON,true", "DIV,true"} <= seen


def test_filters_narrow_the_list(small: Page) -> None:
    chips = small.texts(".chips button")
    assert chips == ["lost\n3", "broke\n2", "flip\n2", "gained\n1", "steadied\n1", "check\n4", "contract\n1", "unreached\n1",
                     "checker error\n1"]  # fmt: skip
    small.click(".chips button:nth-child(4)")
    assert small.texts(IDS) == ["t0007"] and small.texts("#grid [aria-live=polite].quiet") == ["1 of 4 items"]
    small.click(".chips button:nth-child(7)")
    assert small.texts(IDS) == ["t0052", "t0007"], "one or the other"
    fill(small, "label:nth-of-type(2) select", "billing", "change")
    assert small.texts(IDS) == [] and small.texts(".none") == ["No item is like this."]


def test_a_filter_that_is_on_differs_from_one_that_is_off_in_forced_colours(small: Page) -> None:
    """Such a reader's system takes the place of our colours, of backgrounds too."""
    small.send("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    small.click(".chips button")
    on, off = small.run(
        "[...document.querySelectorAll('.chips button')].slice(0, 2).map((one) => getComputedStyle(one).backgroundColor)"
    )
    assert on != off


def test_items_are_found_by_id_and_put_in_order(small: Page) -> None:
    small.run("document.querySelector('input[type=search]').focus()")
    small.write("003")
    assert small.texts(IDS) == ["t0031"]
    fill(small, "input[type=search]", "", "input")
    fill(small, "select", "id", "change")
    assert small.run("document.activeElement.type") == "search"
    order = "[...document.querySelectorAll('.row:not([hidden])')].sort((a, b) => a.dataset.place - b.dataset.place)"
    assert small.run(f"{order}.map((row) => row.querySelector('bdi').innerText)") == ["t0007", "t0014", "t0031", "t0052"]


def test_an_id_above_opens_its_item(small: Page) -> None:
    small.click(".todo .toitem")
    assert small.texts(".side h3") == ["t0014 · treatment, draw 0: check failed"]
    small.click("[data-section=moved] tbody tr:nth-child(3) .toitem")
    assert small.texts(".side h3") == ["t0052 · treatment, draw 0: contract broken"]


def test_the_button_turns_the_colours_and_keeps_nothing(small: Page) -> None:
    scheme = "getComputedStyle(document.documentElement).colorScheme"
    assert small.run(scheme) == "light" and small.texts("#theme") == ["Dark"]
    small.click("#theme")
    assert small.run(scheme) == "dark" and small.texts("#theme") == ["Light"]
    assert small.run(CONTRAST) == []
    assert small.run("[document.cookie]") == [""]


def test_hostile_text_is_only_text(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["hostile"]) as page:
        assert page.run("document.querySelectorAll('script').length") == 1, "the block of data is read and gone"
        rows = page.run("document.querySelectorAll('.row:not([hidden])').length")
        assert rows > len(HOSTILE)
        for place in range(rows):
            page.click(f".row[data-place='{place}'] .d[data-column='1']")
            said = page.texts(".side pre")[-1]
            assert "<script>alert(1)</script>" in said
            assert not set(said) & set("\u202e\u200b\x1b\x9b\x07\u2028\ud800")
        made = page.run("[...new Set([...document.querySelectorAll('body *')].map((one) => one.tagName))]")
        assert not {"IMG", "IFRAME", "B", "EM", "FORM"} & set(made)
        assert page.run("[...document.querySelectorAll('a')].map((one) => one.getAttribute('href'))") == ["#draws-grid"]
        assert not page.complaints and page.requests == [files["hostile"].as_uri()]


def test_without_script_the_tables_are_there(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["small"], script=False) as page:
        seen = page.send("DOM.getDocument", depth=-1)
        shot = page.send("Accessibility.getFullAXTree")["nodes"]
        names = " ".join(str(node.get("name", {}).get("value", "")) for node in shot)
        assert seen["root"]["childNodeCount"]
        for words in ("treatment is behind", "265/320", "The list of single draws needs", "rows.csv"):
            assert words in names, words
        assert "Find an item" not in names and "Dark" not in names.split()


def test_the_printed_page_is_light_and_whole(browser: Browser, files: dict[str, Path]) -> None:
    with opened(browser, files["small"], dark=True) as page:
        page.send("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        page.run("dispatchEvent(new Event('beforeprint'))")
        assert page.run("getComputedStyle(document.documentElement).colorScheme") == "light"
        assert page.run("[...document.querySelectorAll('details')].every((one) => one.open)")
        assert not page.run("document.getElementById('draws-grid').checkVisibility()")
        page.run("dispatchEvent(new Event('afterprint'))")
        assert not page.run("[...document.querySelectorAll('details')].every((one) => one.open)")


@pytest.mark.parametrize("name", GOLDEN)
def test_every_kind_of_report_is_quiet(browser: Browser, tmp_path: Path, name: str) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(render_html(GOLDEN[name]()).encode())
    with opened(browser, path) as page:
        assert not page.complaints
        levels: list[Any] = page.run("[...document.querySelectorAll('h1, h2, h3')].map((one) => Number(one.tagName[1]))")
        assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))


def test_a_large_list_makes_only_the_rows_in_view(browser: Browser, tmp_path: Path) -> None:
    items = 3_000
    cells = pages.cells({"control": ["pk"] * items, "treatment": ["kp"] * items})
    path = tmp_path / "report.html"
    path.write_bytes(render_html(GOLDEN["behind"](), Drawn(cells, pages.Held())).encode())
    with opened(browser, path) as page:
        assert page.run("document.querySelectorAll('.row').length") < 80
        page.run("document.querySelector('.view').focus()")
        page.key("End", control=True)
        page.settle()
        assert "t2999" in page.texts(IDS) and page.run("document.querySelectorAll('.row').length") < 80
        assert page.run("Number(document.querySelector('.view').getAttribute('aria-rowcount'))") == items + 1


def test_what_stayed_the_same_and_what_went_elsewhere_is_marked(browser: Browser, tmp_path: Path) -> None:
    cells = pages.cells(
        {"control": ["p", "k", "p"], "treatment": ["p", "p", "k"]},
        unchanged=(0,),
        routes={"control": (None, None, None), "treatment": (None, "tag code", "<b>tag</b>")},
    )
    path = tmp_path / "report.html"
    text = "z" * 240
    path.write_bytes(render_html(GOLDEN["behind"](), Drawn(cells, pages.Held({("treatment", 2): text}))).encode())
    with opened(browser, path) as page:
        assert page.texts(".chips button")[-2:] == ["unchanged\n1", "route changed\n2"]
        page.click(".chips button:last-child")
        assert page.texts(IDS) == ["t0002", "t0001"]
        page.click(".row[data-place='0'] .d[data-column='1']")
        control, treatment = page.texts(".side .one")
        assert "route\ndefault" in control and "route\n<b>tag</b>" in treatment
        assert "Text of the reply, perhaps cut at 240 characters" in treatment
        page.click(".chips button:last-child")
        page.click(".chips button:nth-last-child(2)")
        assert page.texts(".row:not([hidden]) .kind:not([hidden])") == ["unchanged"]
        assert not page.complaints
