"""`_candidate` as the check sees it: a module whose functions and values are asked of another process."""

from __future__ import annotations

import builtins
import types
from collections.abc import Collection
from typing import Any

from evalaction.checks.inside.atoms import Malformed, Wire
from evalaction.checks.inside.candidate import NAME
from evalaction.checks.inside.remote import Remote


class StandIn(types.ModuleType):
    """The module `_candidate` of the check. Values are asked for each time they are read, as they may have changed."""

    def __init__(self, remote: Remote, source: str, own: Collection[str] = ()) -> None:
        """`own` are the names that the check gives itself: a star import leaves them alone, and the builtins."""
        super().__init__(NAME)
        self.__dict__["__own__"] = {*own, *dir(builtins)}
        self.__dict__["__text__"] = source
        self.__dict__["__remote__"] = remote
        self.__dict__["__values__"] = set()

    def fill(self) -> None:
        """Take in the candidate's names. Raises what the candidate raised when it was imported."""
        names, public = self.__dict__["__remote__"].hello()
        try:
            for name, kind, more in names:
                self._define(str(name), kind, more)
            self.__dict__["__all__"] = self._for_all(public)
        except (TypeError, ValueError, Malformed):
            self.__dict__["__remote__"].garbled("names that are none")
        self.__dict__["__remote__"].taken()

    def _for_all(self, public: list[Wire]) -> list[str]:
        """What a star import takes; a candidate that names its function `all` or `expect` must not judge itself."""
        known = self.__dict__.keys() | self.__dict__["__values__"]
        return [name for name in public if name in known and name not in self.__dict__["__own__"]]

    def _define(self, name: str, kind: Wire, more: Wire) -> None:
        remote: Remote = self.__dict__["__remote__"]
        if not name.isidentifier() or name.startswith("__"):
            raise Malformed("a name that is none")
        if kind == "function":
            self.__dict__[name] = remote.function(name, name, more if type(more) is str else None)
        elif kind == "exception":
            self.__dict__[name] = remote.exception(more)
        else:
            self.__dict__["__values__"].add(name)

    def __getattr__(self, name: str) -> Any:
        if name == "__source__":
            return self.__dict__["__remote__"].source(self.__dict__["__text__"])
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
