"""Where a run takes place, and whether the card allows it there."""

from __future__ import annotations

import platform
from collections.abc import Mapping

from evalaction.errors import UnregisteredError
from evalaction.method.card import RunnerDemand

_VARIABLES = {
    "ImageOS": "image_os",
    "ImageVersion": "image_version",
    "RUNNER_OS": "runner_os",
    "RUNNER_ARCH": "runner_arch",
    "RUNNER_ENVIRONMENT": "runner_environment",
}


def runner_identity(environ: Mapping[str, str]) -> dict[str, str]:
    """Image, architecture, Python and platform of this machine; what it does not say is left out."""
    said = {name: environ[variable] for variable, name in _VARIABLES.items() if environ.get(variable)}
    here = {
        "arch": platform.machine(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.release()}",
    }
    return said | here


def check_runner(demand: RunnerDemand | None, identity: Mapping[str, str]) -> None:
    """Raise UnregisteredError (`runner_differs`) on another machine than the card demands; `python` may be a prefix (3.12)."""
    if demand is None:
        return
    wanted = {
        "image_os": demand.image_os,
        "image_version": demand.image_version,
        "arch": demand.arch,
        "python": demand.python,
    }
    for name, value in wanted.items():
        here = identity.get(name, "")
        fits = here == value or (name == "python" and here.startswith(f"{value}."))
        fits = fits or (name == "arch" and identity.get("runner_arch") == value)  # X64 beside x86_64
        if value is not None and not fits:
            raise UnregisteredError(
                f"The card demands a runner with {name} {value}, and this one has {here or 'none'}: "
                "run it there, or change the card's runner and commit it.",
                code="runner_differs",
            )
