"""The question of a card as values, and the digest under which its answer is final.

Comments, the order of keys, `name`, `pace`, `budget`, `record` and `runner` do not count, nor does the path of the exam:
its digests do. Defaults are filled in, and 0.020 is 0.02.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from evalaction.method.canonical import Json, digest, sha256
from evalaction.method.card import Card, CheckLimits, Draws, Endpoint, Limit, Sign, Validity
from evalaction.method.exams.exam import Exam
from evalaction.method.numbers import Threshold


def question_of(card: Card, exam: Exam) -> Json:
    """Exam, checks, draws, sign, limits and validity as plain values; limits in a fixed order, thresholds as fractions."""
    return {
        "protocol": card.protocol,
        "exam": {"data": card.exam.data, **_hashes(exam)},
        "checks": _values(card.checks),
        "draws": _values(card.draws),
        "sign": _values(card.sign) if card.sign else None,
        "limits": [_limit(limit) for limit in sorted(card.limits, key=_limit_order)],
        "validity": _values(card.validity),
    }


def endpoint_of(endpoint: Endpoint, *, replies: bytes | None = None, program: str | None = None) -> Json:
    """What of an endpoint's definition decides whom a request reaches and how its reply is read, beside the request itself.

    Its name, price and `shared` do not count; a variable counts by its name. `replies` is the file of a scripted endpoint,
    `program` the digest of a command's files.
    """
    shape, command, poll = endpoint.http, endpoint.command, endpoint.poll
    return {
        "api": endpoint.api,
        "url": endpoint.url.rstrip("/") if endpoint.url else None,
        "url_env": endpoint.url_env,
        "key_env": endpoint.key_env,
        "headers": sorted([header.name.lower(), header.value, header.env] for header in endpoint.headers),
        "output": endpoint.output,
        "read": {name.name: getattr(shape, name.name) for name in fields(shape) if name.name != "body"} if shape else None,
        "replies": sha256(replies) if replies is not None else None,
        "api_version": endpoint.api_version,
        "poll": {name.name: _listed(getattr(poll, name.name)) for name in fields(poll)} if poll else None,
        "trace": endpoint.trace,
        "counters": dict(endpoint.counters),
        "command": {name.name: _listed(getattr(command, name.name)) for name in fields(command)} if command else None,
        "program": program,
    }


def _listed(value: Json) -> Json:
    return list(value) if isinstance(value, tuple) else value


def question_digest(
    question: Json, *, exam: Exam, requests: Mapping[str, Sequence[str]], endpoints: Mapping[str, Json] | None = None
) -> str:
    """64 lower-case hex digits over question, exam and, per arm, its endpoint and the digests of its requests, item by item.

    `endpoints` holds `endpoint_of` each arm's endpoint.
    """
    return digest(
        {
            "question": question,
            "exam": _hashes(exam),
            "items": [item.id for item in exam.items],
            "requests": {arm: list(digests) for arm, digests in requests.items()},
            "endpoints": dict(endpoints or {}),
        }
    )


def _hashes(exam: Exam) -> dict[str, Json]:
    return {"sha256": exam.sha256, "ids_sha256": exam.ids_sha256, "checker_sha256": exam.checker_sha256}


def _values(record: CheckLimits | Draws | Sign | Validity) -> dict[str, Json]:
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: Threshold | str | int | None) -> Json:
    return str(value.value) if isinstance(value, Threshold) else value


def _limit(limit: Limit) -> dict[str, Json]:
    counter: dict[str, Json] = {"counter": limit.counter} if limit.counter else {}
    return {"scope": limit.scope, "name": limit.name, "tag": limit.tag, "bound": str(limit.bound.value), **counter}


def _limit_order(limit: Limit) -> tuple[str, str, str, str]:
    return limit.scope, limit.tag or "", limit.name, limit.counter or ""
