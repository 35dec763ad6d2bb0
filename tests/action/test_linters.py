"""Workflows and action.yml against GitHub's schemas, and audited."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
EXAMPLES = sorted((ROOT / "examples" / "workflows").glob("*.yml"))
OURS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def run(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


@pytest.mark.parametrize(
    ("schema", "files"), [("github-workflows", [*EXAMPLES, *OURS]), ("github-actions", [ROOT / "action.yml"])], ids=str
)
def test_schema(schema: str, files: list[Path]) -> None:
    assert files
    run(str(BIN / "check-jsonschema"), "--builtin-schema", f"vendor.{schema}", *map(str, files))


def test_audit() -> None:
    """Offline: what needs GitHub's API is left out. `self-repository` is ignored where the checkout itself is under test."""
    run(str(BIN / "zizmor"), "--offline", "--no-progress", str(ROOT / "action.yml"), *map(str, [*EXAMPLES, *OURS]))


def test_the_auditor_finds_what_it_is_for(tmp_path: Path) -> None:
    workflow = tmp_path / "bad.yml"
    workflow.write_text(
        "on: pull_request_target\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n"
        "      - run: echo ${{ github.event.pull_request.title }}\n",
        encoding="utf-8",
    )
    with pytest.raises(AssertionError, match="template-injection"):
        run(str(BIN / "zizmor"), "--offline", "--no-progress", str(workflow))
