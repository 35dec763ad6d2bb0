"""What belongs to the caller is as it was, and a hostile checkout has no say in what runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.act import OURS, PINS
from support.site import Site

pytestmark = pytest.mark.action

STATE = Path(__file__).parents[2] / ".github" / "callers-state.sh"
WORKFLOW = f"""
name: caller
on: pull_request
permissions: {{}}
env: {{PYTHONPATH: ., PYTHONHOME: /nonexistent, PYTHONSTARTUP: json.py, PIP_TARGET: ., PIP_USER: 1, PIP_CONFIG_FILE: pip.conf}}
jobs:
  caller:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@{PINS["checkout"]}
        with: {{fetch-depth: 2}}
      - run: bash "$CALLERS_STATE" > "$RUNNER_TEMP/before"
      - uses: {OURS}
        with: {{card: eval/card.yaml}}
        env: {{EVAL_URL: '${{{{ vars.EVAL_URL }}}}', EVAL_KEY: '${{{{ secrets.EVAL_KEY }}}}'}}
      - uses: {OURS}
        with: {{card: eval/card.yaml, mode: verify, comment: false}}
      - run: |
          bash "$CALLERS_STATE" > "$RUNNER_TEMP/after"
          diff "$RUNNER_TEMP/before" "$RUNNER_TEMP/after"
          wc -l < "$RUNNER_TEMP/before"
          find "$RUNNER_TEMP" -maxdepth 1 -name 'evalaction-*' -exec basename {{}} \\;
"""
IMPORTED = b"import os; open('imported', 'w').close(); raise SystemExit(99)\n"
HOSTILE = {
    **{f"{name}.py": IMPORTED for name in ("json", "sitecustomize", "usercustomize", "yaml", "encodings", "fcntl", "httpx")},
    **{f"{name}/__init__.py": IMPORTED for name in ("evalaction", "pip", "venv", "ensurepip")},
    "pip.conf": b"[global]\nindex-url = http://127.0.0.1:9/\ntarget = .\nuser = yes\nno-binary = :all:\n",
    "python3": b"#!/bin/sh\ntouch imported\nexit 99\n",
    "requirements.lock": b"hostile==1\n",
}


@pytest.mark.parametrize("installed", [True, False], ids=["reused", "fresh"])
def test_the_caller_is_unchanged_by_two_uses_in_a_hostile_checkout(site: Site, tmp_path: Path, installed: bool) -> None:
    """The fresh run installs although a pip.conf of the checkout names an index that does not answer."""
    site.start()
    files = dict(HOSTILE)
    if not installed:  # an index that the user names is used, so that one must be left out
        files["pip.conf"] = b"[global]\ntarget = .\nuser = yes\nno-binary = :all:\nrequire-virtualenv = yes\n"
    site.push(files)
    workflow = tmp_path / "caller.yml"
    workflow.write_text(WORKFLOW, encoding="utf-8")
    ran = site.run(workflow, environ={"CALLERS_STATE": str(STATE)}, installed=installed)
    assert (ran.code, ran.jobs) == (0, {"caller": "success"}), ran.log
    assert "imported" not in ran.log
    assert len(site.server.requests) == 8
    said = [str(line["msg"]).strip() for line in ran.lines if line.get("raw_output")]
    environments = [line for line in said if line.startswith("evalaction-") and not line.startswith("evalaction-run-")]
    assert len(environments) == 1
    assert int(next(line for line in said if line.isdigit())) > 20
