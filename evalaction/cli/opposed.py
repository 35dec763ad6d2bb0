"""Where a command looks for the base of a card: the merge-base with `--base`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from evalaction.errors import UsageError
from evalaction.method.card import AtCommit

if TYPE_CHECKING:
    from evalaction.cli.parser import Options
    from evalaction.engine.trial import Trial
    from evalaction.method.judging.facts import AskedBy
    from evalaction.registration.frozen import Frozen


def opposed(options: Options, *, needed: bool = True) -> Callable[[Frozen], Trial]:
    """From a frozen card to its trial. `needed`: a card with `control: base` is refused where no base is named."""

    def find(frozen: Frozen) -> Trial:
        from evalaction.engine.trial import Against, trial_of
        from evalaction.registration.git import Git, find_root

        root = find_root(frozen.root)
        if root is None:
            if options.base is not None or (needed and frozen.card.elsewhere):
                raise UsageError(f"{frozen.root} is in no git repository, so there is no base in it.", code="base")
            return trial_of(frozen, None)
        git = Git(root)
        base = None
        if options.base is not None or (needed and frozen.card.control == AtCommit()):
            from evalaction.github.base import find_base

            found = find_base(git, None, ref=options.base, ca_bundle=options.ca_bundle)
            base = found.commit if found else None
        question: AskedBy = "head" if options.question == "head" else "base"
        return trial_of(frozen, Against(git=git, base=base, question=question, ca_bundle=options.ca_bundle))

    return find
