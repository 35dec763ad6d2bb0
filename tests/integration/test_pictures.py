"""The pictures of the README can be made again, from what the program prints now."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

from support.browser import needs_browser

ROOT = Path(__file__).parent.parent.parent


def test_the_pictures_are_made_from_a_demo(tmp_path: Path) -> None:
    needs_browser()
    command = [sys.executable, str(ROOT / "docs" / "pictures.py"), str(tmp_path)]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT}"})
    sizes = {}
    for path in sorted(tmp_path.iterdir()):
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG")
        sizes[path.name] = struct.unpack(">II", data[16:24])
    assert [(name, width) for name, (width, _) in sizes.items()] == [("comment.png", 920), ("report.png", 1200)]
    assert all(700 < height < 2400 for _, height in sizes.values()), sizes
