from __future__ import annotations

import pytest

from evalaction.engine.runner import check_runner, runner_identity
from evalaction.errors import UnregisteredError
from evalaction.method.card import RunnerDemand

HERE = {"image_os": "ubuntu24", "image_version": "20261101.1", "arch": "x86_64", "runner_arch": "X64", "python": "3.12.4"}


def test_the_identity_says_what_the_machine_says_and_nothing_else() -> None:
    said = runner_identity({"ImageOS": "ubuntu24", "ImageVersion": "", "RUNNER_ARCH": "X64", "EVAL_KEY": "sk-secret"})
    assert said["image_os"] == "ubuntu24"
    assert said["runner_arch"] == "X64"
    assert "image_version" not in said
    assert set(said) <= {"image_os", "runner_arch", "arch", "python", "platform"}


@pytest.mark.parametrize(
    "demand",
    [
        None,
        RunnerDemand(),
        RunnerDemand(image_os="ubuntu24", image_version="20261101.1", arch="x86_64", python="3.12.4"),
        RunnerDemand(python="3.12"),
        RunnerDemand(arch="X64"),
    ],
)
def test_a_machine_that_fits(demand: RunnerDemand | None) -> None:
    check_runner(demand, HERE)


@pytest.mark.parametrize(
    "demand",
    [RunnerDemand(image_os="ubuntu22"), RunnerDemand(python="3.1"), RunnerDemand(python="3.13"), RunnerDemand(arch="arm64")],
)
def test_another_machine_is_refused(demand: RunnerDemand) -> None:
    with pytest.raises(UnregisteredError) as caught:
        check_runner(demand, HERE)
    assert caught.value.code == "runner_differs"


def test_a_machine_that_says_nothing_is_another_machine() -> None:
    with pytest.raises(UnregisteredError, match="has none"):
        check_runner(RunnerDemand(image_os="ubuntu24"), {})
