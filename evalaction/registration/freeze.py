"""Freezes a card: reads everything at HEAD as git objects and compares it with index, working tree and the card's hashes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from evalaction.errors import SourceError, UsageError
from evalaction.method.canonical import sha256
from evalaction.method.card import Card
from evalaction.method.cards.parse import parse_card
from evalaction.method.exams.exam import Exam, check_question, load_exam
from evalaction.method.records import Break, Quoted
from evalaction.registration.causes import LFS, FileState, Moved, cause
from evalaction.registration.collect import file_states, folder_states, work_exam, work_file
from evalaction.registration.frozen import Checked, Frozen, Pinned, Role, VerifyReport, limit_of, named_files
from evalaction.registration.git import Commit, Git
from evalaction.registration.paths import CARD_BYTES, EXAM_BYTES, Place, locate
from evalaction.registration.pins import broken_pins, pins
from evalaction.registration.programs import keyed, program_states, programs_in_work
from evalaction.schemas import load as load_schema


def freeze(card_path: Path, *, expected_head: str | None = None) -> Frozen:
    """The frozen inputs of a run. `expected_head`: the commit the job was started for, where the caller knows it.

    Raises Moved (4) with every cause that was found; UsageError or SourceError (2) where card or exam cannot be used at all.
    """
    report = verify(card_path, expected_head=expected_head)
    if report.frozen is None:
        raise Moved(report.breaks)
    return report.frozen


def verify(card_path: Path, *, expected_head: str | None = None) -> VerifyReport:
    """What `freeze` compares, as a report: causes are in it, not raised. Raises UsageError and SourceError as `freeze` does."""
    place = locate(card_path)
    if place.git is None:
        raise UsageError(
            f"{card_path} is not in a git repository; commit it to one, or use `run --rehearse`.", code="not_a_repository"
        )
    inspection = _Inspection(place, place.git)
    try:
        frozen = inspection.inspect(expected_head)
    except (_Halt, Moved) as stop:
        frozen = None
        inspection.breaks += getattr(stop, "breaks", ())
    return VerifyReport(
        commit=inspection.commit.oid if inspection.commit else None,
        checked=tuple(inspection.checked),
        pinned=inspection.pinned,
        breaks=tuple(dict.fromkeys(inspection.breaks)),
        frozen=frozen if not inspection.breaks else None,
        readable=frozen,
    )


def rehearse(card_path: Path) -> Frozen:
    """The same inputs from the working tree, in or outside git, with nothing compared. Raises UsageError and SourceError."""
    place = locate(card_path)
    data = work_file(place, place.card, CARD_BYTES)
    card = parse_card(data, file=place.card, schema=load_schema("card"))
    exam = load_exam(work_exam(place, card.exam), tasks=card.exam.tasks, checker=card.exam.checker)
    files = {path: work_file(place, place.below(path), limit_of(role)) for path, role in named_files(card).items()}
    files |= programs_in_work(place, card)
    return _frozen(place, None, data, card=card, exam=exam, files=files)


class _Halt(Exception):
    """What follows cannot be read; the reason is among the breaks already."""


class _Inspection:
    """One pass over everything frozen; what was compared and found stays readable when the pass ends early."""

    def __init__(self, place: Place, git: Git) -> None:
        self.place = place
        self.git = git
        self.commit: Commit | None = None
        self.checked: list[Checked] = []
        self.pinned: tuple[Pinned, ...] = ()
        self.breaks: list[Break] = []

    def inspect(self, expected_head: str | None) -> Frozen:
        """The frozen inputs as committed, whether or not there are breaks. Raises _Halt or Moved where they cannot be had."""
        commit = self.commit = self._head(expected_head)
        data, card = self._card(commit)
        named = named_files(card)
        tasks = self.place.below(card.exam.tasks)
        limits = {self.place.below(path): limit_of(role) for path, role in named.items()}
        states = file_states(self.git, commit, {tasks: EXAM_BYTES} | limits)
        exam_states = self._exam_states(commit, states[tasks])
        self._note("exam", exam_states)
        for path, role in named.items():
            self._note(role, [states[self.place.below(path)]])
        judging = [states[self.place.below(path)] for path, role in named.items() if role == "checker"]
        exam = self._exam(card, [*exam_states, *judging])
        files = {path: self._committed([states[self.place.below(path)]])[path] for path in named}
        files |= self._programs(commit, card)
        return _frozen(self.place, commit, data, card=card, exam=exam, files=files)

    def _head(self, expected: str | None) -> Commit:
        head = self.git.head()
        if head is None:
            raise Moved((Break("uncommitted", ("There is no commit to judge yet; commit the card and its files.",)),))
        if expected and expected.lower() != head.oid:
            sentence = (
                "HEAD is ", Quoted(head.oid[:12]), ", but this job was started for ", Quoted(expected[:12]),
                "; run evalaction before any step that moves HEAD, or check that commit out.",
            )  # fmt: skip
            self.breaks.append(Break("head_moved", sentence))
        return head

    def _card(self, commit: Commit) -> tuple[bytes, Card]:
        state = file_states(self.git, commit, {self.place.card: CARD_BYTES})[self.place.card]
        if state.committed == "folder" or (state.committed, state.work) == ("absent", "missing"):
            raise UsageError(f"There is no card {self.place.card}; give the path of the card.", code="no_card")
        self._note("card", [state])
        data = self._committed([state])[self.place.shown(state.path)]
        with _hint_at_edits([state]):
            return data, parse_card(data, file=self.place.card, schema=load_schema("card"))

    def _exam_states(self, commit: Commit, tasks: FileState) -> list[FileState]:
        if tasks.committed != "folder":
            return [tasks]
        return list(folder_states(self.git, commit, tasks.path).values())

    def _exam(self, card: Card, states: list[FileState]) -> Exam:
        files = self._committed(states)
        with _hint_at_edits(states):
            exam = load_exam(files, tasks=card.exam.tasks, checker=card.exam.checker)
        working = {self.place.shown(state.path): state.work for state in states if isinstance(state.work, bytes)}
        self.pinned = pins(card, exam, files, working)
        self.breaks += broken_pins(card, self.pinned, files)
        return exam

    def _programs(self, commit: Commit, card: Card) -> dict[str, bytes]:
        states = program_states(self.git, commit, self.place, card)
        self._note("program", states)
        if not all(isinstance(state.committed, bytes) and not state.committed.startswith(LFS) for state in states):
            raise _Halt
        return keyed({state.path: state.committed for state in states if isinstance(state.committed, bytes)})

    def _note(self, role: Role, states: Iterable[FileState]) -> None:
        for state in states:
            digests = [sha256(data) if isinstance(data, bytes) else None for data in (state.committed, state.work)]
            self.checked.append(Checked(role=role, path=state.path, committed_sha256=digests[0], working_sha256=digests[1]))
            if found := cause(state):
                self.breaks.append(found)

    def _committed(self, states: Iterable[FileState]) -> dict[str, bytes]:
        """Bytes by path as the card writes it. Raises _Halt where one has no content of its own in the commit."""
        files = {}
        for state in states:
            if not isinstance(state.committed, bytes) or state.committed.startswith(LFS):
                raise _Halt
            files[self.place.shown(state.path)] = state.committed
        return files


@contextmanager
def _hint_at_edits(states: Iterable[FileState]) -> Iterator[None]:
    """Say that the commit was read where somebody may be looking at an edited file."""
    try:
        yield
    except SourceError as error:
        if any(state.work != state.committed for state in states):
            error.add_note("This is about the committed version; the working tree differs from it.")
        raise


def _frozen(place: Place, commit: Commit | None, data: bytes, *, card: Card, exam: Exam, files: Mapping[str, bytes]) -> Frozen:
    check_question(card, exam)
    frozen = Frozen(
        root=place.root,
        commit=commit.oid if commit else None,
        parents=commit.parents if commit else (),
        card_path=place.card,
        card=card,
        card_bytes=data,
        card_sha256=sha256(data),
        exam=exam,
        files=files,
        warnings=exam.warnings,
    )
    frozen.texts()  # a prompt that is no text is refused here, before anything is drawn
    return frozen
