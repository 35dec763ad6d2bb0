"""What is judged, against what, and by whose question: every part of it read wholly at one commit."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from evalaction.errors import EvalactionError, UnregisteredError, UsageError
from evalaction.method.arms import Source
from evalaction.method.card import Arm, AtCommit, Card
from evalaction.method.cards.parse import parse_card
from evalaction.method.judging.facts import AskedBy
from evalaction.method.question_changes import question_changes, renamed_from
from evalaction.method.records import ArmName
from evalaction.method.report import QuestionChange
from evalaction.registration.at_commit import card_at, defined_at, frozen_at, resolve_commit
from evalaction.registration.frozen import Frozen
from evalaction.registration.git import REGULAR, Commit, Git, GitError
from evalaction.registration.paths import CARD_BYTES
from evalaction.registration.programs import without_exam
from evalaction.schemas import load as load_schema

MOST_GONE = 200
"""Files of base that are looked into for the card that another one was before it was moved."""
_CARDS = (".yaml", ".yml", ".json")
_MARK = b"evalaction/"


@dataclass(frozen=True, kw_only=True, slots=True)
class Against:
    """Where a control of another commit is looked for."""

    git: Git
    base: Commit | None
    """Its files are in this clone; None: this run has no base."""
    question: AskedBy = "base"
    """Whose question is asked where a card is judged against base."""
    ca_bundle: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """Question and arms, before anything is resolved."""

    question: Frozen
    judged: Frozen
    """The same, as the judged commit has it; the question itself where nothing is judged by another commit's."""
    arms: Mapping[ArmName, Source]
    """Treatment first."""
    base: str | None = None
    base_path: str | None = None
    """Where base has the card; None where it has none, or there is no base."""
    asked_by: AskedBy | None = None
    """None: the card is not judged against base."""
    question_changes: tuple[QuestionChange, ...] = ()
    base_missing: bool = False
    new: str | None = None
    """Why there is nothing to judge yet: a sentence."""
    card_ignored: bool = False
    """The judged commit's card differs from base's in more than words, and it is a stranger's: it counts for nothing."""
    program_ignored: bool = False
    """The judged commit has another program for an endpoint, and it is a stranger's: base's is run."""


def trial_of(judged: Frozen, against: Against | None) -> Trial:
    """The trial of a card. `against` is None where no base was looked for.

    Where the card, or the one that it was at base, has `control: base`, the question is that of base. Raises UsageError for a
    control that cannot be found, UnregisteredError (`base_unreadable`) for a card of base that cannot judge.
    """
    base = against.base if against else None
    path = _path_at_base(judged, against, base) if against and base else None
    trial = _beside(judged, against, base, path) if against and base else _alone(judged, against)
    arms = {name: replace(source, files=without_exam(source.files, trial.question)) for name, source in trial.arms.items()}
    return replace(trial, arms=arms, base=base.oid if base else None, base_path=path)


def _beside(judged: Frozen, against: Against, base: Commit, path: str | None) -> Trial:
    by_base = _against_base(judged.card)
    if path is None:
        sentence = "This card is new: base has none here, and none that was moved here. It is judged from the next change on."
        return _registered(judged, sentence) if by_base else _alone(judged, against)
    try:
        _, old = card_at(against.git, base, path)
    except GitError:
        raise
    except EvalactionError as error:
        if not by_base:
            return _alone(judged, against)
        if against.question == "base":
            raise _unreadable(base, error) from error
        return _nothing_there(judged, error)
    if not by_base and not _against_base(old):
        return _alone(judged, against)
    return _by_head(judged, against, base, path) if against.question == "head" else _by_base(judged, against, base, path)


def fork_trial(base: Frozen, head: Frozen, *, card_ignored: bool = False, program_ignored: bool = False) -> Trial:
    """A stranger's files under base's card: the treatment is base's entry with the files of `head`, everything else is base."""
    control = base.card.control
    arms = _treatment(head)
    if isinstance(control, Arm):
        arms["control"] = _source(head, control)
    elif control is not None:
        if control.ref is not None:
            raise UsageError(
                "The control of this card is at another commit, and a fork is judged against base only; write `control: base`.",
                code="ref",
            )
        arms["control"] = _source(base, base.card.treatment)
    return Trial(
        question=base,
        judged=head,
        arms=arms,
        base=base.commit,
        base_path=base.card_path,
        asked_by="base" if _against_base(base.card) else None,
        card_ignored=card_ignored,
        program_ignored=program_ignored,
    )


def _by_base(judged: Frozen, against: Against, base: Commit, path: str) -> Trial:
    try:
        question = frozen_at(against.git, base, path)
    except GitError:
        raise
    except EvalactionError as error:
        raise _unreadable(base, error) from error
    arms = _treatment(judged)
    if _against_base(question.card):
        arms["control"] = _source(question, question.card.treatment)
    else:
        arms |= _control(question, against)
    return Trial(
        question=question,
        judged=judged,
        arms=arms,
        asked_by="base",
        question_changes=question_changes(question.card, judged.card, (question.exam, judged.exam)),
    )


def _by_head(judged: Frozen, against: Against, base: Commit, path: str) -> Trial:
    try:
        held = defined_at(against.git, base, path)
    except GitError:
        raise
    except EvalactionError as error:
        return _nothing_there(judged, error) if _against_base(judged.card) else _alone(judged, against)
    arms = _treatment(judged)
    if _against_base(judged.card):
        arms["control"] = Source(card=held.card, arm=held.card.treatment, files=held.files, commit=base.oid)
    else:
        arms |= _control(judged, against)
    exams = None
    with suppress(EvalactionError):
        exams = (frozen_at(against.git, base, path).exam, judged.exam)
    return Trial(
        question=judged,
        judged=judged,
        arms=arms,
        asked_by="head",
        question_changes=question_changes(held.card, judged.card, exams),
    )


def _alone(judged: Frozen, against: Against | None) -> Trial:
    """By its own question; a control at base is left out where there is no base."""
    missing = _against_base(judged.card)
    control = {} if missing else _control(judged, against)
    return Trial(question=judged, judged=judged, arms=_treatment(judged) | control, base_missing=missing)


def _registered(judged: Frozen, sentence: str) -> Trial:
    return Trial(question=judged, judged=judged, arms=_treatment(judged), new=sentence)


def _nothing_there(judged: Frozen, error: EvalactionError) -> Trial:
    """The change is judged by its own question, and base holds nothing that could be asked beside it."""
    why = error.sentence.removesuffix(".")
    sentence = f"What base has of this card cannot be read ({why}), so there is nothing to compare this one with yet."
    return _registered(judged, sentence)


def _treatment(judged: Frozen) -> dict[ArmName, Source]:
    return {"treatment": _source(judged, judged.card.treatment)}


def _control(question: Frozen, against: Against | None) -> dict[ArmName, Source]:
    """The control that a card defines itself, or names by its commit."""
    control = question.card.control
    if control is None:
        return {}
    if not isinstance(control, AtCommit):
        return {"control": _source(question, control)}
    assert control.ref is not None, "base is resolved by the caller"
    if against is None:
        raise UsageError("A control at another commit needs a git repository.", code="not_a_repository")
    commit = resolve_commit(against.git, control.ref, ca_bundle=against.ca_bundle)
    try:
        held = defined_at(against.git, commit, question.card_path)
    except GitError:
        raise
    except EvalactionError as error:
        why = error.sentence.removesuffix(".")
        raise UsageError(
            f"The control at {control.ref!r} cannot be read: {why}. Let `arms.control.ref` name a commit that has this card and "
            "its files.",
            code="ref",
        ) from error
    return {"control": Source(card=held.card, arm=held.card.treatment, files=held.files, commit=commit.oid)}


def _source(frozen: Frozen, arm: Arm) -> Source:
    return Source(card=frozen.card, arm=arm, files=frozen.files, commit=frozen.commit)


def _against_base(card: Card) -> bool:
    return card.control == AtCommit()


def _path_at_base(judged: Frozen, against: Against, base: Commit) -> str | None:
    """Where base has the card: at its path, or at one that is gone since and held the same question or name."""
    git = against.git
    if judged.card_path in git.tree(base, [judged.card_path]):
        return judged.card_path
    here = _paths_here(judged, git)
    files = git.files(base)
    gone = sorted(path for path, entry in files.items() if path not in here and _may_be_card(path) and entry.mode in REGULAR)
    oids = {path: files[path].oid for path in gone[:MOST_GONE]}
    sizes = git.sizes(oids.values())
    small = {path: oid for path, oid in oids.items() if (size := sizes.get(oid)) is not None and size <= CARD_BYTES}
    blobs = git.blobs(small.values())
    cards: dict[str, Card] = {}
    for path, oid in small.items():
        if _MARK in blobs[oid]:
            with suppress(EvalactionError):
                cards[path] = parse_card(blobs[oid], file=path, schema=load_schema("card"))
    return renamed_from(judged.card, cards)


def _may_be_card(path: str) -> bool:
    return path.casefold().endswith(_CARDS)


class _WorkTree(Container[str]):
    """The files of a rehearsal, asked for one at a time."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __contains__(self, path: object) -> bool:
        return os.path.lexists(self._root / str(path))


def _paths_here(judged: Frozen, git: Git) -> Container[str]:
    commit = git.commit(judged.commit) if judged.commit else None
    return git.files(commit) if commit else _WorkTree(judged.root)


def _unreadable(base: Commit, error: EvalactionError) -> UnregisteredError:
    why = error.sentence.removesuffix(".")
    return UnregisteredError(
        f"Base ({base.oid[:12]}) holds no card that can judge this change: {why}. Repair it at base first, or judge this change "
        "by its own question with `question: head`.",
        code="base_unreadable",
    )
