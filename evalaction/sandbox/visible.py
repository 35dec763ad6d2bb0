"""What of this machine the box shows: the interpreter and its standard library, on request the system's programs."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalaction.sandbox.records import Spec
from evalaction.sandbox.runtime.job import RUNTIME_INSIDE, View

_LIBRARIES = ("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32")
_PROGRAMS = (
    "/usr", "/bin", "/sbin", "/etc/alternatives", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/pki",
    "/etc/protocols",
    "/etc/resolv.conf", "/etc/services", "/etc/ssl", "/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf",
)  # fmt: skip
_PACKAGES = ("site-packages", "dist-packages")


@dataclass(frozen=True, kw_only=True, slots=True)
class Interpreter:
    """The Python that runs inside: the one below our virtual environment, without what is installed in either."""

    executable: str
    library: str
    shared: tuple[str, ...]
    """Its own shared library, where it has one."""

    @classmethod
    def ours(cls) -> Interpreter:
        executable = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
        folder = str(sysconfig.get_config_var("LIBDIR") or "")
        shared = tuple(sorted(str(path) for path in Path(folder).glob("libpython3*.so*"))) if folder else ()
        return cls(executable=executable, library=str(Path(os.__file__).parent), shared=shared)

    @property
    def environment(self) -> dict[str, str]:
        """Where its shared library lies; the loader does not look there by itself in every installation."""
        folder = str(Path(self.shared[0]).parent) if self.shared else ""
        return {"LD_LIBRARY_PATH": folder} if folder and not folder.startswith(_LIBRARIES) else {}


def runtime_folder() -> Path:
    return Path(__file__).resolve().parent / "runtime"


def views(spec: Spec, interpreter: Interpreter, *, namespaces: bool) -> tuple[View, ...]:
    """Everything that processes of this box may read."""
    shown = [View(source=path, inside=path) for path in _LIBRARIES]
    needed = [interpreter.executable, interpreter.library, *interpreter.shared]
    shown += [View(source=os.path.realpath(path), inside=path, needed=True) for path in needed]
    runtime = str(runtime_folder())
    shown.append(View(source=runtime, inside=RUNTIME_INSIDE if namespaces else runtime, needed=True))
    if spec.programs:
        shown += [View(source=path, inside=path) for path in _PROGRAMS]
    if spec.programs and namespaces:
        folder = Path(interpreter.executable).parent
        if not folder.is_relative_to("/usr"):  # shown with everything in it, and nothing can be added to it
            shown += [View(source=interpreter.executable, inside=str(folder / name)) for name in ("python3", "python")]
    for bind in spec.readable:
        inside = bind.inside if namespaces else str(bind.source)
        shown.append(View(source=str(bind.source), inside=inside, writable=bind.writable))
    return tuple(shown)


def hidden(spec: Spec, interpreter: Interpreter) -> tuple[str, ...]:
    """Where the interpreter keeps what is installed into it, ourselves perhaps; only teams' programs may need that."""
    if spec.programs:
        return ()
    library = Path(interpreter.library)
    return tuple(str(folder / name) for folder in (library, library.with_name("python3")) for name in _PACKAGES)


def environment(interpreter: Interpreter) -> Mapping[str, str]:
    """All that a process finds in its environment, HOME and TMPDIR apart."""
    places = [str(Path(interpreter.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]
    fixed = {"PATH": ":".join(places), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"}
    return fixed | {"PYTHONDONTWRITEBYTECODE": "1"} | interpreter.environment
