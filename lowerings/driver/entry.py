"""The functions of a module, and the one that is run."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp

from lowerings.ir.functions import functions_of
from lowerings.layouts.entry_layout import ENTRY_LAYOUT
from lowerings.simplify.xla_flatten_tuples import take_entry_aliases
from xla_dialect.analysis.computations import callee, is_call
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import operations_in


def reached_from(module: ModuleOp, entry: str) -> list[FuncOp]:
    """A function and those that it calls, and so on."""
    functions = functions_of(module)
    reached = {entry: functions[entry]}
    waiting = [entry]
    while waiting:
        for op in operations_in(functions[waiting.pop()]):
            name = callee(op) if is_call(op) else entry
            if name not in reached:
                reached[name] = functions[name]
                waiting.append(name)
    return list(reached.values())


def isolate_entry(module: ModuleOp, entry: str) -> None:
    """Makes a function the public `@main` of its module; drops what it does not run."""
    functions = functions_of(module)
    reached = {function.sym_name.data for function in reached_from(module, entry)}
    if entry != ENTRY_SYMBOL:
        # What the module says about its own entry.
        module.attributes.pop(ENTRY_LAYOUT, None)
        take_entry_aliases(module)
    for name, function in functions.items():
        if name not in reached:
            erase(function)
        elif name == entry:
            function.properties.pop("sym_visibility", None)
            function.properties["sym_name"] = StringAttr("main")
        else:
            function.properties["sym_visibility"] = StringAttr("private")
            if name == "main":
                _rename(module, function, "main.called")


def _rename(module: ModuleOp, function: FuncOp, name: str) -> None:
    """Renames a function and every call of it."""
    old = function.sym_name.data
    function.properties["sym_name"] = StringAttr(name)
    for op in operations_in(module):
        if is_call(op) and callee(op) == old:
            key = "to_apply" if isinstance(op, CallOp) else "callee"
            op.properties[key] = SymbolRefAttr(name)
