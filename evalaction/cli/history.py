"""A history in a folder, for the commands that run on one's own machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalaction.cli.words import plain
from evalaction.errors import UsageError
from evalaction.method.series.places import card_folder, place_of
from evalaction.method.series.trend import Trend, trend_of

if TYPE_CHECKING:
    from evalaction.cli.world import World
    from evalaction.method.series.entry import Entry


def expect(root: Path, *, rehearsal: bool) -> None:
    """Before anything is drawn. Raises UsageError where the run could not be added."""
    from evalaction.engine.history.folder import check

    if rehearsal:
        raise UsageError("A rehearsal is no history; leave --history or --rehearse away.")
    check(root)


def remember(run: Path, root: Path, world: World) -> None:
    """Add a finished run and say what the history comes to. Raises UsageError."""
    from evalaction.engine.history.entry import take
    from evalaction.engine.history.folder import append, read
    from evalaction.report.trend.cells import sentences

    taken = take(run)
    folder = append(root, taken)
    found = read(root, card=card_folder(taken.entry.card))
    world.say(f"History: {folder}")
    for sentence in sentences(trend_of(found.entries, damaged=found.damaged)):
        world.say(f"  {plain(sentence)}")


def trends(root: Path) -> list[Trend]:
    """One trend a card, by the card's folder. Raises UsageError for a folder that is no history."""
    from evalaction.engine.history.folder import read

    found = read(root)
    cards: dict[str, list[Entry]] = {}
    for entry in found.entries:
        cards.setdefault(place_of(entry).card, []).append(entry)
    return [trend_of(entries, damaged=found.damaged) for _, entries in sorted(cards.items())]
