"""The planned order: every draw once, draw index outermost, arms back to back."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.engine.grid import Grid, Planned
from evalaction.method.counting.halves import half_of
from evalaction.method.records import ARMS, ArmName

IDS = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12, unique=True)
PAIR: tuple[ArmName, ...] = ("treatment", "control")


@settings(max_examples=100)
@given(IDS, st.integers(1, 4), st.sampled_from([("treatment",), PAIR]), st.text(max_size=6))
def test_every_draw_is_planned_exactly_once(ids: list[str], draws: int, arms: tuple[ArmName, ...], seed: str) -> None:
    grid = Grid(ids, arms=arms, draws=draws, seed=seed)
    plan = list(grid)
    assert [planned.index for planned in plan] == list(range(len(grid)))
    assert {(p.item, p.arm, p.draw) for p in plan} == {(i, a, d) for i in range(len(ids)) for a in arms for d in range(draws)}


@settings(max_examples=50)
@given(IDS, st.integers(2, 4))
def test_draw_index_is_outermost_and_arms_go_back_to_back(ids: list[str], draws: int) -> None:
    plan = list(Grid(ids, arms=PAIR, draws=draws, seed="s"))
    assert [p.draw for p in plan] == sorted(p.draw for p in plan)
    for first, second in zip(plan[::2], plan[1::2], strict=True):
        assert first.item == second.item
        assert {first.arm, second.arm} == set(ARMS)


@given(st.permutations([f"t{n}" for n in range(8)]))
def test_the_exams_order_does_not_move_a_draw(ids: list[str]) -> None:
    grid = Grid(ids, arms=PAIR, draws=2, seed="s")
    still = Grid(sorted(ids), arms=PAIR, draws=2, seed="s")
    assert [(ids[p.item], p.arm, p.draw) for p in grid] == [(sorted(ids)[p.item], p.arm, p.draw) for p in still]


def test_which_arm_goes_first_is_balanced_and_independent_of_the_half() -> None:
    ids = [f"t{n:04d}" for n in range(2000)]
    grid = Grid(ids, arms=PAIR, draws=2, seed="s")
    firsts = Counter((half_of(ids[p.item], "s"), p.draw, p.arm) for p in list(grid)[::2])
    assert len(firsts) == 8
    assert all(400 < count < 600 for count in firsts.values())


def test_the_seed_moves_the_order() -> None:
    ids = [f"t{n}" for n in range(40)]
    orders = {Grid(ids, arms=PAIR, draws=1, seed=seed).order for seed in "abc"}
    assert len(orders) == 3
    assert tuple(range(40)) not in orders


def test_known_order() -> None:
    """Written down once: a change of the order would make old runs impossible to resume and rows.csv differ."""
    grid = Grid(["a", "b", "c"], arms=PAIR, draws=2, seed="s")
    assert list(grid)[:6] == KNOWN
    script = (
        "from evalaction.engine.grid import Grid\n"
        "print([(p.item, p.arm) for p in Grid(['a', 'b', 'c'], arms=('treatment', 'control'), draws=2, seed='s')][:6])"
    )
    for hash_seed in ("0", "1"):
        said = subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True
        )
        assert said.stdout.strip() == str([(p.item, p.arm) for p in KNOWN])


KNOWN = [
    Planned(0, 1, "control", 0),
    Planned(1, 1, "treatment", 0),
    Planned(2, 0, "control", 0),
    Planned(3, 0, "treatment", 0),
    Planned(4, 2, "control", 0),
    Planned(5, 2, "treatment", 0),
]


def test_places_outside_are_refused() -> None:
    grid = Grid(["a"], arms=PAIR, draws=1, seed="s")
    for index in (-1, 2):
        with pytest.raises(IndexError):
            grid.at(index)


@pytest.mark.parametrize(("ids", "arms", "draws"), [([], PAIR, 1), (["a"], (), 1), (["a"], PAIR, 0), (["a", "a"], PAIR, 1)])
def test_no_empty_or_ambiguous_grid(ids: list[str], arms: tuple[ArmName, ...], draws: int) -> None:
    with pytest.raises(ValueError):
        Grid(ids, arms=arms, draws=draws, seed="s")
