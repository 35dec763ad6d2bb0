from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from support.histories import arm, comparable, night, nights
from support.runs import say, tally

from evalaction.errors import Outcome, UsageError
from evalaction.method.numbers import Bounded, Rate
from evalaction.method.series.comparison import AcrossK, Compared, compare, refuse_incomparable
from evalaction.method.series.telling import beginning, drift_sentence
from evalaction.method.series.trend import series_of, trend_json, trend_of

GOOD = ["pp", "pk", "pp"]


def test_rates_with_intervals_of_the_treatment() -> None:
    [point] = trend_of([night(1, ["pp", "pk", "uk"], ["kk", "kk", "kk"])]).points
    assert point.first and point.stable and point.flip and point.reach
    assert (point.first.count, point.stable.count) == (Bounded(2, 3, 3), Bounded(1, 1, 3))
    assert (point.flip.count, point.reach.count) == (Bounded(1, 2, 3), Rate(5, 6))
    assert point.reach.interval and point.reach.interval.low < 5 / 6 < point.reach.interval.high


def test_a_night_without_rates_is_a_point_without_numbers() -> None:
    lost = night(2, GOOD, outcome=Outcome.UNREACHABLE, arms=(arm("treatment", []),))
    found = trend_of([night(1, GOOD), lost]).points
    assert [(point.number, point.first is None) for point in found] == [(1, False), (2, True)]


def test_one_draw_has_no_flip() -> None:
    assert trend_of([night(1, ["p"])]).points[0].flip is None


def test_nights_are_in_order_whatever_order_they_come_in() -> None:
    entries = nights(GOOD, GOOD, GOOD)
    assert trend_of(entries[::-1]) == trend_of(entries)


def test_a_changed_exam_begins_a_new_series_that_names_what_changed() -> None:
    old = nights(GOOD, GOOD)
    new = night(3, ["kk", "kk", "kk"], comparable=comparable(2, exam_sha256="1" * 64, timeout_ms=9))
    found = trend_of([*old, new])
    assert [point.number for point in found.points] == [1] and found.earlier == 2
    assert found.began == ("exam.sha256", "draws.timeout_ms") and found.drift.nights == 0
    begun = beginning(found)
    assert begun is not None
    assert say(begun) == "A new series, since exam.sha256 and draws.timeout_ms changed: earlier runs are not comparable."


def test_a_single_field_that_changed_is_named() -> None:
    found = trend_of([night(1, GOOD), night(2, ["ppp"] * 3)])
    assert say(beginning(found) or ()) == "A new series, since draws.count changed: earlier runs are not comparable."


def test_going_back_goes_on_with_the_earlier_series() -> None:
    other = night(2, GOOD, comparable=comparable(2, checks_sha256="1" * 64))
    found = trend_of([night(1, GOOD), other, night(3, GOOD)])
    assert [point.entry.run for point in found.points] == ["1001-1", "1003-1"]
    assert found.began == () and found.drift.nights == 1
    assert [len(series) for series in series_of([night(1, GOOD), other, night(3, GOOD)])] == [1, 2]


def test_a_series_is_new_in_its_first_run_alone() -> None:
    before, same = night(1, GOOD, comparable=comparable(2, checks_sha256="1" * 64)), [night(2, GOOD), night(3, GOOD)]
    assert say(beginning(trend_of([before, *same[:1]])) or ()).startswith("A new series, since checks changed")
    later = say(beginning(trend_of([before, *same])) or ())
    assert later == "This series began on 2026-01-03, when checks changed; earlier runs are not comparable."


def test_the_first_run_is_no_baseline() -> None:
    assert say(beginning(trend_of([night(1, GOOD)])) or ()) == "The first run of this series: no baseline."
    assert beginning(trend_of(nights(GOOD, GOOD))) is None


def test_what_was_left_out_is_neither_a_beginning_nor_uncounted() -> None:
    found = trend_of([night(1, GOOD, comparable=comparable(2, ids_sha256="1" * 64)), night(2, GOOD)], left_out=100, damaged=1)
    assert (found.points[0].number, found.left_out, found.damaged, found.began) == (101, 100, 1, ())
    assert beginning(found) is None


def test_nothing_has_no_trend() -> None:
    with pytest.raises(ValueError, match="at least one run"):
        trend_of([])


def changes(**now: Any) -> list[str]:
    runner = {"image_os": "ubuntu24", "image_version": "1", "arch": "x86_64", "python": "3.12"}
    before = night(1, GOOD, runner=runner)
    after = night(2, GOOD, **{"runner": runner, **now})
    return [say(change) for change in trend_of([before, after]).points[1].changes]


def test_what_changed_since_the_run_before_is_said() -> None:
    assert changes() == []
    assert changes(arms=(arm("treatment", GOOD, requests_sha256="1" * 64),)) == ["what is asked changed"]
    assert changes(arms=(arm("treatment", GOOD, requests_sha256="1" * 64, model="next"),)) == ["model ‹some-model› → ‹next›"]
    assert changes(arms=(arm("treatment", GOOD, requests_sha256="1" * 64, model=None),)) == ["model ‹some-model› → ‹none›"]
    assert changes(arms=(arm("treatment", GOOD, endpoint="other"),), tool_version="1") == [
        "endpoint ‹main› → ‹other›", "evalaction ‹0› → ‹1›",
    ]  # fmt: skip


def test_a_changed_runner_image_is_shown() -> None:
    image = {"image_os": "ubuntu24", "image_version": "2", "arch": "x86_64", "python": "3.12"}
    assert changes(runner=image) == ["runner image changed: ‹2›"]
    assert changes(runner={"image_os": "ubuntu26", "arch": "aarch64", "python": "3.13"}) == [
        "runner image, architecture and Python changed: ‹ubuntu26 ? aarch64 3.13›"
    ]


def test_a_changed_control_is_named() -> None:
    before = night(1, ["p"], ["p"])
    after = night(2, ["p"], ["p"], arms=(arm("treatment", ["p"]), arm("control", ["p"], requests_sha256="1" * 64)))
    assert [say(one) for one in trend_of([before, after]).points[1].changes] == ["control: what is asked changed"]


def test_few_draws_and_fixed_seeds_are_said() -> None:
    assert [say(one) for one in trend_of([night(1, ["p"])]).notes] == [
        "With 1 draw an item the drift alarm remembers few runs; it takes at least 3 to see what changes slowly."
    ]
    assert trend_of([night(1, ["ppp"])]).notes == trend_of([night(1, ["p"], ["p"])]).notes == ()
    seeded = trend_of([night(1, ["ppp"], arms=(arm("treatment", ["ppp"], seeded=True),))])
    assert [say(one) for one in seeded.notes] == ["A sampling seed is fixed, so no draw is a fresh one: there is no drift alarm."]
    assert "not watched" in say(drift_sentence(seeded.drift))


def test_the_trend_as_plain_values() -> None:
    lost = night(3, GOOD, outcome=Outcome.UNREACHABLE, arms=(arm("treatment", [], requests_sha256="1" * 64),))
    value: Any = trend_json(trend_of([*nights(GOOD, ["kk", "pp", "pp"]), lost]))
    assert value["drift"] == {
        "nights": 1, "worse": 1, "better": 0, "evidence": "3/2", "anytime_p": "2/3", "alarm": False,
    }  # fmt: skip
    assert [run["evidence"] for run in value["runs"]] == [None, "3/2", None]
    assert value["runs"][1]["first"]["count"] == 2 and value["runs"][1]["reach"]["of"] == 6
    assert value["runs"][2]["changes"] == ["what is asked changed"] and value["runs"][2]["latency_ms"] is None
    open_interval: Any = trend_json(trend_of([night(1, ["p"], items=1)]))
    assert open_interval["runs"][0]["flip"] is None


def test_two_runs_are_paired_item_by_item() -> None:
    then, now = tally({"treatment": ["ppp", "pkp", "kkk", "ppp"]}), tally({"treatment": ["kpp", "ppp", "pkk", "ppu"]})
    found = compare(then, now, "treatment")
    assert isinstance(found, Compared)
    assert [(pair.kind, pair.item) for pair in found.pairs] == [
        ("lost", "t0000"), ("broke", "t0000"), ("broke", "t0003"), ("gained", "t0002"), ("steadied", "t0001"),
    ]  # fmt: skip
    assert (found.lost, found.gained, found.exact_p, found.mid_p) == (1, 1, Fraction(1), Fraction(3, 4))
    assert found.discordant["check"] == (1, 1) and found.moved == "check"
    assert found.then.stable.count == Bounded(2, 2, 4) and found.now.stable.count == Bounded(1, 2, 4)
    assert found.now.flip is not None


def test_runs_of_one_draw_have_no_flip() -> None:
    found = compare(tally({"treatment": ["p"]}), tally({"treatment": ["k"]}), "treatment")
    assert isinstance(found, Compared) and found.now.flip is None


def test_runs_of_different_k_compare_only_through_pass_hat_k() -> None:
    found = compare(tally({"treatment": ["pkpp", "pppp"]}), tally({"treatment": ["pu", "pp"]}), "treatment")
    assert isinstance(found, AcrossK)
    assert (found.k, found.draws) == (2, (4, 2))
    assert found.then.low == found.then.high == Fraction(3, 4)
    assert (found.now.low, found.now.high) == (Fraction(1, 2), Fraction(1))
    assert found.now.interval.low < 0.5 and found.now.interval.high == 1.0


def test_grids_that_do_not_fit_are_refused() -> None:
    whole = tally({"treatment": ["pp"]})
    for other in (tally({"treatment": ["pp", "pp"]}), tally({"treatment": ["pp"]}, ["other"])):
        with pytest.raises(ValueError, match="complete grids"):
            compare(whole, other, "treatment")


def test_runs_of_other_exams_are_refused_by_the_field_that_differs() -> None:
    refuse_incomparable(comparable(5), comparable(3))
    with pytest.raises(UsageError, match=r"cannot be compared: exam.ids_sha256 differs"):
        refuse_incomparable(comparable(5), comparable(3, ids_sha256="1" * 64))
    with pytest.raises(UsageError, match=r"draws.timeout_ms and params differ"):
        refuse_incomparable(comparable(5), comparable(5, timeout_ms=1, parameters_sha256=None))
