"""A hostile folder is removed, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from evalaction.sandbox.runtime.removal import remove


def test_files_links_and_closed_folders_go_and_what_links_lead_to_stays(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "a").write_text("a")
    folder = tmp_path / "folder"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "file").write_text("x")
    (folder / "to-kept").symlink_to(kept)
    (folder / "deep" / "to-kept").symlink_to(kept)
    os.mkfifo(folder / "pipe")
    (folder / "deep" / "er").chmod(0)
    (folder / "deep").chmod(0)
    remove(str(folder))
    assert not folder.exists()
    assert (kept / "a").read_text() == "a"


def test_a_tree_deeper_than_recursion_and_paths_go(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("down", dir_fd=here)
        below = os.open("down", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove(str(folder))
    assert not folder.exists()


def test_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove(str(tmp_path / "missing"))
    (tmp_path / "file").write_text("x")
    remove(str(tmp_path / "file"))
    assert (tmp_path / "file").exists()
