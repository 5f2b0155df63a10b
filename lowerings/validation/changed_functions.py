"""Which functions a pass has left as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation


def same_functions(before: ModuleOp, after: ModuleOp) -> Callable[[str], bool]:
    """
    Whether a function is, in two modules, the same, with all that it refers to.

    The passes say which functions they change themselves; here nobody has to believe them.
    """
    if before.attributes != after.attributes or before.properties != after.properties:
        return lambda name: False
    old, new = symbols(before), symbols(after)

    @cache
    def is_same(name: str) -> bool:
        if name not in old or name not in new:
            return False
        # An operation is where its block is; these are of two modules.
        places = {before.body.block: after.body.block}
        return old[name].is_structurally_equivalent(new[name], {**places})

    def are_same(name: str) -> bool:
        reached, left = {name}, [name]
        while left:
            symbol = left.pop()
            if not is_same(symbol):
                return False
            further = set(references(new[symbol])) - reached
            reached |= further
            left += further
        return True

    return are_same


def symbols(module: ModuleOp) -> dict[str, Operation]:
    """The functions of a module, and what else has a name, by it."""
    found: dict[str, Operation] = {}
    for op in module.ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            found[name.data] = op
    return found


def references(op: Operation) -> Iterator[str]:
    """The symbols that an operation names, and those inside of it."""
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
