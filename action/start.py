"""Installs what requirements.lock pins into an environment of its own and runs the action in it.

Started with `-I` by an interpreter that start.sh has tried. Only the standard library is imported, nothing of the caller's
Python, environment, git configuration or work tree changes, and pip is given no secret.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from configparser import ConfigParser, Error
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
COMPLETE = "complete"
PIP = (
    "install", "--quiet", "--disable-pip-version-check", "--no-input", "--root-user-action=ignore", "--no-warn-script-location",
    "--require-hashes", "--no-deps", "--only-binary=:all:", "--ignore-installed", "--no-compile",
)  # fmt: skip
# Where packages come from and how they travel; the hashes decide what they are. Every other setting of pip is left out:
# PIP_TARGET, PIP_USER or PIP_CONSTRAINT would install elsewhere or something else.
PIP_SETTINGS = (
    "index-url", "extra-index-url", "no-index", "find-links", "trusted-host", "cert", "client-cert", "proxy", "timeout",
    "default-timeout", "retries", "cache-dir",
)  # fmt: skip
INHERITED = (
    "PATH", "HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "NETRC", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
    "all_proxy", "no_proxy",
)  # fmt: skip
SAID = 2_000


class CannotStart(Exception):
    """One sentence that says what to do, and what pip said."""


def main() -> None:
    try:
        temporary = temporary_folder(os.environ)
        python = environment(temporary)
    except CannotStart as error:
        sys.exit(explain(str(error)))
    folder = prepare_run(temporary, os.environ)
    # A checkout that uses the action itself is the caller's work tree: no bytecode is left in it.
    flags = ["-I", "-X", "utf8", *(["-B"] if inside_workspace(os.environ) else [])]
    start = [str(python), *flags, str(ROOT / "action" / "run.py")]
    # The process becomes the action, so that the runner's signals reach it.
    os.execve(start[0], start, {**os.environ, **run_folders(folder, os.environ)})


def temporary_folder(environ: Mapping[str, str]) -> Path:
    """The runner's folder, emptied after the job; another new one where there is none."""
    given = environ.get("RUNNER_TEMP", "")
    if given and os.access(given, os.W_OK | os.X_OK):
        return Path(given).resolve()
    return Path(tempfile.mkdtemp(prefix="evalaction-"))


def environment(temporary: Path) -> Path:
    """The interpreter of the environment that holds the lock's packages: made once in a job, used by all its steps."""
    base = f"{sys.version}\n{os.path.realpath(sys.executable)}\n".encode()
    place = temporary / f"evalaction-{hashlib.sha256(base + LOCK.read_bytes()).hexdigest()[:16]}"
    python = place / "bin" / "python"
    if (place / COMPLETE).is_file():
        return python
    building = Path(tempfile.mkdtemp(prefix="evalaction-building-", dir=temporary))
    try:
        with compiling():
            install(building, LOCK)
        (building / COMPLETE).touch()
        try:
            building.rename(place)
        except OSError as error:  # another step of this moment was first
            if not (place / COMPLETE).is_file():
                raise CannotStart(f"The folder {place} is in the way; empty the runner's temporary folder.") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return python


@contextmanager
def compiling() -> Iterator[None]:
    """Our own bytecode is made on the runner's other core while pip works; where it cannot be written it is left out."""
    if inside_workspace(os.environ):
        yield
        return
    with subprocess.Popen(
        [sys.executable, "-I", "-m", "compileall", "-q", str(ROOT / "evalaction")],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ):  # fmt: skip
        yield


def install(folder: Path, lock: Path) -> None:
    """Make the environment and fill it from the lock; pip runs from where it lies, so that it need not be installed first."""
    pip = pip_folder()
    environ = pip_environment(os.environ)
    code, heard = ended([sys.executable, "-I", "-m", "venv", *(["--without-pip"] if pip else []), str(folder)], environ)
    if code:
        raise CannotStart(f"This Python cannot make a virtual environment; give another one with python-path.\n{heard}")
    command = [str(folder / "bin" / "python"), "-I", *([str(pip)] if pip else ["-m", "pip"]), *PIP]
    code, heard = ended([*command, "--requirement", str(lock)], environ)
    if code:
        raise CannotStart(
            "The packages that evalaction pins could not be installed; set PIP_INDEX_URL, PIP_CERT or PIP_PROXY for this step "
            f"where the runner does not reach the public index.\n{heard}"
        )


def ended(command: Sequence[str], environ: Mapping[str, str]) -> tuple[int, str]:
    """Exit code of a command that has ended, and the end of what it said."""
    done = subprocess.run(
        command, env=environ, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.returncode, done.stdout.decode("utf-8", "replace").strip()[-SAID:]


def pip_folder() -> Path | None:
    """This interpreter's pip, which a new environment can run from where it lies; None where there is none."""
    from importlib.util import find_spec

    found = find_spec("pip")
    return Path(found.origin).parent if found and found.origin else None


def pip_environment(environ: Mapping[str, str], etc: Path = Path("/etc")) -> dict[str, str]:
    """What pip may see: nothing of the step's secrets, and of its settings only those about the index and the way to it."""
    kept = {name: environ[name] for name in INHERITED if name in environ}
    settings = {name: value for name, value in configured(environ, etc) if name in PIP_SETTINGS}
    settings |= {name: environ[variable(name)] for name in PIP_SETTINGS if variable(name) in environ}
    return kept | {variable(name): value for name, value in settings.items()} | {"PIP_CONFIG_FILE": os.devnull}


def variable(setting: str) -> str:
    return "PIP_" + setting.upper().replace("-", "_")


def configured(environ: Mapping[str, str], etc: Path) -> Iterator[tuple[str, str]]:
    """Settings of the configuration files of machine and user, in the order in which pip reads them."""
    home = Path(environ.get("HOME") or os.sep)
    machine = [Path(place) / "pip" for place in environ.get("XDG_CONFIG_DIRS", str(etc / "xdg")).split(":") if place]
    folders = [*machine, etc, home / ".pip", Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip"]
    if sys.platform == "darwin":
        folders += [Path("/Library/Application Support/pip"), home / "Library/Application Support/pip"]
    files = [folder / "pip.conf" for folder in folders] + [Path(environ.get("PIP_CONFIG_FILE") or os.devnull)]
    for file in files:
        parser = ConfigParser(interpolation=None)
        try:
            parser.read(file, encoding="utf-8")
        except (Error, OSError, ValueError):
            continue  # pip itself would stop here; what it cannot read settles nothing
        for section in ("global", "install"):
            if parser.has_section(section):
                yield from ((name.replace("_", "-"), value) for name, value in parser.items(section))


def prepare_run(temporary: Path, environ: Mapping[str, str]) -> str:
    """The folder of the run. What is to be uploaded, and its name, is written now: also a run that is killed is uploaded."""
    given, mode = environ.get("EVALACTION_RUN_DIR", "").strip(), environ.get("EVALACTION_MODE", "").strip()
    fresh = not given or mode == "judge"  # that one reads the folder it is given, and writes beside it
    folder = tempfile.mkdtemp(prefix="evalaction-run-", dir=temporary) if fresh else given
    if mode in {"", "run", "draw", "judge"} and folder.isprintable():
        words = [environ.get(name) or "0" for name in ("GITHUB_JOB", "EVALACTION_LEG", "GITHUB_RUN_ATTEMPT")]
        words = ["evalaction", *words, os.urandom(3).hex()]
        name = "-".join(re.sub(r"[^A-Za-z0-9._]+", "-", word)[:60] for word in words)
        write(environ.get("GITHUB_OUTPUT"), f"upload-path={folder}\nartifact-name={name}\n")
    return folder


def run_folders(folder: str, environ: Mapping[str, str]) -> dict[str, str]:
    """What tells the action where its run lies."""
    given = environ.get("EVALACTION_RUN_DIR", "").strip()
    return {"EVALACTION_RUN_DIR": given or folder, "EVALACTION_JUDGED_DIR": folder}


def inside_workspace(environ: Mapping[str, str]) -> bool:
    workspace = environ.get("GITHUB_WORKSPACE")
    return bool(workspace) and ROOT.is_relative_to(os.path.realpath(str(workspace)))


def explain(sentence: str) -> int:
    """2 is the exit code of a setting to correct. What pip said is another program's text and must not be a command."""
    first, _, rest = re.sub(r"[^\x20-\x7e\n]", " ", sentence).partition("\n")
    shown = rest.replace("::", ": :").replace("##[", "# #[").replace("`", "'")
    sys.stdout.write("".join(f"| {line}\n" for line in shown.splitlines()))
    sys.stdout.write(f"::error title=evalaction cannot start::{first.replace('%', '%25')}\n")
    write(os.environ.get("GITHUB_OUTPUT"), "outcome=usage\n")
    write(os.environ.get("GITHUB_STEP_SUMMARY"), f"## evalaction cannot start\n\n{first}\n\n```text\n{shown}\n```\n")
    return 2


def write(path: str | None, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)


if __name__ == "__main__":
    main()
