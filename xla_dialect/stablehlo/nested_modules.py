"""Modules inside of modules, and several in one text: each is a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation

from xla_dialect.shardy import MeshOp
from xla_dialect.stablehlo.source import SourceError
from xla_dialect.xdsl.traversal import operations_in


def flatten_modules(module: ModuleOp) -> None:
    """
    Puts what is in the modules inside of a module into that.

    A module that is all there is in another is the program. Of others each is one: its `main` gets
    the name of its module; other functions keep theirs, behind that of their module where there is
    one of their name. Raises SourceError for modules that say different things of a program.
    """
    inner = [op for op in module.ops if isinstance(op, ModuleOp)]
    is_all = len(inner) == len(list(module.ops)) == 1
    taken = {name for op in module.ops if (name := _name_of(op)) and not isinstance(op, ModuleOp)}
    for each in inner:
        flatten_modules(each)
        names = dict[str, str]() if is_all else _new_names(each, taken)
        _rename(each, names)
        _merge_attributes(module, each)
        for op in list(each.ops):
            if not (isinstance(op, MeshOp) and _is_there(op, module)):
                op.detach()
                module.body.block.insert_op_before(op, each)
        taken.update(names.values())
        each.detach()
        if is_all and module.sym_name is None:
            module.properties.update(each.properties)


def _name_of(op: Operation) -> str:
    name = op.properties.get("sym_name")
    return name.data if isinstance(name, StringAttr) else ""


def _new_names(module: ModuleOp, taken: set[str]) -> dict[str, str]:
    """The names of functions where the modules around have some names already."""
    own = _name_of(module) or "module"
    names: dict[str, str] = {}
    for op in module.ops:
        name = _name_of(op)
        if name and not isinstance(op, MeshOp):
            found = own if name == "main" else name
            number = 0
            while found in taken or found in names.values():
                found = f"{own}.{name}" + (f".{number}" if number else "")
                number += 1
            names[name] = found
    return names


def _rename(module: ModuleOp, names: Mapping[str, str]) -> None:
    for op in module.ops:
        new = names.get(_name_of(op))
        if new is not None:
            op.properties["sym_name"] = StringAttr(new)
    if all(old == new for old, new in names.items()):
        return
    for op in operations_in(module):
        for entries in (op.properties, op.attributes):
            for key, value in entries.items():
                entries[key] = _renamed(value, names)


def _renamed(value: Attribute, names: Mapping[str, str]) -> Attribute:
    """An attribute with other names of functions in it."""
    if isinstance(value, SymbolRefAttr):
        root = value.root_reference.data
        return SymbolRefAttr(names.get(root, root), value.nested_references)
    if isinstance(value, ArrayAttr):
        return ArrayAttr(_renamed(each, names) for each in cast("ArrayAttr[Attribute]", value).data)
    if isinstance(value, DictionaryAttr):
        return DictionaryAttr({key: _renamed(each, names) for key, each in value.data.items()})
    return value


def _merge_attributes(module: ModuleOp, inner: ModuleOp) -> None:
    for name, value in inner.attributes.items():
        found = module.attributes.setdefault(name, value)
        if found != value:
            raise SourceError(inner, f"{name} is {value} here, {found} in another module")


def _is_there(op: MeshOp, module: ModuleOp) -> bool:
    others = (other for other in module.ops if isinstance(other, MeshOp))
    return any(cast(Any, other).properties == op.properties for other in others)
