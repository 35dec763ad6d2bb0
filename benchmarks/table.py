"""The table of ratios on the terminal; each figure is shown as soon as it is measured."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from benchmarks.measuring import Figure

_WIDTH = 62


def show(figures: Iterable[Figure]) -> None:
    print(f"{'figure':{_WIDTH}} {'measured':>26} {'beside':>26} {'ratio':>6} {'goal':>7}")
    for one in figures:
        first, *rest = textwrap.wrap(one.what, _WIDTH)
        numbers = f"{one.measured:>26} {one.beside:>26} {one.ratio:>6.2f} {one.bound:>7} {one.state}"
        print(f"{first:{_WIDTH}} {numbers}".rstrip(), *rest, sep="\n", flush=True)
