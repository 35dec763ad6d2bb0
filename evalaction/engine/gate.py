"""The rule of the first draws: nothing of index 1 or more is sent before every arm has reached once."""

from __future__ import annotations

from collections.abc import Sequence

from evalaction.method.records import ArmName


class FirstDraws:
    """Counts finished draws; `open` lets later draws go, `dead` names an arm whose every draw 0 ended unreached."""

    def __init__(self, arms: Sequence[ArmName], items: int) -> None:
        self._left = dict.fromkeys(arms, items)
        self._unreached = set(arms)

    def finished(self, arm: ArmName, draw: int, *, reached: bool) -> None:
        if draw == 0:
            self._left[arm] -= 1
        if reached:
            self._unreached.discard(arm)

    @property
    def open(self) -> bool:
        return not self._unreached

    @property
    def dead(self) -> ArmName | None:
        return next((arm for arm, left in self._left.items() if not left and arm in self._unreached), None)
