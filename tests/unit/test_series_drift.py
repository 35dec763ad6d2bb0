from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from support.histories import arm, night, nights

from evalaction.method.series.drift import Step, changed, drift
from evalaction.method.series.evidence import ALARM, one_sided
from evalaction.method.series.telling import drift_sentence, evidence_text

GOOD, BAD = ["ppp"] * 10, ["kkk"] * 10


def against(entries: list[tuple[str, ...]]) -> list[int | None]:
    """For each night the night that its first draws are laid beside."""
    return [step.against if step else None for step in drift(nights(*entries)).steps]


def test_the_first_night_has_nothing_to_be_compared_with() -> None:
    found = drift(nights(GOOD))
    assert found.steps == (None,) and not found.alarm
    assert {found.evidence, found.highest, found.anytime_p} == {Fraction(1)}
    assert "no baseline yet" in "".join(map(str, drift_sentence(found)))


def test_three_draws_of_a_night_are_the_controls_of_three_nights() -> None:
    assert against([("ppp",)] * 9) == [None, 0, 0, 0, 1, 1, 2, 2, 3]


def test_with_two_draws_the_reference_follows_closely() -> None:
    assert against([("pp",)] * 6) == [None, 0, 0, 1, 2, 3]


def test_with_one_draw_every_second_night_is_compared_with_the_one_before() -> None:
    assert against([("p",)] * 6) == [None, 0, None, 2, None, 4]


def test_no_draw_is_used_twice() -> None:
    """Each control draw is laid beside one night, and a draw 0 that was compared is never a control."""
    strips = [("pkp",), ("kpp",), ("ppk",), ("kkp",)]
    found = drift(nights(*strips)).steps
    assert [(step.worse, step.better) if step else None for step in found] == [None, (1, 0), (0, 1), (1, 0)]


def test_letters_without_a_verdict_say_nothing() -> None:
    assert changed(b"ukpepcukk", b"pppkukpkc") == (1, 0)
    assert changed(b"pppp", b"kcue") == (0, 2)


def test_a_drop_raises_the_alarm() -> None:
    found = drift(nights(GOOD, BAD))
    assert found.steps[1] == Step(worse=10, better=0, evidence=one_sided(10, 0), against=0)
    assert found.alarm and found.anytime_p == 1 / one_sided(10, 0)
    assert "Drift alarm: over 1 run 10 first draws got worse and 0 better" in "".join(map(str, drift_sentence(found)))


def test_evidence_falls_again_when_nights_are_balanced_but_the_highest_is_kept() -> None:
    entries = nights(["pkpkpk"] * 7, ["kkkkkk"] * 7)
    entries += [night(3 + number, ["pppppp"] * 7) for number in range(6)]
    found = drift(entries)
    assert found.highest >= ALARM > found.evidence and not found.alarm
    assert found.anytime_p == 1 / found.highest


def test_two_arms_bring_their_own_control() -> None:
    entries = [night(1, ["k"] * 7 + ["p"], ["p"] * 7 + ["k"]), night(2, ["p"] * 8, ["p"] * 8)]
    found = drift(entries)
    assert [step.against if step else "none" for step in found.steps] == [None, None]
    assert (found.paired, found.worse, found.better, found.nights) == (True, 7, 1, 2)
    assert "its control of the same run" in "".join(map(str, drift_sentence(found)))


def test_nights_without_valid_data_are_left_out() -> None:
    bad = night(2, BAD, breaks=("treatment:transport",))
    lost = night(3, GOOD, arms=(arm("treatment", []),), breaks=("treatment:unreachable",))
    cached = night(4, BAD, breaks=("cached_draws",))
    limit = night(5, GOOD, breaks=("limit:treatment:min_stable_pass:undecided",))
    found = drift([night(1, GOOD), bad, lost, cached, limit])
    assert [step is not None for step in found.steps] == [False, False, False, False, True]
    assert found.steps[4] == Step(worse=0, better=0, evidence=Fraction(1), against=0)


def test_with_a_sampling_seed_nothing_is_compared() -> None:
    seeded = night(2, BAD, arms=(arm("treatment", BAD, seeded=True),))
    found = drift([night(1, GOOD), seeded])
    assert found.seeded and found.steps == (None, None) and not found.alarm
    assert "sampling seed" in "".join(map(str, drift_sentence(found)))


@given(st.lists(st.lists(st.text("pkcue", min_size=2, max_size=2), min_size=3, max_size=3), min_size=1, max_size=12))
def test_the_state_follows_from_the_nights_alone(letters: list[list[str]]) -> None:
    """Whatever is added later, what earlier nights came to stays what it was."""
    found = drift(nights(*letters))
    for length in range(1, len(letters)):
        assert drift(nights(*letters[:length])).steps == found.steps[:length]
    assert found.evidence == one_sided(found.worse, found.better)


def test_evidence_is_never_printed_as_an_alarm_that_it_is_not() -> None:
    texts = {
        Fraction(1, 50): "under 0.1",
        Fraction(1): "1",
        Fraction(1999, 100): "19.9",
        Fraction(20): "20",
        Fraction(21, 2): "10.5",
    }
    texts |= {Fraction(1234, 10): "123", Fraction(1000): "over 1,000"}
    assert {value: evidence_text(value) for value in texts} == texts


def share_of_alarms(rounds: int, alarm: Callable[[list[list[str]]], bool]) -> float:
    """Over simulated fortnights of 40 items whose chances do not change, three draws each."""
    hits = 0
    for number in range(rounds):
        dice = random.Random(f"no change:{number}")
        chances = [dice.choice((0.5, 0.9, 1.0)) for _ in range(40)]
        hits += alarm([["".join("pk"[dice.random() > chance] for _ in range(3)) for chance in chances] for _ in range(14)])
    return hits / rounds


def test_with_fresh_draws_no_change_raises_the_alarm_rarely_and_with_one_baseline_often() -> None:
    """The whole table is `python -m benchmarks.drift`."""

    def fresh(letters: list[list[str]]) -> bool:
        return drift(nights(*letters)).highest >= ALARM

    def frozen(letters: list[list[str]]) -> bool:
        first, worse, better = "".join(letters[0]).encode()[::3], 0, 0
        for one in letters[1:]:
            more = changed("".join(one).encode()[::3], first)
            worse, better = worse + more[0], better + more[1]
            if one_sided(worse, better) >= ALARM:
                return True
        return False

    assert share_of_alarms(150, fresh) <= 0.05
    assert share_of_alarms(150, frozen) >= 0.1
