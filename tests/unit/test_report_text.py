"""The report on terminals that print little, and on none."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from support.reports import GOLDEN, behind, hostile, rerouted, transport, undecided_limits

from evalaction.report.text import render_text


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8", "shift_jis"])
@pytest.mark.parametrize("name", GOLDEN)
def test_every_terminal_can_print_it(name: str, encoding: str) -> None:
    text = render_text(GOLDEN[name](), encoding=encoding, colour=True)
    text.encode(encoding)
    assert f"outcome {GOLDEN[name]().verdict.outcome.value} (exit " in text


def test_marks_differ_in_shape_in_ascii_too() -> None:
    text = render_text(hostile(), encoding="ascii")
    assert "One mark a draw: + pass, x check, c contract, u unreached, ! checker error" in text
    assert "xcu!+" in text
    assert "83.6 % <" in text
    assert "44-45/64" in text


def test_one_item_goes() -> None:
    report = rerouted()
    one = dict(list(report.rerouted.items())[:1])
    assert "items go another way" in render_text(report) and "1 item goes another way" in render_text(
        replace(report, rerouted=one)
    )


def test_no_colour_when_not_asked() -> None:
    assert "\x1b" not in render_text(hostile())


def test_colour_is_our_own_and_always_ended() -> None:
    text = render_text(hostile(), colour=True)
    codes = re.findall(r"\x1b\[([0-9;]*)m", text)
    assert codes
    assert text.count("\x1b") == len(codes)
    assert codes[1::2] == ["0"] * (len(codes) // 2)
    assert re.sub(r"\x1b\[[0-9;]*m", "", text) == render_text(hostile())


def test_no_line_is_a_command_of_a_ci_runner() -> None:
    for width in (20, 60, 100):
        assert not re.search(r"##\[|^\s*::", render_text(hostile(), width=width), re.MULTILINE)


def test_lists_are_cut_and_counted() -> None:
    text = render_text(behind(), rows=2)
    assert "(4 more in results.json)" in text
    assert "t0007" not in text


def test_undecided_is_neither_held_nor_breached() -> None:
    text = render_text(undecided_limits())
    assert text.startswith("? support-triage: lost draws leave a limit undecided")
    assert "72–84/84 ? at least 90 %" in text
    assert "Limits: 2 undecided, 1 held" in text


def test_invalid_halves_say_why() -> None:
    assert "130/144 90.3 % ✗ transport, unscored_mass" in render_text(transport())


def test_long_strips_are_counted() -> None:
    flips = tuple(replace(flip, strip="pk" * 50 + "u") for flip in behind().flips)
    assert "✓ 50 ✗ 50 ⊘ 1" in render_text(replace(behind(), flips=flips, pairs=()))


def test_tables_cost_nothing_until_one_is_printed() -> None:
    code = "import sys, evalaction.report.text; sys.exit('tabulate' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
