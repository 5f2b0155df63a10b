"""Mutations of the source of a module, each a small mistake of a kind that people make."""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar, cast

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *("simplify", "expand", "layouts", "xla_to_scf", "xla_to_linalg", "tensors", "bufferize"),
    "loops",
)
"""
The passes of the native pipeline, under `lowerings`, but those that plan schedules: which of them
is taken changes no result.
"""


@dataclass(frozen=True)
class Mutation:
    """One change of one place."""

    module: str
    kind: str
    line: int
    number: int
    """Of the changes of the module, in the order of `changes`."""
    before: str
    after: str
    is_global: bool
    """Whether the place is run when the module is loaded: it is in a table, not in a function."""

    @property
    def place(self) -> int:
        """The line; 0 where it is run when the module is loaded."""
        return 0 if self.is_global else self.line

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.kind}: {self.before} -> {self.after}"


@dataclass(frozen=True)
class Change:
    """A node, and what puts another one in its place."""

    node: ast.expr
    kind: str
    new: ast.expr
    is_global: bool


_OPERATORS: dict[type[ast.AST], tuple[str, Any]] = {
    ast.Add: ("operator", ast.Sub),
    ast.Sub: ("operator", ast.Add),
    ast.Mult: ("operator", ast.Add),
    ast.FloorDiv: ("operator", ast.Mult),
    ast.Mod: ("operator", ast.FloorDiv),
    ast.LShift: ("operator", ast.RShift),
    ast.RShift: ("operator", ast.LShift),
    ast.BitAnd: ("operator", ast.BitOr),
    ast.BitOr: ("operator", ast.BitAnd),
    ast.Lt: ("bound", ast.LtE),
    ast.LtE: ("bound", ast.Lt),
    ast.Gt: ("bound", ast.GtE),
    ast.GtE: ("bound", ast.Gt),
    ast.Eq: ("condition", ast.NotEq),
    ast.NotEq: ("condition", ast.Eq),
    ast.And: ("condition", ast.Or),
    ast.Or: ("condition", ast.And),
}
_PARTNERS = {
    "AddfOp": "SubfOp",
    "SubfOp": "AddfOp",
    "AddiOp": "SubiOp",
    "SubiOp": "AddiOp",
    "MulfOp": "AddfOp",
    "MuliOp": "AddiOp",
    "DivSIOp": "DivUIOp",
    "DivUIOp": "DivSIOp",
    "RemSIOp": "RemUIOp",
    "RemUIOp": "RemSIOp",
    "MaxSIOp": "MaxUIOp",
    "MaxUIOp": "MaxSIOp",
    "MinSIOp": "MinUIOp",
    "MinUIOp": "MinSIOp",
    "MaximumfOp": "MaxnumfOp",
    "MinimumfOp": "MinnumfOp",
    "ShRSIOp": "ShRUIOp",
    "ShRUIOp": "ShRSIOp",
    "ExtSIOp": "ExtUIOp",
    "ExtUIOp": "ExtSIOp",
    "AndIOp": "OrIOp",
    "OrIOp": "AndIOp",
    "SIToFPOp": "UIToFPOp",
    "UIToFPOp": "SIToFPOp",
    "addf": "subf",
    "subf": "addf",
    "mulf": "addf",
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
    "minimum": "maximum",
    "maximum": "minimum",
}
"""Functions and operations, and what is easily taken for them; NaN makes a difference to some."""
_PREDICATES = {
    "slt": "sle",
    "sle": "slt",
    "sgt": "sge",
    "sge": "sgt",
    "ult": "ule",
    "ule": "ult",
    "ugt": "uge",
    "uge": "ugt",
    "eq": "ne",
    "ne": "eq",
    "olt": "ult",
    "ole": "olt",
    "ogt": "ugt",
    "oge": "ogt",
    "oeq": "ueq",
    "une": "one",
    "uno": "ord",
    "ord": "uno",
    "parallel": "reduction",
    "LT": "LE",
    "LE": "LT",
    "GT": "GE",
    "GE": "GT",
    "EQ": "NE",
}
"""Predicates, as other bounds or other rules for NaN have them."""


def source_of(module: str) -> Path:
    """Where a module is."""
    return ROOT / f"{module.replace('.', '/')}.py"


def modules() -> list[str]:
    """All that may be changed."""
    found = [path for name in FOLDERS for path in (ROOT / "lowerings" / name).rglob("*.py")]
    return sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in found
        if path.name != "__init__.py"
    )


def mutations(module: str) -> list[Mutation]:
    """All of a module."""
    text = source_of(module).read_text(encoding="utf-8")
    return [
        Mutation(
            module,
            change.kind,
            change.node.lineno,
            number,
            _shown(change.node),
            _shown(change.new),
            change.is_global,
        )
        for number, change in enumerate(changes(ast.parse(text)))
    ]


@cache
def all_mutations() -> Sequence[Mutation]:
    """Those of all modules."""
    return [mutation for module in modules() for mutation in mutations(module)]


T = TypeVar("T")


def in_turns(groups: Iterable[Sequence[T]]) -> Iterator[T]:
    """What is in groups: one of each, then another one of each, and so on."""
    nothing = object()
    for turn in zip_longest(*groups, fillvalue=nothing):
        yield from (cast(T, each) for each in turn if each is not nothing)


def _shown(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:120]


def changed(text: str, number: int) -> ast.Module:
    """The source with one of its changes."""
    tree = ast.parse(text)
    change = changes(tree)[number]

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            if node is change.node:
                return ast.copy_location(change.new, node)
            return super().generic_visit(node)

    return ast.fix_missing_locations(Replace().visit(tree))


def changes(tree: ast.Module) -> list[Change]:
    """Every place of a module with every change of it, in a fixed order."""
    return list(_below(tree, is_global=True))


_SKIPPED = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr)
"""What passes do not compute with."""


def _is_stated(node: ast.AST) -> bool:
    """What the pass says of itself, which is what it is judged by."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "ResultDifference"
    )


def _below(node: ast.AST, *, is_global: bool) -> Iterator[Change]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args", "bases", "keywords") and (
            not isinstance(node, ast.Call)
        ):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, _SKIPPED) or _is_stated(child):
                continue
            inside = is_global and not isinstance(
                child, ast.FunctionDef | ast.Lambda | ast.AsyncFunctionDef
            )
            if isinstance(child, ast.If | ast.IfExp | ast.While):
                test = child.test
                yield Change(test, "condition", ast.UnaryOp(ast.Not(), test), inside)
            if isinstance(child, ast.expr):
                for make in _MAKERS:
                    yield from (Change(child, kind, new, inside) for kind, new in make(child))
            yield from _below(child, is_global=inside)


def _operators(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        # What is joined are sequences and texts: another operator is a crash.
        if not any(isinstance(x, ast.List | ast.Tuple | ast.JoinedStr) for x in _sides(node)):
            kind, other = _OPERATORS[type(node.op)]
            yield kind, ast.BinOp(node.left, other(), node.right)
        if isinstance(node.op, ast.Sub | ast.FloorDiv | ast.Mod):
            yield "operands", ast.BinOp(node.right, node.op, node.left)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
        kind, other = _OPERATORS[type(node.ops[0])]
        yield kind, ast.Compare(node.left, [other()], node.comparators)
    if isinstance(node, ast.BoolOp):
        kind, other = _OPERATORS[type(node.op)]
        yield kind, ast.BoolOp(other(), node.values)
        kept = node.values[:-1]
        yield "condition", ast.BoolOp(node.op, kept) if kept[1:] else kept[0]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield "operator", node.operand


def _sides(node: ast.BinOp) -> Sequence[ast.expr]:
    return node.left, node.right


def _names(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Attribute) and node.attr in _PARTNERS:
        kind = "NaN rule" if node.attr in ("MaximumfOp", "MinimumfOp") else "operation"
        yield kind, ast.Attribute(node.value, _PARTNERS[node.attr], node.ctx)
    if isinstance(node, ast.Name) and node.id in ("min", "max", "any", "all"):
        yield "operation", ast.Name(_PARTNERS[node.id], node.ctx)
    if isinstance(node, ast.Constant) and node.value in _PREDICATES:
        yield "predicate", ast.Constant(_PREDICATES[node.value])


_OF_DIFFERENT_TYPES = ("isinstance", "issubclass", "getattr", "cast", "replace", "map", "filter")
"""Functions whose arguments nobody exchanges: each call would raise."""


def _arguments(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(node, ast.Call):
        return
    first = node.args[:2]
    if ast.unparse(node.func) in _OF_DIFFERENT_TYPES:
        return
    if len(first) == 2 and not any(isinstance(each, ast.Starred) for each in first):
        swapped = [first[1], first[0], *node.args[2:]]
        yield "operands", ast.Call(node.func, swapped, node.keywords)
    if isinstance(node.func, ast.Name) and node.func.id == "range":
        end = 0 if len(node.args) == 1 else 1
        shorter = ast.BinOp(node.args[end], ast.Sub(), ast.Constant(1))
        yield "bound", ast.Call(node.func, [*node.args[:end], shorter, *node.args[end + 1 :]], [])
    if isinstance(node.func, ast.Name) and node.func.id in ("reversed", "sorted"):
        yield "operator", node.args[0]


def _numbers(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield "bound", ast.Constant(node.value + 1)
        if node.value > 0:
            yield "bound", ast.Constant(node.value - 1)
    if isinstance(node, ast.Constant) and type(node.value) is float:
        yield "operator", ast.Constant(node.value * 1.5 if node.value else 1.0)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "condition", ast.Constant(not node.value)


def _is_of_any_length(node: ast.List | ast.Tuple) -> bool:
    """Whether it is not a tuple that is unpacked, as most are that have two elements."""
    return isinstance(node, ast.List) or any(isinstance(e, ast.Starred) for e in node.elts)


def _elements(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1:
        if isinstance(node.ctx, ast.Load) and _is_of_any_length(node):
            yield "lost element", type(node)(node.elts[:-1], node.ctx)
            yield "lost element", type(node)(node.elts[1:], node.ctx)
            if not any(isinstance(each, ast.Starred) for each in node.elts[:2]):
                swapped = [node.elts[1], node.elts[0], *node.elts[2:]]
                yield "operands", type(node)(swapped, node.ctx)
    elif isinstance(node, ast.ListComp | ast.GeneratorExp) and node.generators[0].ifs:
        first, *others = node.generators
        every = ast.comprehension(first.target, first.iter, first.ifs[1:], first.is_async)
        yield "condition", type(node)(node.elt, [every, *others])


_MAKERS: tuple[Callable[[ast.expr], Iterator[tuple[str, ast.expr]]], ...] = (
    *(_operators, _names, _arguments, _numbers, _elements),
)
