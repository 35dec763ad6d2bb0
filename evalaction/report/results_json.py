"""Report → `results.json`: all numbers and the verdict, after the published schema `results.schema.json`.

A rate is its two integers; the `value` beside them is for display. Text is exact here: whoever shows it encodes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any, TypeAlias

from evalaction.method.numbers import Bounded, Rate
from evalaction.method.records import Break, Quoted, Sentence
from evalaction.method.report import (
    ArmReport,
    Change,
    ColumnRates,
    DrawRates,
    Flip,
    HalfReport,
    HalfSide,
    LimitResult,
    MarginBound,
    Pair,
    Provenance,
    Report,
    RouteGroup,
    TagReport,
    Verdict,
)
from evalaction.report.layout import mark_of

FORMAT = "evalaction-results/1"
Tree: TypeAlias = dict[str, Any]


def results(report: Report) -> Tree:
    """The report as plain JSON values."""
    return {
        "format": FORMAT,
        "name": report.name,
        "titles": list(report.titles),
        "mark": mark_of(report),
        "outcome": report.verdict.outcome.value,
        "exit_code": report.verdict.outcome.exit_code,
        "gated": report.gated,
        "heading": sentence(report.heading),
        "what_to_do": None if report.todo is None else sentence(report.todo),
        "callouts": [sentence(text) for text in report.callouts],
        "claim": report.claim,
        "metric": report.metric,
        "items": report.items,
        "draws": report.draws,
        "verdict": _verdict(report.verdict),
        "arms": [_arm(arm) for arm in report.arms],
        "moved": report.moved,
        "discordant": {name: {"lost": lost, "gained": gained} for name, (lost, gained) in report.discordant.items()},
        "halves": [_half(half) for half in report.halves],
        "pairs": [_pair(pair) for pair in report.pairs],
        "flips": [_flip(flip) for flip in report.flips],
        "limits": [_limit(result) for result in report.limits],
        "changed": None if report.changed is None else sentence(report.changed),
        "changes": [_change(change) for change in report.changes],
        "unchanged": sorted(report.unchanged),
        "rerouted": [{"item": item, "control": before, "treatment": now} for item, (before, now) in report.rerouted.items()],
        "routes": [_route(group) for group in report.routes],
        "counts": {"planned": report.counts.planned, "sent": report.counts.sent, "written": report.counts.written},
        "provenance": _provenance(report.provenance),
    }


def results_json(report: Report) -> str:
    """The file's text. Raises ValueError on NaN and infinities; there are none in a report."""
    return json.dumps(results(report), ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def sentence(text: Sentence) -> str:
    return "".join(part.text if isinstance(part, Quoted) else part for part in text)


def _rate(value: Rate | None) -> Tree | None:
    if value is None:
        return None
    return {"hits": value.hits, "total": value.total, "value": None if value.value is None else float(value.value)}


def _bounded(value: Bounded | None) -> Tree | None:
    return None if value is None else {"low": value.low, "high": value.high, "total": value.total}


def _fraction(value: Fraction | None) -> Tree | None:
    return None if value is None else {"numerator": value.numerator, "denominator": value.denominator, "value": float(value)}


def _verdict(verdict: Verdict) -> Tree:
    return {
        "earned": verdict.earned,
        "sign": verdict.sign,
        "half_signs": None if verdict.half_signs is None else list(verdict.half_signs),
        "claim_met": verdict.claim_met,
        "breaks": _breaks(verdict.breaks),
        "notes": _breaks(verdict.notes),
        "bound": _bound(verdict.bound),
        "false_alarm": asdict(verdict.false_alarm) if verdict.false_alarm else None,
    }


def _breaks(breaks: Sequence[Break]) -> list[Tree]:
    return [{"code": entry.code, "sentence": sentence(entry.sentence)} for entry in breaks]


def _bound(bound: MarginBound | None) -> Tree | None:
    if bound is None:
        return None
    return {
        "lower": bound.lower,
        "mean": bound.mean,
        "variance": bound.variance,
        "items": bound.items,
        "margin": bound.margin,
        "enough_items": bound.enough_items,
        "missed": bound.missed,
    }


def _columns(rates: ColumnRates) -> Tree:
    return {
        "reach": _rate(rates.reach),
        "contract": _rate(rates.contract),
        "check": _rate(rates.check),
        "end_to_end": _rate(rates.end_to_end),
        "checker_errors": rates.checker_errors,
    }


def _draws(rates: DrawRates) -> Tree:
    return {
        "first": _bounded(rates.first),
        "stable": _bounded(rates.stable),
        "flip": _bounded(rates.flip),
        "runner_error_items": rates.runner_error_items,
    }


def _arm(arm: ArmReport) -> Tree:
    return {
        "arm": arm.arm,
        "endpoint": arm.endpoint,
        "model": arm.model,
        "columns": _columns(arm.columns),
        "first_columns": _columns(arm.first_columns),
        "draws": _draws(arm.draws),
        "reasons": {column: _tally(pairs) for column, pairs in arm.reasons.items()},
        "tar_raw": _rate(arm.tar_raw),
        "tar_parsed": _rate(arm.tar_parsed),
        "p50_ms": arm.p50_ms,
        "p95_ms": arm.p95_ms,
        "tokens_in": arm.tokens_in,
        "tokens_out": arm.tokens_out,
        "served": _tally(arm.served),
        "fingerprints": _tally(arm.fingerprints),
        "by_tag": [_tag(tag) for tag in arm.by_tag],
        **_behind(arm),
    }


def _behind(arm: ArmReport) -> Tree:
    """What lies behind the draws, where there is any."""
    counters = [
        {
            "name": one.name,
            "draws": one.draws,
            "missing": one.missing,
            "low": one.low,
            "median": _fraction(one.median),
            "high": one.high,
        }
        for one in arm.counters
    ]
    told = {"polls": arm.polls, "retries": arm.retries, "counters": counters}
    return {name: value for name, value in told.items() if value}


def _tally(pairs: Sequence[tuple[str, int]]) -> list[Tree]:
    return [{"name": name, "count": count} for name, count in pairs]


def _tag(tag: TagReport) -> Tree:
    return {"tag": tag.tag, "columns": _columns(tag.columns), "draws": _draws(tag.draws)}


def _half(half: HalfReport) -> Tree:
    return {
        "half": half.half,
        "items": half.items,
        "control": _side(half.control),
        "treatment": _side(half.treatment),
        "gap": _fraction(half.gap),
        "lead_items": _fraction(half.lead_items),
        "sign": half.sign,
        "paired_items": half.paired_items,
        "paired_sign": half.paired_sign,
    }


def _side(side: HalfSide) -> Tree:
    return {"passed": side.passed, "scored": side.scored, "reasons": list(side.reasons)}


def _pair(pair: Pair) -> Tree:
    return {
        "kind": pair.kind,
        "item": pair.item,
        "control": pair.control,
        "treatment": pair.treatment,
        "column": pair.column,
        "reason": pair.reason,
    }


def _flip(flip: Flip) -> Tree:
    return {"item": flip.item, "arm": flip.arm, "strip": flip.strip, "reason": flip.reason}


def _limit(result: LimitResult) -> Tree:
    return {
        "scope": result.limit.scope,
        "name": result.limit.name,
        **({"counter": result.limit.counter} if result.limit.counter else {}),
        "tag": result.limit.tag,
        "bound": result.limit.bound.text,
        "state": result.state,
        "measured": _measured(result),
        "sentence": sentence(result.sentence),
        "already_at_base": result.already_at_base,
    }


def _measured(result: LimitResult) -> Tree | None:
    match result.measured:
        case None:
            return None
        case Rate():
            return _rate(result.measured)
        case Bounded():
            return _bounded(result.measured)
        case int():
            return {"number": result.measured}
        case (low, high):
            return {"low": _fraction(low), "high": _fraction(high)}


def _change(change: Change) -> Tree:
    return {"lever": change.lever, "name": change.name, "old": change.old, "new": change.new, "diff": list(change.diff)}


def _route(group: RouteGroup) -> Tree:
    arms = {arm: {"columns": _columns(columns), "draws": _draws(draws)} for arm, (columns, draws) in group.arms.items()}
    return {"control": group.control, "treatment": group.treatment, "items": group.items, "arms": arms}


def _provenance(source: Provenance) -> Tree:
    named: Mapping[str, Mapping[str, str]] = {"runner": source.runner, "inputs": source.inputs, "record": source.record}
    return {
        "tool_version": source.tool_version,
        "commit": source.commit,
        "base": source.base,
        "card_path": source.card_path,
        "card_sha256": source.card_sha256,
        "exam_id": source.exam_id,
        "question_digest": source.question_digest,
        "rows_sha256": source.rows_sha256,
        "started_at": source.started_at,
        "duration_ms": source.duration_ms,
        **{name: dict(values) for name, values in named.items()},
        "run_url": source.run_url,
    }
