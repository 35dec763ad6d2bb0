"""The fixtures of the three protocols, run through this code and laid beside their published numbers.

Every row here is synthetic: it shows that the arithmetic is the protocols', and says nothing about any model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evalaction.method.canonical import sha256
from evalaction.method.card import Sign, Validity
from evalaction.method.counting.halves import half_of
from evalaction.method.counting.rates import column_rates, rates_of
from evalaction.method.counting.tally import GridError, Tally
from evalaction.method.judging.sign import Split, sign_of, split_sign
from evalaction.method.numbers import Bounded, Rate
from evalaction.method.records import ARMS, ArmName, Columns, Row

SEED = "freeze-me-before-running"
_COLUMNS = {
    "p": Columns(True, contract=True, check=True),
    "k": Columns(True, contract=True, check=False, check_reason="mismatch"),
    "c": Columns(True, contract=False, contract_reason="not_json"),
    "u": Columns(False, "timeout"),
}
_LETTER_OF = {"pass": "p", "fail": "k", "runner_error": "u"}
_FLIP_TASKS = {"parse_int": "ppk", "slug": "kkk", "clamp": "ppp"}
_PUBLIC_NAMES = {"treatment": "free_model", "control": "free_server"}

# Arm by arm, half by half: the first items are lost, the next are missed, all others pass.
_Quarter = tuple[int, int]
_ALL = 40
_CASES: Mapping[str, tuple[_Quarter, _Quarter, _Quarter, _Quarter]] = {
    "one_item_wobble_earns(n=40/half, B misses 1 item per half)": ((0, 0), (0, 1), (0, 0), (0, 1)),
    "one_half_only_gap": ((0, 0), (0, 3), (0, 0), (0, 0)),
    "identical_arms": ((0, 0), (0, 0), (0, 0), (0, 0)),
    "all_fail_both": ((0, _ALL), (0, _ALL), (0, _ALL), (0, _ALL)),
    "two_errors_of_40_ok(5% not > 5%)": ((2, 0), (0, 0), (0, 0), (0, 0)),
    "three_errors_of_40_transport": ((3, 0), (0, 0), (0, 0), (0, 0)),
    "missingness_only_sign(A errors on the 2 hard items per half that B fails)": ((2, 0), (0, 2), (2, 0), (0, 2)),
    "below_min(29 in half0)": ((0, 0), (0, 4), (0, 0), (0, 5)),
    "server_ahead_minus1": ((0, 1), (0, 0), (0, 1), (0, 0)),
    "dry_clients_80_rows": ((_ALL, 0), (_ALL, 0), (_ALL, 0), (_ALL, 0)),
    "dry_clients_2_rows": ((_ALL, 0), (_ALL, 0), (_ALL, 0), (_ALL, 0)),
}
_RATES = {"all_reach_fail": "uuuu", "reach_ok_contract_all_fail": "ccc", "mix_10": "pppkkkccuu"}


@dataclass(frozen=True, slots=True)
class Compared:
    """One published value and ours, both as canonical text."""

    name: str
    expected: str
    got: str

    @property
    def same(self) -> bool:
        return self.expected == self.got


def selfcheck(golden: Mapping[str, Any]) -> list[Compared]:
    """Every comparison of the self-check; `golden` is the published file. It holds when all of them are `same`."""
    pairs = [*_draws(golden), *_halves(golden), *_columns(golden), *_gaps(golden), *_exam(golden)]
    return [Compared(name, _text(expected), _text(got)) for name, expected, got in pairs]


def three_column_csv(rows: Iterable[tuple[str, int, str]]) -> str:
    """The table of the first protocol: task, draw, verdict in run order, CRLF."""
    lines = [("task", "draw", "verdict"), *rows]
    return "".join(",".join(_cell(str(cell)) for cell in line) + "\r\n" for line in lines)


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _row(item: str, arm: ArmName, draw: int, letter: str) -> Row:
    return Row(
        index=draw,
        item=item,
        arm=arm,
        draw=draw,
        half=half_of(item, SEED),
        columns=_COLUMNS[letter],
        request_sha256="",
        endpoint="fixture",
        started_at="",
        ms=0,
    )


def _tally(draws: Mapping[str, dict[ArmName, str]], *, arms: Sequence[ArmName] = ARMS) -> Tally:
    """A tally of strips: item → arm → letters in draw order."""
    size = len(next(iter(next(iter(draws.values())).values())))
    tally = Tally(list(draws), {}, arms, size, SEED)
    for item, strips in draws.items():
        for arm, strip in strips.items():
            for draw, letter in enumerate(strip):
                tally.add(_row(item, arm, draw, letter))
    return tally


def _share(value: Bounded | Rate | None) -> float | None:
    """Three digits, of the low bound where there are two."""
    if value is None or not value.total:
        return None
    return round((value.hits if isinstance(value, Rate) else value.low) / value.total, 3)


def _draw_summary(tally: Tally) -> dict[str, object]:
    side = tally.sides["treatment"]
    draws = rates_of(side, range(side.items))[1]
    return {
        "tasks": side.items,
        "first_pass": _share(draws.first),
        "stable_pass": _share(draws.stable),
        "flip_rate": _share(draws.flip) or 0.0,
        "tasks_with_runner_error": draws.runner_error_items,
    }


def _draws(golden: Mapping[str, Any]) -> Iterator[tuple[str, object, object]]:
    fixture = golden["seed1_fixture"]
    tally = _tally({item: {"treatment": strip} for item, strip in _FLIP_TASKS.items()}, arms=("treatment",))
    words = {"p": "pass", "k": "fail"}
    table = [(item, draw, words[letter]) for item, strip in _FLIP_TASKS.items() for draw, letter in enumerate(strip)]
    digest = sha256(three_column_csv(table).encode())
    yield "draws: fixture", fixture["stdout"], {**_draw_summary(tally), "csv_sha256_12": digest[:12]}
    yield "draws: rows.csv", fixture["csv_sha256"], digest
    for name, case in golden["seed1_edges"].items():
        if name in {"missing_draw0", "duplicate_draw0_fail_and_pass", "ragged_K"}:
            yield f"draws: {name} is refused", True, _refused(case["rows"])
        else:
            items = _strips(case["rows"])
            yield f"draws: {name}", case["summarize"], _draw_summary(_tally(items, arms=("treatment",)))


def _strips(rows: Sequence[tuple[str, int, str]]) -> dict[str, dict[ArmName, str]]:
    strips: dict[str, str] = {}
    for task, _, verdict in sorted(rows, key=lambda row: (row[0], row[1])):
        strips[task] = strips.get(task, "") + _LETTER_OF[verdict]
    return {task: {"treatment": strip} for task, strip in strips.items()}


def _refused(rows: Sequence[tuple[str, int, str]]) -> bool:
    """Whether rows that are no grid fail to become one."""
    tally = Tally(sorted({row[0] for row in rows}), {}, ("treatment",), 1 + max(row[1] for row in rows), SEED)
    try:
        for task, draw, verdict in rows:
            tally.add(_row(task, "treatment", draw, _LETTER_OF[verdict]))
    except GridError:
        return True
    return not tally.complete


def _fixture_ids() -> tuple[list[str], list[str]]:
    """The first forty ids t0000, t0001, … that fall in each half."""
    halves: tuple[list[str], list[str]] = ([], [])
    number = 0
    while min(map(len, halves)) < _ALL:
        half = halves[half_of(f"t{number:04d}", SEED)]
        if len(half) < _ALL:
            half.append(f"t{number:04d}")
        number += 1
    return halves


def _split(tally: Tally, *, paired: bool) -> Split:
    return split_sign(tally, Sign(claim="differ", seed=SEED, min_item_gap=1), Validity(), paired=paired)


def _judged(split: Split) -> dict[str, object]:
    sides = [side for half in split.halves for side in (half.treatment, half.control)]
    return {
        "earned": split.earned,
        "sign": split.sign,
        "half_signs": list(split.half_signs),
        "breaks": [_public(found.code) for found in split.breaks],
        "rates": [side.passed / side.scored if side.scored else None for side in sides],
        "scored": [side.scored for side in sides],
    }


def _public(code: str) -> str:
    for ours, public in _PUBLIC_NAMES.items():
        code = code.replace(f"{ours}.", f"{public}.")
    return code


def _halves(golden: Mapping[str, Any]) -> Iterator[tuple[str, object, object]]:
    ids, meta = _fixture_ids(), golden["seed2_fixture_meta"]
    opposed: dict[str, dict[ArmName, str]] = {
        item: {"treatment": "pk"[half], "control": "kp"[half]} for half in (0, 1) for item in ids[half]
    }
    lines = [_text_row(item) for item in opposed]
    blob = "\n".join(lines).encode()
    yield "halves: fixture rows", meta["sha256"], sha256(blob)
    first = "".join(str(half_of(f"t{number:04d}", SEED)) for number in range(20))
    yield "halves: t0000 to t0019", meta["halves_t0000_to_t0019"], first
    printed = _printed(_split(_tally(opposed), paired=False), sha256(blob))
    yield "halves: fixture", golden["seed2_fixture"], printed
    yield "halves: printed text", meta["stdout_sha256"], sha256((json.dumps(printed, indent=2) + "\n").encode())
    for name, quarters in _CASES.items():
        tally = _case(name, ids, quarters)
        yield f"halves: {name}", golden["seed2_cases"][name], _judged(_split(tally, paired=False))
        if name.startswith("missingness"):
            paired = _split(tally, paired=True)
            yield f"halves: {name}, paired", [False, "paired_sign_differs"], [paired.earned, *(b.code for b in paired.breaks)]


def _text_row(item: str) -> str:
    return json.dumps({"id": item, "expected": f"ok-{int(item[1:])}"}, separators=(",", ":"))


def _case(name: str, ids: tuple[list[str], list[str]], quarters: Sequence[_Quarter]) -> Tally:
    if name.startswith("below_min"):
        ids = (ids[0][:29], ids[1])
    if name.endswith("2_rows"):
        ids = (["t0001"], ["t0002"])
    strips: dict[str, dict[ArmName, str]] = {}
    for half in (0, 1):
        letters = [_quarter(quarters[2 * half + arm], len(ids[half])) for arm in (0, 1)]
        for place, item in enumerate(ids[half]):
            strips[item] = {"treatment": letters[0][place], "control": letters[1][place]}
    return _tally(strips)


def _quarter(quarter: _Quarter, size: int) -> str:
    lost, missed = quarter
    return ("u" * lost + "k" * missed + "p" * size)[:size]


def _printed(split: Split, digest: str) -> dict[str, object]:
    reports = []
    for half in split.halves:
        for arm, side in zip(ARMS, (half.treatment, half.control), strict=True):
            report = {
                "name": f"{_PUBLIC_NAMES[arm]}.h{half.half}",
                "n": half.items,
                "scored": side.scored,
                "transport_errors": half.items - side.scored,
                "pass_rate": side.passed / side.scored,
                "invalidated": next(iter(side.reasons), None),
            }
            reports.append(report)
    return {
        "earned": split.earned,
        "sign": split.sign,
        "half_signs": list(split.half_signs),
        "breaks": [_public(found.code) for found in split.breaks],
        "hash": digest,
        "reports": reports,
        "note": "+1 means free_model ahead on pass rate; -1 means free_server ahead",
        "fixture": "synthetic_refusal_not_a_product_run",
    }


def _columns(golden: Mapping[str, Any]) -> Iterator[tuple[str, object, object]]:
    for name, letters in _RATES.items():
        rates = column_rates(letters.encode())
        got = {
            "n": len(letters),
            "reach": _share(rates.reach),
            "contract_given_reach": _share(rates.contract),
            "check_given_contract": _share(rates.check),
        }
        yield f"columns: {name}", golden["seed3_rates"][name], got


def _gaps(golden: Mapping[str, Any]) -> Iterator[tuple[str, object, object]]:
    for case in golden["float_gap"]:
        items = int(case["left"].partition("/")[2])
        gap = Fraction(case["left"]) - Fraction(case["right"])
        got = sign_of(gap, items=items, floor=Fraction("0.02"), min_item_gap=1)
        yield f"gap: {case['left']} and {case['right']}", case["exact_rational_sign"], got


def _exam(golden: Mapping[str, Any]) -> Iterator[tuple[str, object, object]]:
    exam = golden["seed3_exam_id"]
    digests = [sha256(text.encode()) for text in exam["files"].values()]
    yield "exam: files", exam["original"]["digests_in_filename_order"], digests
    yield "exam: id", exam["original"]["exam_id_prose_sorted_digests"], sha256("\n".join(sorted(digests)).encode())
