"""What other tools ask of a reply's text, one requirement at a time, as one check: a conjunction is one regular expression."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalaction.method.canonical import Json

Kind: TypeAlias = Literal["whole", "anywhere", "start", "end", "pattern"]
STRIPPED = "white space around a reply does not count here, as it may in the source"
"""The one difference of every such check."""
_REST = "(?s:.*)"
ANY = "(?s:.)"


def literal(text: str) -> str:
    """The pattern of a text; only what has a meaning of its own is escaped, since people will read it."""
    return re.sub(r"[\\.^$*+?{}\[\]|()]", r"\\\g<0>", text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """One requirement: one of `texts` (or, with kind `pattern`, of these Python patterns) is found, or none is."""

    kind: Kind
    texts: tuple[str, ...]
    fold: bool = False
    """Upper and lower case are the same."""
    negated: bool = False

    @property
    def pattern(self) -> str:
        """What is searched for, negation apart."""
        bodies = [text if self.kind == "pattern" else literal(self.edged(text)) for text in self.texts]
        body = bodies[0] if len(bodies) == 1 and self.kind != "pattern" else "|".join(bodies)
        if self.fold:
            # Ascii: the long s and the dotless i are letters of their own to every tool that lowers both sides.
            return f"(?{'a' if all(map(str.isascii, self.texts)) else ''}i:{body})"
        return body if len(bodies) == 1 and self.kind != "pattern" else f"(?:{body})"

    def edged(self, text: str) -> str:
        """Without white space where a reply begins or ends: it is not there any more when the reply is compared."""
        if self.kind in ("whole", "start"):
            text = text.lstrip() or text
        return text.rstrip() or text if self.kind in ("whole", "end") else text

    @property
    def look(self) -> str:
        """The same as an assertion at the start of the reply."""
        ahead = {
            "whole": rf"(?:{self.pattern})\Z", "anywhere": _REST + self.pattern, "start": self.pattern,
            "end": rf"{_REST}(?:{self.pattern})\Z", "pattern": _REST + self.pattern,
        }[self.kind]  # fmt: skip
        return f"(?{'!' if self.negated else '='}{ahead})"


def one_check(needs: Sequence[Need]) -> dict[str, Json]:
    """The fields of an item whose check accepts what meets all of the needs, in the plainest kind that says so."""
    if len(needs) == 1 and not needs[0].negated and len(needs[0].texts) == 1:
        need = needs[0]
        if need.kind == "whole" and not need.fold:
            return {"expected": need.texts[0]}
        if need.kind == "anywhere" and not need.fold:
            return {"check": {"kind": "contains", "value": need.texts[0]}}
    return {"check": _regex(needs)}


def _regex(needs: Sequence[Need]) -> Mapping[str, Json]:
    pattern = "".join([r"\A", *(need.look for need in needs)])
    if all(need.negated for need in needs):
        pattern += ANY  # a reply is never empty, and a pattern that matches nothing at all looks as if it accepted everything
    if len(needs) == 1 and not needs[0].negated:
        need = needs[0]
        pattern = {
            "whole": rf"\A(?:{need.pattern})\Z", "anywhere": need.pattern, "start": rf"\A{need.pattern}",
            "end": rf"(?:{need.pattern})\Z", "pattern": need.pattern,
        }[need.kind]  # fmt: skip
    return {"kind": "regex", "pattern": pattern}


ANYTHING: dict[str, Json] = {"check": {"kind": "regex", "pattern": "."}}
"""For an item whose contract says everything: a reply is never empty."""
