"""What a check asks for that split checking cannot carry, with the line where it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from evalaction.checks.carried.names import MODULE, NOT_PLAIN, Names, last_name, names_of

_LOOKS = frozenset(
    {"__code__", "__annotations__", "__defaults__", "__kwdefaults__", "__closure__", "__globals__", "__signature__"}
)
_RUNNERS = frozenset({"eval", "exec", "run_docstring_examples"})
_SETTERS = frozenset({"setattr", "delattr", "reload", "patch", "object", "dict", "multiple"})


class Finding(NamedTuple):
    line: int
    does: str
    """Follows "the check"."""


def mentions_candidate(tree: ast.Module) -> bool:
    """Whether the check asks for its candidate at all."""
    return any(_mentions(node) for node in ast.walk(tree))


def not_carried(tree: ast.Module) -> tuple[Finding, ...]:
    """Everything that split checking would not carry, by line; empty for a check that passes and compares plain data."""
    names = names_of(tree)
    found = {finding for node in ast.walk(tree) for finding in _look(node, names)}
    return tuple(sorted(found))


def run_outside(tree: ast.Module) -> tuple[int, ...]:
    """The lines where a check runs, in its own process, a text that the candidate gave: there it can say the verdict."""
    names = names_of(tree)
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and last_name(node.func) in _RUNNERS)
    return tuple(sorted({call.lineno for call in calls if any(_gives_text(argument, names) for argument in call.args)}))


def _gives_text(node: ast.AST, names: Names) -> bool:
    source = any(isinstance(one, ast.Attribute) and one.attr == "__source__" for one in ast.walk(node))
    return source or names.asks(node)


def _mentions(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name == MODULE for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module == MODULE
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE in node.value


def _look(node: ast.AST, names: Names) -> Iterator[Finding]:
    line = getattr(node, "lineno", 0)
    for does in _does(node, names):
        yield Finding(line, does)


def _does(node: ast.AST, names: Names) -> Iterator[str]:
    if isinstance(node, ast.Call):
        yield from _call(node, names)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node, names)
    elif isinstance(node, ast.Compare) and any(map(names.gives, sides := [node.left, *node.comparators])):
        yield from (f"expects a {kind}" for kind in _types_in(sides, names))
    elif isinstance(node, ast.Await) and names.asks(node.value):
        yield "awaits what the candidate returns"
    elif isinstance(node, ast.ClassDef):
        yield from (f"derives a class from _candidate.{base}" for base in map(names.function, node.bases) if base)
    elif isinstance(node, (ast.With, ast.AsyncWith)) and _captures(node, names):
        yield "captures what the candidate prints"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and f"{MODULE}.py" in node.value:
        yield f"reads the candidate's file (its text is {MODULE}.__source__)"


def _call(node: ast.Call, names: Names) -> Iterator[str]:
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    function = names.function(node.func)
    called = last_name(node.func)
    if function is not None:
        if _is_class(function) and function not in names.caught:
            yield f"makes an instance of _candidate.{function}"
        yield from (f"passes {kind}" for kind in filter(None, map(names.unplain, arguments)))
        return
    if called in ("isinstance", "issubclass") and len(arguments) == 2:
        yield from _class_asked_for(arguments[0], arguments[1], names)
    elif called in _SETTERS and any(names.is_module(one) or _patched(one) for one in arguments):
        yield f"changes the module {MODULE}"
    elif _is_inspection(node.func) and any(names.function(one) or names.is_module(one) for one in arguments):
        yield "inspects the candidate"
    elif _is_loop(node.func) and any(map(names.asks, arguments)):
        yield "awaits what the candidate returns"
    elif any(map(names.gives, arguments)):  # expect(candidate(1), Decimal("1"))
        yield from (f"expects a {kind}" for kind in _types_in([one for one in arguments if not names.gives(one)], names))


def _attribute(node: ast.Attribute, names: Names) -> Iterator[str]:
    if names.is_module(node.value):
        if not isinstance(node.ctx, ast.Load):
            yield f"sets {MODULE}.{node.attr}"
    elif node.attr in _LOOKS and names.function(node.value):
        yield f"reads {node.attr} of a function"
    elif node.attr not in _plain_attributes() and (names.is_call(node.value) or _is_result(node.value, names)):
        yield f"uses .{node.attr} of what the candidate returns"


def _is_result(node: ast.AST, names: Names) -> bool:
    return isinstance(node, ast.Name) and node.id in names.results and node.id not in names.kinds


def _class_asked_for(value: ast.AST, kinds: ast.AST, names: Names) -> Iterator[str]:
    for kind in kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]:
        own = names.function(kind)
        if own is not None and own not in names.caught:
            yield f"asks for the class _candidate.{own}"
        elif last_name(kind) in NOT_PLAIN and names.gives(value):
            yield f"expects a {last_name(kind)}"


def _types_in(nodes: list[ast.expr], names: Names) -> Iterator[str]:
    """Types that do not travel among what is compared with what the candidate gave."""
    for node in nodes:
        for one in ast.walk(node):
            name = last_name(one.func) if isinstance(one, ast.Call) else None
            held = names.kinds.get(one.id, "").removeprefix("a ") if isinstance(one, ast.Name) else ""
            if name in NOT_PLAIN and name not in names.own and not names.is_call(one):
                yield str(name)
            elif held in NOT_PLAIN:
                yield held


def _is_class(name: str) -> bool:
    """By the habit of writing classes in CapWords."""
    return name[0].isupper() and not name.isupper()


def _patched(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(f"{MODULE}.")


def _is_inspection(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "inspect":
        return True
    return last_name(node) in ("signature", "getsource", "get_type_hints", "getfullargspec")


def _is_loop(node: ast.AST) -> bool:
    return last_name(node) in ("run_until_complete", "create_task", "gather", "wait_for") or (
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "asyncio"
    )


def _captures(node: ast.With | ast.AsyncWith, names: Names) -> bool:
    redirects = any(
        isinstance(item.context_expr, ast.Call) and last_name(item.context_expr.func) in ("redirect_stdout", "redirect_stderr")
        for item in node.items
    )
    return redirects and any(names.asks(statement) for statement in node.body)


@cache
def _plain_attributes() -> frozenset[str]:
    """Whatever values that travel have, functions and generators among them."""
    view = {1: 1}
    generator = (number for number in range(1))
    samples: tuple[object, ...] = (
        None, True, 1.0, 1j, "", b"", bytearray(), range(1), [], (), set(), frozenset(), view, view.keys(), view.items(),
        generator, _is_class,
    )  # fmt: skip
    return frozenset(name for sample in samples for name in dir(sample))
