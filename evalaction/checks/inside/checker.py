"""The check's side: runs `check.py` against the stand-in and says how it ended."""

from __future__ import annotations

import sys

from evalaction.checks.inside import program
from evalaction.checks.inside.board import Board
from evalaction.checks.inside.candidate import NAME
from evalaction.checks.inside.channel import Channel
from evalaction.checks.inside.job import read_texts
from evalaction.checks.inside.program import Outcome
from evalaction.checks.inside.remote import Remote
from evalaction.checks.inside.standin import StandIn, fill
from evalaction.checks.inside.star import Star
from evalaction.checks.inside.verdict import Verdict

JOB, REPLIES, REQUESTS, VERDICT, BOARD = 3, 4, 5, 6, 7


def main(_argument: bytes) -> int:
    """Descriptors: 3 the job (nonce, file, check, candidate), 4 replies to read, 5 requests to write, 6 verdict, 7 board."""
    nonce, file, check, candidate = read_texts(JOB)
    verdict, board = Verdict(VERDICT, nonce), Board(BOARD)
    remote = Remote(Channel(REPLIES, REQUESTS), board, verdict)
    star = Star(check)
    sys.meta_path.insert(0, program.Finder(NAME, lambda: StandIn(remote, candidate, star), fill))
    board.enter("own")
    error = program.run(check, file)
    word, reason = _outcome(error, remote, board, check)
    if word == "pass" and star.withheld and not board.note.replies:
        kept = ", ".join(sorted(star.withheld))
        word, reason = "error", f"checker:protocol: the check has names of its own for {kept} and asks the candidate nothing"
    verdict.end(word, reason)


def _outcome(error: BaseException | None, remote: Remote, board: Board, check: str) -> Outcome:
    if error is not None and any(error is one for one in remote.raised):
        return program.raised(error)
    if error is not None and program.lacks(error, check):
        return program.raised(error)
    if isinstance(error, MemoryError) and board.note.heavy:
        return "fail", "candidate:memory: its reply does not fit into the memory of the check"
    return program.of_check(error, answered=board.note.replies > 0 or (remote.greeted and _of_another_kind(error, remote)))


def _of_another_kind(error: BaseException | None, remote: Remote) -> bool:
    """Whether the check may have stumbled over what a name of the candidate is: a function in place of a table, say."""
    return isinstance(error, TypeError) or (isinstance(error, AttributeError) and remote.gave(error.obj))
