"""What the box is asked and told: records, the load of a process, words for limits."""

from __future__ import annotations

import ast
import errno
import os
import sys
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.sandbox import rungs, visible
from evalaction.sandbox.box import Box
from evalaction.sandbox.records import Bind, Rung, Spec, Task
from evalaction.sandbox.runtime import reasons
from evalaction.sandbox.runtime.job import Config, Load, View

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
NAMES = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=9)


@settings(max_examples=100)
@given(
    entry=st.none() | TEXT,
    argument=st.binary(max_size=2000),
    argv=st.lists(TEXT, max_size=4),
    env=st.dictionaries(NAMES, TEXT, max_size=4),
    files=st.dictionaries(NAMES, st.binary(max_size=500), max_size=4),
)
def test_a_load_arrives_as_it_was_sent(
    entry: str | None, argument: bytes, argv: list[str], env: dict[str, str], files: dict[str, bytes]
) -> None:
    load = Load(entry=entry, argument=argument, argv=tuple(argv), env=env, files=files)
    with tempfile.TemporaryFile() as file:
        file.write(load.pack())
        file.flush()
        assert Load.read(file.fileno()) == load


def test_a_configuration_arrives_as_it_was_sent() -> None:
    config = Config(
        namespaces=True,
        user_namespace=False,
        landlock=True,
        seccomp=True,
        views=(View(source="/a", inside="/b", writable=True), View(source="/c", inside="/c", needed=True)),
        hidden=("/c/d",),
        modules=("json",),
        programs=False,
        network=True,
        environment={"PATH": "/bin"},
        folder=None,
    )
    assert Config.unpack(config.pack()) == config


@pytest.mark.parametrize("fields", [{}, {"entry": "a:b", "argv": ("x",)}])
def test_a_task_has_one_thing_to_run(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="entry or an argv"):
        Task(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("numbers", [{4: 9}, {3: 9, 5: 9}, {-1: 9}])
def test_descriptors_have_no_gaps(numbers: dict[int, int]) -> None:
    with pytest.raises(ValueError, match="without a gap"):
        Task(entry="a:b", descriptors=numbers)


@pytest.mark.parametrize("inside", ["relative", "/tmp", "/tmp/x", "/dev/shm", "/box/runtime", "/box/control/x"])
def test_nothing_is_shown_in_our_own_places(inside: str, tmp_path: os.PathLike[str]) -> None:
    spec = Spec(readable=(Bind(source=tmp_path, inside=inside),))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nothing can be shown"):
        Box(spec, Rung(number=1, how="root"))


def test_without_mounts_a_path_stays_where_it_lies(tmp_path: os.PathLike[str]) -> None:
    spec = Spec(readable=(Bind(source=tmp_path, inside="/work"),))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="where it lies"):
        Box(spec, Rung(number=2, how="landlock"))


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        (MemoryError(), "memory"),
        (OSError(errno.ENOMEM, "x"), "memory"),
        (OSError(errno.ENOSPC, "x"), "disk"),
        (OSError(errno.EFBIG, "x"), "disk"),
        (BlockingIOError(errno.EAGAIN, "x"), "processes"),
        (RuntimeError("can't start new thread"), "processes"),
        (OSError(errno.EMFILE, "x"), "files"),
        (FileNotFoundError(errno.ENOENT, "x"), None),
        (OSError("no number"), None),
        (RuntimeError("x"), None),
        (KeyboardInterrupt(), None),
    ],
)
def test_which_limit_an_exception_speaks_of(error: BaseException, limit: str | None) -> None:
    assert reasons.limit_of(error) == limit


def test_exit_codes_of_limits_come_back() -> None:
    codes = {reason: reasons.exit_code(reason) for reason in reasons.ORDER}
    assert {reason: reasons.reason_of(code) for reason, code in codes.items()} == {reason: reason for reason in reasons.ORDER}
    assert all(128 + 64 < code < 256 for code in codes.values())
    assert [reasons.reason_of(code) for code in (0, 1, 127, 137, 240, 245, 255)] == [None] * 7


def test_the_details_of_a_rung_are_plain() -> None:
    rung = Rung(number=3, how="docker", architecture="x86_64", image="i@sha256:0")
    assert (rung.name, rung.safe) == ("docker", True)
    assert rung.details == {
        "rung": 3, "name": "docker", "how": "docker", "architecture": "x86_64", "landlock_abi": 0, "seccomp": False,
        "own_uid": False, "image": "i@sha256:0",
    }  # fmt: skip
    assert not Rung(number=4, how="none").safe
    assert set(rungs.WORDS) == set(rungs.NUMBERS)


def test_what_runs_inside_needs_nothing_but_the_standard_library() -> None:
    for path in sorted(visible.runtime_folder().glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                ours = name.startswith("evalaction.sandbox.runtime")
                assert ours or name.split(".")[0] in sys.stdlib_module_names, f"{path.name} imports {name}"
