"""What split checking cannot carry is read off a check, and nothing else is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from support.judging import item

from evalaction.checks.carried.look import look_at_program
from evalaction.checks.carried.reading import mentions_candidate, not_carried, run_outside
from evalaction.errors import SourceError
from evalaction.method.card import CheckLimits
from evalaction.method.records import Check


def found(source: str) -> list[str]:
    return [finding.does for finding in not_carried(ast.parse(source))]


@pytest.mark.parametrize(
    ("source", "does"),
    [
        ("import _candidate as c\nc.f(lambda x: x, [1])", "passes a function"),
        ("from _candidate import f\ndef g(x): return x\nassert f(g)", "passes a function"),
        ("from _candidate import f\nassert f([1], key=len)", "passes a function"),
        ("from _candidate import f\nassert f([len])", "passes a function"),
        ("from _candidate import f\ndouble = lambda x: 2 * x\nassert f(double)", "passes a function"),
        ("from _candidate import f\nclass A: pass\nf(A)", "passes a class"),
        ("from _candidate import f\nclass A: pass\na = A()\nf([a])", "passes an instance of A"),
        ("from _candidate import f\nf(x for x in 'ab')", "passes a generator"),
        ("from _candidate import f\nf(iter([1]))", "passes an iterator"),
        ("from _candidate import f\nfrom decimal import Decimal\nf(Decimal('1'))", "passes a Decimal"),
        ("from _candidate import f\nimport collections\nf(collections.Counter('aa'))", "passes a Counter"),
        ("def check(candidate):\n    candidate(lambda: 0)\nfrom _candidate import f\ncheck(f)", "passes a function"),
        ("from _candidate import *\nassert f(lambda: 0)", "passes a function"),
        ("import _candidate as c\nfor g in (c.a, c.b):\n    g(print)", "passes a function"),
        ("import _candidate as c\nassert c.Stack()", "makes an instance of _candidate.Stack"),
        ("import _candidate as c\ns = c.make()\ns.push(1)", "uses .push of what the candidate returns"),
        ("import _candidate as c\nassert c.point(1).x == 1", "uses .x of what the candidate returns"),
        ("import _candidate as c\nassert isinstance(c.f(), c.Point)", "asks for the class _candidate.Point"),
        ("import _candidate as c\nclass D(c.Base): pass", "derives a class from _candidate.Base"),
        ("import _candidate as c\nfrom fractions import Fraction\nassert c.f() == Fraction(1, 2)", "expects a Fraction"),
        ("import _candidate as c, datetime\nassert isinstance(c.f(), datetime.date)", "expects a date"),
        ("from _candidate import f\nimport decimal\ndef eq(a, b): pass\neq(f(1), decimal.Decimal(1))", "expects a Decimal"),
        ("from _candidate import f\nfrom collections import deque\nwant = deque([1])\nassert f() == want", "expects a deque"),
        ("import _candidate as c, asyncio\nassert asyncio.run(c.f()) == 1", "awaits what the candidate returns"),
        ("import _candidate as c\nasync def main():\n    assert await c.f() == 1", "awaits what the candidate returns"),
        ("import _candidate as c, inspect\ninspect.signature(c.f)", "inspects the candidate"),
        ("import _candidate as c\nassert c.f.__code__.co_argcount == 2", "reads __code__ of a function"),
        ("import _candidate as c\nc.LIMIT = 5", "sets _candidate.LIMIT"),
        ("import _candidate as c\nsetattr(c, 'LIMIT', 5)", "changes the module _candidate"),
        ("from unittest import mock\nwith mock.patch('_candidate.now'): pass", "changes the module _candidate"),
        ("import _candidate as c\nwith redirect_stdout(StringIO()):\n    c.f()", "captures what the candidate prints"),
        ("text = open('_candidate.py').read()", "reads the candidate's file (its text is _candidate.__source__)"),
    ],
)  # fmt: skip
def test_what_is_not_carried_is_named(source: str, does: str) -> None:
    assert found(source) == [does]


@pytest.mark.parametrize(
    "source",
    [
        "import _candidate\ndef expect(a, b):\n    assert a == b\nexpect(_candidate.clamp(3, 0, 2), 2)",
        "from _candidate import f\nassert sorted(f([1]), key=lambda x: -x) == [1]",
        "from _candidate import f\nassert list(map(f, [1, 2])) == [2, 3]",
        "from _candidate import f, g\nassert f(g) == 1",
        "from _candidate import f\nassert f('a').strip().split() == ['a'] and f({}).items()",
        "from _candidate import f\nfrom collections import Counter\nassert f('aa') == Counter('aa')",
        "from _candidate import f\nfrom collections import Counter\nassert Counter(f('aa')) == Counter(a=2)",
        "from _candidate import f\nassert f(sorted([1]), set('a'), range(3), max(1, 2), str(4)) is None",
        "import _candidate as c\ntry:\n    c.f()\nexcept c.Error as e:\n    assert str(e)",
        "import _candidate as c\ntry:\n    c.f()\nexcept (ValueError, c.MyError):\n    pass\nraise c.MyError('x')",
        "import _candidate as c\nassert isinstance(c.f(), (int, list)) and callable(c.f)",
        "import _candidate as c\nassert c.MAX == 3 and 'import' not in c.__source__ and c.f.__name__ == 'f'",
        "import _candidate as c, random\nrandom.seed(1)\nfor _ in range(3):\n    x = random.random()\n    assert c.f(x) == x",
        "import _candidate as c\nclass Case:\n    def run(self):\n        assert c.f(1)\nCase().run()",
        "from _candidate import *\nassert f(1) == len([1])",
        "from _candidate import make\nadd = make(2)\nassert add(3) == 5",
        "import _candidate as c\nstream = c.naturals()\nassert next(stream) == 0 and stream.send(None) == 1",
        "from decimal import Decimal\nimport _candidate as c\nassert Decimal(c.f('1')) == Decimal(1)",
    ],
)
def test_what_is_carried_is_not_named(source: str) -> None:
    tree = ast.parse(source)
    assert mentions_candidate(tree)
    assert not_carried(tree) == ()


def test_the_work_grows_with_the_check_and_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    children = ast.iter_child_nodes

    def counted(node: ast.AST) -> Iterator[ast.AST]:
        nonlocal seen
        seen += 1
        return children(node)

    monkeypatch.setattr(ast, "iter_child_nodes", counted)
    work: list[int] = []
    for lines in (10, 100):
        seen = 0
        assert found("from _candidate import *\n" + "assert f(1) == 1\n" * lines) == []
        work.append(seen)
    assert 0 < work[1] <= 12 * work[0]


def look(source: bytes, kind: str = "code", **limits: str) -> list[str]:
    check = Check(kind=kind, file="t/check.py")  # type: ignore[arg-type]
    sentences = look_at_program(item(check), {"t/check.py": source}, CheckLimits(**limits))  # type: ignore[arg-type]
    return ["".join(part if isinstance(part, str) else f"‹{part.text}›" for part in sentence) for sentence in sentences]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("from _candidate import f\nassert eval(f(24)) == 24", (2,)),
        ("import _candidate as c\ntext = c.f()\nexec(text)\nexec(text)", (3, 4)),
        ("import _candidate as c\nspace = {}\nexec(c.__source__, space)", (3,)),
        ("import _candidate as c, doctest\ndoctest.run_docstring_examples(c.f(), {})", (2,)),
        ("import _candidate as c, ast\nassert ast.literal_eval(c.f()) == 24 and ast.parse(c.__source__)", ()),
        ("from _candidate import f\nassert eval('1 + 1') == f(2)\nexec('x = 1')", ()),
    ],
)
def test_where_a_check_runs_a_text_of_the_candidate(source: str, lines: tuple[int, ...]) -> None:
    assert run_outside(ast.parse(source)) == lines


def test_findings_are_one_warning_with_their_lines() -> None:
    lines = b"import _candidate as c\n" + b"c.f(len)\nc.X = 1\nc.Stack()\nc.Y = 2\n"
    assert look(lines) == [
        "Item ‹item-0›: its check ‹passes a function (line 2); sets _candidate.X (line 3); "
        "makes an instance of _candidate.Stack (line 4); 1 more›, which split checking does not carry."
    ]
    assert look(lines, isolation="in_process") == []


def test_a_check_that_never_asks_its_candidate_is_named() -> None:
    assert look(b"assert 1 + 1 == 2\n") == [
        "Item ‹item-0›: its check never imports _candidate, so it says the same of every output."
    ]
    assert look(b"import importlib\nc = importlib.import_module('_candidate')\n") == []
    assert look(b"def checker(parsed, fixture): return True, 'ok'\n", "python") == []


@pytest.mark.parametrize("source", [b"def f(:\n", b"x = '\0'\n", b"\xff\xfe\n", b"(" * 500])
@pytest.mark.parametrize("kind", ["code", "python"])
def test_programs_that_are_not_python_are_refused(source: bytes, kind: str) -> None:
    with pytest.raises(SourceError, match="this is not Python") as caught:
        look(source, kind)
    assert caught.value.file == "t/check.py"


def test_a_program_that_is_not_there_is_refused() -> None:
    with pytest.raises(SourceError, match="there is no program"):
        list(look_at_program(item(Check(kind="code", file="x.py")), {}, CheckLimits()))


def test_a_check_that_runs_a_text_of_the_candidate_is_warned_about() -> None:
    source = b"from _candidate import f\n\nassert eval(f(24)) == 24\n"
    assert look(source) == [
        "Item ‹item-0›: its check runs what the candidate gives in its own process (line 3): there it can say the verdict itself."
    ]
    assert look(source, isolation="in_process") == []
