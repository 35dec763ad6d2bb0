"""A check as a program: run as `__main__`, and how it ended put into a word and a reason."""

from __future__ import annotations

import importlib.machinery
import linecache
import os
import sys
import types
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from typing import Any

from evalaction.checks.inside import star
from evalaction.checks.inside.candidate import NAME
from evalaction.checks.inside.depth import start_at_the_top
from evalaction.checks.inside.verdict import Word

_BUGS = (NameError, ImportError)
Outcome = tuple[Word, str]


class Finder(MetaPathFinder, Loader):
    """Makes `import NAME` give the module that was handed in; `fill` runs what its import runs, each time."""

    def __init__(self, name: str, make: Callable[[], types.ModuleType], fill: Callable[[Any], None]) -> None:
        self._name = name
        self._make = make
        self._fill = fill

    def find_spec(self, fullname: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(fullname, self) if fullname == self._name else None

    def create_module(self, _: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self._make()

    def exec_module(self, module: types.ModuleType) -> None:
        self._fill(module)


def run(source: str, file: str) -> BaseException | None:
    """Run the text of a check to its end; what it raised, or None. Modules of its own folder can be imported."""
    module = types.ModuleType("__main__")
    module.__file__ = file
    sys.modules["__main__"] = module
    sys.argv[:] = [file]
    sys.path.insert(0, "")
    sys.dont_write_bytecode = True
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    try:
        start_at_the_top()
        exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - the frozen check, in the box
    except BaseException as error:  # noqa: BLE001 - how a check ends is what is asked
        return error
    return None


def of_check(error: BaseException | None, *, answered: bool) -> Outcome:
    """What the check itself says; `answered`: it has heard of the candidate, which may be what it stumbled over.

    `assert`, `exit`, `raised` are fails; before an answer, and for what only a mistake in the check explains, `checker:crash`:
    a module that is missing, a name that nothing in it sets. A variable that an answer left unset is no such mistake.
    """
    if error is None:
        return "pass", ""
    if isinstance(error, SystemExit):
        code = error.code
        return ("pass", "") if code is None or (isinstance(code, int) and code == 0) else ("fail", f"exit: {_shown(code)}")
    if isinstance(error, AssertionError):
        return "fail", f"assert: {_shown(error) or _line(error)}"
    what = f"{named(error)}{_where(error)}"
    if not answered or (isinstance(error, _BUGS) and _beside(_innermost(error)[0]) and not _unset(error)):
        return "error", f"checker:crash: {what}"
    return "fail", f"raised: {what}"


def raised(error: BaseException) -> Outcome:
    """What the candidate raised and the check did not catch."""
    if isinstance(error, MemoryError):
        return "fail", "candidate:memory: MemoryError"
    if isinstance(error, SystemExit):
        return "fail", f"candidate:exit: {_shown(error.code)}"
    return "fail", f"candidate:raise: {named(error)}"


def lacks(error: BaseException | None, check: str) -> bool:
    """Whether the check found that the candidate does not have a name; after a star import every missing name is one."""
    if isinstance(error, ImportError) and error.name == NAME:
        return True
    if isinstance(error, AttributeError):
        return error.obj is not None and error.obj is sys.modules.get(NAME)
    return type(error) is NameError and star.imports(check)


def frames(error: BaseException) -> list[tuple[str, int]]:
    """File and line of each step of the traceback, the innermost last."""
    found, step = [], error.__traceback__
    while step is not None:
        found.append((step.tb_frame.f_code.co_filename, step.tb_lineno))
        step = step.tb_next
    return found


def _unset(error: BaseException) -> bool:
    """Whether a variable is missing because of the way that the check took; no way sets one that is misspelt."""
    if isinstance(error, UnboundLocalError):
        return True
    text = "".join(linecache.getlines(_innermost(error)[0]))
    return isinstance(error, NameError) and error.name in star.own_names(text, inner="free variable" in str(error))


def _innermost(error: BaseException) -> tuple[str, int]:
    return (frames(error) or [("", 0)])[-1]


def _beside(file: str) -> bool:
    """Whether a file is the check or lies in its folder."""
    return file.endswith(".py") and os.path.dirname(file) in ("", os.getcwd())  # noqa: PTH109, PTH120 - texts of tracebacks


def _line(error: BaseException) -> str:
    file, line = _innermost(error)
    return f"{linecache.getline(file, line).strip()}{_where(error)}"


def _where(error: BaseException) -> str:
    file, line = _innermost(error)
    return f" ({file.rsplit('/', 1)[-1]}, line {line})" if file else ""


def named(error: BaseException) -> str:
    """The class of an exception and what it says, if it says anything."""
    text = _shown(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _shown(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - the text of an exception may be a program too
        return "?"
