"""`_candidate` as the check sees it: a module whose functions and values are asked of another process."""

from __future__ import annotations

import sys
import types
from typing import Any

from evalaction.checks.inside.atoms import Malformed, Wire
from evalaction.checks.inside.candidate import NAME
from evalaction.checks.inside.remote import Remote
from evalaction.checks.inside.star import Star


class StandIn(types.ModuleType):
    """The module `_candidate` of the check. Values are asked for each time they are read, as they may have changed.

    All that is ours has two underscores in front: a name of the candidate would hide any other, methods included.
    """

    def __init__(self, remote: Remote, source: str, star: Star) -> None:
        super().__init__(NAME)
        self.__dict__["__star__"] = star
        self.__dict__["__text__"] = source
        self.__dict__["__remote__"] = remote
        self.__dict__["__values__"] = set()

    def __getattr__(self, name: str) -> Any:
        if name == "__source__":
            return self.__dict__["__remote__"].source(self.__dict__["__text__"])
        if name == "__all__" and "__public__" in self.__dict__:
            return self.__dict__["__star__"].names(self.__dict__["__public__"], self.__dict__, sys._getframe(1))
        if name in self.__dict__["__values__"]:
            return self.__dict__["__remote__"].get(name)
        raise self.__dict__["__remote__"].missing(name) if name[:2] != "__" else AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:2] != "__":
            self.__dict__["__remote__"].refuse(f"sets _candidate.{name}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__["__remote__"].refuse(f"deletes _candidate.{name}")

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["__values__"]})


def fill(module: StandIn) -> None:
    """Take in the candidate's names. Raises what the candidate raised when it was imported."""
    remote: Remote = module.__dict__["__remote__"]
    names, public = remote.hello()
    try:
        for name, kind, more in names:
            _define(module, str(name), kind, more)
        known = module.__dict__.keys() | module.__dict__["__values__"]
        module.__dict__["__public__"] = [name for name in public if name in known]
    except (TypeError, ValueError, Malformed):
        remote.garbled("names that are none")
    remote.taken()


def _define(module: StandIn, name: str, kind: Wire, more: Wire) -> None:
    remote: Remote = module.__dict__["__remote__"]
    if not name.isidentifier() or name.startswith("__"):
        raise Malformed("a name that is none")
    if kind == "function":
        module.__dict__[name] = remote.function(name, name, more if type(more) is str else None)
    elif kind == "exception":
        module.__dict__[name] = remote.exported(name, more)
    else:
        module.__dict__["__values__"].add(name)
