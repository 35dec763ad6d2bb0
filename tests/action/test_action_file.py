"""action.yml as data: its inputs and outputs, and that nothing but variables carries them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalaction.github.settings import variable

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
RUN = next(step for step in STEPS if step.get("id") == "run")
INPUTS = {
    "card", "mode", "github-token", "comment", "comment-key", "base", "question", "pull-request", "head-sha", "redraw",
    "fail-on", "on-missing-secrets", "shard", "run-dir", "rows-digest", "judged-digest", "history", "issue-on-breakage",
    "changed-only", "python-path", "ca-bundle", "allow-unsafe-execution",
}  # fmt: skip
OUTPUTS = {
    "outcome", "earned", "sign", "breaks", "first-pass", "stable-pass", "flip-rate", "reach", "contract", "check",
    "question-digest", "exam-id", "card-sha256", "reused", "results-path", "report-path", "comment-url", "run-dir", "rows-digest",
    "artifact-name",
}  # fmt: skip
PIN = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
WORKFLOWS = sorted([*(ROOT / "examples" / "workflows").glob("*.yml"), *(ROOT / ".github" / "workflows").glob("*.yml")])


def test_inputs_and_outputs() -> None:
    assert set(ACTION["inputs"]) == INPUTS
    assert set(ACTION["outputs"]) == OUTPUTS
    assert all(isinstance(one["default"], str) and one["description"] for one in ACTION["inputs"].values())


def test_every_input_travels_in_its_variable() -> None:
    given = {name: value for name, value in RUN["env"].items() if value.startswith("${{ inputs.")}
    assert given == {variable(name): "${{ inputs." + name + " }}" for name in INPUTS}
    assert set(RUN["env"]) - set(given) == {"EVALACTION_LEG", "EVALACTION_INTERPRETER"}


def test_every_output_has_its_value() -> None:
    assert {name: one["value"] for name, one in ACTION["outputs"].items()} == {
        name: "${{ steps.run.outputs." + name + " }}" for name in OUTPUTS
    }
    assert all(one["description"] for one in ACTION["outputs"].values())


def test_nothing_is_interpolated_into_a_script() -> None:
    scripts = [step for step in STEPS if "run" in step]
    assert scripts
    assert all("${{" not in step["run"] and step["shell"] == "bash" for step in scripts)
    code = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "action").glob("*.[sp][hy]")))
    assert not {"GITHUB_ENV", "GITHUB_PATH"} & set(re.findall(r"\w+", code))


def test_nested_actions_are_pinned_by_commit() -> None:
    nested = [step["uses"] for step in STEPS if "uses" in step]
    assert {one.partition("@")[0] for one in nested} == {"actions/setup-python", "actions/upload-artifact"}
    assert all(PIN.fullmatch(one) for one in nested)


def test_the_run_is_uploaded_also_after_a_failure_and_never_for_nothing() -> None:
    upload = STEPS[-1]
    assert upload["uses"].startswith("actions/upload-artifact@")
    assert upload["if"] == "always() && steps.run.outputs.upload-path != ''"
    assert upload["continue-on-error"] is True
    assert upload["with"]["if-no-files-found"] == "ignore"


def test_the_callers_python_stays_what_it_is() -> None:
    setup = next(step for step in STEPS if step.get("id") == "setup")
    assert setup["with"]["update-environment"] is False
    assert setup["continue-on-error"] is True


def test_branding() -> None:
    assert ACTION["name"] == "evalaction"
    assert ACTION["branding"].keys() == {"icon", "color"}
    assert ACTION["runs"]["using"] == "composite"
    assert len(ACTION["description"]) <= 125


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_workflows_pin_and_ask_for_little(path: Path) -> None:
    """Every action by commit and with its version beside it, no permission that no job asked for, no credential left behind."""
    text = path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    uses = re.findall(r"^ *-? *uses: (\S+)(.*)$", text, flags=re.MULTILINE)
    assert all(one == "./" or (PIN.fullmatch(one) and re.match(r" # v\d+\.\d+\.\d+", rest)) for one, rest in uses)
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert "permissions" in job
        assert re.fullmatch(r"(ubuntu|macos)-[\w.-]+|\$\{\{ matrix\.image \}\}", job["runs-on"])
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_one_pin_for_each_action() -> None:
    everything = [*WORKFLOWS, ROOT / "action.yml"]
    pins = {one for path in everything for one in re.findall(r"uses: (\S+@\S+)", path.read_text(encoding="utf-8"))}
    assert len(pins) == len({one.partition("@")[0] for one in pins})


def test_the_readme_lists_inputs_and_outputs_as_they_are() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Inputs and outputs of the action")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    inputs = [
        [f"`{name}`", f"`{one['default']}`" if one["default"] else "none", one["description"]]
        for name, one in ACTION["inputs"].items()
    ]
    outputs = [[f"`{name}`", one["description"]] for name, one in ACTION["outputs"].items()]
    assert rows == inputs + outputs


def test_the_readme_shows_the_gate_as_it_is() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"```yaml\n{(ROOT / 'examples/workflows/pull-request.yml').read_text(encoding='utf-8')}```" in readme
    linked = re.findall(r"\]\((examples/workflows/[^)]+)\)", readme)
    assert all((ROOT / link).exists() for link in linked)
