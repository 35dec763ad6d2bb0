"""Costs, halves and refusals before any call."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.errors import InconclusiveError, UsageError
from evalaction.method.card import Arm, Budget, Card, Draws, Endpoint, ExamRef, Pace, Price, Record, Sign
from evalaction.method.numbers import Threshold
from evalaction.method.plan import Plan, check_budget, check_halves, items_to_add, lost_items, max_output_tokens, plan_run

PRICE = Price(input=Threshold.of("0.15"), output=Threshold.of("0.60"))


def card(**changes: object) -> Card:
    endpoint = Endpoint(name="main", api="openai", url="http://127.0.0.1:1", model="m", params={"max_tokens": 100}, price=PRICE)
    fields: dict[str, object] = {
        "protocol": "evalaction/1",
        "name": "t",
        "exam": ExamRef(tasks="tasks.jsonl", data="synthetic"),
        "endpoints": {"main": endpoint},
        "treatment": Arm(endpoint="main"),
        "control": Arm(endpoint="main"),
        "draws": Draws(count=5, timeout_ms=1000),
        "sign": Sign(claim="ahead", seed="s"),
    }
    return Card(**(fields | changes))  # type: ignore[arg-type]  # a builder for tests


def plan(of: Card, items: int = 100, size: int = 200) -> Plan:
    return plan_run(
        of,
        [f"i{n:04d}" for n in range(items)],
        {arm: [(of.endpoints[of.arms[arm].endpoint or ""], size)] * items for arm in of.arms},
    )


def test_calls_tokens_and_money_are_the_worst_case() -> None:
    made = plan(card())
    assert made.calls == 100 * 5 * 2
    assert made.tokens == 1000 * (200 + 100)
    assert made.usd == Fraction(1000 * 200 * 15 + 1000 * 100 * 60, 100 * 1_000_000)


def test_a_reply_without_bound_has_no_worst_case() -> None:
    endpoint = Endpoint(name="main", api="openai", url="http://127.0.0.1:1", model="m", price=PRICE)
    made = plan(card(endpoints={"main": endpoint}))
    assert made.tokens is None
    assert made.usd is None
    with pytest.raises(UsageError, match="max_tokens") as caught:
        check_budget(card(endpoints={"main": endpoint}, budget=Budget(usd=Threshold.of("1"))), made)
    assert caught.value.code == "budget"


def test_a_scripted_endpoint_costs_nothing() -> None:
    endpoint = Endpoint(name="main", api="scripted", replies="r.jsonl")
    assert max_output_tokens(endpoint) == 0
    assert plan(card(endpoints={"main": endpoint})).usd == 0


def test_true_is_not_a_number_of_tokens() -> None:
    assert max_output_tokens(Endpoint(name="m", api="openai", params={"max_tokens": True})) is None


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_the_bound_under_any_of_its_names(name: str) -> None:
    assert max_output_tokens(Endpoint(name="m", api="openai", params={name: 7})) == 7


def test_a_budget_that_fits_says_nothing() -> None:
    of = card(budget=Budget(calls=1000, tokens=300_000, usd=Threshold.of("0.09")), record=Record(allowance=1000))
    check_budget(of, plan(of))
    check_budget(card(), plan(card()))
    check_budget(card(record=Record(terms="x")), plan(card()))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"budget": Budget(calls=999)}, r"budget.calls is 999 calls .* 1,000 calls\. The largest draws.count that fits is 4\."),
        ({"budget": Budget(tokens=299_999)}, r"budget.tokens .* fits is 4\."),
        ({"budget": Budget(usd=Threshold.of("0.0899"))}, r"budget.usd is USD 0.0899 .* USD 0.09\. .* fits is 4\."),
        ({"budget": Budget(calls=10)}, r"Not even one draw of every item fits\."),
        ({"record": Record(allowance=400)}, r"record.allowance is 400 calls .* fits is 2\."),
    ],
)
def test_a_budget_that_does_not_fit_names_the_largest_k(changes: dict[str, object], words: str) -> None:
    of = card(**changes)
    with pytest.raises(UsageError, match=words):
        check_budget(of, plan(of))


def test_a_half_below_its_floor_is_refused_with_the_number_of_items() -> None:
    made = plan(card(), items=12)
    assert made.halves is not None
    assert sum(made.halves) == 12
    with pytest.raises(InconclusiveError, match=f"add {made.add_items} items") as caught:
        check_halves(made)
    assert caught.value.code == "below_min_items"


def test_no_floor_without_a_claim_and_no_halves_without_a_control() -> None:
    free = plan(card(sign=Sign(claim="none", seed="s")), items=12)
    assert free.floor is None
    assert free.add_items == 0
    check_halves(free)
    alone = plan(card(control=None, sign=None), items=12)
    assert alone.halves is None
    check_halves(alone)


def part(items: int, left_out: int, *, draw_control: bool = True, **sign: object) -> Plan:
    of = card(sign=Sign(claim="ahead", seed="s", items="changed", **sign))  # type: ignore[arg-type]
    sizes = {arm: [(of.endpoints["main"], 200)] * items for arm in of.arms if draw_control or arm == "treatment"}
    return plan_run(of, [f"i{n:04d}" for n in range(items)], sizes, left_out=left_out)


def test_too_few_items_that_change_say_how_many_would_do() -> None:
    made = part(10, 70)
    assert made.halves is not None and made.calls == 10 * 5 * 2
    with pytest.raises(InconclusiveError) as caught:
        check_halves(made)
    assert caught.value.code == "below_min_items" and caught.value.outcome.exit_code == 5
    first, second = made.halves
    assert caught.value.sentence.startswith(
        f"Only 10 of 80 items change between the arms, in halves of {first} and {second}, but a sign needs 30 in each: "
        f"{10 + made.add_items} changed items would do"
    )
    check_halves(part(100, 20))


def test_under_thirty_changed_items_can_claim_nothing_whatever_the_floor() -> None:
    with pytest.raises(InconclusiveError, match="30 changed items would do"):
        check_halves(part(29, 1, min_items_per_half=2))
    check_halves(part(29, 0, min_items_per_half=2))  # a small exam as a whole is refused with the question


def test_a_card_whose_base_is_missing_has_no_halves() -> None:
    made = part(10, 0, draw_control=False)
    assert (made.halves, made.floor, made.add_items) == (None, None, 0)
    check_halves(made)


def test_the_published_numbers_of_items() -> None:
    # 99 % of seeds give both halves their floor: 83 items for 30, 106 for 40, 239 for 100.
    assert [items_to_add((0, 0), floor) for floor in (30, 40, 100)] == [83, 106, 239]
    assert items_to_add((30, 31), 30) == 0


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 40))
def test_items_to_add_is_the_least_that_suffices(first: int, second: int, floor: int) -> None:
    added = items_to_add((first, second), floor)

    def certainty(count: int) -> Fraction:
        good = sum(comb(count, k) for k in range(count + 1) if first + k >= floor and second + count - k >= floor)
        return Fraction(good, 2**count)

    assert certainty(added) >= Fraction(99, 100)
    assert added == 0 or certainty(added - 1) < Fraction(99, 100)


def test_three_percent_lost_is_fourteen_percent_of_items() -> None:
    assert round(lost_items(Fraction(3, 100), 5), 3) == Fraction(141, 1000)


def test_time_by_slots_or_by_pace() -> None:
    assert plan(card(pace=Pace(concurrency=10))).seconds(50) == 5
    assert plan(card(pace=Pace(concurrency=10, per_minute=60))).seconds(1000) == 1000
    assert plan(card(), items=0).seconds(50) == 0
    assert plan(card(pace=Pace(per_minute=60)), items=0).seconds(0) == 0
