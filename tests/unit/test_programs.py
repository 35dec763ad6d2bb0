from __future__ import annotations

from evalaction.method.card import Command
from evalaction.method.programs import program_of, program_sha256

FILES = {"/llm/main.py": b"1", "/llm/lib/a.py": b"2", "/llmx/main.py": b"3", "/run.sh": b"4", "llm/main.py": b"of the card"}


def command(*paths: str) -> Command:
    return Command(run=("python3", "llm/main.py"), paths=paths)


def test_a_program_is_what_its_paths_hold() -> None:
    assert program_of(command("llm/"), FILES) == {"llm/lib/a.py": b"2", "llm/main.py": b"1"}
    assert program_of(command("run.sh", "llm/lib"), FILES) == {"llm/lib/a.py": b"2", "run.sh": b"4"}
    assert program_of(command("elsewhere"), FILES) == {}


def test_a_changed_moved_or_added_file_is_another_program() -> None:
    own = program_sha256(command("llm"), FILES)
    assert program_sha256(command("llm"), FILES | {"/other.py": b""}) == own
    changed = [FILES | {"/llm/main.py": b"x"}, FILES | {"/llm/new.py": b""}, {"/llm/main2.py": b"1", "/llm/lib/a.py": b"2"}]
    assert own not in [program_sha256(command("llm"), files) for files in changed]
