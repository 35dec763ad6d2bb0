"""The exam's files hashed before the first draw and again after the last: what ran in between may not have touched them."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import PurePosixPath

from evalaction.errors import SourceError, UnregisteredError
from evalaction.method.exams.exam import Exam
from evalaction.registration.frozen import Frozen
from evalaction.registration.paths import EXAM_BYTES, read_work

_SHOWN = 5


def working_digests(judged: Frozen, exam: Exam) -> dict[str, str]:
    """What lies in the working tree for each file of the exam: its sha256, or in a word why there is none."""
    folder = PurePosixPath(judged.card_path).parent
    paths = sorted({*exam.files, *(item.file for item in exam.items)})
    return {path: _digest(judged, (folder / path).as_posix()) for path in paths}


def refuse_touched(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Raise UnregisteredError (`changed_during_run`) naming files that are not what they were."""
    touched = [path for path, digest in before.items() if after.get(path) != digest]
    if touched:
        more = f" and {len(touched) - _SHOWN} more" if len(touched) > _SHOWN else ""
        raise UnregisteredError(
            f"These files of the exam changed while the run was under way: {', '.join(touched[:_SHOWN])}{more}. "
            "The run is not sealed; find out what wrote to them, put them back and run again.",
            code="changed_during_run",
        )


def _digest(judged: Frozen, path: str) -> str:
    try:
        found = read_work(judged.root, path, limit=EXAM_BYTES)
    except SourceError:
        return "oversize"
    return found if isinstance(found, str) else sha256(found).hexdigest()
