"""JavaScript's patterns as Python's. The verdicts of each line are those of a JavaScript engine (V8 11, without flags)."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.importers.imported import NotCarried
from evalaction.importers.js_regex import python_pattern


@pytest.mark.parametrize(
    ("pattern", "found", "missing"),
    [
        (r"^\d{3}-\d{4}$", ["555-1234"], ["555-12345", "٥٥٥-1234", "555-1234\n"]),
        ("a.c", ["abc", "a\x85c"], ["a\nc", "a\rc", "a\u2028c"]),
        (r"\w+", ["x_1"], ["é", "-"]),
        (r"^\W$", ["é", "-"], ["x"]),
        (r"^\s$", ["\ufeff", "\u00a0", "\u2029"], ["\x85", "\x1c", "x"]),
        (r"\bcat\b", ["a cat.", "écaté", "cat"], ["concat", "cats"]),
        (r"\B", ["ab", ""], ["a"]),
        (r"[\s\S]+x", ["\n\nx"], ["x"]),
        (r"^[^\W_]+$", ["aZ9"], ["a_", "é"]),
        (r"^[\D5]$", ["x", "5"], ["4"]),
        (r"[[]", ["["], ["]"]),
        (r"[a&&b]", ["&", "a", "b"], ["c"]),
        (r"[\w.+-]+@[\w-]+", ["a.b+c@d-e"], ["@"]),
        (r"(?<year>\d{4})-(?:0[1-9]|1[0-2])", ["2024-07"], ["2024-13"]),
        (r"(?=.*foo)(?!.*bar)^", ["a foo"], ["a foo bar", "baz"]),
        (r"(?<=\$)\d+(?<!0)", ["$5"], ["5", "$0"]),
        ("a{", ["a{"], ["a"]),
        ("{a}", ["{a}"], ["a"]),
        (r"a{,3}", ["a{,3}"], ["aaa"]),
        (r"a{2,3}?$", ["aa", "baaa"], ["a"]),
        (r"\x41\u00e9\t\/\-\.", ["Aé\t/-."], ["Aé\t/-x"]),
        ("]", ["]"], ["["]),
        ("", ["", "x"], []),
    ],
)
def test_the_same_texts_match(pattern: str, found: list[str], missing: list[str]) -> None:
    translated = re.compile(python_pattern(pattern))
    assert [text for text in found if not translated.search(text)] == []
    assert [text for text in missing if translated.search(text)] == []


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(?i)yes", "is no JavaScript"),
        ("(?i:yes)", "is no JavaScript"),
        ("(?P<x>a)", "is no JavaScript"),
        (r"(a)\1", "refers to a group"),
        (r"(?<x>a)\k<x>", "cannot be carried"),
        (r"\p{L}", "cannot be carried"),
        (r"\cJ", "cannot be carried"),
        (r"\07", "refers to a group"),
        (r"[\b]", "cannot be carried"),
        ("[]", "has no equal in Python"),
        ("[^]", "has no equal in Python"),
        ("[a", "a set is not closed"),
        ("[!--]", "means something else in Python"),
        ("a**", "repeats nothing"),
        ("a*+", "repeats nothing"),
        ("^*", "repeats nothing"),
        (r"\b+", "repeats nothing"),
        ("*", "means nothing to Python"),
        ("(", "means nothing to Python"),
        ("(?<=a+)b", "means nothing to Python"),
        ("\\", "cannot be carried"),
        ("😀+", "half a character"),
        ("[😀]", "two halves"),
    ],
)
def test_what_has_no_equal_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(NotCarried, match=re.escape(why)):
        python_pattern(pattern)


_PIECES = st.sampled_from(
    [
        *"ab1_ -.^$|()[]{}*+?\\/&~,", r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"\b", r"\B", "(?:", "(?=", "(?!", "(?<n>",
        "[^", "{2}", "{1,}", "é", "--",
    ]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=8).map("".join), st.text(max_size=20))
def test_what_is_carried_compiles_without_a_warning(pattern: str, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            translated = re.compile(python_pattern(pattern))
        except NotCarried:
            return
    assert translated.groups == 0
    translated.search(text)


@given(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), min_size=1, max_size=20), st.text(max_size=5))
def test_a_text_in_which_everything_is_escaped_matches_itself(text: str, around: str) -> None:
    pattern = "".join(f"\\{one}" if one in r"\^$.*+?()[]{}|/-" else one for one in text)
    assert re.search(python_pattern(pattern), around + text + around)
