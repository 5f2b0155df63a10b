"""
Reshapes, transposes, slices and their like: merged, turned into simpler ones, left out, or moved.

All of them move elements only, so every rule is exact for every type. An operation that relates
dimension d of every operand to dimension d of the result (`pointwise` in `xla_dialect.dimensions`)
gives the same elements before and after transposes, broadcasts and slices, which move through it.
Every rule makes less of something, so that none undoes another: bytes that transposes move, or
elements computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any, TypeAlias, TypeGuard, cast

from xdsl.dialects.builtin import DenseArrayBase, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.simplify.constant_folding import array_type, dense_of, splat_of
from lowerings.simplify.purity import is_pure
from lowerings.simplify.rewriting import Inserter, Replacement, Rule, constant
from xla_dialect.op import Ints, XlaOp, decode
from xla_dialect.ops import data_movement as ops
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp
from xla_dialect.ops.data_movement import BroadcastOp, SliceOp, TransposeOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.shapes.size_arithmetic import Sizes, permuted, without
from xla_dialect.types import Array, array, byte_size, element_count
from xla_dialect.types import Array as ArrayType
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import operands_of, tensor_shape


def _ints(attribute: Attribute) -> Ints:
    return tuple(cast("DenseArrayBase[Any]", attribute).get_values())


def _reshape(inserter: Inserter, value: SSAValue, op: XlaOp) -> SSAValue:
    """The value in the sizes of an operation's result."""
    return inserter.insert(ops.ReshapeOp(value, result_types=[op.results[0].type]))[0]


def keep(op: XlaOp, inserter: Inserter) -> Replacement:
    """What an operation leaves as it is, because the type is the same."""
    return op.operands[0] if op.operands[0].type == op.results[0].type else None


def move_splat(op: XlaOp, inserter: Inserter) -> Replacement:
    """Equal elements, wherever they are moved."""
    type_, number = array_type(op.results[0]), splat_of(op.operands[0])
    return None if type_ is None or number is None else constant(inserter, number, type_)


def merge_reshapes(op: ops.ReshapeOp, inserter: Inserter) -> Replacement:
    """A reshape of a reshape."""
    inner = op.operand.owner
    return _reshape(inserter, inner.operand, op) if isinstance(inner, ops.ReshapeOp) else None


def merge_transposes(op: ops.TransposeOp, inserter: Inserter) -> Replacement:
    """An identity transpose, one of a transpose, or of dimensions of size 1 only."""
    permutation = _ints(op.dimensions)
    if permutation == tuple(range(len(permutation))):
        return op.operand
    inner = op.operand.owner
    if isinstance(inner, ops.TransposeOp):
        first = _ints(inner.dimensions)
        merged = tuple(first[d] for d in permutation)
        return inserter.insert(
            ops.TransposeOp(inner.operand, dimensions=merged, result_types=[op.results[0].type])
        )
    source = array_type(op.operand)
    if source is None or array_type(op.result) is None:
        return None
    moved = [d for d in permutation if source.get_shape()[d] != 1]
    return _reshape(inserter, op.operand, op) if moved == sorted(moved) else None


def merge_broadcasts(op: ops.BroadcastOp, inserter: Inserter) -> Replacement:
    """A broadcast of a broadcast, or one that is no more than a reshape."""
    dimensions = _ints(op.dimensions)
    inner = op.operand.owner
    if isinstance(inner, ops.BroadcastOp):
        merged = tuple(dimensions[d] for d in _ints(inner.dimensions))
        return inserter.insert(
            ops.BroadcastOp(inner.operand, dimensions=merged, result_types=[op.results[0].type])
        )
    source, target = array_type(op.operand), array_type(op.result)
    if source is None or target is None or list(dimensions) != sorted(dimensions):
        return None
    if source == target:
        return op.operand
    if dense_of(op.operand) is not None or not source.get_shape():
        return None
    same = element_count(source.get_shape()) == element_count(target.get_shape())
    return _reshape(inserter, op.operand, op) if same else None


def merge_reverses(op: ops.ReverseOp, inserter: Inserter) -> Replacement:
    """A reverse along dimensions of one element, or of the same reverse."""
    dimensions = _ints(op.dimensions)
    inner = op.operand.owner
    if isinstance(inner, ops.ReverseOp) and set(_ints(inner.dimensions)) == set(dimensions):
        return inner.operand
    type_ = array_type(op.operand)
    if type_ is None or splat_of(op.operand) is not None:
        return None if type_ is None else op.operand
    return op.operand if all(type_.get_shape()[d] <= 1 for d in dimensions) else None


def _slice(
    inserter: Inserter, value: SSAValue, start: Ints, limit: Ints, strides: Ints, type_: Attribute
) -> SSAValue:
    return inserter.insert(
        ops.SliceOp(
            value,
            start_indices=start,
            limit_indices=limit,
            strides=strides,
            result_types=[type_],
        )
    )[0]


MAX_DEPTH, MAX_PARTS = 32, 16
"""
How deep slices and concatenations are looked through, and how many parts are sliced in place of
what they are joined to: more of them in a chain would take the square of its length.
"""

_Window: TypeAlias = tuple[SSAValue, Ints, Ints, Ints]
"""What a slice takes: its operand, starts, limits and strides."""


def merge_slices(op: ops.SliceOp, inserter: Inserter) -> Replacement:
    """A slice of a slice, or of operands of a concatenation."""
    type_ = array_type(op.result)
    if type_ is None:
        return None
    numbers = (op.start_indices, op.limit_indices, op.strides)
    start, limit, strides = map(_ints, numbers)
    window: _Window = (op.operand, start, limit, strides)
    for _ in range(MAX_DEPTH):
        behind = _windows_behind(*window)
        if len(behind) != 1:
            break
        (window,) = behind
    else:
        return None
    if window[0] is not op.operand:
        return _slice(inserter, *window, type_)
    return _slice_of_parts(op, type_, behind, inserter)


def _windows_behind(value: SSAValue, start: Ints, limit: Ints, strides: Ints) -> list[_Window]:
    """The same elements in the operand of a slice, or in the operands of a concatenation."""
    inner = value.owner
    if isinstance(inner, ops.ConcatenateOp):
        return _windows_of_parts(inner, start, limit, strides)
    if not isinstance(inner, ops.SliceOp):
        return []
    first, steps = _ints(inner.start_indices), _ints(inner.strides)
    begin = tuple(f + b * s for f, b, s in zip(first, start, steps, strict=True))
    stride = tuple(a * b for a, b in zip(steps, strides, strict=True))
    sizes = [len(range(*each)) for each in zip(start, limit, strides, strict=True)]
    # The last element that is taken, and one more.
    end = tuple(
        b + (n - 1) * s + 1 if n else b for b, n, s in zip(begin, sizes, stride, strict=True)
    )
    return [(inner.operand, begin, end, stride)]


def _windows_of_parts(
    joined: ops.ConcatenateOp, start: Ints, limit: Ints, strides: Ints
) -> list[_Window]:
    dimension = joined.dimension.value.data
    found: list[_Window] = []
    offset = 0
    for part in joined.inputs:
        type_ = array_type(part)
        if type_ is None:
            return []
        size = type_.get_shape()[dimension]
        first, last = max(start[dimension] - offset, 0), min(limit[dimension] - offset, size)
        if first < last or (offset <= start[dimension] and limit[dimension] <= offset + size):
            begin, end = _with(start, dimension, first), _with(limit, dimension, last)
            found.append((part, begin, end, strides))
        offset += size
    return found


def _slice_of_parts(
    op: ops.SliceOp, type_: ArrayType, parts: Sequence[_Window], inserter: Inserter
) -> Replacement:
    """Slices of several parts, and then joined, where nothing else needs what is cut off."""
    joined = op.operand.owner
    if not isinstance(joined, ops.ConcatenateOp) or not joined.result.has_one_use():
        return None
    dimension = joined.dimension.value.data
    if not 1 < len(parts) <= MAX_PARTS or _ints(op.strides)[dimension] != 1:
        return None
    sizes, element_type = tuple(type_.get_shape()), type_.element_type
    slices: list[SSAValue] = []
    for window in parts:
        _, begin, end, _ = window
        shape = _with(sizes, dimension, end[dimension] - begin[dimension])
        slices.append(_slice(inserter, *window, array(element_type, shape)))
    return inserter.insert(
        ops.ConcatenateOp(slices, dimension=dimension, result_types=[op.results[0].type])
    )


def _with(numbers: Ints, position: int, number: int) -> Ints:
    return (*numbers[:position], number, *numbers[position + 1 :])


def simplify_concatenate(op: ops.ConcatenateOp, inserter: Inserter) -> Replacement:
    """Parts without elements left out, concatenations inside taken apart, one part alone."""
    dimension = op.dimension.value.data
    parts: list[SSAValue] = []
    for part in op.inputs:
        inner = part.owner
        type_ = array_type(part)
        if isinstance(inner, ops.ConcatenateOp) and inner.dimension == op.dimension:
            parts.extend(inner.inputs)
        elif type_ is None or type_.get_shape()[dimension]:
            parts.append(part)
    if len(parts) == 1:
        return parts[0]
    if not parts or len(parts) == len(op.inputs):
        return None
    return inserter.insert(
        ops.ConcatenateOp(parts, dimension=dimension, result_types=[op.results[0].type])
    )


def simplify_pad(op: ops.PadOp, inserter: Inserter) -> Replacement:
    """Padding by nothing, or by negative amounts only: a slice."""
    low, high, interior = map(
        _ints, (op.edge_padding_low, op.edge_padding_high, op.interior_padding)
    )
    source = array_type(op.operand)
    if source is None or any(interior) or any(n > 0 for n in (*low, *high)):
        return None
    if not any((*low, *high)):
        return op.operand
    sizes = source.get_shape()
    start = tuple(-n for n in low)
    limit = tuple(size + n for size, n in zip(sizes, high, strict=True))
    if any(a > b for a, b in zip(start, limit, strict=True)):
        return None
    return _slice(inserter, op.operand, start, limit, (1,) * len(sizes), op.results[0].type)


def _clamped(indices: Sequence[SSAValue], largest: Sequence[int]) -> Ints | None:
    """Constant start indices, each clamped to what the sizes allow; None if one is not known."""
    found: list[int] = []
    for index, limit in zip(indices, largest, strict=True):
        number = splat_of(index)
        if limit and number is None:
            return None
        found.append(0 if number is None else max(0, min(int(number), limit)))
    return tuple(found)


def simplify_dynamic_slice(op: ops.DynamicSliceOp, inserter: Inserter) -> Replacement:
    """A slice, where the indices are constants or have no choice."""
    source, target = array_type(op.operand), array_type(op.result)
    if source is None or target is None:
        return None
    sizes = target.get_shape()
    room = [have - taken for have, taken in zip(source.get_shape(), sizes, strict=True)]
    start = _clamped(op.start_indices, room)
    if start is None:
        return None
    limit = tuple(a + n for a, n in zip(start, sizes, strict=True))
    return _slice(inserter, op.operand, start, limit, (1,) * len(sizes), op.results[0].type)


def simplify_dynamic_update_slice(op: ops.DynamicUpdateSliceOp, inserter: Inserter) -> Replacement:
    """An update of everything, or of nothing."""
    update = array_type(op.update)
    if update is None:
        return None
    if op.update.type == op.result.type:
        return op.update
    return op.operand if not element_count(update.get_shape()) else None


LEAST_WINDOW = 16
"""The elements of a window from which on it pays to have them side by side."""


def put_windows_last(op: ScatterOp, inserter: Inserter) -> Replacement:
    """
    A scatter with the elements of a window side by side, which are combined at once. The order in
    which updates come to an element stays where each element of a window has one place.
    """
    windows, inserted, indexed = (
        cast(Ints, decode(each))
        for each in (
            op.update_window_dims,
            op.inserted_window_dims,
            op.scatter_dims_to_operand_dims,
        )
    )
    into, update = array_type(op.inputs[0]), array_type(op.updates[0])
    if into is None or update is None:
        return None
    sizes, update_sizes = into.get_shape(), update.get_shape()
    batching = cast(Ints, decode(op.input_batching_dims))
    scattered = without(range(len(update_sizes)), windows)
    of_windows = without(range(len(sizes)), inserted)
    if batching or not windows or windows[0] > len(scattered) - 1 or {*indexed} & {*of_windows}:
        return None
    # What is scattered into is moved as well, there and back.
    is_small = splat_of(op.inputs[0]) is not None or prod(sizes) <= prod(update_sizes)
    if not is_small or prod(update_sizes[d] for d in windows) < LEAST_WINDOW:
        return None
    order = (*inserted, *of_windows)

    def moved(value: SSAValue, order: Ints) -> SSAValue:
        return inserter.insert(TransposeOp(value, dimensions=order))[0]

    found = inserter.insert(
        ScatterOp(
            [moved(each, order) for each in op.inputs],
            op.scatter_indices,
            [moved(each, (*scattered, *windows)) for each in op.updates],
            update_window_dims=range(len(scattered), len(update_sizes)),
            inserted_window_dims=range(len(inserted)),
            scatter_dims_to_operand_dims=[order.index(d) for d in indexed],
            index_vector_dim=op.index_vector_dim.value.data,
            indices_are_sorted=bool(op.indices_are_sorted.value.data),
            unique_indices=bool(op.unique_indices.value.data),
            regions=[op.to_apply.clone()],
        )
    )
    return [moved(each, tuple(order.index(d) for d in range(len(sizes)))) for each in found]


RULES = (
    OperationTable[Rule]()
    .add(ScatterOp, put_windows_last)
    .add(ops.ReshapeOp, merge_reshapes)
    .add(ops.TransposeOp, merge_transposes)
    .add(ops.BroadcastOp, merge_broadcasts)
    .add(ops.ReverseOp, merge_reverses)
    .add(ops.SliceOp, merge_slices)
    .add(ops.ConcatenateOp, simplify_concatenate)
    .add(ops.PadOp, simplify_pad)
    .add(ops.DynamicSliceOp, simplify_dynamic_slice)
    .add(ops.DynamicUpdateSliceOp, simplify_dynamic_update_slice)
)
"""The rule of each operation."""

KEPT = OperationTable[Rule]().add(
    (ops.ReshapeOp, SliceOp, ops.CopyOp, ConvertOp, BitcastConvertOp), keep
)
"""Rules that go first."""

SPLATS = OperationTable[Rule]().add((ops.ReshapeOp, TransposeOp, SliceOp), move_splat)
"""Rules of operations that have one in `RULES`, which goes first."""


_SUNK = frozenset((BroadcastOp, TransposeOp))

MAX_OPERATIONS = 16
"""How many operations a transpose or slice moves through at most."""


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
        isinstance(owner, BroadcastOp) and not tensor_shape(owner.operand)
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
    operands = [operand_of(v) if tensor_shape(v) else v for v in op.operands]
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
    if not _is_movable(op) or not tensor_shape(op.results[0]):
        return None
    moves = [v.owner for v in op.operands if type(v.owner) in _SUNK]
    # Broadcasts of scalars can be of any kind.
    first = max(
        cast("list[TransposeOp | BroadcastOp]", moves),
        key=lambda move: bool(tensor_shape(move.operand)),
    )
    source = first.operand

    def before(value: SSAValue) -> SSAValue | None:
        """What is moved, if it is moved as the first one is."""
        owner = value.owner
        same = (
            isinstance(owner, type(first))
            and owner.dimensions == first.dimensions
            and tensor_shape(owner.operand) == tensor_shape(source)
        )
        return cast(XlaOp, owner).operands[0] if same else None

    for operand in op.operands:
        if tensor_shape(operand) and before(operand) is None and not _is_uniform(operand):
            return None
    if isinstance(first, TransposeOp):
        spared = {v for v in op.operands if before(v) is not None and _is_used_by(v, op)}
        if sum(map(_bytes, spared)) <= _bytes(op.results[0]):
            return None
    elif element_count(tensor_shape(source)) >= element_count(tensor_shape(op.results[0])):
        return None
    sizes = tensor_shape(source)

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
                waiting.extend((v, owner) for v in operands_of(owner) if tensor_shape(v))
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

    return tree.rebuilt(op.operand, transposed, tensor_shape(op.result), inserter)


def hoist_slice(op: SliceOp, inserter: Inserter) -> Replacement:
    """`slice(f(x, y)) = f(slice(x), slice(y))` where nothing else needs what is cut off."""
    if not _is_movable(op.operand.owner) or _is_uniform(op.operand):
        return None
    sizes = tensor_shape(op.result)
    tree = _Tree(op.operand, op)
    if not tree.inner or element_count(sizes) >= element_count(tensor_shape(op.operand)):
        return None

    def cut(value: SSAValue) -> XlaOp:
        return SliceOp.make([value], op.properties)

    return tree.rebuilt(op.operand, cut, sizes, inserter)


HOISTS = OperationTable[Rule]().add(TransposeOp, hoist_transpose).add(SliceOp, hoist_slice)
"""The rule of each operation; `sink` is for elementwise ones."""
