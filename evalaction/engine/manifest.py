"""`manifest.json`: what a run was asked, by whom it was frozen and where it ran; enough to score its rows offline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalaction.engine.folder import DRAWS, MANIFEST, ROWS, write_whole
from evalaction.errors import Outcome, SourceError, UsageError
from evalaction.method.canonical import Json
from evalaction.method.judging.facts import ArmFacts, AskedBy, EndpointFacts
from evalaction.method.reading.fields import Fields
from evalaction.method.reading.strict_json import loads
from evalaction.method.records import ARMS, ArmName
from evalaction.method.report import Change, QuestionChange

FORMAT = "evalaction/manifest/1"
REFUSAL_FORMAT = "evalaction/refusal/1"
"""Of a folder whose card could not be read: there is nothing to score in it."""
MAX_BYTES = 64 << 20
SKIPPED = "skipped"
"""Code of a run that ended `unchanged` because nothing of its card differs from base: its arms need not ask the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmRecord:
    """What one arm asked: names and digests, never an address, a header or a key."""

    arm: ArmName
    asked: ArmFacts
    requests_sha256: str
    """One digest over the request digests of all items, in exam order."""
    routes: tuple[str | None, ...] = ()
    """Per item the rule that chose its endpoint; empty in an arm without rules."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """A run that was refused before its first call, and why."""

    outcome: Outcome
    code: str
    sentence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    tool_version: str
    started_at: str
    """UTC, ISO 8601 with Z."""
    card_path: str
    card_text: str
    """The question's card as it stands in git: a parsed 0.020 would be gone."""
    card_sha256: str
    commit: str | None
    parents: tuple[str, ...] = ()
    base: str | None = None
    exam_sha256: str
    ids_sha256: str
    checker_sha256: str | None = None
    question_digest: str
    items: tuple[tuple[str, tuple[str, ...]], ...]
    """(id, tags), in exam order."""
    arms: tuple[ArmRecord, ...]
    """Treatment first."""
    levers: tuple[str, ...] = ()
    """What differs between the arms."""
    changes: tuple[Change, ...] = ()
    unchanged: tuple[int, ...] = ()
    """Positions in `items`, ascending, of those of which both arms ask the same."""
    left_out: tuple[str, ...] = ()
    """Ids of items that are not drawn because nothing changes for them."""
    question: AskedBy | None = None
    question_changes: tuple[QuestionChange, ...] = ()
    base_missing: bool = False
    planned: int
    judged_apart: bool = False
    """Drawn into `draws.jsonl` by one job, judged by another."""
    runner: Mapping[str, str] = field(default_factory=dict)
    isolation: Mapping[str, str] = field(default_factory=dict)
    """How the programs of the exam are kept apart; empty without any."""
    record: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Inputs of the run that are not the default."""
    rehearsal: bool = False
    synthetic: bool = False
    run_url: str | None = None
    ended: Ended | None = None
    """None: the run was drawn, or is being drawn."""

    @property
    def journal(self) -> str:
        """The file that the drawing writes."""
        return DRAWS if self.judged_apart else ROWS


def manifest_to_json(manifest: Manifest) -> dict[str, Json]:
    """The JSON object of a manifest; absent values are left out."""
    value: dict[str, Json | None] = {
        "format": FORMAT,
        "tool_version": manifest.tool_version,
        "started_at": manifest.started_at,
        "commit": manifest.commit,
        "parents": list(manifest.parents),
        "base": manifest.base,
        "question_digest": manifest.question_digest,
        "card": {"path": manifest.card_path, "sha256": manifest.card_sha256, "text": manifest.card_text},
        "exam": {"sha256": manifest.exam_sha256, "ids_sha256": manifest.ids_sha256}
        | _given("checker_sha256", manifest.checker_sha256),
        "arms": [_arm_to_json(arm) for arm in manifest.arms],
        "levers": list(manifest.levers) or None,
        "changes": [_change_to_json(one) for one in manifest.changes] or None,
        "unchanged": list(manifest.unchanged) or None,
        "left_out": list(manifest.left_out) or None,
        "question": manifest.question,
        "question_changes": [_question_change_to_json(one) for one in manifest.question_changes] or None,
        "base_missing": manifest.base_missing or None,
        "planned": manifest.planned,
        "judged_apart": manifest.judged_apart or None,
        "runner": dict(manifest.runner),
        "isolation": dict(manifest.isolation) or None,
        "record": dict(manifest.record),
        "inputs": dict(manifest.inputs),
        "rehearsal": manifest.rehearsal,
        "synthetic": manifest.synthetic,
        "run_url": manifest.run_url,
        "ended": _ended_to_json(manifest.ended),
        "items": [[item, list(tags)] for item, tags in manifest.items],
    }
    return {key: held for key, held in value.items() if held is not None}


def manifest_from_json(value: Json, *, file: str = MANIFEST) -> Manifest:
    """Read a manifest strictly: every field typed, none unknown. Raises SourceError."""
    top = Fields(value, file=file)
    form = top.text("format")
    if form == REFUSAL_FORMAT:
        raise UsageError(f"{file}: this run ended before its card could be read; its comment.md says why.", code="no_run")
    if form != FORMAT:
        raise SourceError(f"This manifest is not in the form {FORMAT}; read it with the version that wrote it.", file=file)
    card, exam = top.part("card"), top.part("exam")
    items = tuple(item.pair_of_texts() for item in top.parts("items"))
    manifest = Manifest(
        tool_version=top.text("tool_version"),
        started_at=top.text("started_at"),
        commit=top.maybe_text("commit"),
        parents=top.texts("parents"),
        base=top.maybe_text("base"),
        question_digest=top.digest("question_digest"),
        card_path=card.text("path"),
        card_sha256=card.digest("sha256"),
        card_text=card.text("text"),
        exam_sha256=exam.digest("sha256"),
        ids_sha256=exam.digest("ids_sha256"),
        checker_sha256=exam.maybe_text("checker_sha256"),
        arms=tuple(_arm_from_json(arm) for arm in top.parts("arms")),
        levers=top.maybe_texts("levers"),
        changes=tuple(_change_from_json(one) for one in top.maybe_parts("changes")),
        unchanged=top.maybe_counts("unchanged"),
        left_out=top.maybe_texts("left_out"),
        question=_question_from_json(top),
        question_changes=tuple(_question_change_from_json(one) for one in top.maybe_parts("question_changes")),
        base_missing=top.maybe_flag("base_missing"),
        planned=top.count("planned"),
        judged_apart=top.maybe_flag("judged_apart"),
        runner=top.mapping("runner"),
        isolation=top.maybe_mapping("isolation"),
        record=top.mapping("record"),
        inputs=top.mapping("inputs"),
        rehearsal=top.flag("rehearsal"),
        synthetic=top.flag("synthetic"),
        run_url=top.maybe_text("run_url"),
        ended=_ended_from_json(top.maybe_part("ended")),
        items=items,
    )
    for part in (top, card, exam):
        part.nothing_else()
    _cross_check(manifest, file)
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write `manifest.json`, indented for people. Raises UsageError when the disk refuses."""
    text = json.dumps(manifest_to_json(manifest), indent=1) + "\n"
    write_whole(folder / MANIFEST, text.encode())


def read_manifest(folder: Path) -> Manifest:
    """Raises UsageError when there is none, SourceError when it is not one of ours."""
    path = folder / MANIFEST
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path} is larger than 64 MiB; it is no manifest of this tool.", code="run_dir")
        data = path.read_bytes()
    except FileNotFoundError as error:
        sentence = f"{folder} is not a run folder, it holds no {MANIFEST}; give the folder that `run` named."
        raise UsageError(sentence, code="run_dir") from error
    except OSError as error:
        raise UsageError(f"{folder} is not a run folder: {MANIFEST}: {error.strerror}.", code="run_dir") from error
    try:
        value = loads(data.decode())
    except ValueError as error:
        raise SourceError(f"This manifest is not strict JSON: {error}.", file=str(path)) from error
    return manifest_from_json(value, file=str(path))


def _given(key: str, value: str | None) -> dict[str, Json]:
    return {} if value is None else {key: value}


def _arm_to_json(arm: ArmRecord) -> Json:
    endpoints = [_endpoint_to_json(one) for one in arm.asked.endpoints]
    named: dict[str, Json] = {"arm": arm.arm, "endpoints": endpoints, "requests_sha256": arm.requests_sha256}
    return named | _given("commit", arm.asked.commit) | ({"routes": list(arm.routes)} if arm.routes else {})


def _endpoint_to_json(endpoint: EndpointFacts) -> Json:
    named: dict[str, Json] = {"name": endpoint.name, "api": endpoint.api, "output": endpoint.output}
    named |= {"seeded": endpoint.seeded, "identity": endpoint.identity}
    return named | _given("model", endpoint.model) | _given("parameters", endpoint.parameters) | _counted(endpoint)


def _counted(endpoint: EndpointFacts) -> dict[str, Json]:
    return {"counters": list(endpoint.counters)} if endpoint.counters else {}


def _arm_from_json(part: Fields) -> ArmRecord:
    name = part.one_of("arm", ARMS)
    endpoints = tuple(_endpoint_from_json(one) for one in part.parts("endpoints"))
    arm = ArmRecord(
        arm="treatment" if name == "treatment" else "control",
        asked=ArmFacts(endpoints=endpoints, commit=part.maybe_text("commit")),
        requests_sha256=part.digest("requests_sha256"),
        routes=part.texts_or_none("routes"),
    )
    part.nothing_else()
    return arm


def _endpoint_from_json(part: Fields) -> EndpointFacts:
    output = part.one_of("output", ("text", "tool_calls"))
    endpoint = EndpointFacts(
        name=part.text("name"),
        api=part.text("api"),
        model=part.maybe_text("model"),
        output="text" if output == "text" else "tool_calls",
        seeded=part.flag("seeded"),
        identity=part.digest("identity"),
        parameters=part.maybe_digest("parameters"),
        counters=part.maybe_texts("counters"),
    )
    part.nothing_else()
    return endpoint


def _change_to_json(change: Change) -> Json:
    value: dict[str, Json] = {"lever": change.lever, "name": change.name}
    return value | _given("old", change.old) | _given("new", change.new) | ({"diff": list(change.diff)} if change.diff else {})


def _change_from_json(part: Fields) -> Change:
    change = Change(
        lever=part.text("lever"),
        name=part.text("name"),
        old=part.maybe_text("old"),
        new=part.maybe_text("new"),
        diff=part.maybe_texts("diff"),
    )
    part.nothing_else()
    return change


def _question_change_to_json(change: QuestionChange) -> Json:
    value: dict[str, Json] = {"field": change.field} | _given("old", change.old) | _given("new", change.new)
    return value | ({"loosened": True} if change.loosened else {})


def _question_change_from_json(part: Fields) -> QuestionChange:
    change = QuestionChange(
        field=part.text("field"),
        old=part.maybe_text("old"),
        new=part.maybe_text("new"),
        loosened=part.maybe_flag("loosened"),
    )
    part.nothing_else()
    return change


def _question_from_json(top: Fields) -> AskedBy | None:
    if top.maybe_text("question") is None:
        return None
    return "base" if top.one_of("question", ("base", "head")) == "base" else "head"


# Before a draw nothing is judged: a manifest that says so of itself is not believed.
_ENDINGS = tuple(outcome.value for outcome in Outcome if outcome not in {Outcome.PASS, Outcome.FAIL})


def _ended_to_json(ended: Ended | None) -> Json:
    if ended is None:
        return None
    return {"outcome": ended.outcome.value, "code": ended.code, "sentence": ended.sentence}


def _ended_from_json(part: Fields | None) -> Ended | None:
    if part is None:
        return None
    ended = Ended(
        outcome=Outcome(part.one_of("outcome", _ENDINGS)),
        code=part.word("code"),
        sentence=part.text("sentence"),
    )
    part.nothing_else()
    return ended


def _cross_check(manifest: Manifest, file: str) -> None:
    names = [arm.arm for arm in manifest.arms]
    ids = [item for item, _ in manifest.items]
    if names not in (["treatment"], ["treatment", "control"]):
        raise SourceError("The arms of a manifest are treatment, or treatment and control.", file=file)
    if not all(arm.asked.endpoints for arm in manifest.arms):
        raise SourceError("Every arm of a manifest has an endpoint.", file=file)
    ended = manifest.ended
    if ended and ended.outcome is Outcome.UNCHANGED and ended.code != SKIPPED and not _same(manifest):
        raise SourceError("The arms of a manifest that calls them unchanged ask the same.", file=file)
    if not ids or len(set(ids)) != len(ids):
        raise SourceError("The items of a manifest have unique ids, and there is at least one.", file=file)
    if any(place >= len(ids) for place in manifest.unchanged):
        raise SourceError("The unchanged items of a manifest are positions among its items.", file=file)
    if any(len(arm.routes) not in (0, len(ids)) for arm in manifest.arms):
        raise SourceError("The routes of an arm are one for each item of the manifest.", file=file)


def _same(manifest: Manifest) -> bool:
    """Whether there are two arms of which every item asks the same."""
    digests = {arm.requests_sha256 for arm in manifest.arms}
    return len(manifest.arms) == 2 and len(digests) == 1 and len(manifest.unchanged) == len(manifest.items)
