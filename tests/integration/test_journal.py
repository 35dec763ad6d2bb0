"""The journal on a real disk: whole lines, texts before rows, a seal that fits, one writer."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalaction.engine.folder import clear, create, locked, write_files, write_whole
from evalaction.engine.journal import Journal, line_of
from evalaction.engine.readback import tail_of
from evalaction.errors import UnregisteredError, UsageError


def journal_with(folder: Path, rows: int, *, seal: bool = True) -> bytes:
    with Journal(folder) as journal:
        for number in range(rows):
            journal.add({"index": number}, {"index": number, "text": "x\u2028\ud800"})
        if seal:
            journal.seal(planned=rows, sent=rows, ended="complete", ms=12)
    return (folder / "rows.jsonl").read_bytes()


def test_the_seal_is_the_last_line_and_fits(tmp_path: Path) -> None:
    data = journal_with(tmp_path, 3)
    body, last = data[: data.index(b'{"seal"')], data[data.index(b'{"seal"') :]
    assert body == b'{"index":0}\n{"index":1}\n{"index":2}\n'
    assert json.loads(last) == {
        "seal": {
            "sha256": hashlib.sha256(body).hexdigest(),
            "planned": 3,
            "sent": 3,
            "written": 3,
            "ended": "complete",
            "ms": 12,
        }
    }
    tail = tail_of(tmp_path)
    assert tail.body == len(body)
    assert tail.seal is not None
    assert (tail.seal.planned, tail.seal.written, tail.seal.ended) == (3, 3, "complete")


def test_a_sealed_journal_takes_nothing_more(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.seal(planned=0, sent=0, ended="complete", ms=0)
        with pytest.raises(ValueError, match="sealed"):
            journal.add({"index": 0})


def test_every_row_is_on_disk_when_add_returns(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.add({"index": 0}, {"text": "a"})
        assert (tmp_path / "rows.jsonl").read_bytes() == b'{"index":0}\n'
        assert (tmp_path / "texts.jsonl").read_bytes() == b'{"text":"a"}\n'


def test_a_lone_surrogate_is_written_as_its_escape() -> None:
    assert line_of({"a": "é\u2028"}) == '{"a":"é\u2028"}\n'.encode()
    assert line_of({"a": "é\ud800"}) == b'{"a":"\\u00e9\\ud800"}\n'
    with pytest.raises(ValueError):
        line_of({"a": float("nan")})


def test_no_texts_no_file(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.add({"index": 0})
    assert not (tmp_path / "texts.jsonl").exists()


def flip(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize("place", [9, 20, 30])
def test_a_changed_row_breaks_the_seal(tmp_path: Path, place: int) -> None:
    data = journal_with(tmp_path, 3)
    (tmp_path / "rows.jsonl").write_bytes(flip(data, place))
    with pytest.raises(UnregisteredError) as caught:
        tail_of(tmp_path)
    assert caught.value.code == "seal_broken"


def test_a_removed_row_breaks_the_seal(tmp_path: Path) -> None:
    data = journal_with(tmp_path, 3)
    (tmp_path / "rows.jsonl").write_bytes(data.replace(b'{"index":1}\n', b""))
    with pytest.raises(UnregisteredError, match="changed after the run"):
        tail_of(tmp_path)


@pytest.mark.parametrize(
    "seal",
    [
        b'{"seal":{}}\n',
        b'{"seal":{"sha256":1}}\n',
        b'{"seal":[]}\n',
        b'{"seal":\n',
        b'{"seal":{"sha256":"x","planned":true,"sent":1,"written":1,"ended":"complete","ms":1}}\n',
        b'{"seal":{"sha256":"x","planned":1,"sent":1,"written":1,"ended":"complete","ms":1,"more":1}}\n',
    ],
)
def test_a_seal_of_another_shape(tmp_path: Path, seal: bytes) -> None:
    (tmp_path / "rows.jsonl").write_bytes(seal)
    with pytest.raises(UnregisteredError) as caught:
        tail_of(tmp_path)
    assert caught.value.code == "seal_broken"


def test_unsealed_torn_and_empty(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with pytest.raises(UsageError, match="cannot be read"):
        tail_of(tmp_path)
    path.write_bytes(b"")
    assert (tail_of(tmp_path).body, tail_of(tmp_path).torn) == (0, 0)
    data = journal_with(tmp_path, 2, seal=False)
    assert (tail_of(tmp_path).body, tail_of(tmp_path).seal) == (len(data), None)
    for cut in range(1, 12):
        path.write_bytes(data[:-cut])
        assert (tail_of(tmp_path).body, tail_of(tmp_path).torn) == (12, 12 - cut)


def test_a_torn_seal_is_no_seal(tmp_path: Path) -> None:
    data = journal_with(tmp_path, 2)
    (tmp_path / "rows.jsonl").write_bytes(data[:-1])
    tail = tail_of(tmp_path)
    assert tail.seal is None
    assert tail.body == 24


def test_a_line_without_end_is_no_journal(tmp_path: Path) -> None:
    with (tmp_path / "rows.jsonl").open("wb") as file:
        file.truncate(5 << 20)
    with pytest.raises(UsageError, match="longer than 4 MiB"):
        tail_of(tmp_path)


def test_a_folder_with_rows_is_never_overwritten(tmp_path: Path) -> None:
    journal_with(tmp_path, 1)
    with pytest.raises(UsageError) as caught:
        clear(tmp_path)
    assert caught.value.code == "run_dir_in_use"
    assert (tmp_path / "rows.jsonl").exists()


@pytest.mark.parametrize(
    "names", [["notes.txt"], ["manifest.json", "notes.txt"], ["results.json"], ["manifest.json", "texts.jsonl"]]
)
def test_a_folder_of_somebody_else_is_refused_untouched(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        clear(tmp_path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(names)


def test_a_refused_runs_folder_may_be_used_again(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "run"
    create(folder)
    for name in ("manifest.json", "results.json", "comment.md", "SHA256SUMS", ".comment.md.77.part"):
        (folder / name).write_text("old")
    clear(folder)
    assert list(folder.iterdir()) == []


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("x")
    with pytest.raises(UsageError, match="cannot be made"):
        create(tmp_path / "run")


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from evalaction.engine.folder import locked\n"
        "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdin and other.stdout
    try:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(UsageError) as caught, locked(tmp_path):
            pytest.fail("two writers")
        assert caught.value.code == "run_dir_locked"
        other.kill()
        other.wait()
        with locked(tmp_path):
            pass
    finally:
        other.kill()
        other.wait()
        other.stdin.close()
        other.stdout.close()


def test_sums_are_what_sha256sum_checks(tmp_path: Path) -> None:
    journal_with(tmp_path, 2)
    write_files(tmp_path, {"comment.md": b"hello\n", "rows.csv": iter([b"a,b\r\n", b"1,2\r\n"])})
    assert (tmp_path / "rows.csv").read_bytes() == b"a,b\r\n1,2\r\n"
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.splitlines() == [f"{name}: OK" for name in ("comment.md", "rows.csv", "rows.jsonl", "texts.jsonl")]


def test_a_derived_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    write_whole(tmp_path / "comment.md", b"first")

    def breaking() -> Any:
        yield b"second"
        raise OSError(28, "No space left on device")

    with pytest.raises(UsageError, match="No space left on device"):
        write_whole(tmp_path / "comment.md", breaking())
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == {"comment.md": b"first"}


def test_rows_are_not_written_through_a_symlink(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("mine")
    (tmp_path / "rows.jsonl").symlink_to(target)
    with pytest.raises(UsageError):
        Journal(tmp_path)
    assert target.read_text() == "mine"
