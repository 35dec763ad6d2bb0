"""What runs inside the box stands on the standard library alone, and costs an import no more than that."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from evalaction.checks import inside
from evalaction.checks.boxed.runs import box_spec
from evalaction.sandbox.records import Rung

FOLDER = Path(inside.__file__).parent


def test_it_imports_the_standard_library_and_itself() -> None:
    foreign = []
    for path in sorted(FOLDER.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            foreign += [
                f"{path.name}: {name}"
                for name in names
                if name.partition(".")[0] not in sys.stdlib_module_names and not name.startswith("evalaction.checks.inside")
            ]
    assert foreign == []


def test_the_box_shows_this_folder_and_imports_the_four_programs_once() -> None:
    moved, in_place = (box_spec(Rung(number=number, how="none")) for number in (1, 2))
    assert [bind.source for bind in (*moved.readable, *in_place.readable)] == [FOLDER.resolve()] * 2
    assert (moved.readable[0].inside, in_place.readable[0].inside) == ("/box/checks/inside", str(FOLDER.resolve()))
    assert not moved.readable[0].writable and not moved.programs and not moved.network
    assert {name.rpartition(".")[2] for name in moved.modules} == {"candidate", "checker", "together", "pure"}
