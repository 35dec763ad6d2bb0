"""A repository with a card at base and a change to it, and what is made of the two."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support import cards
from support.command import exam, gated
from support.repos import Repo

from evalaction.engine.prepare import Prepared, prepare
from evalaction.engine.trial import Against, Trial, trial_of
from evalaction.method.judging.facts import AskedBy
from evalaction.registration.freeze import freeze
from evalaction.registration.git import Git
from evalaction.registration.lock import lock


def against_base(changes: Mapping[str, Any] | None = None, *, draws: int = 2) -> dict[str, Any]:
    """A card whose control is base; `claim: none` unless told."""
    sign = {"claim": "none", "seed": "freeze-me-before-running"}
    return gated(draws, {"arms.control": "base", "sign": sign, "limits": ..., **(changes or {})})


class TwoCommits:
    """`base` is committed on `main`; `change` commits on top of it."""

    def __init__(
        self, root: Path, card: Mapping[str, Any] | None = None, files: Mapping[str, bytes] | None = None, *, locked: bool = True
    ) -> None:
        self.repo = Repo(root)
        self.card = root / "card.yaml"
        self.repo.write(
            {"card.yaml": cards.text(against_base() if card is None else card), **(exam(30) if files is None else files)}
        )
        if locked:
            lock(self.card)
        self.base = self.head = self.repo.commit()

    def change(
        self,
        files: Mapping[str, bytes] | None = None,
        card: Mapping[str, Any] | None = None,
        *,
        at: str = "card.yaml",
        locked: bool = True,
    ) -> str:
        """Commit files and a card; the new commit."""
        self.repo.write(dict(files or {}))
        self.card = self.repo.root / at
        if card is not None:
            self.repo.write({at: cards.text(card)})
        if locked and self.card.exists():
            lock(self.card)
        self.head = self.repo.commit()
        return self.head

    def move(self, to: str) -> None:
        self.repo.git("mv", "card.yaml", to)
        self.card = self.repo.root / to

    def trial(self, question: AskedBy = "base", *, base: bool = True) -> Trial:
        git = Git(self.repo.root)
        return trial_of(freeze(self.card), Against(git=git, base=git.commit(self.base) if base else None, question=question))

    def prepared(self, question: AskedBy = "base") -> Prepared:
        return prepare(self.trial(question))
