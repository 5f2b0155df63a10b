"""The functions of a module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation

from xla_dialect.xdsl.traversal import operations_in

ENTRY = "xla.entry"
"""The unit attribute of a function that is exported."""

KERNEL = "xla.kernel"
"""The unit attribute of a function whose arguments do not overlap."""

INLINED = "xla.inline"
"""The unit attribute of a function that LLVM inlines, but for calls that are `NO_INLINE`."""

NO_INLINE = "no_inline"
"""MLIR's attribute of calls that stay, and of functions all of whose calls do."""

INLINED_CALL = "xla.inlined_call"
"""The attribute of operations of a `NO_INLINE` function that were inlined: a number of the call."""


def functions_of(module: ModuleOp) -> dict[str, FuncOp]:
    """The functions of a module by name."""
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def defined_functions(module: ModuleOp) -> list[FuncOp]:
    """Those of its functions that have a body."""
    return [function for function in functions_of(module).values() if not function.is_declaration]


def calls_of(functions: Mapping[str, FuncOp]) -> dict[str, list[str]]:
    """For each function those of them that its `func.call` operations name, once for each."""
    return {
        name: [
            callee
            for op in operations_in(function)
            if type(op) is CallOp and (callee := op.callee.root_reference.data) in functions
        ]
        for name, function in functions.items()
    }


def reaching(calls: Mapping[str, Iterable[str]], ends: Iterable[str]) -> set[str]:
    """The functions that reach some functions by calls, those included."""
    found, size = set(ends), -1
    while size < len(found):
        size = len(found)
        found |= {name for name, called in calls.items() if not found.isdisjoint(called)}
    return found


def callees_first(calls: Mapping[str, Iterable[str]]) -> Sequence[str]:
    """
    Functions, each behind those that it calls.

    Raises CycleError for recursion, whose second argument has the functions, callees first.
    """
    return tuple(TopologicalSorter(calls).static_order())


def references(op: Operation) -> Iterator[str]:
    """The symbols that an operation names, with those inside of it."""
    for inner in op.walk():
        for attribute in (*inner.properties.values(), *inner.attributes.values()):
            yield from _named(attribute)


def _named(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolRefAttr):
        yield attribute.root_reference.data
    elif isinstance(attribute, ArrayAttr):
        for each in cast("ArrayAttr[Attribute]", attribute):
            yield from _named(each)
    elif isinstance(attribute, DictionaryAttr):
        for each in attribute.data.values():
            yield from _named(each)


class SymbolNames:
    """The names of the symbols of a module, and of those that are going to be added."""

    def __init__(self, module: ModuleOp):
        symbols = (op.properties.get("sym_name") for op in module.ops)
        self.taken = {symbol.data for symbol in symbols if isinstance(symbol, StringAttr)}

    def take(self, names: Iterable[str]) -> str:
        """The first of some names that is free, and is taken then."""
        name = next(name for name in names if name not in self.taken)
        self.taken.add(name)
        return name
