"""How a check ends, put into a word and a reason; and whether a text is Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from evalaction.checks.inside import program
from evalaction.checks.inside.program import Outcome
from evalaction.checks.python_text import not_python


@pytest.fixture(autouse=True)
def _undisturbed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Running a check changes the interpreter, which is a process of its own in the box."""
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    depth = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(depth)


def outcome(source: str, *, answered: bool = True) -> Outcome:
    return program.of_check(program.run(source, "check.py"), answered=answered)


UNSET = (
    "raised: NameError: cannot access free variable 'y' where it is not associated with a value in enclosing scope"
    " (check.py, line 2)"
)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1", ("pass", "")),
        ("raise SystemExit", ("pass", "")),
        ("raise SystemExit(0)", ("pass", "")),
        ("import sys\nsys.exit(False)", ("pass", "")),
        ("raise SystemExit('3 != 2')", ("fail", "exit: 3 != 2")),
        ("raise SystemExit(1)", ("fail", "exit: 1")),
        ("raise SystemExit(True)", ("fail", "exit: True")),
        ("raise SystemExit('')", ("fail", "exit: ")),
        ("def expect(a, b):\n    assert a == b, (a, b)\nexpect(1, 2)", ("fail", "assert: (1, 2)")),
        ("y = 2\nassert 1 == y", ("fail", "assert: assert 1 == y (check.py, line 2)")),
        ("None + 1", ("fail", "raised: TypeError: unsupported operand type(s) for +: 'NoneType' and 'int' (check.py, line 1)")),
        ("{}['k']", ("fail", "raised: KeyError: 'k' (check.py, line 1)")),
        ("eval('nope')", ("fail", "raised: NameError: name 'nope' is not defined (<string>, line 1)")),
        ("nope", ("error", "checker:crash: NameError: name 'nope' is not defined (check.py, line 1)")),
        ("import nopenope", ("error", "checker:crash: ModuleNotFoundError: No module named 'nopenope' (check.py, line 1)")),
        ("raise MemoryError", ("fail", "raised: MemoryError (check.py, line 1)")),
        ("for x in []: pass\nx", ("fail", "raised: NameError: name 'x' is not defined (check.py, line 2)")),
        (
            "def f(x):\n    for y in x: pass\n    return y\ndef g(): return f\ny",
            ("error", "checker:crash: NameError: name 'y' is not defined (check.py, line 5)"),
        ),
        ("def f():\n    def g(): return y\n    for y in []: pass\n    return g()\nf()", ("fail", UNSET)),
        ("class E(Exception):\n    def __str__(self): 1 / 0\nraise E", ("fail", "raised: E: ? (check.py, line 3)")),
        ("import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\nunittest.main(verbosity=0)", ("pass", "")),
    ],
)
def test_how_a_check_ends(source: str, expected: Outcome, capfd: pytest.CaptureFixture[str]) -> None:
    assert outcome(source) == expected


@pytest.mark.parametrize(
    "source", ["None + 1", "raise ValueError", "1 +", "x = '\0'", "raise MemoryError", "for x in []: pass\nx"]
)
def test_before_it_has_heard_of_the_candidate_a_check_stumbles_over_itself(source: str) -> None:
    word, reason = outcome(source, answered=False)
    assert word == "error" and reason.startswith("checker:crash: ")


def test_a_check_is_the_program_at_the_top_of_its_interpreter() -> None:
    source = """
import sys
assert __name__ == "__main__" and __file__ == "check.py" and sys.argv == ["check.py"] and sys.path[0] == ""
def deep(n): return 0 if n == 0 else 1 + deep(n - 1)
assert deep(950) == 950
try: deep(1000)
except RecursionError: pass
else: raise SystemExit("the recursion limit is another")
"""
    assert outcome(source) == ("pass", "")


@pytest.mark.parametrize(
    ("text", "detail", "at_end"),
    [
        ("def f(x):\n    return (x", "'(' was never closed at line 2", True),
        ("def f(x):\n", "expected an indented block after function definition on line 1 at line 1", True),
        ("x = 'abc", "unterminated string literal (detected at line 1) at line 1", True),
        ("x = '''abc\n\n", "unterminated triple-quoted string literal (detected at line 2) at line 1", True),
        ("for x in y:\n    if x", "expected ':' at line 2", True),
        ("x = 'a\ny = 1", "unterminated string literal (detected at line 1) at line 1", False),
        ("Sure! Here is the function:", "invalid syntax at line 1", False),
        ("return 1", "'return' outside function at line 1", False),
        ("a\0b", "source code string cannot contain null bytes", False),
        (
            "```python\nx = 1\n```",
            "invalid syntax at line 1; the output is in a code fence, which `extract: fenced` takes",
            False,
        ),
    ],
)
def test_text_that_is_not_python(text: str, detail: str, at_end: bool) -> None:
    found = not_python(text, whole=True)
    assert found is not None and (found.reason, found.at_end) == ("not_python", at_end)
    if sys.version_info[:2] == (3, 11):  # the words are the parser's
        assert found.detail == detail
    inside = not_python(text, whole=False)
    assert inside is not None and not inside.at_end


@pytest.mark.parametrize(
    "text", ["", "x = 1", "x = '\\d'", "def f(x):\n  return x\n", "# only a comment", "async def f(): await g()"]
)
def test_text_that_is_python(text: str) -> None:
    assert not_python(text, whole=True) is None
