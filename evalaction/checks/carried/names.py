"""Which names of a check stand for the candidate's module, its functions and what they gave back. Nothing is run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

MODULE = "_candidate"
NOT_PLAIN = frozenset({
    "Decimal", "Fraction", "datetime", "date", "time", "timedelta", "timezone", "deque", "array", "UUID", "SimpleNamespace",
    "StringIO", "BytesIO", "memoryview", "Path", "PurePath", "PosixPath",
})  # fmt: skip
"""Types of the standard library that do not travel."""
FLATTENED = frozenset({"Counter", "OrderedDict", "defaultdict", "ChainMap", "UserDict", "UserList"})
"""Types that arrive from the candidate as the plain ones they equal, and that a check cannot pass."""
_ITERATORS = frozenset({"iter", "map", "filter", "zip", "enumerate", "reversed", "open"})


@dataclass(slots=True)
class Names:
    """Flow is not followed: a name that stands for something anywhere in a scope stands for it everywhere."""

    modules: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    """Names of the check for functions and classes of the candidate."""
    results: set[str] = field(default_factory=set)
    """Names for what a call of the candidate gave."""
    own: dict[str, ast.AST] = field(default_factory=dict)
    """Functions and classes that the check defines."""
    kinds: dict[str, str] = field(default_factory=dict)
    """What is assigned to a name and would not travel, in words."""
    caught: set[str] = field(default_factory=set)
    """Names of the candidate that stand in `except` or `raise`: exceptions travel."""

    def is_module(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.modules

    def function(self, node: ast.AST) -> str | None:
        """The name of the candidate's function that an expression is."""
        if isinstance(node, ast.Attribute) and self.is_module(node.value):
            return node.attr
        return node.id if isinstance(node, ast.Name) and node.id in self.functions else None

    def is_call(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self.function(node.func) is not None

    def asks(self, node: ast.AST) -> bool:
        """Whether an expression calls the candidate or holds what it gave."""
        return any(self.is_call(one) or (isinstance(one, ast.Name) and one.id in self.results) for one in ast.walk(node))

    def gives(self, node: ast.AST) -> bool:
        """Whether an expression is what the candidate gave, not something that was made of it."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(map(self.gives, node.elts))
        return self.is_call(node) or (isinstance(node, ast.Name) and node.id in self.results)

    def unplain(self, node: ast.AST) -> str | None:
        """What an expression is that cannot be an argument, in words."""
        match node:
            case ast.Lambda():
                return "a function"
            case ast.GeneratorExp():
                return "a generator"
            case ast.Name(id=name):
                return self._unplain_name(name)
            case ast.Call(func=function):
                return self._unplain_call(last_name(function))
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
                return next(filter(None, map(self.unplain, parts)), None)
        return self.unplain(node.value) if isinstance(node, ast.Starred) else None

    def _unplain_name(self, name: str) -> str | None:
        if name in self.functions:  # the candidate's own come home again
            return None
        if name in self.own:
            return "a class" if isinstance(self.own[name], ast.ClassDef) else "a function"
        if name in self.kinds:
            return self.kinds[name]
        return "a function" if name not in self.results and callable(getattr(builtins, name, None)) else None

    def _unplain_call(self, name: str | None) -> str | None:
        if name in self.own and isinstance(self.own[name], ast.ClassDef):
            return f"an instance of {name}"
        if name in NOT_PLAIN or name in FLATTENED:
            return f"a {name}"
        return "an iterator" if name in _ITERATORS else None


def last_name(node: ast.AST) -> str | None:
    """`Decimal` of `Decimal` and of `decimal.Decimal`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def names_of(tree: ast.Module) -> Names:
    """All names of a check that matter."""
    names = Names()
    nodes = list(ast.walk(tree))
    for node in nodes:
        _imported(node, names)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.own[node.name] = node
    if any(map(_star, nodes)):
        names.functions |= _unbound_calls(nodes)
    for node in nodes:
        names.caught |= set(filter(None, map(names.function, _thrown(node))))
    binding = [node for node in nodes if isinstance(node, (ast.Assign, ast.For, ast.comprehension, ast.Call))]
    size = -1
    while size != (size := len(names.functions) + len(names.results) + len(names.kinds)):
        for node in binding:
            _bound(node, names)
    return names


def _imported(node: ast.AST, names: Names) -> None:
    if isinstance(node, ast.Import):
        names.modules |= {alias.asname or alias.name for alias in node.names if alias.name == MODULE}
    elif isinstance(node, ast.ImportFrom) and node.module == MODULE:
        names.functions |= {alias.asname or alias.name for alias in node.names if alias.name != "*"}


def _star(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == MODULE and any(alias.name == "*" for alias in node.names)


def _unbound_calls(nodes: Sequence[ast.AST]) -> set[str]:
    """Names that are called and that nothing in the check defines: after a star import they are the candidate's."""
    called = {one.func.id for one in nodes if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
    stored = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    stored |= {one.arg for one in nodes if isinstance(one, ast.arg)}
    stored |= {one.name for one in nodes if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
    return {name for name in called - stored if not hasattr(builtins, name)}


def _thrown(node: ast.AST) -> Iterator[ast.AST]:
    """Expressions that name exceptions."""
    if isinstance(node, ast.ExceptHandler) and node.type is not None:
        yield from node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    elif isinstance(node, ast.Raise) and node.exc is not None:
        yield node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    elif isinstance(node, ast.Call) and last_name(node.func) in ("raises", "assertRaises", "assertRaisesRegex", "suppress"):
        yield from node.args


def _bound(node: ast.AST, names: Names) -> None:
    """What assignments, loops and calls of the check's own functions make of a name."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        _bind(node.targets[0].id, node.value, names)
    elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
        if isinstance(node.iter, (ast.List, ast.Tuple)):
            for one in node.iter.elts:
                _bind(node.target.id, one, names)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        function = names.own.get(node.func.id)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            _pass(node, function, names)


def _pass(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, names: Names) -> None:
    """The candidate's functions that are handed to a function of the check, as `check(candidate)` does."""
    positional = [*function.args.posonlyargs, *function.args.args]
    pairs = [(parameter.arg, value) for parameter, value in zip(positional, call.args, strict=False)]
    pairs += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    names.functions |= {parameter for parameter, value in pairs if names.function(value)}


def _bind(name: str, value: ast.AST, names: Names) -> None:
    if names.function(value) and not names.is_call(value):
        names.functions.add(name)
    elif names.is_call(value):
        names.results.add(name)
    elif (kind := names.unplain(value)) is not None and not isinstance(value, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
        names.kinds.setdefault(name, kind)
