"""An entry as JSON and back. What is read is untrusted: typed, bounded, nothing unknown.

Counts that its strips do not bear out are refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar, cast, get_args

from evalaction.errors import Outcome, SourceError
from evalaction.method.canonical import Json, encode
from evalaction.method.reading.fields import Fields
from evalaction.method.reading.strict_json import loads
from evalaction.method.records import ARMS, ArmName
from evalaction.method.report import Counts, LimitState, Title
from evalaction.method.series.entry import RECORDED, ArmEntry, Comparable, Entry, LimitEntry
from evalaction.method.series.latency import Latency
from evalaction.method.series.places import MAX_ENTRY, RUN, place_of, read_place

FORMAT = "evalaction/history/1"
MOST_WORDS = 500
LONGEST = 1_000
_STARTED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_CODE = re.compile(r"[A-Za-z0-9_.:+-]{1,200}", re.ASCII)
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(:\d{1,5})?(/[A-Za-z0-9_.-]+)+", re.ASCII)
_TITLES = frozenset(get_args(Title))
T = TypeVar("T")
_STATES = ("held", "breached", "undecided")


def entry_bytes(entry: Entry) -> bytes:
    """Canonical JSON and a line end: one entry has one text."""
    return encode(to_json(entry)) + b"\n"


def to_json(entry: Entry) -> dict[str, Json]:
    """The object of `history.schema.json`; absent values are left out. `tally` is for readers: it is counted again when read."""
    same = entry.comparable
    value: dict[str, Json] = {
        "format": FORMAT,
        "card": {"path": entry.card, "name": entry.name, "key": entry.key},
        "run": entry.run,
        "started_at": entry.started_at,
        "tool_version": entry.tool_version,
        "commit": entry.commit,
        "run_url": entry.run_url,
        "question_digest": entry.question_digest,
        "rows_sha256": entry.rows_sha256,
        "table_sha256": entry.table_sha256,
        "outcome": entry.outcome.value,
        "titles": list(entry.titles),
        "breaks": list(entry.breaks),
        "limits": [{"limit": limit.key, "state": limit.state} for limit in entry.limits],
        "comparable": _present(
            {
                "exam_sha256": same.exam_sha256,
                "ids_sha256": same.ids_sha256,
                "checker_sha256": same.checker_sha256,
                "items_sha256": same.items_sha256,
                "timeout_ms": same.timeout_ms,
                "draws": same.draws,
                "checks_sha256": same.checks_sha256,
                "arms": list(same.arms),
                "output": same.output,
                "parameters_sha256": same.parameters_sha256,
            }
        ),
        "items": entry.items,
        "counts": {"planned": entry.counts.planned, "sent": entry.counts.sent, "written": entry.counts.written},
        "arms": [_arm(entry, arm) for arm in entry.arms],
        "runner": dict(entry.runner),
    }
    return _present(value)


def read_entry(data: bytes, *, path: str) -> Entry:
    """The entry that lies at `path`. Raises SourceError for anything that is not one of ours, or lies elsewhere."""
    if len(data) > MAX_ENTRY:
        raise SourceError("This entry is larger than 8 MiB.", file=path)
    try:
        value = loads(data.decode())
    except ValueError as error:
        raise SourceError(f"This entry is not strict JSON: {error}.", file=path) from error
    try:
        entry = _entry(Fields(value, file=path), path)
    except ValueError as error:
        raise SourceError(f"This is no entry of a history: {error}.", file=path) from error
    if place_of(entry) != read_place(path):
        raise SourceError("This entry lies in the place of another one.", file=path)
    return entry


def _present(value: Mapping[str, Json]) -> dict[str, Json]:
    return {key: held for key, held in value.items() if held is not None}


def _arm(entry: Entry, arm: ArmEntry) -> Json:
    return _present(
        {
            "arm": arm.arm,
            "endpoint": arm.endpoint,
            "model": arm.model,
            "requests_sha256": arm.requests_sha256,
            "seeded": arm.seeded,
            "strips": arm.strips.decode("ascii"),
            "latency_ms": _present({"low": arm.latency.low, "p95": arm.latency.p95, "high": arm.latency.high}),
            "tally": _tally(entry, arm),
        }
    )


def _tally(entry: Entry, arm: ArmEntry) -> dict[str, int] | None:
    """Counts of draws and of items, with the bounds that lost draws leave open."""
    rates = entry.rates(arm)
    if rates is None:
        return None
    columns, draws = rates
    counts = {
        "draws": columns.reach.total,
        "reached": columns.reach.hits,
        "contracted": columns.contract.hits,
        "passed": columns.check.hits,
        "checker_errors": columns.checker_errors,
        "runner_error_items": draws.runner_error_items,
    }
    for name, count in (("first", draws.first), ("stable", draws.stable), ("flip", draws.flip)):
        if count is not None:
            counts |= {name: count.low, f"{name}_hi": count.high}
    return counts


def _entry(top: Fields, path: str) -> Entry:
    if top.text("format") != FORMAT:
        raise SourceError(f"This entry is not in the form {FORMAT}.", file=path)
    card, same, counts = top.part("card"), top.part("comparable"), top.part("counts")
    arms = top.parts("arms")
    entry = Entry(
        card=_short(card.text("path"), "path"),
        name=_short(card.text("name"), "name"),
        key=_short(card.text("key"), "key"),
        run=_fits(RUN, top.text("run"), "run"),
        started_at=_fits(_STARTED, top.text("started_at"), "started_at"),
        tool_version=_short(top.text("tool_version"), "tool_version"),
        commit=_maybe(_COMMIT, top.maybe_text("commit"), "commit"),
        run_url=_maybe(_URL, top.maybe_text("run_url"), "run_url"),
        question_digest=top.digest("question_digest"),
        rows_sha256=top.maybe_digest("rows_sha256"),
        table_sha256=top.maybe_digest("table_sha256"),
        outcome=Outcome(top.one_of("outcome", sorted(one.value for one in RECORDED))),
        titles=tuple(_one_of(_TITLES, title, "titles") for title in _words(top.texts("titles"), "titles")),
        breaks=tuple(_fits(_CODE, code, "breaks") for code in _words(top.texts("breaks"), "breaks")),
        limits=_few([_limit(limit) for limit in top.parts("limits")], "limits"),
        comparable=_comparable(same),
        items=top.count("items"),
        counts=Counts(planned=counts.count("planned"), sent=counts.count("sent"), written=counts.count("written")),
        arms=_few([_arm_entry(arm) for arm in arms], "arms"),
        runner=_runner(top.mapping("runner")),
    )
    _bear_out(entry, arms)
    for part in (top, card, same, counts, *arms):
        part.nothing_else()
    return entry


def _bear_out(entry: Entry, parts: Sequence[Fields]) -> None:
    """Raise ValueError where an entry's counts are not those of its strips."""
    for arm, part in zip(entry.arms, parts, strict=True):
        expected, found = _tally(entry, arm) or {}, part.maybe_part("tally")
        if found and {name: found.count(name) for name in expected} != expected:
            raise ValueError(f"the counts of {arm.arm} are not those of its draws")
        if found:
            found.nothing_else()


def _comparable(part: Fields) -> Comparable:
    return Comparable(
        exam_sha256=part.digest("exam_sha256"),
        ids_sha256=part.digest("ids_sha256"),
        checker_sha256=part.maybe_digest("checker_sha256"),
        items_sha256=part.digest("items_sha256"),
        timeout_ms=part.count("timeout_ms"),
        draws=part.count("draws"),
        checks_sha256=part.digest("checks_sha256"),
        arms=tuple(_arm_name(name) for name in part.texts("arms")[:3]),
        output=_short(part.text("output"), "output"),
        parameters_sha256=part.maybe_digest("parameters_sha256"),
    )


def _arm_entry(part: Fields) -> ArmEntry:
    times = part.part("latency_ms")
    latency = Latency(*(times.maybe_count(name) for name in ("low", "p95", "high")))
    times.nothing_else()
    model = part.maybe_text("model")
    return ArmEntry(
        arm=_arm_name(part.text("arm")),
        endpoint=_short(part.text("endpoint"), "endpoint"),
        model=None if model is None else _short(model, "model"),
        requests_sha256=part.digest("requests_sha256"),
        seeded=part.flag("seeded"),
        strips=part.text("strips").encode("ascii"),
        latency=latency,
    )


def _limit(part: Fields) -> LimitEntry:
    limit = LimitEntry(key=_short(part.text("limit"), "limit"), state=cast("LimitState", part.one_of("state", _STATES)))
    part.nothing_else()
    return limit


def _arm_name(name: str) -> ArmName:
    found = next((arm for arm in ARMS if arm == name), None)
    if found is None:
        raise ValueError(f"no such arm: {name[:80]!r}")
    return found


def _runner(value: Mapping[str, str]) -> Mapping[str, str]:
    _few(list(value), "runner")
    return {_short(name, "runner"): _short(text, "runner") for name, text in value.items()}


def _words(texts: Sequence[str], name: str) -> tuple[str, ...]:
    return _few([_short(text, name) for text in texts], name)


def _few(values: Sequence[T], name: str) -> tuple[T, ...]:
    if len(values) > MOST_WORDS:
        raise ValueError(f"{name} has over {MOST_WORDS} values")
    return tuple(values)


def _short(text: str, name: str) -> str:
    if len(text) > LONGEST:
        raise ValueError(f"{name} is longer than {LONGEST:,} characters")
    return text


def _fits(form: re.Pattern[str], text: str, name: str) -> str:
    if not form.fullmatch(text):
        raise ValueError(f"{name} does not have its form")
    return text


def _one_of(words: Collection[str], text: str, name: str) -> str:
    if text not in words:
        raise ValueError(f"{name} holds an unknown word")
    return text


def _maybe(form: re.Pattern[str], text: str | None, name: str) -> str | None:
    return None if text is None else _fits(form, text, name)
