"""Whether values are defined before they are used, which the verifier of xDSL 0.74 does not ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from xla_dialect.xdsl.traversal import operands_of


class UsedBeforeDefined(VerifyException):
    """An operand whose definition does not dominate the operation."""

    def __init__(self, operation: Operation, operand: SSAValue):
        self.operation = operation
        name = f"%{operand.name_hint}" if operand.name_hint else f"of type {operand.type}"
        super().__init__(f"{operation.name}: operand {name} is used before it is defined")


def visit_in_order(
    region: Region, visit: Callable[[Operation], None], defined: set[SSAValue] | None = None
) -> None:
    """
    Calls `visit` for each operation of a region, before what is in it, once its operands are known
    to be defined; `defined` are the values visible around the region.

    Raises UsedBeforeDefined for the first operation with an operand that is not. Where a region has
    several blocks, values of all its blocks count as defined: the structured dialects that we lower
    through have one.
    """
    defined = set() if defined is None else defined
    blocks = list(region.blocks)
    if len(blocks) > 1:
        defined = defined | {value for block in blocks for value in _values_of(block)}
    for block in blocks:
        added: list[SSAValue] = list(block.args)
        defined.update(added)
        for op in block.ops:
            for operand in operands_of(op):
                if operand not in defined:
                    raise UsedBeforeDefined(op, operand)
            visit(op)
            if op.regions:
                isolated = op.has_trait(IsolatedFromAbove)
                for nested in op.regions:
                    visit_in_order(nested, visit, None if isolated else defined)
            defined.update(op.results)
            added.extend(op.results)
        defined.difference_update(added)


def _values_of(block: Block) -> Iterable[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from op.results
