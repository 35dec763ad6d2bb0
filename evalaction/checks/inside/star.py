"""What `from _candidate import *` takes: only what the importing code speaks of, and nothing that it has by another way."""

from __future__ import annotations

import builtins
import linecache
import re
import symtable
import types
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from evalaction.checks.inside.candidate import NAME

_STAR = re.compile(rf"\bfrom[\s\\]+{NAME}[\s\\]+import[\s\\]*\*")


class Star:
    """The star imports of one check. A candidate that names its functions `all` or `expect` must not judge itself, nor one that
    names them as a library asks for them, as unittest does for `load_tests`."""

    def __init__(self, check: str) -> None:
        self._check = check
        self._taken: frozenset[str] | None = None
        self.withheld: set[str] = set()
        """Names that the importing code speaks of and that both it and the candidate have: it kept its own."""

    def names(self, public: Iterable[str], ours: Mapping[str, Any], importing: types.FrameType) -> list[str]:
        """Of the candidate's public names those that the code of a frame may take; `ours` is what the stand-in gives."""
        if self._taken is None:
            self._taken = own_names(self._check) | set(dir(builtins))
        spoken = _words(self._check) | _words("".join(linecache.getlines(importing.f_code.co_filename)))
        space, found = importing.f_locals, []
        for name in public:
            if name not in spoken:
                continue
            if name in self._taken or (name in space and space[name] is not ours.get(name)):
                self.withheld.add(name)
            else:
                found.append(name)
        return found


def imports(check: str) -> bool:
    """Whether a check takes all names of the candidate."""
    return _STAR.search(check) is not None


def own_names(check: str, *, inner: bool = False) -> frozenset[str]:
    """The names that a check gives itself, wherever it does; those of its functions are their own affair unless `inner`."""
    try:
        tables = [symtable.symtable(check, "check", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # running it will say so
        return frozenset()
    found: set[str] = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            here = inner or table.get_type() == "module" or symbol.is_declared_global()
            if here and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()):
                found.add(symbol.get_name())
    return frozenset(found)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", unicodedata.normalize("NFKC", text)))
