"""A history in a folder: added to, never changed, whoever else is at it; links and strange files are left alone."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest
from support.histories import night

from evalaction.engine.history.entry import Taken
from evalaction.engine.history.folder import append, read
from evalaction.errors import UsageError
from evalaction.method.series.entry import Entry
from evalaction.method.series.places import ENTRY, MARKER, TABLE, card_folder, place_of


def taken(entry: Entry, table: bytes | None = b"task\r\n") -> Taken:
    return Taken(entry=entry, table=table, limits=())


def add(root: str, number: int) -> None:
    append(Path(root), taken(night(number, ["pp", "pk"])))


def test_the_first_run_makes_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "a" / "history"
    folder = append(root, taken(night(1, ["pp"])))
    assert (root / MARKER).is_file() and {path.name for path in folder.iterdir()} == {ENTRY, TABLE}
    assert read(root).entries == (night(1, ["pp"]),)


def test_an_empty_folder_is_taken_and_a_table_may_be_missing(tmp_path: Path) -> None:
    folder = append(tmp_path, taken(night(1, ["pp"]), None))
    assert [path.name for path in folder.iterdir()] == [ENTRY]


def test_the_same_run_twice_is_one_entry_and_another_in_its_place_is_refused(tmp_path: Path) -> None:
    one = night(1, ["pp"])
    folder = append(tmp_path, taken(one))
    before = (folder / ENTRY).read_bytes()
    assert append(tmp_path, taken(one)) == folder
    with pytest.raises(UsageError, match="holds another run; a history is never changed"):
        append(tmp_path, taken(night(1, ["kk"])))
    assert (folder / ENTRY).read_bytes() == before


def test_runs_at_the_same_moment_all_land(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=add, args=(str(tmp_path / "history"), number)) for number in (1, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert len(read(tmp_path / "history").entries) == 3


def test_somebodys_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    for root in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(UsageError, match=r"no history of ours|cannot be used"):
            append(root, taken(night(1, ["pp"])))
    with pytest.raises(UsageError, match="no history of ours"):
        read(tmp_path / "nowhere")
    (tmp_path / MARKER).write_bytes(b"{}")
    with pytest.raises(UsageError, match="no history of ours"):
        read(tmp_path)


def test_links_strange_files_and_hidden_folders_are_not_read(tmp_path: Path) -> None:
    one = night(1, ["pp"])
    append(tmp_path, taken(one))
    place = place_of(one)
    later = replace(place, day="2026-01-09")
    (tmp_path / later.folder).mkdir(parents=True)
    (tmp_path / later.path).symlink_to(tmp_path / place.path)
    (tmp_path / ".git" / place.folder).mkdir(parents=True)
    (tmp_path / ".git" / place.path).write_bytes(b"{}")
    (tmp_path / "README.md").write_bytes(b"x")
    (tmp_path / "elsewhere").symlink_to("/")
    assert read(tmp_path) == type(read(tmp_path))((one,), 0)
    with pytest.raises(UsageError, match="holds another run"):
        append(tmp_path, taken(night(8, ["pp"], run=one.run)))


def test_one_card_is_read_alone_and_what_is_damaged_is_counted(tmp_path: Path) -> None:
    one, other = night(1, ["pp"]), night(2, ["pp"], card="other.yaml")
    for entry in (one, other):
        append(tmp_path, taken(entry))
    (tmp_path / place_of(other).path).write_bytes(b"{")
    assert read(tmp_path, card=card_folder(one.card)).damaged == 0
    found = read(tmp_path)
    assert (found.entries, found.damaged) == ((one,), 1)
