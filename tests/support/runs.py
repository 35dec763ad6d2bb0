"""Runs written as strips of letters: p pass, k check false, c contract false, u unreached, e checker error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalaction.method.canonical import digest
from evalaction.method.card import Arm, Card, Draws, Endpoint, ExamRef, Limit, Sign
from evalaction.method.counting.halves import half_of
from evalaction.method.counting.tally import Tally
from evalaction.method.judging.facts import ArmFacts, EndpointFacts, RunFacts
from evalaction.method.judging.limits import sampling_seed
from evalaction.method.numbers import Threshold
from evalaction.method.question import endpoint_of
from evalaction.method.records import ARMS, ArmName, Columns, Row
from evalaction.method.report import Provenance

SEED = "freeze-me-before-running"
GOLDEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden" / "statistics.json").read_text(encoding="utf-8"))
COLUMNS = {
    "p": Columns(True, contract=True, check=True),
    "k": Columns(True, contract=True, check=False, check_reason="mismatch"),
    "c": Columns(True, contract=False, contract_reason="not_json"),
    "u": Columns(False, "status:503"),
    "e": Columns(True, contract=True, check_reason="checker:crash"),
}
Strips = Mapping[str, Sequence[str]]
"""Arm to one strip an item."""


def names(count: int) -> list[str]:
    return [f"t{number:04d}" for number in range(count)]


def balanced(each: int, seed: str = SEED) -> list[str]:
    """Ids of which `each` fall in half 0 and then `each` in half 1."""
    halves: tuple[list[str], list[str]] = ([], [])
    number = 0
    while min(map(len, halves)) < each:
        half = halves[half_of(f"t{number:04d}", seed)]
        if len(half) < each:
            half.append(f"t{number:04d}")
        number += 1
    return halves[0] + halves[1]


def row(item: str = "t0000", arm: ArmName = "treatment", draw: int = 0, letter: str = "p", **changes: Any) -> Row:
    made = Row(
        index=0,
        item=item,
        arm=arm,
        draw=draw,
        half=half_of(item, SEED),
        columns=COLUMNS[letter],
        request_sha256="0" * 64,
        endpoint="main",
        started_at="2026-03-01T09:30:00.000Z",
        ms=40,
    )
    return replace(made, **changes)


def rows(strips: Strips, ids: Sequence[str] | None = None) -> Iterator[Row]:
    for arm in (arm for arm in ARMS if arm in strips):
        for item, strip in zip(ids or names(len(strips[arm])), strips[arm], strict=True):
            for draw, letter in enumerate(strip):
                yield row(item, arm, draw, letter)


def counted(
    told: Mapping[ArmName, Sequence[Sequence[Mapping[str, int] | None]]],
    *names_of: str,
    tags: Mapping[str, Sequence[str]] | None = None,
) -> Tally:
    """A tally of passing draws by what their traces tell: per arm and item a mapping for each draw, None: unreached."""
    sides: list[ArmName] = [arm for arm in ARMS if arm in told]
    ids, draws = names(len(told["treatment"])), len(told["treatment"][0])
    made = Tally(ids, tags or {}, sides, draws, SEED, counters=dict.fromkeys(sides, names_of))
    for arm in sides:
        for item, traces in zip(ids, told[arm], strict=True):
            for draw, trace in enumerate(traces):
                made.add(row(item, arm, draw, "u" if trace is None else "p", counters=trace))
    return made


def tally(strips: Strips, ids: Sequence[str] | None = None, tags: Mapping[str, Sequence[str]] | None = None) -> Tally:
    """A tally filled with every draw of the strips."""
    ids = ids or names(len(strips["treatment"]))
    made = Tally(ids, tags or {}, [arm for arm in ARMS if arm in strips], len(strips["treatment"][0]), SEED)
    for one in rows(strips, ids):
        made.add(one)
    return made


def one_arm(*strips: str) -> Tally:
    return tally({"treatment": strips})


def sign(claim: str = "differ", **fields: Any) -> Sign:
    return Sign(claim=claim, seed=SEED, **fields)  # type: ignore[arg-type]


def limit(name: str, bound: str, scope: str = "treatment", tag: str | None = None, counter: str | None = None) -> Limit:
    return Limit(scope=scope, name=name, bound=Threshold.of(bound), tag=tag, counter=counter)  # type: ignore[arg-type]


def endpoint(name: str = "main", **fields: Any) -> Endpoint:
    return Endpoint(**({"name": name, "api": "openai", "url": "https://model.example/v1", "model": "some-model"} | fields))


def card(*limits: Limit, draws: int = 1, claim: Sign | None = None, **fields: Any) -> Card:
    """Two arms at two endpoints where there is a claim, else one."""
    control = {"control": Arm(endpoint="local", system="prompts/b.md")} if claim else {}
    made: dict[str, Any] = {
        "protocol": "evalaction/1",
        "name": "support-triage",
        "exam": ExamRef(tasks="tasks.jsonl", data="synthetic"),
        "endpoints": {"main": endpoint(), "local": endpoint("local")},
        "treatment": Arm(endpoint="main", system="prompts/b.md"),
        "draws": Draws(count=draws, timeout_ms=1000),
        "sign": claim,
        "limits": limits,
    }
    return Card(**(made | control | fields))


def facts(tally: Tally, of: Card | None = None, **fields: Any) -> RunFacts:
    """The facts of a run of the card `of`, whose arms name their endpoints."""
    of = of or card(claim=sign("none"))
    made: dict[str, Any] = {
        "arms": {name: asked_by(of, name) for name in tally.sides},
        "planned": tally.cells,
        "sent": tally.rows,
        "written": tally.rows,
        "sealed": True,
        "ended": "complete",
        "provenance": Provenance(tool_version="0"),
    }
    return RunFacts(**(made | fields))


def asked_by(of: Card, name: ArmName) -> ArmFacts:
    one = of.endpoints[of.arms[name].endpoint or ""]
    known = EndpointFacts(
        name=one.name,
        api=one.api,
        model=one.model,
        output=one.output,
        seeded=sampling_seed(one),
        identity=digest(endpoint_of(one)),
    )
    return ArmFacts(endpoints=(known,))


def say(sentence: Sequence[Any]) -> str:
    """A sentence as plain text, quoted words in ‹ ›."""
    return "".join(part if isinstance(part, str) else f"‹{part.text}›" for part in sentence)
