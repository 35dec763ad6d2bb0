"""What one card changes in the question of another: field by field, old → new; what asks for less is loosened. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, TypeAlias

from evalaction.method.canonical import sha256
from evalaction.method.card import AtCommit, Card, Limit, Sign
from evalaction.method.exams.exam import Exam
from evalaction.method.numbers import Threshold
from evalaction.method.report import QuestionChange

Value: TypeAlias = "Threshold | str | int | bool | None"

_PARTS = ("draws", "checks", "validity")
_LOOSER_ABOVE = frozenset({
    "sign.margin", "draws.timeout_ms", "validity.max_transport_error_rate", "checks.timeout_ms", "checks.cpu_ms",
    "checks.memory_mb", "checks.output_bytes", "draws.max_body_bytes",
})  # fmt: skip
_LOOSER_BELOW = frozenset({
    "sign.min_items_per_half", "sign.min_abs_gap", "sign.min_item_gap", "draws.count", "validity.min_scored_fraction",
})  # fmt: skip
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FLOORS = ("sign.min_abs_gap", "sign.min_item_gap")


def question_changes(old: Card, new: Card, exams: tuple[Exam, Exam] | None = None) -> tuple[QuestionChange, ...]:
    """What `new` changes in the question of `old`, in the order of the card. `exams` are theirs, where both were read.

    Names, pace, budget, record and the paths of the exam are not part of the question.
    """
    return (
        *_exam_changes(old, new, exams),
        *_control_change(old, new),
        *(change for part in _PARTS for change in _part_changes(part, getattr(old, part), getattr(new, part))),
        *_sign_changes(old.sign, new.sign),
        *_limit_changes(old, new),
    )


def _exam_changes(old: Card, new: Card, exams: tuple[Exam, Exam] | None) -> Iterator[QuestionChange]:
    yield from _change("exam.data", old.exam.data, new.exam.data)
    items = _items_change(*exams) if exams else None
    if items:
        yield items
    # What the items already tell is not told again as a hash; what judges them is another thing.
    for name in ("checker_sha256",) if items else ("sha256", "ids_sha256", "checker_sha256"):
        yield from _change(f"exam.{name}", *(getattr(one, name) for one in exams or (old.exam, new.exam)))


def _items_change(old: Exam, new: Exam) -> QuestionChange | None:
    """Items by what they and their own checkers are; None where they are the same."""
    before, after = _digests(old), _digests(new)
    added = len(after.keys() - before.keys())
    removed = len(before.keys() - after.keys())
    changed = sum(before[name] != after[name] for name in before.keys() & after.keys())
    if not added + removed + changed:
        return None
    counts = {"added": added, "removed": removed, "changed": changed}
    what = ", ".join(f"{number:,} {word}" for word, number in counts.items() if number)
    return QuestionChange(field="exam.items", old=f"{len(before):,}", new=f"{len(after):,} ({what})")


def _digests(exam: Exam) -> dict[str, tuple[str, str | None]]:
    files = {item.id: item.check.file for item in exam.items}
    return {item.id: (item.sha256, sha256(exam.files[file]) if (file := files[item.id]) else None) for item in exam.items}


def _control_change(old: Card, new: Card) -> Iterator[QuestionChange]:
    before, after = _control(old), _control(new)
    if before != after:
        # Whoever leaves base chooses what is compared with.
        yield QuestionChange(field="arms.control", old=before, new=after, loosened=after is None or before == "base")


def _control(card: Card) -> str | None:
    """One word for what a control is, and where the card defines it itself, what it says."""
    control = card.control
    if control is None:
        return None
    if isinstance(control, AtCommit):
        return "base" if control.ref is None else f"ref {control.ref}"
    said = ((field.name, getattr(control, field.name)) for field in fields(control))
    return ", ".join(f"{name} {value}" for name, value in said if value is not None)


def _part_changes(part: str, old: Any, new: Any) -> Iterator[QuestionChange]:
    for field in fields(old):
        yield from _change(f"{part}.{field.name}", getattr(old, field.name), getattr(new, field.name))


def _sign_changes(old: Sign | None, new: Sign | None) -> Iterator[QuestionChange]:
    if old is None or new is None:
        if old is not new:
            claims = [one.claim if one else None for one in (old, new)]
            yield QuestionChange(field="sign", old=claims[0], new=claims[1], loosened=new is None)
        return
    for change in _part_changes("sign", old, new):
        # Under `not_behind` a lead under the floor is a loss that does not count, so that a lower floor asks for more.
        turned = old.claim == "not_behind" and change.field in _FLOORS
        yield replace(change, loosened=not change.loosened) if turned else change


def _limit_changes(old: Card, new: Card) -> Iterator[QuestionChange]:
    before, after = ({_limit_name(one): one for one in card.limits} for card in (old, new))
    for name in dict.fromkeys((*before, *after)):
        yield from _limit_change(f"limits.{name}", before.get(name), after.get(name))


def _limit_change(name: str, old: Limit | None, new: Limit | None) -> Iterator[QuestionChange]:
    bounds = [one.bound if one else None for one in (old, new)]
    if old and new:
        if old.bound.value == new.bound.value:
            return
        loosened = (new.bound.value < old.bound.value) == old.name.startswith("min_")
    else:
        loosened = new is None
    yield QuestionChange(field=name, old=_text(bounds[0]), new=_text(bounds[1]), loosened=loosened)


def _limit_name(limit: Limit) -> str:
    return ".".join(part for part in (limit.scope, limit.tag, limit.name, limit.counter) if part)


def _change(name: str, old: Value, new: Value) -> Iterator[QuestionChange]:
    if _plain(old) != _plain(new):
        yield QuestionChange(field=name, old=_text(old), new=_text(new), loosened=_loosened(name, _plain(old), _plain(new)))


def _loosened(name: str, old: Any, new: Any) -> bool:
    if name == "sign.claim":  # `differ` passes what is far behind, `not_behind` what does not differ
        return bool(old != "none" and new != "ahead")
    if name == "exam.data":  # private items go to no shared endpoint
        return bool(old == "private")
    if name == "checks.isolation":
        return bool(new != "split")
    if old is None or new is None:
        return False
    return bool((name in _LOOSER_ABOVE and new > old) or (name in _LOOSER_BELOW and new < old))


def _plain(value: Value) -> Any:
    return value.value if isinstance(value, Threshold) else value


def _text(value: Value) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and _DIGEST.fullmatch(value):
        return value[:12]
    return value.text if isinstance(value, Threshold) else str(value)


def same_question(old: Card, new: Card) -> bool:
    """Whether two cards ask the same by what they say alone: their hashes stand for the exam."""
    return not question_changes(old, new)


def renamed_from(card: Card, gone: Mapping[str, Card]) -> str | None:
    """Which of the cards that are gone, by path, `card` is: one of its question and name, of its name, or of its question."""
    marks = {path: (same_question(old, card), old.name == card.name) for path, old in gone.items()}
    near = [path for path, (question, name) in marks.items() if question or name]
    return min(near, key=lambda path: (not all(marks[path]), not marks[path][1], path), default=None)
