"""Files and outputs of a job: `cards.json` lists every card, `rows-digest` binds the list and what was drawn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalaction.cli.action.judged import Judged
from evalaction.engine.folder import DRAWS, JUDGING, MANIFEST, ROWS, create, file_sha256, write_whole
from evalaction.github.shown import keep_lines
from evalaction.method.canonical import digest

FORMAT = "evalaction/cards/1"
CARDS = "cards.json"
JUDGED = "judged.json"
"""The same list of a job that judges: the list of the job that drew stays as it is, for the digest that vouches for it."""
COMMENT = "comment.md"
OF_A_CARD = (
    "outcome", "earned", "sign", "breaks", "first-pass", "stable-pass", "flip-rate", "reach", "contract", "check",
    "question-digest", "exam-id", "card-sha256",
)  # fmt: skip


def rows_digest(listed: str | None, folders: Mapping[str, Path], *, drawn: bool = False) -> str:
    """64 hex digits over `cards.json`, whose sha256 is `listed`, and manifest and rows of every card's folder, by its name.

    Of a run that is judged apart the draws are in it too. `drawn`: as the job left it that drew, without what judging adds.
    """
    return digest([listed, [[name, *_held(folder, drawn=drawn)] for name, folder in sorted(folders.items())]])


def _held(folder: Path, *, drawn: bool) -> list[str | None]:
    """The digests of a folder. A list with draws is never as long as one without, so that one cannot stand for the other."""
    manifest, rows = _sha256(folder / MANIFEST), _sha256(folder / ROWS)
    if not (folder / DRAWS).exists():
        return [manifest, rows]
    if drawn:
        rows = None
    return [manifest, rows, _sha256(folder / DRAWS), None if drawn else _sha256(folder / JUDGING)]


def digest_of(folder: Path, cards: Sequence[Judged]) -> str:
    """The digest of what this job left in its folder."""
    return rows_digest(_sha256(folder / CARDS), folders_of(cards))


def _sha256(path: Path) -> str | None:
    return file_sha256(path) if path.is_file() else None


def folders_of(cards: Sequence[Judged]) -> dict[str, Path]:
    return {card.folder.name: card.folder for card in cards if card.folder is not None and card.folder.is_dir()}


def write_cards(folder: Path, cards: Sequence[Judged], comment: str, *, name: str = CARDS) -> None:
    """The list of cards and the comment's text beside the runs. Raises UsageError when the disk refuses."""
    create(folder)
    listed = [
        {
            "card": card.path,
            "outcome": card.outcome.value,
            "folder": card.folder.name if card.folder else None,
            "reused": card.reused,
            "question_digest": card.question_digest,
            "outputs": dict(card.outputs),
            "said": keep_lines(card.said),
        }
        for card in cards
    ]
    write_whole(folder / name, (json.dumps({"format": FORMAT, "cards": listed}, indent=1) + "\n").encode())
    write_whole(folder / COMMENT, comment.encode("utf-8", "replace"))


def told(outputs: Mapping[str, str]) -> dict[str, str]:
    """Those that describe a verdict and no other: what is read back from a comment must not name a path to upload."""
    return {name: outputs[name] for name in OF_A_CARD if name in outputs}


def outputs_of(
    cards: Sequence[Judged], *, folder: Path, comment_url: str | None, rows: str, listed: str = CARDS
) -> dict[str, str]:
    """The outputs of `action.yml`: those of one card, or of the worst of several, whose own stand in `results-path`."""
    worst = cards[0]
    alone = len(cards) == 1 and worst.folder is not None and (worst.folder / "results.json").is_file()
    results = worst.folder / "results.json" if alone and worst.folder else folder / listed
    return {
        **told(worst.outputs),
        "outcome": worst.outcome.value,
        "reused": "true" if worst.reused else "false",
        "results-path": str(results),
        "report-path": str(folder / COMMENT),
        "comment-url": comment_url or "",
        "run-dir": str(folder),
        "rows-digest": rows,
    }
