from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.runs import balanced, card, endpoint, facts, limit, names, row, rows, say, sign, tally

from evalaction.method.card import Card
from evalaction.method.counting.tally import Tally
from evalaction.method.judging.facts import ArmFacts
from evalaction.method.numbers import Threshold
from evalaction.method.records import ARMS, Columns
from evalaction.method.report import Report
from evalaction.method.telling.summary import build_report

GOOD = ["p"] * 80
WORSE = (["k"] * 4 + ["p"] * 36) * 2


def report(strips: dict[str, list[str]], made: Card, ids: list[str] | None = None, **given: Any) -> Report:
    grid = tally(strips, ids)
    return build_report(made, grid, facts(grid, made, **given))


def two(treatment: list[str], control: list[str], *limits: Any, claim: str = "differ", **changes: Any) -> Report:
    ids = balanced(40) if len(treatment) == 80 else None
    margin = {"margin": Threshold.of("0.10")} if claim == "not_behind" else {}
    made = card(*limits, draws=len(treatment[0]), claim=sign(claim, **margin), **changes)
    return report({"treatment": treatment, "control": control}, made, ids)


def one(strips: list[str], *limits: Any, **changes: Any) -> Report:
    return report({"treatment": strips}, card(*limits, draws=len(strips[0]), **changes))


def spoken(made: Report) -> tuple[str, str | None]:
    return say(made.heading), None if made.todo is None else say(made.todo)


@pytest.mark.parametrize(
    ("claim", "treatment", "control", "heading"),
    [
        ("ahead", GOOD, WORSE, "treatment is ahead in both halves"),
        ("differ", WORSE, GOOD, "control is ahead in both halves"),
        ("not_behind", GOOD, GOOD, "treatment is within 10 points"),
        ("not_behind", WORSE, GOOD, "treatment is behind"),
        ("not_behind", (["k"] * 8 + ["p"] * 32) + ["p"] * 40, GOOD, "not shown to be within 10 points"),
        ("ahead", WORSE, GOOD, "control is ahead"),
        ("ahead", GOOD, GOOD, "no direction earned: there is no lead in both halves"),
        ("differ", WORSE[:40] + GOOD[:40], GOOD[:40] + WORSE[:40], "the two halves disagree"),
        (
            "differ",
            (["u"] * 2 + ["p"] * 38) * 2,
            (["k"] * 2 + ["p"] * 38) * 2,
            "no direction earned: the lead is gone on the paired items",
        ),
        ("differ", ["u"] * 3 + ["p"] * 77, GOOD, "nothing can be said: transport"),
        ("differ", ["e"] * 3 + ["p"] * 77, GOOD, "nothing can be said: too many draws without a verdict"),
        ("differ", ["p"] * 32, ["k"] * 32, "nothing can be said: too few items in a half"),
        ("differ", ["p"] * 20, ["k"] * 20, "nothing can be said: too few items to claim anything"),
        ("differ", ["u"] * 80, GOOD, "nothing reached: treatment"),
        ("differ", ["u"] * 80, ["u"] * 80, "nothing reached: treatment and control"),
    ],
)
def test_headings_of_claims(claim: str, treatment: list[str], control: list[str], heading: str) -> None:
    assert say(two(treatment, control, claim=claim).heading) == heading


def test_headings_of_limits() -> None:
    good, bad, open_ = ["p"] * 40, ["k"] * 4 + ["p"] * 36, ["u"] + ["p"] * 39
    assert say(one(good).heading) == "measured, nothing gated"
    assert say(one(good, limit("min_check", "0.9")).heading) == "the limit holds"
    assert say(one(good, limit("min_check", "0.9"), limit("min_reach", "1")).heading) == "all 2 limits hold"
    assert say(one(bad, limit("min_check", "1")).heading) == "min_check of treatment is breached"
    assert say(one(bad, limit("min_check", "1"), limit("min_first_pass", "1")).heading) == "2 limits are breached"
    assert (
        say(one(open_, limit("min_first_pass", "1")).heading) == "nothing can be said: min_first_pass of treatment is undecided"
    )
    assert say(one(open_, limit("min_reach", "1")).heading) == "nothing can be said: min_reach of treatment is breached"


def test_nothing_is_advised_where_nothing_is_wrong() -> None:
    assert two(GOOD, WORSE).todo is None
    assert one(["p"] * 40).todo is None


def test_reach_moved_look_at_the_path() -> None:
    made = two(["u"] * 2 + ["p"] * 78, GOOD, claim="ahead")
    assert made.moved == "reach"
    assert (
        spoken(made)[1]
        == "Look at the path, not at the prompt: the load and the log of the server of endpoint ‹main› (‹status:503› × 2)."
    )


def test_a_program_is_no_path() -> None:
    made = card(draws=1, claim=sign("none"))
    grid = tally({"treatment": ["u"] * 4})
    known = facts(grid, made).arms["treatment"].endpoints[0]
    program = ArmFacts(endpoints=(replace(known, api="command"),))
    found = build_report(made, grid, facts(grid, made, arms={"treatment": program}))
    assert str(spoken(found)[1]).startswith("Look at the program of endpoint ‹main› (‹status:503› × 4): `error_head`")
    mute = Tally(names(4), {}, ["treatment"], 1, "freeze-me-before-running")
    for name in names(4):
        mute.add(row(name, columns=Columns(False, "empty")))
    silent = build_report(made, mute, facts(mute, made, arms={"treatment": program}))
    assert spoken(silent)[1] == (
        "Look at the program of endpoint ‹main› (‹empty› × 4): it ended well and wrote nothing to its standard output."
    )


def test_contract_moved_look_at_truncation_first() -> None:
    made = two((["c"] * 4 + ["p"] * 36) * 2, GOOD, claim="ahead")
    assert made.moved == "contract"
    assert spoken(made)[1] == "Look at truncation and at the wrapper around the model first: ‹not_json› × 8."
    back = two(GOOD, (["c"] * 4 + ["p"] * 36) * 2, limit("min_first_pass", "1", "control"), claim="none")
    assert "the treatment has none of these failures, the control has" in str(spoken(back)[1])


def test_replies_cut_by_the_limit_are_counted() -> None:
    grid = Tally(names(40), {}, ["treatment"], 1, "freeze-me-before-running")
    cut = Columns(True, contract=False, contract_reason="truncated")
    for number, draw in enumerate(rows({"treatment": ["p"] * 40})):
        grid.add(row(draw.item, columns=cut, finish_reason="length") if number < 3 else draw)
    made = build_report(card(limit("min_contract", "1")), grid, facts(grid))
    assert spoken(made)[1] == (
        "Look at truncation and at the wrapper around the model first: ‹truncated› × 3; 3 replies were cut by the length limit."
    )


def test_check_moved_open_the_items() -> None:
    made = two(WORSE, GOOD, claim="not_behind")
    assert made.moved == "check"
    assert spoken(made)[1] == "The check column moved: open ‹t0000›, ‹t0001›, ‹t0003› first (5 more below)."


def test_a_coin_and_a_break() -> None:
    coin = one(["pk"] * 8 + ["pp"] * 32, limit("max_flip_rate", "0.1"))
    assert spoken(coin)[1] == (
        "This is a coin: 40 of 40 items pass at first, 8 both pass and fail (20 %); do not read the first draw as an ability."
    )
    broken = one(["kk"] * 30 + ["pp"] * 10, limit("min_first_pass", "0.9"))
    assert spoken(broken)[1] == (
        "This class of task is a break, not a teaser: 10 of 40 items pass at first and none flips; change the tasks or the tool."
    )
    neither = one(["kk"] * 10 + ["pp"] * 30, limit("min_first_pass", "0.9"))
    assert spoken(neither)[1] == "Open ‹t0000›, ‹t0001›, ‹t0002› first (7 more below)."
    single = one(["k"] * 2 + ["p"] * 38, limit("min_first_pass", "1"))
    assert spoken(single)[1] == "Open ‹t0000›, ‹t0001› first."
    lost_one = two(["k"] + ["p"] * 39, ["p"] * 40, limit("min_first_pass", "1"), claim="none")
    assert lost_one.moved is None and spoken(lost_one)[1] == "Open ‹t0000› first."


def test_where_no_item_fails_there_is_none_to_open() -> None:
    assert one(["p"] * 40, limit("max_p95_ms", "1")).todo is None


@pytest.mark.parametrize(
    ("reason", "output", "words"),
    [
        ("status:401", "text", "not at the prompt: the key of endpoint"),
        ("status:404", "text", "the address and the name of the model"),
        ("status:429", "text", "`pace.per_minute` and the quota"),
        ("timeout", "text", "`draws.timeout_ms` and the load of the server"),
        ("reset", "text", "address, timeout and authentication"),
        ("poll:timeout", "text", "`draws.timeout_ms` and the load of the server"),
        ("poll:status:503", "text", "the load and the log of the server"),
        ("poll:failed", "text", "the runner's own log of these jobs"),
        ("malformed", "text", "has not the shape of this API"),
        ("empty:length", "text", "raise `max_tokens`"),
        ("empty:tool_calls", "text", "declare `output: tool_calls`"),
        ("empty:refusal", "text", "the model refused"),
        ("empty", "text", "look at the output declared for the endpoint"),
        ("empty", "tool_calls", "ask for one with `tool_choice`"),
    ],
)
def test_each_way_not_to_reach_has_its_remedy(reason: str, output: str, words: str) -> None:
    grid = Tally(names(40), {}, ["treatment"], 1, "freeze-me-before-running")
    for number, draw in enumerate(rows({"treatment": ["p"] * 40})):
        grid.add(row(draw.item, columns=Columns(False, reason)) if number < 10 else draw)
    asked = card(endpoints={"main": endpoint(output=output)})
    made = build_report(asked, grid, facts(grid, asked))
    assert words in str(spoken(made)[1]) and f"‹{reason}› × 10" in str(spoken(made)[1])


def test_what_cannot_speak_says_how_it_could() -> None:
    checker = two(["e"] * 3 + ["p"] * 77, GOOD)
    assert spoken(checker)[1] == "Repair the checker, not the prompt: it failed by itself (‹checker:crash› × 3)."
    control = two(GOOD, ["u"] * 3 + ["p"] * 77)
    assert "of endpoint ‹local›" in str(spoken(control)[1])
    small = two(["p"] * 32, ["k"] * 32)
    assert spoken(small)[1] == "Add 44 items: then both halves are large enough in 99 of 100 cases."
    assert "claim `none`" in str(spoken(two(["p"] * 20, ["k"] * 20))[1])
    assert "--synthetic" in str(spoken(one(["p"] * 40, endpoints={"main": endpoint(api="scripted")}))[1])
    seeded = one(["pp"] * 40, limit("min_stable_pass", "0.5"), endpoints={"main": endpoint(params={"seed": 1})})
    assert "sampling seed out of `params`" in str(spoken(seeded)[1])
    unsure = one(["u"] + ["p"] * 39, limit("min_first_pass", "1"))
    assert "Look at the path" in str(spoken(unsure)[1])
    crashed = one(["e"] + ["p"] * 39, limit("min_first_pass", "1"))
    assert "Repair the checker" in str(spoken(crashed)[1])
    unscored = two(["u"] * 2 + ["e"] + ["p"] * 77, GOOD)
    assert say(unscored.heading).endswith("without a verdict") and "Look at the path" in str(spoken(unscored)[1])
    assert "checker:" not in str(spoken(unscored)[1])  # no endpoint's path leads to a checker


def test_a_doubt_of_both_arms_points_at_the_one_that_lost_more() -> None:
    drop = limit("max_first_drop", "0", "between")
    control = two(["k"] + ["p"] * 39, ["u"] + ["p"] * 39, drop, claim="none")
    assert "of endpoint ‹local›" in str(spoken(control)[1])
    level = two(["u"] + ["p"] * 39, ["u"] + ["p"] * 39, drop, claim="none")
    assert "of endpoint ‹main›" in str(spoken(level)[1])


def test_not_shown_says_how_many_items_would_do() -> None:
    some = two((["k"] * 5 + ["p"] * 35) + ["p"] * 40, GOOD, claim="not_behind")
    assert some.verdict.bound is not None
    assert (
        spoken(some)[1]
        == f"Add items: about {some.verdict.bound.enough_items} in all would show it if the difference stays as it is."
    )
    hopeless = two((["k"] * 20 + ["p"] * 20) + ["p"] * 40, GOOD, claim="not_behind")
    assert str(spoken(hopeless)[1]).startswith("The check column moved: open ‹t0000›")


def test_without_a_slack_and_without_a_failing_item_nothing_helps() -> None:
    margin = sign("not_behind", margin=Threshold.of("0"))
    made = report({"treatment": GOOD, "control": GOOD}, card(claim=margin), balanced(40))
    assert spoken(made) == ("not shown to be within 0 points", "More items of this kind would change nothing.")


def test_a_partial_grid_is_continued() -> None:
    grid = Tally(names(40), {}, ARMS, 1, "freeze-me-before-running")
    grid.add(row())
    made = build_report(card(claim=sign("none")), grid, facts(grid, ended="deadline"))
    assert spoken(made) == (
        "nothing can be said: the grid is not whole",
        "Run it again with the same folder and `--resume`: only the missing draws are sent.",
    )


def test_a_cache_is_turned_off() -> None:
    grid = Tally(names(40), {}, ["treatment"], 1, "freeze-me-before-running")
    for draw in rows({"treatment": ["p"] * 40}):
        grid.add(row(draw.item, cache_hit="x-cache"))
    made = build_report(card(), grid, facts(grid))
    assert spoken(made)[0] == "nothing can be said: draws came from a cache" and "Turn off the cache" in str(spoken(made)[1])


@pytest.mark.parametrize("claim", ["ahead", "differ", "not_behind", "none"])
def test_without_a_control_nothing_is_claimed(claim: str) -> None:
    made = card(claim=sign(claim, margin=Threshold.of("0.10")))
    alone = report({"treatment": GOOD}, made, base_missing=True)
    assert say(alone.heading) == "measured, nothing gated" and not alone.gated
    limits = (limit("min_check", "0.5"), limit("max_first_drop", "0.1", "between"), limit("min_check", "0.5", "control"))
    told = report({"treatment": GOOD}, replace(made, limits=limits), base_missing=True)
    assert say(told.heading) == "1 of 3 limits judged, and it holds" and told.gated
    assert say(told.callouts[-1]) == (
        "Not judged, since no arm or no item that it is for was drawn: max_first_drop between the arms; min_check of control."
    )
    none = report({"treatment": GOOD}, replace(made, limits=limits[1:]), base_missing=True)
    assert say(none.heading) == "measured, nothing gated" and not none.gated


def test_a_limit_of_items_that_were_not_drawn_is_named() -> None:
    tagged = [limit("min_first_pass", "0.9", tag=tag) for tag in ("code", "mail", "math", "law", "x")]
    made = card(*tagged, claim=sign("none", items="changed"))
    grid = tally({"treatment": GOOD, "control": GOOD}, tags={"t0000": ("code",), "t0001": ("mail",)})
    found = build_report(made, grid, facts(grid, made, left_out=("a",)))
    assert say(found.heading) == "2 of 5 limits judged, and all hold"
    assert say(found.callouts[-1]).endswith(
        ": min_first_pass of treatment, tag ‹math›; min_first_pass of treatment, tag ‹law›; min_first_pass of treatment, tag ‹x›."
    )
    more = replace(made, limits=(*made.limits, limit("min_check", "0.9", tag="y")))
    assert say(build_report(more, grid, facts(grid, more)).callouts[-1]).endswith("tag ‹x›; and 1 more.")
