"""Colours: ink can be read on every paper that it stands on (WCAG 2.2, 1.4.3), marks are seen on it (1.4.11)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from evalaction.report.html.palette import DARK, LIGHT

INKS = ("ink", "quiet", "link", "pass", "check", "contract", "control", "treatment")
MARKS = (*INKS, "unreached", "error", "focus")


def luminance(colour: str) -> float:
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("paper", ["paper", "card", "soft"])
def test_ink_and_marks_stand_out(colours: Mapping[str, str], paper: str) -> None:
    assert {name: contrast(colours[name], colours[paper]) for name in INKS if contrast(colours[name], colours[paper]) < 4.5} == {}
    assert [name for name in MARKS if contrast(colours[name], colours[paper]) < 3] == []


def test_both_have_the_same_names() -> None:
    assert LIGHT.keys() == DARK.keys()
