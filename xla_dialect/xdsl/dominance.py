"""Whether values are defined where they are used, which the verifier of xDSL 0.74 asks in part.

It asks whether functions use values from outside, in five times the time; it does not ask for
dominance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser.core import ForwardDeclaredValue
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
        is_defined = not isinstance(operand, ForwardDeclaredValue)
        if around is not None and is_defined and not around.is_ancestor(operand.owner):
            fault = f"is defined outside of the {around.name} around it"
        super().__init__(f"{operation.name}: operand {name} {fault}")


def visit_in_order(
    region: Region, visit: Callable[[Operation], None], defined: set[int] | None = None
) -> None:
    """
    Calls `visit` for each operation of a region, before what is in it, once its operands are known
    to be defined; `defined` are the ids of the values that are visible around the region.

    Raises NotDefined for the first operation with an operand that is not. In a block the values of
    the blocks that dominate it are defined; in one that is never reached, those of all blocks.
    """
    # By id: the hash and the comparison of a value are functions of Python.
    defined = set() if defined is None else defined
    blocks = list(region.blocks)
    if len(blocks) < 2:
        for block in blocks:
            defined.difference_update(_visit_block(block, visit, defined))
        return
    order = reverse_postorder(blocks[0])
    children: dict[Block, list[Block]] = {block: [] for block in order}
    for block, dominator in immediate_dominators(order).items():
        children[dominator].append(block)
    # The tree of dominators, depth first; a set instead of a block leaves it again.
    waiting: list[Block | set[int]] = [blocks[0]]
    while waiting:
        each = waiting.pop()
        if isinstance(each, set):
            defined.difference_update(each)
            continue
        waiting.append(_visit_block(each, visit, defined))
        waiting.extend(reversed(children[each]))
    everything = defined.union(*map(_values_of, blocks))
    for block in blocks:
        if block not in children:
            _visit_block(block, visit, everything)


def _visit_block(block: Block, visit: Callable[[Operation], None], defined: set[int]) -> set[int]:
    """Visits the operations of a block; its values, which are defined afterwards."""
    added = {id(argument) for argument in block.args}
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
            added.add(id(result))
    return added


def _values_of(block: Block) -> set[int]:
    return {id(value) for value in (*block.args, *(r for op in block.ops for r in op.results))}


def successors(block: Block) -> Sequence[Block]:
    """The blocks that control may go to at the end of a block."""
    last = block.last_op
    return () if last is None else last.successors


def reverse_postorder(
    entry: Block, following: Callable[[Block], Sequence[Block]] = successors
) -> list[Block]:
    """
    The blocks that are reached from one, each after those that dominate it; `following` are those
    that come after a block.
    """
    found: list[Block] = []
    seen = {entry}
    waiting = [(entry, iter(following(entry)))]
    while waiting:
        block, unvisited = waiting[-1]
        unseen = next((each for each in unvisited if each not in seen), None)
        if unseen is None:
            found.append(block)
            waiting.pop()
        else:
            seen.add(unseen)
            waiting.append((unseen, iter(following(unseen))))
    return found[::-1]


def immediate_dominators(order: Sequence[Block]) -> dict[Block, Block]:
    """
    The immediate dominator of each block but the first, for blocks in reverse postorder: by the
    algorithm of Cooper, Harvey and Kennedy.
    """
    numbers = {block: number for number, block in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for number, block in enumerate(order):
        for each in successors(block):
            predecessors[numbers[each]].append(number)
    dominators: list[int | None] = [0, *(None for _ in order[1:])]

    def common(first: int, second: int) -> int:
        while first != second:
            later = max(first, second)
            above = dominators[later]
            assert above is not None
            first, second = min(first, second), above
        return first

    changed = True
    while changed:
        changed = False
        for number in range(1, len(order)):
            known = [each for each in predecessors[number] if dominators[each] is not None]
            found = reduce(common, known)
            changed |= dominators[number] != found
            dominators[number] = found
    return {
        order[number]: order[above]
        for number, above in enumerate(dominators)
        if number and above is not None
    }


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
