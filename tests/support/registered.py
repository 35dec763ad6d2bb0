"""A repository with a locked and committed card, and ways to move what was frozen."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import cards
from support.repos import Repo

from evalaction.errors import Outcome
from evalaction.registration.causes import Moved
from evalaction.registration.freeze import freeze, verify
from evalaction.registration.lock import lock

TASKS = "eval/tasks.jsonl"
PROMPT = "prompts/triage.md"


class Subject:
    """A repository with a locked and committed card, in a folder of it if wanted."""

    def __init__(
        self, root: Path, *, folder: str = "", changes: Mapping[str, Any] | None = None, init: tuple[str, ...] = ()
    ) -> None:
        self.repo = Repo(root, init=init)
        self.folder = folder
        self.card = root / folder / "card.yaml"
        self.write({TASKS: cards.exam_text(), PROMPT: b"Be kind.\n", "card.yaml": cards.text(cards.card(changes))})
        lock(self.card)
        self.head = self.repo.commit()

    def path(self, path: str) -> Path:
        return self.repo.root / self.folder / path

    def write(self, files: Mapping[str, bytes]) -> None:
        prefix = f"{self.folder}/" if self.folder else ""
        self.repo.write({prefix + path: data for path, data in files.items()})

    def breaks(self, **options: Any) -> list[str]:
        """The codes of a refused freeze; its exception and its report agree."""
        with pytest.raises(Moved) as caught:
            freeze(self.card, **options)
        error = caught.value
        assert error.outcome is Outcome.UNREGISTERED and error.outcome.exit_code == 4
        assert error.code == error.breaks[0].code
        report = verify(self.card, **options)
        assert report.breaks == error.breaks and report.frozen is None
        for one in error.breaks:
            text = "".join(part for part in one.sentence if isinstance(part, str))
            assert text.endswith(".") and "\n" not in text
        return [one.code for one in error.breaks]

    def sentence(self) -> str:
        with pytest.raises(Moved) as caught:
            freeze(self.card)
        return caught.value.sentence


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def edit(path: str, change: Callable[[bytes], bytes]) -> Callable[[Subject], None]:
    return lambda subject: subject.write({path: change(subject.path(path).read_bytes())})


def crlf(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def bom(data: bytes) -> bytes:
    return b"\xef\xbb\xbf" + data


def more(data: bytes) -> bytes:
    return data + b"\n"


def delete(path: str) -> Callable[[Subject], None]:
    return lambda subject: subject.path(path).unlink()


def link(path: str) -> Callable[[Subject], None]:
    def change(subject: Subject) -> None:
        place = subject.path(path)
        place.rename(place.with_name("real"))
        place.symlink_to("real")

    return change


def stage(path: str, data: bytes) -> Callable[[Subject], None]:
    """Staged and put back in the working tree: only the index differs."""

    def change(subject: Subject) -> None:
        before = subject.path(path).read_bytes()
        subject.write({path: data})
        subject.repo.git("add", path)
        subject.write({path: before})

    return change


def untrack(path: str) -> Callable[[Subject], None]:
    def change(subject: Subject) -> None:
        subject.repo.git("rm", "--quiet", "--cached", path)
        subject.repo.git("commit", "--quiet", "--message", "gone")

    return change


def pipe(path: str) -> Callable[[Subject], None]:
    def change(subject: Subject) -> None:
        subject.path(path).unlink()
        os.mkfifo(subject.path(path))

    return change
