"""`junit.xml` against the dialect of its consumers and a library that reads it: counts, outcomes, and any text at all."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import xmlschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped
from support import pages
from support.report_strategies import STRIPS, TEXTS, reports
from support.reports import (
    GOLDEN,
    earned_ahead,
    not_run,
    small_single,
    synthetic,
    transport,
    unchanged,
    ungated_single,
    unreachable,
)

from evalaction.errors import Outcome
from evalaction.method.report import Report
from evalaction.report.cells import Cells
from evalaction.report.html.page import Drawn
from evalaction.report.junit import junit

TESTS = Path(__file__).parent.parent
FOLDER = TESTS / "golden" / "junit"
SCHEMA = xmlschema.XMLSchema(TESTS / "data" / "junit" / "dialect.xsd")
Case = tuple[str, str, str | None, str | None]
"""Name, outcome, type and message."""


def cells_of(make: Callable[[], tuple[Report, Drawn | None]]) -> tuple[Report, Cells | None]:
    report, drawn = make()
    return report, drawn.cells if drawn else None


CASES = {"small": pages.small, "refused": pages.refused, "hostile": pages.hostile}


def read(text: str) -> dict[str, list[Case]]:
    """The suites as a consumer's library sees them, after the dialect and the counts are found right."""
    SCHEMA.validate(io.StringIO(text))
    suites: dict[str, list[Case]] = {}
    found: Any = JUnitXml.fromstring(text.encode())
    told = (found.tests, found.failures, found.errors, found.time)
    found.update_statistics()
    assert told == (found.tests, found.failures, found.errors, pytest.approx(found.time, abs=0.001))
    for suite in found:
        told = (suite.tests, suite.failures, suite.errors, suite.skipped)
        suite.update_statistics()
        assert told == (suite.tests, suite.failures, suite.errors, suite.skipped)
        suites[suite.name] = [_case(case) for case in suite]
    return suites


def _case(case: Any) -> Case:
    results, name = case.result, case.name
    if not results:
        return name, "passed", None, None
    kinds = {Failure: "failure", Error: "error", Skipped: "skipped"}
    return name, kinds[type(results[0])], results[0].type, results[0].message


@pytest.mark.parametrize("name", CASES)
def test_file_as_recorded(name: str) -> None:
    data = junit(*cells_of(CASES[name])).encode()
    path = FOLDER / f"{name}.xml"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_bytes(data)
    assert path.read_bytes() == data, f"{path.name} differs; if that is meant, run UPDATE_GOLDEN=1 pytest {__file__}"
    read(data.decode())


def test_a_case_for_each_item_and_arm() -> None:
    suites = read(junit(*cells_of(pages.small)))
    assert list(suites) == ["verdict", "control", "treatment"]
    assert suites["control"] == [
        ("t0014", "passed", None, None),
        ("t0031", "passed", None, None),
        ("t0052", "failure", "check", "1 of 5 draws failed: mismatch"),
        ("t0007", "failure", "check", "5 of 5 draws failed: mismatch"),
    ]
    assert suites["treatment"][2] == ("t0052", "failure", "contract", "5 of 5 draws failed: not_json")
    assert suites["treatment"][3] == ("t0007", "error", "reach", "2 of 5 draws have no verdict: status:503")


def test_the_verdict_the_claim_and_each_limit_are_cases() -> None:
    verdict = read(junit(*cells_of(pages.small)))["verdict"]
    assert verdict[0] == ("outcome", "failure", "fail", "treatment is behind")
    assert verdict[1][:2] == ("claim: not_behind", "failure")
    assert {(name, kind) for name, kind, _, _ in verdict[2:]} == {
        ("limit: treatment min_contract at least 98 %", "passed"),
        ("limit: between max_flip_gain gain at most 10 points", "failure"),
        ("limit: treatment min_stable_pass at least 60 %", "passed"),
        ("limit: treatment max_p95_ms at most 5000 ms", "passed"),
    }


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (earned_ahead, "passed"), (small_single, "passed"), (transport, "error"), (unreachable, "error"), (not_run, "error"),
        (GOLDEN["hash_mismatch"], "error"), (GOLDEN["behind"], "failure"), (unchanged, "skipped"), (synthetic, "skipped"),
        (ungated_single, "skipped"),
    ],
)  # fmt: skip
def test_only_a_judged_and_gated_pass_is_green(make: Callable[[], Report], kind: str) -> None:
    assert read(junit(make()))["verdict"][0][1] == kind


@given(reports())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_red_run_is_red_in_its_consumers(report: Report) -> None:
    kinds = {name: kind for name, kind, _, _ in read(junit(report))["verdict"]}
    outcome = report.verdict.outcome
    assert (kinds["outcome"] in {"failure", "error"}) == (outcome.exit_code != 0)
    assert (kinds["outcome"] == "failure") == (outcome is Outcome.FAIL)


@given(st.lists(st.tuples(TEXTS, STRIPS, STRIPS), min_size=1, max_size=5, unique_by=lambda item: item[0]), TEXTS)
@settings(max_examples=100, deadline=None)
def test_any_text_is_well_formed_and_counted(items: list[tuple[str, str, str]], name: str) -> None:
    ids = [item or "empty" for item, _, _ in items]
    made = pages.cells({"control": [one for _, one, _ in items], "treatment": [one for _, _, one in items]}, ids)
    report = GOLDEN["behind"]()
    for item in ids:
        made.add(pages.row(item, letter="k", finish_reason=name))
    suites = read(junit(report, made))
    assert [len(suites[arm]) for arm in ("control", "treatment")] == [len(items)] * 2


def test_what_was_not_drawn_is_skipped() -> None:
    asked = pages.cells({"control": [".", "."], "treatment": [".", "."]})
    suites = read(junit(unchanged(), asked))
    assert {kind for _, kind, _, _ in suites["treatment"] + suites["control"]} == {"skipped"}
    partly = pages.cells({"treatment": ["p.", "k.", "pp"]})
    assert [kind for _, kind, _, _ in read(junit(unreachable(), partly))["treatment"]] == ["skipped", "failure", "passed"]
    left = pages.cells({"control": ["p"], "treatment": ["p"]}, left_out=("same",))
    assert read(junit(earned_ahead(), left))["treatment"][1][:2] == ("same", "skipped")


def test_no_cdata_and_nothing_that_xml_forbids() -> None:
    text = junit(*cells_of(pages.hostile))
    assert "CDATA" not in text and "<script" not in text
    names = {case.get("name") for case in ElementTree.fromstring(text).iter("testcase")}
    assert "<script>alert(1)</script>" in names


@pytest.mark.parametrize(
    "isolation", ["unsafe (none), split", "namespaces (root), in_process, forgeable", "namespaces (root), split"]
)
def test_code_that_could_forge_its_pass_is_said_in_the_name(isolation: str) -> None:
    report, cells = cells_of(pages.small)
    told = replace(report, provenance=replace(report.provenance, runner={"isolation": isolation}))
    head = junit(told, cells).splitlines()[1]
    assert (f"isolation {isolation}" in head) == ("split" not in isolation or "unsafe" in isolation)
