"""The table of what moved: each item once, with the draws of both arms."""

from __future__ import annotations

from dataclasses import replace

from support.reports import behind

from evalaction.method.report import Flip
from evalaction.report import moved
from evalaction.report.blocks import Draws

FLIPS = (
    Flip(item="t1", arm="treatment", strip="pkp", reason=None, other="kpk"),
    Flip(item="t1", arm="control", strip="kpk", reason=None, other="pkp"),
    Flip(item="t2", arm="control", strip="kkp", reason=None, other="kkk"),
    Flip(item="t3", arm="treatment", strip="ppk", reason=None),
)


def test_an_item_that_flips_in_both_arms_is_counted_once() -> None:
    assert moved.counts(replace(behind(), pairs=(), flips=FLIPS)) == "3 flips"


def test_the_arm_that_does_not_flip_is_shown_beside_the_one_that_does() -> None:
    rows = moved.table(replace(behind(), pairs=(), flips=FLIPS)).rows
    assert [(control, treatment) for _, control, treatment, *_ in rows] == [
        ((Draws("kpk"),), (Draws("pkp"),)),
        ((Draws("kkp"),), (Draws("kkk"),)),
        (("–",), (Draws("ppk"),)),
    ]
