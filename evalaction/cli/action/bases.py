"""The base of a job's cards: what each is judged against, which of them a change takes away, and of which nothing differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evalaction.cli.action.judged import Judged
from evalaction.errors import EvalactionError, Outcome, Settled, UnregisteredError, UsageError
from evalaction.method.card import AtCommit
from evalaction.method.records import Quoted

if TYPE_CHECKING:
    from evalaction.cli.action.stage import Stage
    from evalaction.engine.prepare import Prepared
    from evalaction.engine.trial import Trial
    from evalaction.registration.frozen import Frozen
    from evalaction.registration.git import Commit

_CHANGES = frozenset({"merge_group", "push"})


def opposed(stage: Stage, *, needed: bool = True) -> Callable[[Frozen], Trial]:
    """From a frozen card to its trial. `needed`: a card that is judged against base is refused where base cannot be found."""

    def find(frozen: Frozen) -> Trial:
        from evalaction.engine.trial import Against, trial_of

        base = _base(stage, needed=needed and frozen.card.control == AtCommit())
        settings = stage.settings
        return trial_of(frozen, Against(git=stage.git, base=base, question=settings.question, ca_bundle=settings.ca_bundle))

    return find


def in_pull_request(stage: Stage) -> bool:
    """Whether the job judges a pull request; reviews of one are events of another name."""
    kind = stage.context.kind
    return kind == "pull_request" or (kind == "other" and stage.context.head is not None)


def _base(stage: Stage, *, needed: bool) -> Commit | None:
    """Looked for on every change, since the card at base may say `control: base` where this one does no longer."""
    if not needed and not in_pull_request(stage) and stage.context.kind not in _CHANGES and stage.settings.base is None:
        return None
    try:
        found = stage.base
    except UsageError:
        if needed:
            raise
        return None
    return found.commit if found else None


def skip_same(stage: Stage, prepared: Prepared) -> None:
    """`changed-only`: raise Settled for a card of which nothing differs from base. What cannot be compared is judged."""
    if not stage.settings.changed_only or prepared.trial.base is None or stage.asked_number is not None:
        return
    trial = prepared.trial
    try:
        base = trial.question if trial.asked_by == "base" else _at_base(stage, prepared)
    except EvalactionError:
        return
    if base is not None and _content(base) == _content(trial.judged):
        raise Settled(
            "Neither the card nor its exam, its checkers or a file of its arms differs from base, so it was skipped "
            "(`changed-only`).",
            outcome=Outcome.UNCHANGED,
            code="skipped",
        )


def _at_base(stage: Stage, prepared: Prepared) -> Frozen | None:
    from evalaction.registration.at_commit import frozen_at

    base = stage.base
    return frozen_at(stage.git, base.commit, prepared.path) if base else None


def _content(frozen: Frozen) -> tuple[object, ...]:
    exam = frozen.exam
    return frozen.card_bytes, exam.sha256, exam.ids_sha256, exam.checker_sha256, dict(exam.files), dict(frozen.files)


def gone(stage: Stage, cards: Sequence[Judged]) -> list[Judged]:
    """The cards that gate base and that this change takes away, each refused; none where its question is asked on purpose."""
    from evalaction.cli.action.judge import refused

    found = []
    for path in _gone(stage, cards):
        sentence = (
            f"{path} judges changes at base, and this change takes it away. A card cannot be removed by what it judges: restore "
            "it, or say `question: head` where reviewers see it."
        )
        if stage.settings.question == "head":
            stage.log.warn((Quoted(path), " judges changes at base, and this change takes it away."), weight=70)
        else:
            found.append(refused(stage, path, UnregisteredError(sentence, code="card_gone"), None, None))
    return found


def _gone(stage: Stage, cards: Sequence[Judged]) -> list[str]:
    from evalaction.cli.action.against_base import cards_at_base, files_at_base

    if stage.asked_number is not None or not (in_pull_request(stage) or stage.context.kind in _CHANGES):
        return []
    known = {card.path for card in cards} | {card.was for card in cards if card.was}
    try:
        tree, read = files_at_base(stage)
    except EvalactionError:
        return []  # the cards that are here say what is wrong with base
    here = stage.git.files(stage.head)
    lost = [path for path in tree if path not in here and path not in known]
    cards_there = cards_at_base(stage, (), tree, read)
    return [path for path in lost if (card := cards_there.get(path)) and card.control == AtCommit()]
