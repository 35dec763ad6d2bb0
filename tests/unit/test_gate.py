"""No later draw before every arm has reached once; an arm that never reaches at draw 0 ends the run."""

from __future__ import annotations

from support.drawing import BOTH

from evalaction.engine.gate import FirstDraws


def state(gate: FirstDraws) -> tuple[bool, str | None]:
    return gate.open, gate.dead


def test_opens_when_every_arm_has_reached_once() -> None:
    gate = FirstDraws(BOTH, 3)
    gate.finished("treatment", 0, reached=True)
    assert state(gate) == (False, None)
    gate.finished("control", 0, reached=False)
    assert state(gate) == (False, None)
    gate.finished("control", 0, reached=True)
    assert state(gate) == (True, None)


def test_an_arm_whose_every_first_draw_is_lost_is_dead() -> None:
    gate = FirstDraws(BOTH, 2)
    for _ in range(2):
        gate.finished("treatment", 0, reached=True)
    gate.finished("control", 0, reached=False)
    assert state(gate) == (False, None)
    gate.finished("control", 0, reached=False)
    assert state(gate) == (False, "control")


def test_a_single_arm() -> None:
    gate = FirstDraws(("treatment",), 1)
    gate.finished("treatment", 0, reached=False)
    assert gate.dead == "treatment"
