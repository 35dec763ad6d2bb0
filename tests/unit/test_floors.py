"""The floors of the house: imports point down, rooms on one floor do not know each other, the method touches nothing outside."""

from __future__ import annotations

import ast
from pathlib import Path

import evalaction

ROOT = Path(evalaction.__file__).parent
FLOORS = [
    {"errors", "redaction", "schemas"},
    {"method"},
    {"sandbox"},
    {"registration", "endpoints", "checks", "report"},
    {"engine", "github", "importers"},
    {"cli"},
]
IMPURE = {
    "asyncio", "datetime", "getpass", "glob", "http", "httpcore", "httpx", "importlib", "io", "logging", "multiprocessing", "os",
    "pathlib", "platform", "random", "secrets", "select", "shutil", "signal", "socket", "ssl", "subprocess", "sys", "tempfile",
    "threading", "time", "urllib", "uuid",
}  # fmt: skip


def floor_of(room: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def imports_of(path: Path) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            found.append((node.lineno, node.module or ""))
            if node.module == "evalaction":
                found += [(node.lineno, f"evalaction.{alias.name}") for alias in node.names]
    return found


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return parts[0].removesuffix(".py")


def test_imports_point_down() -> None:
    climbed = []
    for path in sorted(ROOT.rglob("*.py")):
        here = room_of(path)
        if here in {"__init__", "__main__"}:
            continue
        for line, name in imports_of(path):
            parts = name.split(".")
            if parts[0] != "evalaction" or len(parts) < 2 or parts[1] in {here, "__version__"}:
                continue
            if floor_of(parts[1]) >= floor_of(here):
                climbed.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not climbed, "\n".join(climbed)


def test_method_is_pure() -> None:
    touched = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sorted((ROOT / "method").rglob("*.py"))
        for line, name in imports_of(path)
        if name.split(".")[0] in IMPURE
    ]
    assert not touched, "\n".join(touched)


def test_only_the_cli_prints_and_exits() -> None:
    spoken = []
    for path in sorted(ROOT.rglob("*.py")):
        if room_of(path) in {"cli", "__main__"}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"print", "exit", "quit"}:
                spoken.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not spoken, "\n".join(spoken)


def test_no_room_outgrows_its_walls() -> None:
    long = [str(path) for path in ROOT.rglob("*.py") if len(path.read_text(encoding="utf-8").splitlines()) > 400]
    assert not long
