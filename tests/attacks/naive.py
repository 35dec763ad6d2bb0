"""The undefended half: what an attack does where nothing holds it back, in an outer throwaway box and nowhere else."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

from support import outer_box
from support.outer_box import PYTHON, Ran

_HERE = Path(__file__).parent


def run(job: dict[str, Any], *, timeout_s: float = 60.0, memory_mb: int = 1024) -> tuple[Ran, dict[str, Any] | None]:
    """How the outer box ended, and what the naive runner in it told; None where it did not live to tell. Skips without a box."""
    files = {
        "undefended.py": (_HERE / "undefended.py").read_text(encoding="utf-8"),
        "scene.py": (_HERE / "scene.py").read_text(encoding="utf-8"),
        "sentinel.py": (_HERE / "naive_sentinel.txt").read_text(encoding="utf-8"),
        "wire.py": (_HERE / "naive_wire.txt").read_text(encoding="utf-8"),
        "job.json": json.dumps(job),
    }
    ran = outer_box.run(
        [PYTHON, "undefended.py"],
        files=files,
        env={"EVAL_KEY": f"key-{secrets.token_hex(16)}"},
        timeout_s=timeout_s,
        cpu_s=60,
        memory_mb=memory_mb,
        processes=600,
        loopback=True,
    )
    lines = ran.stdout.splitlines()
    return ran, json.loads(lines[-1]) if ran.code == 0 and lines else None
