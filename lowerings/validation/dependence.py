"""Which results of a function depend on operations: only those may a pass round otherwise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from xdsl.dialects.builtin import (
    ComplexType,
    MemRefType,
    ModuleOp,
    StringAttr,
    TupleType,
)
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.type import get_element_type_or_self

from lowerings.ir.functions import reaching, references
from xla_dialect.ops.tuples import TupleOp
from xla_dialect.types import flatten
from xla_dialect.xdsl.traversal import inventory, operands_of, operations_in


def changed_functions(before: ModuleOp, after: ModuleOp) -> Collection[str]:
    """
    The functions of the second of two modules that are not those of the first, or refer to some.

    The passes say which functions they change themselves; here nobody has to believe them.
    """
    old, new = symbols(before), symbols(after)
    if before.attributes != after.attributes or before.properties != after.properties:
        return new
    # An operation is where its block is; these are of two modules.
    places = {before.body.block: after.body.block}
    return _reaching(
        new,
        {
            name
            for name, op in new.items()
            if name not in old or not old[name].is_structurally_equivalent(op, {**places})
        },
    )


def symbols(module: ModuleOp) -> dict[str, Operation]:
    """The functions of a module, and what else has a name, by it."""
    found: dict[str, Operation] = {}
    for op in module.ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            found[name.data] = op
    return found


Holds = Callable[[Operation], bool]


def dependent_results(module: ModuleOp, entry: str, count: int, holds: Holds) -> Collection[int]:
    """
    Which of the `count` results of a function depend on operations for which `holds` holds.

    Such an operation may be in a function that this one refers to. All that an operation contains
    it depends on, and a tuple on all that is put into it; what memory and branches hold is not
    followed: all results depend on it.
    """
    functions = symbols(module)
    having = {name for name, each in functions.items() if any(map(holds, operations_in(each)))}
    reaching = _reaching(functions, having)
    if entry not in reaching:
        return ()
    returned = _returned(functions[entry])
    if returned is None or len(returned) != count:
        return range(count)
    dependent = _dependent_values(functions[entry].regions[0].block, reaching, holds)
    return [number for number, value in enumerate(returned) if value in dependent]


def complex_results(module: ModuleOp, entry: str, count: int) -> Collection[int]:
    """Which of the `count` results of a function are complex numbers, or depend on some."""
    return dependent_results(module, entry, count, _is_of_complex_numbers)


def _is_of_complex_numbers(op: Operation) -> bool:
    return any(
        isinstance(get_element_type_or_self(type_), ComplexType)
        for type_ in (*op.operand_types, *op.result_types)
    )


def _reaching(functions: dict[str, Operation], wanted: set[str]) -> set[str]:
    """Some functions, and those that refer to one of them, or to one that does."""
    return reaching({name: [*references(each)] for name, each in functions.items()}, wanted)


def _returned(function: Operation) -> Sequence[SSAValue] | None:
    """
    What the results are, if values alone lead to them: of a tuple what is put into it, or the tuple
    itself for each array in it.
    """
    blocks: Sequence[Block] = [block for region in function.regions for block in region.blocks]
    if len(blocks) != 1 or any(isinstance(each, MemRefType) for each in inventory(function).types):
        return None
    last = blocks[0].last_op
    if not isinstance(last, ReturnOp):
        return None
    return [leaf for value in last.operands for leaf in _leaves(value)]


def _leaves(value: SSAValue) -> Sequence[SSAValue]:
    if not isinstance(value.type, TupleType):
        return [value]
    if isinstance(value.owner, TupleOp):
        return [leaf for each in value.owner.operands for leaf in _leaves(each)]
    return [value] * len(flatten([value.type]))


def _dependent_values(block: Block, reaching: set[str], holds: Holds) -> set[SSAValue]:
    """The values of a block, and those inside of it, that depend on such operations."""
    found: set[SSAValue] = set()
    for op in block.ops:
        inner = operations_in(op)
        if (
            any(value in found for each in inner for value in operands_of(each))
            or any(map(holds, inner))
            or not reaching.isdisjoint(references(op))
        ):
            found.update(op.results)
    return found
