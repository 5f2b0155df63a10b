"""Whether values are defined where they are used, which the verifier of xDSL 0.74 asks in part.

It asks whether functions use values from outside, in five times the time; it does not ask for
dominance.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.traversal import operands_of


class NotDefined(VerifyException):
    """An operand whose definition does not dominate the operation, or is outside of a function."""

    def __init__(self, operation: Operation, operand: SSAValue):
        self.operation = operation
        name = f"%{operand.name_hint}" if operand.name_hint else f"of type {operand.type}"
        around = operation.parent_op()
        while around is not None and not around.has_trait(IsolatedFromAbove):
            around = around.parent_op()
        fault = "is used before it is defined"
        if around is not None and not around.is_ancestor(operand.owner):
            fault = f"is defined outside of the {around.name} around it"
        super().__init__(f"{operation.name}: operand {name} {fault}")


def visit_in_order(
    region: Region, visit: Callable[[Operation], None], defined: set[int] | None = None
) -> None:
    """
    Calls `visit` for each operation of a region, before what is in it, once its operands are known
    to be defined; `defined` are the ids of the values that are visible around the region.

    Raises NotDefined for the first operation with an operand that is not. Where a region has
    several blocks, values of all its blocks count as defined: the structured dialects that we lower
    through have one.
    """
    # By id: the hash and the comparison of a value are functions of Python.
    defined = set() if defined is None else defined
    blocks = list(region.blocks)
    if len(blocks) > 1:
        defined = defined.union(*map(_values_of, blocks))
    for block in blocks:
        added = [id(argument) for argument in block.args]
        defined.update(added)
        for op in block.ops:
            for operand in operands_of(op):
                if id(operand) not in defined:
                    raise NotDefined(op, operand)
            visit(op)
            if op.regions:
                isolated = op.has_trait(IsolatedFromAbove)
                for nested in op.regions:
                    visit_in_order(nested, visit, None if isolated else defined)
            for result in op.results:
                defined.add(id(result))
                added.append(id(result))
        if len(blocks) == 1:
            defined.difference_update(added)


def _values_of(block: Block) -> set[int]:
    return {id(value) for value in (*block.args, *(r for op in block.ops for r in op.results))}


def verify_alone(op: Operation) -> None:
    """
    As `op.verify(verify_nested_ops=False)`, for an operation that `visit_in_order` visits.

    Raises VerifyException.
    """
    is_usual = type(op) is FuncOp and type(op.parent_op()) is ModuleOp
    if not is_usual or op.operands or op.results or op.successors:
        op.verify(verify_nested_ops=False)
        return
    # Of the body, the verifier of `func.func` reads only the types of the block arguments. That no
    # value from outside is used is checked by the walk over all operations.
    bodies = [
        Region([Block(arg_types=block.arg_types) for block in region.blocks])
        for region in op.regions
    ]
    header = create(FuncOp, properties=op.properties, attributes=op.attributes, regions=bodies)
    header.verify(verify_nested_ops=False)
