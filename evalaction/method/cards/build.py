"""A card that fits schema and rules, as frozen records with the defaults filled in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalaction.method.card import (
    Arm,
    AtCommit,
    Budget,
    Card,
    CheckLimits,
    Command,
    Draws,
    Endpoint,
    ExamRef,
    Header,
    HttpShape,
    Limit,
    LimitScope,
    Pace,
    Poll,
    Price,
    Record,
    RunnerDemand,
    Sign,
    Validity,
)
from evalaction.method.numbers import Threshold
from evalaction.method.reading.source import Document

_PROGRAM = ("run", "paths", "setup", "env")
_SHAPE = ("finish_reason", "usage_input", "usage_output", "id", "served_model")


def build(document: Document) -> Card:
    """The records of a card. The document must have passed schema and rules."""
    card: Any = document.value
    arms, sign = card["arms"], card.get("sign")
    return Card(
        protocol=card["protocol"],
        name=card["name"],
        exam=ExamRef(**(card["exam"] | {"tasks": card["exam"]["tasks"].removesuffix("/")})),
        endpoints={name: _endpoint(name, fields) for name, fields in card["endpoints"].items()},
        treatment=Arm(**arms["treatment"]),
        control=_control(arms.get("control")),
        draws=_draws(card),
        checks=_checks(card.get("checks", {})),
        sign=Sign(**_thresholds(sign, "margin", "min_abs_gap")) if sign is not None else None,
        validity=Validity(**_thresholds(card.get("validity", {}), "max_transport_error_rate", "min_scored_fraction")),
        limits=tuple(_limits(document, card.get("limits", {}))),
        pace=_pace(card.get("pace", {})),
        budget=Budget(**_thresholds(card.get("budget", {}), "usd")),
        runner=RunnerDemand(**card["runner"]) if card.get("runner") else None,
        record=Record(**card["record"]) if "record" in card else None,
    )


def _control(value: Any) -> Arm | AtCommit | None:
    if isinstance(value, str):
        return AtCommit()
    if value is not None and "ref" in value:
        return AtCommit(ref=value["ref"])
    return Arm(**value) if value is not None else None


def _checks(fields: dict[str, Any]) -> CheckLimits:
    return CheckLimits(**(_without(fields, "image") if fields.get("image") == "none" else fields))


def _draws(card: Any) -> Draws:
    private = {"keep_text": "none"} if card["exam"]["data"] == "private" else {}
    return Draws(**(private | card["draws"]))


def _pace(fields: dict[str, Any]) -> Pace:
    return Pace(**_without(fields, "per_minute") if fields.get("per_minute") == "none" else fields)


def _endpoint(name: str, fields: dict[str, Any]) -> Endpoint:
    shape = None
    if fields["api"] == "http":
        shape = HttpShape(body=fields["body"], text=fields["text"], **{key: fields[key] for key in _SHAPE if key in fields})
    price = _thresholds(fields["price"], "input", "output") if "price" in fields else None
    return Endpoint(
        **_without(fields, "body", "text", "headers", "price", "poll", *_SHAPE, *_PROGRAM),
        name=name,
        headers=tuple(_header(header, value) for header, value in fields.get("headers", {}).items()),
        http=shape,
        price=Price(**price) if price else None,
        poll=_poll(fields["poll"]) if "poll" in fields else None,
        command=_command(fields) if fields["api"] == "command" else None,
    )


def _poll(fields: dict[str, Any]) -> Poll:
    return Poll(**(fields | {name: tuple(fields.get(name, ())) for name in ("pending", "failed", "succeeded")}))


def _command(fields: dict[str, Any]) -> Command:
    words = {name: tuple(fields.get(name, ())) for name in ("run", "setup", "env")}
    return Command(**words, paths=tuple(path.removesuffix("/") for path in fields["paths"]))


def _header(name: str, value: Any) -> Header:
    return Header(name=name, value=value) if isinstance(value, str) else Header(name=name, env=value["env"])


def _limits(document: Document, limits: dict[str, Any]) -> Iterator[Limit]:
    for name, value in limits.items():
        match name:
            case "treatment" | "control" | "between" as scope:
                yield from _scope(document, scope, (name,), value)
            case _:
                yield from _scope(document, "treatment", (), {name: value})


def _scope(document: Document, scope: LimitScope, path: tuple[str, ...], limits: dict[str, Any]) -> Iterator[Limit]:
    for name, bound in limits.items():
        if name == "by_tag":
            for tag, inner in bound.items():
                yield from _bounds(document, scope, (*path, name, tag), inner, tag)
        else:
            yield from _bounds(document, scope, path, {name: bound}, None)


def _bounds(
    document: Document, scope: LimitScope, path: tuple[str, ...], bounds: dict[str, Any], tag: str | None
) -> Iterator[Limit]:
    for name, bound in bounds.items():
        counters: dict[str | None, Any] = bound if name == "max_counter" else {None: bound}
        for counter, most in counters.items():
            place = (*path, name) if counter is None else (*path, name, counter)
            line = document.key_place(("limits", *place))[0]
            yield Limit(scope=scope, name=name, bound=Threshold.of(most), tag=tag, counter=counter, line=line)


def _thresholds(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return fields | {name: Threshold.of(fields[name]) for name in names if name in fields}


def _without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in names}
