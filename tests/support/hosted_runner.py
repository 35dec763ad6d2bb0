"""A stand-in for a hosted runner: it takes jobs, lets them be polled, and tells in a trace what it did behind our back.

Retries, clocks and tool hops are inserted on purpose: `trace` says which. One Behaviour for `endpoint_server.serving`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from support.endpoint_server import Answer, Received, response

Trace = Callable[[int, str], Any]
SUBMIT = "/v1/jobs"
SHAPE: dict[str, Any] = {"body": {"input": "{{prompt}}"}, "text": "/result/text", "finish_reason": "/result/why", "id": "/run"}
"""The fields of a card's endpoint for this runner, beside address, key and `poll`."""


def inserted(number: int, prompt: str) -> Any:
    """The default trace: every third job was retried once, every job made as many tool hops as its prompt has words."""
    hops = [{"tool": "search", "clock_ms": 5 * hop} for hop in range(len(prompt.split()))]
    return {"hops": hops, "counts": {"tool_hops": len(hops), "server_retries": int(number % 3 == 2)}, "clock_ms": 7 * len(hops)}


@dataclass
class Job:
    number: int
    prompt: str
    polls: int = 0


@dataclass
class HostedRunner:
    answer: Callable[[str], str | None] = lambda prompt: "ok"
    """The text of a finished job by its prompt; None: the job fails."""
    pending: int = 2
    """Polls that are answered with a state that goes on."""
    trace: Trace = inserted
    name: Callable[[int], Any] = lambda number: f"job-{number}"
    accepted: int = 202
    """Status of a submission."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of every poll's reply that says the job goes on."""
    jobs: dict[str, Job] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)
    """What was asked for and is neither a submission nor a poll of a known job."""

    def __call__(self, received: Received) -> Answer:
        if received.method == "POST" and received.target == SUBMIT:
            return self._submit(received)
        job = self.jobs.get(received.target.removeprefix(f"{SUBMIT}/")) if received.method == "GET" else None
        if job is None:
            self.strays.append(f"{received.method} {received.target}")
            return response({"error": "no such job"}, status=404)
        job.polls += 1
        if job.polls <= self.pending:
            return response({"state": "queued" if job.polls == 1 else "running"}, headers=self.headers)
        return self._finished(job)

    @property
    def polls(self) -> int:
        return sum(job.polls for job in self.jobs.values())

    def _submit(self, received: Received) -> Answer:
        job = Job(len(self.jobs), received.json["input"])
        name = self.name(job.number)
        self.jobs[_segment(name)] = job
        return response({"job": {"id": name}, "state": "queued"}, status=self.accepted)

    def _finished(self, job: Job) -> Answer:
        text, trace = self.answer(job.prompt), self.trace(job.number, job.prompt)
        if text is None:
            return response({"state": "crashed", "error": "the tool is down", "trace": trace})
        return response(
            {"state": "succeeded", "run": f"run-{job.number}", "result": {"text": text, "why": "stop"}, "trace": trace}
        )


def _segment(name: Any) -> str:
    """How a client that keeps to one segment must write the name of a job."""
    return "".join(sign if (sign.isalnum() and sign.isascii()) or sign in "-._~" else _escaped(sign) for sign in str(name))


def _escaped(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode())


def names_of(targets: list[str]) -> list[str]:
    """The names of the jobs that polls asked for."""
    return [unquote(target.removeprefix(f"{SUBMIT}/")) for target in targets]


def poll(**fields: Any) -> dict[str, Any]:
    """`poll` of a card, as this runner needs it."""
    return {
        "url": f"{SUBMIT}/{{{{id}}}}",
        "take": {"id": "/job/id"},
        "every_ms": 5,
        "done": "/state",
        "pending": ["queued", "running"],
        "failed": ["crashed"],
    } | fields


COUNTERS = {"tool_hops": "/counts/tool_hops", "server_retries": "/counts/server_retries"}


def card_endpoint(url: str, **fields: Any) -> dict[str, Any]:
    """The endpoint of a card that asks this runner."""
    shape: dict[str, Any] = json.loads(json.dumps(SHAPE))
    return {"api": "http", "url": f"{url}{SUBMIT}", **shape, "poll": poll(), "trace": "/trace", "counters": COUNTERS} | fields
