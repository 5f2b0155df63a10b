"""Transposes, broadcasts and slices moved through operations whose dimensions go together.

An operation that relates dimension d of every operand to dimension d of the result (`pointwise` in
`xla_dialect.dimensions`) gives the same elements before and after such a movement. Every rule makes
less of something, so that none undoes another: bytes that transposes move, or elements computed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeGuard, cast

from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import Operation, SSAValue

from lowerings.simplify.known_values import array_type, splat_of
from lowerings.simplify.purity import is_pure
from lowerings.simplify.rewriting import Inserter, Replacement, Rule, constant
from xla_dialect.op import Ints, XlaOp, decode
from xla_dialect.ops.data_movement import BroadcastOp, SliceOp, TransposeOp
from xla_dialect.shapes.size_arithmetic import Sizes, permuted
from xla_dialect.types import Array, array, byte_size, element_count
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import operands_of

_SUNK = frozenset((BroadcastOp, TransposeOp))

MAX_OPERATIONS = 16
"""How many operations a transpose or slice moves through at most."""


def _sizes(value: SSAValue) -> Sizes:
    return cast(Array, value.type).get_shape()


def _bytes(value: SSAValue) -> int:
    return byte_size(cast(Array, value.type))


def _is_movable(op: object) -> TypeGuard[XlaOp]:
    """Whether an operation computes arrays of static sizes, without layouts, elementwise."""
    if not isinstance(op, XlaOp) or not op.is_pointwise() or op.regions or not is_pure(op):
        return False
    types = [array_type(value) for value in (*op.operands, *op.results)]
    return all(type_ is not None and isinstance(type_.encoding, NoneAttr) for type_ in types)


def _is_uniform(value: SSAValue) -> bool:
    """Whether all elements are known to be the same."""
    owner = value.owner
    return splat_of(value) is not None or (
        isinstance(owner, BroadcastOp) and not _sizes(owner.operand)
    )


def _uniform(value: SSAValue, sizes: Sizes, inserter: Inserter) -> SSAValue:
    """An array of other sizes with the only element of one."""
    type_ = array(cast(Array, value.type).element_type, sizes)
    number = splat_of(value)
    if number is not None:
        return constant(inserter, number, type_)
    scalar = cast(BroadcastOp, value.owner).operand
    return inserter.insert(BroadcastOp(scalar, dimensions=[], result_types=[type_]))[0]


def _again(
    op: XlaOp, sizes: Sizes, operand_of: Callable[[SSAValue], SSAValue], inserter: Inserter
) -> SSAValue:
    """An elementwise operation on arrays of other sizes; scalars stay as they are."""
    operands = [operand_of(v) if _sizes(v) else v for v in op.operands]
    type_ = array(cast(Array, op.results[0].type).element_type, sizes)
    new = type(op).make(operands, op.properties, result_types=[type_])
    new.location = op.location
    return inserter.insert(new)[0]


def sink(op: Operation, inserter: Inserter) -> Replacement:
    """`f(move(x), move(y)) = move(f(x, y))`: all broadcasts, or transposes, of one kind."""
    for operand in operands_of(op):
        if type(operand.owner) in _SUNK:
            break
    else:
        return None
    if not _is_movable(op) or not _sizes(op.results[0]):
        return None
    moves = [v.owner for v in op.operands if type(v.owner) in _SUNK]
    # Broadcasts of scalars can be of any kind.
    first = max(
        cast("list[TransposeOp | BroadcastOp]", moves), key=lambda move: bool(_sizes(move.operand))
    )
    source = first.operand

    def before(value: SSAValue) -> SSAValue | None:
        """What is moved, if it is moved as the first one is."""
        owner = value.owner
        same = (
            isinstance(owner, type(first))
            and owner.dimensions == first.dimensions
            and _sizes(owner.operand) == _sizes(source)
        )
        return cast(XlaOp, owner).operands[0] if same else None

    for operand in op.operands:
        if _sizes(operand) and before(operand) is None and not _is_uniform(operand):
            return None
    if isinstance(first, TransposeOp):
        spared = {v for v in op.operands if before(v) is not None and _is_used_by(v, op)}
        if sum(map(_bytes, spared)) <= _bytes(op.results[0]):
            return None
    elif element_count(_sizes(source)) >= element_count(_sizes(op.results[0])):
        return None
    sizes = _sizes(source)

    def unmoved(value: SSAValue) -> SSAValue:
        found = before(value)
        return _uniform(value, sizes, inserter) if found is None else found

    found = _again(op, sizes, unmoved, inserter)
    return inserter.insert(
        type(first).make([found], first.properties, result_types=tuple(op.result_types))
    )


def _is_used_by(value: SSAValue, op: XlaOp) -> bool:
    """Whether nothing else uses a value."""
    return all(use.operation is op for use in value.uses)


class _Tree:
    """Elementwise operations that nothing else uses, up to the values that go into them."""

    def __init__(self, root: SSAValue, user: XlaOp):
        self.inner: set[XlaOp] = set()
        self.leaves: dict[SSAValue, XlaOp] = {}
        """Each with the operation that uses it; uniform values are none."""
        waiting = [(root, user)]
        while waiting:
            value, user = waiting.pop()
            owner = value.owner
            if _is_uniform(value):
                continue
            if len(self.inner) < MAX_OPERATIONS and _is_used_by(value, user) and _is_movable(owner):
                self.inner.add(owner)
                waiting.extend((v, owner) for v in operands_of(owner) if _sizes(v))
            else:
                self.leaves[value] = user

    def rebuilt(
        self, root: SSAValue, moved: Callable[[SSAValue], XlaOp], sizes: Sizes, inserter: Inserter
    ) -> SSAValue:
        """The root computed from moved leaves, which are of these sizes."""

        @cache
        def found(value: SSAValue) -> SSAValue:
            if value in self.leaves:
                return inserter.insert(moved(value))[0]
            if _is_uniform(value):
                return _uniform(value, sizes, inserter)
            return _again(cast(XlaOp, value.owner), sizes, found, inserter)

        return found(root)


def hoist_transpose(op: TransposeOp, inserter: Inserter) -> Replacement:
    """`transpose(f(x, y)) = f(transpose(x), transpose(y))` where the transposes meet others."""
    if not _is_movable(op.operand.owner):
        return None
    permutation = cast(Ints, decode(op.dimensions))
    tree = _Tree(op.operand, op)
    spared = _bytes(op.result)
    for leaf, user in tree.leaves.items():
        owner = leaf.owner
        merged = permutation
        if isinstance(owner, TransposeOp):
            merged = permuted(cast(Ints, decode(owner.dimensions)), permutation)
            spared += _bytes(leaf) if _is_used_by(leaf, user) else 0
        spared -= 0 if list(merged) == sorted(merged) else _bytes(leaf)
    if not tree.inner or spared <= 0:
        return None

    def transposed(value: SSAValue) -> XlaOp:
        return TransposeOp.make([value], op.properties)

    return tree.rebuilt(op.operand, transposed, _sizes(op.result), inserter)


def hoist_slice(op: SliceOp, inserter: Inserter) -> Replacement:
    """`slice(f(x, y)) = f(slice(x), slice(y))` where nothing else needs what is cut off."""
    if not _is_movable(op.operand.owner) or _is_uniform(op.operand):
        return None
    sizes = _sizes(op.result)
    tree = _Tree(op.operand, op)
    if not tree.inner or element_count(sizes) >= element_count(_sizes(op.operand)):
        return None

    def cut(value: SSAValue) -> XlaOp:
        return SliceOp.make([value], op.properties)

    return tree.rebuilt(op.operand, cut, sizes, inserter)


RULES = OperationTable[Rule]().add(TransposeOp, hoist_transpose).add(SliceOp, hoist_slice)
"""The rule of each operation; `sink` is for elementwise ones."""
