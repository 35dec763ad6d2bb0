from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runs import SEED, balanced, card, endpoint, facts, limit, names, one_arm, row, rows, say, sign, tally

from evalaction.errors import EvalactionError, InconclusiveError, NotRunError, Outcome, Settled, UnregisteredError, UsageError
from evalaction.method.counting.tally import Tally
from evalaction.method.judging.verdict import judge
from evalaction.method.numbers import Bounded, Rate, Threshold
from evalaction.method.records import ARMS, Quoted, Usage
from evalaction.method.report import Change, Provenance
from evalaction.method.telling.callouts import refusal_callouts
from evalaction.method.telling.summary import build_report, refusal_report


def test_three_arms_three_stories() -> None:
    """Correct, always wrong and refused are three different rows."""
    made = {}
    for name, strips in {"right": ["p"] * 40, "wrong": ["k"] * 40, "half": ["p", "u"] * 20}.items():
        grid = tally({"treatment": strips})
        made[name] = build_report(card(), grid, facts(grid)).arms[0].columns
    assert [str(columns.reach) for columns in made.values()] == ["40/40", "40/40", "20/40"]
    assert [str(columns.check) for columns in made.values()] == ["40/40", "0/40", "20/20"]
    assert [str(columns.end_to_end) for columns in made.values()] == ["40/40", "0/40", "20/40"]


def test_two_arms_control_first() -> None:
    ids = balanced(40)
    grid = tally({"treatment": ["kp"] * 4 + ["pp"] * 76, "control": ["pp"] * 80}, ids, dict.fromkeys(ids[:10], ("code",)))
    claim = sign("not_behind", margin=Threshold.of("0.10"))
    report = build_report(card(limit("min_check", "0.9"), draws=2, claim=claim), grid, facts(grid))
    assert [arm.arm for arm in report.arms] == ["control", "treatment"]
    assert (report.name, report.items, report.draws, report.claim, report.metric) == (
        "support-triage", 80, 2, "not_behind", "first",
    )  # fmt: skip
    assert report.titles == () and report.gated and report.moved == "check"
    assert report.discordant == {"reach": (0, 0), "contract": (0, 0), "check": (4, 0)}
    assert [half.items for half in report.halves] == [40, 40] and len(report.limits) == 1
    assert len(report.pairs) == 8 and len(report.flips) == 4
    treatment = report.arms[1]
    assert (treatment.endpoint, treatment.model) == ("main", "some-model")
    assert treatment.first_columns.check == Rate(76, 80) and treatment.columns.check == Rate(156, 160)
    assert treatment.draws.flip == Bounded(4, 4, 80)
    assert [tag.tag for tag in treatment.by_tag] == ["code"] and treatment.by_tag[0].columns.check == Rate(16, 20)
    assert report.verdict == judge(card(limit("min_check", "0.9"), draws=2, claim=claim), grid, facts(grid))


def test_times_tokens_and_sameness() -> None:
    grid = Tally(names(2), {}, ["treatment"], 2, SEED)
    for number, draw in enumerate(rows({"treatment": ["pp", "pk"]})):
        text = "same" if draw.item == "t0000" else str(number)
        changes: dict[str, Any] = {
            "ms": 10 * (number + 1),
            "usage": Usage(input=5, output=2),
            "text_sha256": text,
            "parsed_sha256": "v",
        }
        grid.add(row(draw.item, draw=draw.draw, letter="k" if number == 3 else "p", served_model="m", fingerprint="f", **changes))
    arm = build_report(card(draws=2), grid, facts(grid)).arms[0]
    assert (arm.p50_ms, arm.p95_ms, arm.tokens_in, arm.tokens_out) == (20, 40, 20, 8)
    assert (arm.tar_raw, arm.tar_parsed) == (Rate(1, 2), Rate(2, 2))
    assert (arm.served, arm.fingerprints) == ((("m", 4),), (("f", 4),))
    assert arm.reasons["check"] == (("mismatch", 1),)


def test_one_draw_has_no_flip_and_nothing_identical() -> None:
    grid = tally({"treatment": ["p"] * 29 + ["k"]})
    report = build_report(card(), grid, facts(grid))
    assert report.arms[0].tar_raw is None and report.arms[0].tar_parsed is None and report.arms[0].draws.flip is None
    assert report.flips == () and report.pairs == () and report.discordant == {} and report.halves == ()
    assert not report.gated and say(report.heading) == "measured, nothing gated"


def test_titles_go_small_first() -> None:
    grid = tally({"treatment": ["p"] * 12})
    scripted = card(endpoints={"main": endpoint(api="scripted")})
    report = build_report(scripted, grid, facts(grid, scripted, rehearsal=True, sealed=False, synthetic_allowed=True))
    assert report.titles == ("SMALL", "SYNTHETIC", "REHEARSAL")
    assert build_report(card(), tally({"treatment": ["p"] * 30}), facts(grid)).titles == ()


@pytest.mark.parametrize("letter", ["u", "p"])
def test_without_a_whole_grid_there_are_counts_and_no_rates(letter: str) -> None:
    grid = Tally(names(40), {}, ARMS, 2, SEED)
    for draw in rows({"treatment": [letter] * 40, "control": ["p"] * 40}):
        grid.add(draw)
    report = build_report(card(draws=2, claim=sign("none")), grid, facts(grid, ended="unreachable"))
    assert report.verdict.outcome is (Outcome.UNREACHABLE if letter == "u" else Outcome.INCONCLUSIVE)
    assert (report.arms, report.halves, report.pairs, report.flips, report.limits, report.discordant) == ((), (), (), (), (), {})
    assert (report.counts.planned, report.counts.sent, report.counts.written, report.moved) == (160, 80, 80, None)


@pytest.mark.parametrize(
    ("error", "heading", "titles"),
    [
        (UsageError("the flag is wrong"), "not judged: the card, its files or the call need a correction", ()),
        (UnregisteredError("tasks.jsonl moved", code="hash_mismatch"), "not judged: something that was frozen has moved", ()),
        (InconclusiveError("half 0 is small", code="below_min_items"), "nothing can be said, and nothing was drawn", ()),
        (NotRunError("EVAL_KEY is not set"), "not run: secrets are missing", ("NOT RUN",)),
        (EvalactionError("odd"), "not judged", ()),
    ],
)
def test_a_run_that_drew_nothing_has_a_report(error: EvalactionError, heading: str, titles: tuple[str, ...]) -> None:
    report = refusal_report(error, name="support-triage", provenance=Provenance(tool_version="0"))
    assert (say(report.heading), report.titles, report.arms, report.items) == (heading, titles, (), 0)
    assert report.verdict.outcome is error.outcome and report.verdict.breaks[0].code == error.code
    assert report.verdict.breaks[0].sentence == (Quoted(error.sentence),)
    assert not report.verdict.earned and report.verdict.sign == 0


def test_a_refusal_after_the_card_was_read_says_what_it_knows() -> None:
    report = refusal_report(
        NotRunError("EVAL_KEY is not set"),
        name="support-triage",
        provenance=Provenance(tool_version="0"),
        card=card(draws=5, claim=sign("ahead")),
        items=12,
        callouts=(("Note.",),),
    )
    assert (report.titles, report.draws, report.claim, report.metric, report.items) == (
        ("SMALL", "NOT RUN"),
        5,
        "ahead",
        "first",
        12,
    )
    assert report.callouts == (("Note.",),)
    single = refusal_report(UsageError("x"), name="n", provenance=Provenance(tool_version="0"), card=card())
    assert single.claim is None and single.metric is None and single.titles == ()


@pytest.mark.parametrize(
    ("outcome", "code", "heading"),
    [
        (Outcome.UNCHANGED, None, "nothing to judge: both arms send the same requests"),
        (Outcome.UNCHANGED, "skipped", "skipped: nothing of this card differs from base"),
        (Outcome.REGISTERED, None, "registered: this card judges from the next change on"),
    ],
)
def test_what_is_settled_without_a_draw_breaks_nothing(outcome: Outcome, code: str | None, heading: str) -> None:
    end = Settled("Nothing was drawn.", outcome=outcome, code=code)
    report = refusal_report(end, name="n", provenance=Provenance(tool_version="0"), callouts=(("Note.",),))
    assert report.heading == (heading,) and report.verdict.breaks == () and report.verdict.outcome.exit_code == 0
    assert [say(one) for one in report.callouts] == ["Note.", "‹Nothing was drawn.›"]


def test_a_refused_change_still_says_what_changed() -> None:
    grid = one_arm("p")
    moved = facts(grid, levers=("model",), changes=(Change(lever="model", name="model", old="a", new="b"),), base_missing=True)
    report = refusal_report(NotRunError("x"), name="n", provenance=Provenance(tool_version="0"), facts=moved)
    assert report.changed is not None and say(report.changed) == "One lever moved: model (‹model› ‹a› → ‹b›)."
    assert report.changes == moved.changes
    assert "no base, no sign" in say(refusal_callouts(moved)[0])


STRIP = st.text("ppkcue", min_size=2, max_size=2)


@given(
    st.lists(STRIP, min_size=1, max_size=8),
    st.lists(STRIP, min_size=8, max_size=8),
    st.sampled_from(["none", "differ", "not_behind"]),
)
def test_every_run_has_a_report(treatment: list[str], control: list[str], claim: str) -> None:
    margin = {"margin": Threshold.of("0.10")} if claim == "not_behind" else {}
    limits = [limit("max_flip_rate", "0.5"), limit("max_stable_drop", "0.5", "between")]
    grid = tally({"treatment": treatment, "control": control[: len(treatment)]})
    report = build_report(card(*limits, draws=2, claim=sign(claim, **margin)), grid, facts(grid))
    assert say(report.heading) and (report.verdict.outcome is not Outcome.PASS or not report.verdict.breaks)
    for sentence in [report.heading, *report.callouts, *(found.sentence for found in report.verdict.breaks)]:
        assert "None" not in say(sentence) and "nan" not in say(sentence)
