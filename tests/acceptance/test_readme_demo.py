"""The tables in the README are what the demo prints."""

from __future__ import annotations

import re
from pathlib import Path

from support.command import evalaction

README = Path(__file__).parents[2] / "README.md"


def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    done = evalaction("demo", cwd=tmp_path, env={"PYTHONUTF8": "1"})
    assert done.code == 0, done.err
    shown = re.search(r"<!-- demo -->\n(.*?)\n<!-- /demo -->", README.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    assert shown[1].replace("\n### ", "\n## ").removeprefix("#") in done.out
    assert list(tmp_path.iterdir()) == []
