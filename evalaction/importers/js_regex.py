"""A JavaScript regular expression as the Python pattern that matches the same texts, where there is one.

Read is what ECMA-262 (section 22.2, without flags) and Python's `re` mean alike; anything else is refused, not approximated.
One difference stays: a character outside the Basic Multilingual Plane, an emoji say, counts as one here and as two there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evalaction.importers.imported import NotCarried
from evalaction.importers.text_checks import literal
from evalaction.method.reading.text import short

_SPACE = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SETS = {"d": "0-9", "w": "A-Za-z0-9_", "s": _SPACE}
_ANY = "(?s:.)"
_SAME = {".": r"[^\n\r\u2028\u2029]", "$": r"\Z", "^": r"\A", "|": "|", ")": ")"}
_CONTROLS = {"n": r"\n", "r": r"\r", "t": r"\t", "v": r"\v", "f": r"\f", "0": r"\x00"}
_REPEAT = re.compile(r"(?:[*+?]|\{[0-9]{1,5}(?:,[0-9]{0,5})?\})\??")
_GROUP = re.compile(r"\((?:\?(?::|=|!|<=|<!|<[A-Za-z_$][A-Za-z0-9_$]*>))?")
_HEX = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
_PUNCTUATION = frozenset("^$\\.*+?()[]{}|/-!\"#%&',:;<=>@_`~ ")


def python_pattern(pattern: str) -> str:
    """The Python pattern, without capturing groups. Raises NotCarried.

    Refused: backreferences, `\\p`, `\\c`, `\\b` in a set, the empty sets `[]` and `[^]`, `(?i)` and the like, which JavaScript
    does not know, and whatever Python does not compile.
    """
    translated = "".join(_Translator(pattern).pieces())
    try:
        re.compile(translated)
    except (re.error, RecursionError, OverflowError) as error:
        raise NotCarried(f"the pattern `{short(pattern)}` means nothing to Python: {error}") from None
    return translated


@dataclass(slots=True)
class _Translator:
    pattern: str
    place: int = 0
    repeatable: bool = True
    """What came last may be repeated: an assertion such as `^` may not."""

    def pieces(self) -> Iterator[str]:
        while self.place < len(self.pattern):
            yield self.next()

    def next(self) -> str:
        character = self.pattern[self.place]
        repeat = _REPEAT.match(self.pattern, self.place)
        if repeat:
            return self.repeat(repeat[0])
        self.repeatable = character not in "^$"
        if character in "\\[(":
            return {"\\": self.escape, "[": self.set, "(": self.group}[character]()
        return self.took(1, _SAME.get(character) or literal(character))

    def repeat(self, quantifier: str) -> str:
        before = self.pattern[self.place - 1 : self.place]
        self.place += len(quantifier)
        if before > "\uffff":
            raise self.refused(f"`{before}{quantifier}` repeats half a character in JavaScript")
        if not self.repeatable or _REPEAT.match(self.pattern, self.place):
            raise self.refused(f"`{quantifier}` repeats nothing, which is no JavaScript")
        return quantifier

    def took(self, length: int, piece: str) -> str:
        self.place += length
        return piece

    def group(self) -> str:
        opening = _GROUP.match(self.pattern, self.place)
        assert opening is not None, "a bracket always opens a group"
        text = opening[0]
        after = self.pattern[self.place + len(text) : self.place + len(text) + 1]
        if text == "(" and after == "?":
            shown = short(self.pattern[self.place : self.place + 6])
            raise self.refused(f"`{shown}` is no JavaScript, where no reply matches it; say what it means in the new exam")
        return self.took(len(text), text if text[1:3] in ("?:", "?=", "?!") or text in ("(?<=", "(?<!") else "(?:")

    def escape(self) -> str:
        letter = self.pattern[self.place + 1 : self.place + 2]
        if letter.lower() in _SETS and letter:
            body = _SETS[letter.lower()]
            return self.took(2, f"[{'' if letter.islower() else '^'}{body}]")
        if letter and letter in "bB":
            self.repeatable = False
            return self.took(2, r"(?a:\b)" if letter == "b" else r"(?!(?a:\b))")  # Python's \B fails on an empty text
        return self.character()

    def character(self) -> str:
        """An escape that stands for one character, the same in and out of a set."""
        number = _HEX.match(self.pattern, self.place)
        if number:
            return self.took(len(number[0]), number[0])
        letter, after = self.pattern[self.place + 1 : self.place + 2], self.pattern[self.place + 2 : self.place + 3]
        if letter in _CONTROLS and not (letter == "0" and after.isdigit()):
            return self.took(2, _CONTROLS[letter])
        if letter and letter in _PUNCTUATION:
            return self.took(2, "\\" + letter if letter in "-^]\\" else re.escape(letter))
        raise self.refused(f"`\\{short(letter)}` cannot be carried" + (": it refers to a group" if letter.isdigit() else ""))

    def set(self) -> str:
        start = self.place
        self.place += 1
        negated = self.pattern[self.place : self.place + 1] == "^"
        self.place += negated
        body, complements = "", set[str]()
        while (character := self.pattern[self.place : self.place + 1]) != "]":
            letter = self.pattern[self.place + 1 : self.place + 2] if character == "\\" else ""
            if not character or character > "\uffff":
                raise self.refused(
                    "a set is not closed" if not character else f"`{character}` in a set is two halves in JavaScript"
                )
            if letter and letter.lower() in _SETS:
                self.place += 2
                if letter.islower():
                    body += _SETS[letter]
                else:
                    complements.add(_SETS[letter.lower()])
            else:
                # Python reads more than JavaScript into `[`, `&&`, `||` and `~~` in a set.
                body += (
                    self.character()
                    if letter or character == "\\"
                    else self.took(1, "\\" + character if character in "[&~|^" else character)
                )
        self.place += 1
        if "--" in body:
            raise self.refused("`--` in a set means something else in Python")
        if not body and not complements:
            raise self.refused(f"the set `{self.pattern[start : self.place]}` has no equal in Python")
        return _joined(body, sorted(complements), negated=negated)

    def refused(self, why: str) -> NotCarried:
        return NotCarried(f"the pattern `{short(self.pattern)}`: {why}")


def _joined(body: str, complements: list[str], *, negated: bool) -> str:
    """A set from the characters in it and the sets whose complements are in it; `[\\s\\S]` is every character."""
    if not complements:
        return f"[{'^' if negated else ''}{body}]"
    if any(inner in body for inner in complements):
        return r"(?!)" if negated else _ANY
    if negated:
        without = "".join(f"(?![^{inner}])" for inner in complements)
        return f"(?:{without}{f'[^{body}]' if body else _ANY})"
    return f"(?:{'|'.join([*(f'[^{inner}]' for inner in complements), *([f'[{body}]'] if body else [])])})"
