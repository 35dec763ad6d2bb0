"""Every kind of report as comment and as terminal text, byte for byte. `UPDATE_GOLDEN=1 pytest` writes the files anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.reports import GOLDEN

from evalaction.method.report import Report
from evalaction.report.markdown import comment
from evalaction.report.results_json import results_json
from evalaction.report.text import render_text

FOLDER = Path(__file__).parent.parent / "golden" / "report"
RENDERERS: dict[str, Callable[[Report], str]] = {"md": comment, "txt": render_text}


def agrees(path: Path, text: str) -> None:
    data = text.encode("utf-8")
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_bytes(data)
    assert path.read_bytes() == data, f"{path.name} differs; if that is meant, run UPDATE_GOLDEN=1 pytest {__file__}"


@pytest.mark.parametrize("kind", RENDERERS)
@pytest.mark.parametrize("name", GOLDEN)
def test_report_as_recorded(name: str, kind: str) -> None:
    agrees(FOLDER / f"{name}.{kind}", RENDERERS[kind](GOLDEN[name]()))


def test_results_as_recorded() -> None:
    agrees(FOLDER / "behind.results.json", results_json(GOLDEN["behind"]()))


def test_no_file_is_left_over() -> None:
    expected = {f"{name}.{kind}" for name in GOLDEN for kind in RENDERERS} | {"behind.results.json"}
    assert {path.name for path in FOLDER.iterdir()} == expected
