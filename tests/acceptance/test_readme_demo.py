"""The tables in the README are what the demo prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "utf8", "-m", "evalaction", "demo"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    shown = re.search(r"<!-- demo -->\n(.*?)\n<!-- /demo -->", README.read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    assert shown[1].replace("\n### ", "\n## ").removeprefix("#") in done.stdout
    assert list(tmp_path.iterdir()) == []
