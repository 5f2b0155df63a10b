"""
Reductions on parts: windows that reach into the parts of neighbours, cumulative folds, selections.

In a cumulative fold each device folds its part, all get what the parts came to, and each folds
those before its own. Reductions of several arrays at once, such as the place of the largest
element, no collective folds: all get the results of all, and reduce those again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue

from lowerings.partitioning.factors import Division, is_regular
from lowerings.partitioning.local_movement import dilated_blocks
from lowerings.partitioning.local_operation import (
    Build,
    DividedOperation,
    LocalOperation,
    LocalRule,
    RemotePart,
    array_type,
    integer_list,
    regular,
    shape_of,
    sizes_of_type,
    without_padding,
)
from lowerings.partitioning.mesh_atoms import Atoms
from lowerings.partitioning.relations import FOLDS, computation_fold, neutral_number, selects
from lowerings.simplify.constant_folding import splat_of
from xla_dialect.dimensions import Traversal
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.ops.reduction import ReduceOp, ReduceWindowOp
from xla_dialect.shapes.size_arithmetic import ceil_div, dilated
from xla_dialect.shapes.window import Window, WindowAttr, WindowDimension
from xla_dialect.types import Array, array, sizes_of


def _covered(part: WindowDimension, placements: int, parts: int) -> tuple[list[int], int]:
    """Where in the dilated base the windows of each block of placements begin, and their extent."""
    block = ceil_div(placements, parts)
    first = [q * block * part.stride - part.padding_low for q in range(parts)]
    return first, (block - 1) * part.stride + dilated(part.size, part.window_dilation)


def admits_window(division: Division, factor: int, atoms: Atoms) -> bool:
    """
    Whether windows can be divided by their placements, or by their elements.

    Blocks have to begin at the same place between elements of a dilated base; windows that move by
    one can begin earlier.
    """
    found, parts = division.relations.factors[factor], division.mesh.parts(atoms)
    if isinstance(found.along, WindowDimension):
        covered = _covered(found.along, found.size, parts)
        is_early = bool(dilated_blocks(*covered, found.along.base_dilation).early)
        return found.size > 0 and (not is_early or found.along.stride == 1)
    part = _window_of(division, factor)
    if found.along is not Traversal.WINDOW or part is None or part.reversal:
        return False
    covered = _covered(_turned(part, division, factor), part.size, parts)
    return not dilated_blocks(*covered, part.base_dilation).early


def _window_of(division: Division, factor: int) -> WindowDimension | None:
    """How the window moves whose elements a factor is, if it does."""
    op = division.op
    if not isinstance(op, ConvolutionOp):
        return None
    kernel = op.dim_labels.data.rhs_order()[2:]
    places = dict(division.relations.operand_places(factor))
    part = op.window.data.dimensions[kernel.index(places[1])]
    return part if part.moves and 0 in places else None


def _turned(part: WindowDimension, division: Division, factor: int) -> WindowDimension:
    """
    The window with its elements in the place of its placements: index p * stride + k * dilation.

    The placements, of which none is left out, are what each element covers.
    """
    relations = division.relations
    ((_, d),) = (place for place in relations.operand_places(factor) if place[0] == 0)
    (places,) = division.shown(relations.operands[0][d])
    return replace(
        part,
        size=relations.factors[places].size,
        stride=part.window_dilation,
        window_dilation=part.stride,
    )


@dataclass(frozen=True)
class _Slide:
    """How windows slide over what a device has of a dimension of the base."""

    move: RemotePart
    """The base that they cover."""
    window: WindowDimension
    early: Sequence[int] = ()
    """For each block how many placements there are before its first, where that differs."""


def _slid(divided: DividedOperation, operand: int, d: int) -> _Slide | None:
    """How the windows of a device slide along a dimension that is divided; None where none does."""
    factor = divided.factor_of(operand, d)
    if factor is None:
        return None
    found = divided.division.relations.factors[factor]
    part = turned = found.along
    if part is Traversal.WINDOW:
        part = _window_of(divided.division, factor)
        turned = None if part is None else _turned(part, divided.division, factor)
    if not isinstance(part, WindowDimension) or not isinstance(turned, WindowDimension):
        return None
    first, extent = _covered(turned, found.size, divided.blocked(operand, d).parts)
    blocks = dilated_blocks(first, extent, part.base_dilation)
    window = replace(part, padding_low=blocks.low, padding_high=blocks.high)
    return _Slide(RemotePart(operand, d, blocks.starts, blocks.count), window, blocks.early)


def _on_time(
    local: LocalOperation, early: Mapping[int, tuple[int, Sequence[int]]], build: Build
) -> Sequence[SSAValue]:
    """
    What is built, without the placements that are early.

    `early`: by the dimension of the result that of the base, and how many there are for each block.
    """
    if not early:
        return build(local)
    types = [
        array(
            cast(Array, type_).element_type,
            [
                size + (_base_dilation(local, early[d][0]) - 1 if d in early else 0)
                for d, size in enumerate(sizes_of_type(type_))
            ],
        )
        for type_ in local.result_types
    ]
    made = list(build(replace(local, result_types=types)))
    for d, (base, counts) in early.items():
        start = local.b.by_block(local.blocked(0, base).atoms, counts)
        for i, type_ in enumerate(local.result_types):
            made[i] = local.b.cut(made[i], d, start, sizes_of_type(type_)[d])
    return made


def _base_dilation(local: LocalOperation, d: int) -> int:
    along = local.along(0, d)
    assert isinstance(along, WindowDimension)
    return along.base_dilation


def convolution_moves(divided: DividedOperation) -> Iterator[RemotePart]:
    """What windows cover of the base."""
    yield from _moves(divided, 1)


def reduce_window_moves(divided: DividedOperation) -> Iterator[RemotePart]:
    """What windows cover of every input."""
    if cumulative_of(divided) is not None:
        return
    yield from _moves(divided, len(divided.op.operands) // 2)


def _moves(divided: DividedOperation, bases: int) -> Iterator[RemotePart]:
    for operand in range(bases):
        for d in range(len(divided.division.operand_sizes[operand])):
            found = _slid(divided, operand, d)
            if found is not None:
                yield found.move


def _kernel(local: LocalOperation, kernel: SSAValue, d: int) -> SSAValue:
    """The kernel, zero where it is padding."""
    if local.along(1, d) is not Traversal.WINDOW:
        return kernel
    zero = local.b.scalar(0, array_type(kernel).element_type)
    return local.b.without_tail(kernel, local.blocked(1, d), zero)


def convolution(local: LocalOperation) -> Sequence[SSAValue]:
    """What lies outside of the base reads as zero, on its borders only."""
    op = local.op
    assert isinstance(op, ConvolutionOp)
    labels = op.dim_labels.data
    zero = local.b.scalar(0, array_type(local.operands[0]).element_type)
    whole = replace(local, operands=without_padding(local, local.operands))
    base, kernel = whole.moved(convolution_moves(local), {0: zero})
    dimensions = list(op.window.data.dimensions)
    early: dict[int, tuple[int, Sequence[int]]] = {}
    spatial = zip(
        labels.lhs_order()[2:], labels.rhs_order()[2:], labels.result_order()[2:], strict=True
    )
    for i, (d, k, o) in enumerate(spatial):
        kernel = _kernel(local, kernel, k)
        found = _slid(local, 0, d)
        if found is not None:
            dimensions[i] = found.window
            early |= {o: (d, found.early)} if found.early else {}
        dimensions[i] = replace(dimensions[i], size=shape_of(kernel)[k])
    properties: dict[str, Attribute] = {"window": WindowAttr(Window(tuple(dimensions)))}
    batch, features = labels.lhs_order()[:2]
    for name, d in (("feature_group_count", features), ("batch_group_count", batch)):
        count = decode(op.properties[name])
        if count > 1:
            groups = local.division.relations.operands[0][d][0]
            parts = local.division.mesh.parts(local.divided.get(groups, ()))
            properties[name] = IntegerAttr(count // parts, i64)
    return _on_time(local, early, lambda mine: mine.again([base, kernel], properties))


def reduce_window(local: LocalOperation) -> Sequence[SSAValue]:
    """What lies outside of the base is the init value, on its borders only."""
    op = local.op
    assert isinstance(op, ReduceWindowOp)
    along = cumulative_of(local)
    if along is not None:
        return cumulative(local, along)
    inits = local.operands[len(op.inputs) :]
    values = local.moved(reduce_window_moves(local), dict(enumerate(inits)))
    dimensions = list(op.window.data.dimensions)
    early: dict[int, tuple[int, Sequence[int]]] = {}
    for d in range(len(dimensions)):
        found = _slid(local, 0, d)
        if found is not None:
            dimensions[d] = found.window
            early |= {d: (d, found.early)} if found.early else {}
    window = {"window": WindowAttr(Window(tuple(dimensions)))}
    return _on_time(local, early, lambda mine: mine.again(values, window))


class Cumulative(NamedTuple):
    """Which dimension is folded, from which end, and how."""

    d: int
    is_from_end: bool
    fold: str


def cumulative_of(divided: DividedOperation) -> Cumulative | None:
    """What an operation is as a cumulative fold along a dimension that is divided, if it is one."""
    found = _cumulative(divided.op)
    return None if found is None or divided.factor_of(0, found.d) is None else found


def _cumulative(op: XlaOp) -> Cumulative | None:
    if not isinstance(op, ReduceWindowOp) or len(op.inputs) != 1:
        return None
    type_ = cast(Array, op.inputs[0].type)
    moving = [(d, part) for d, part in enumerate(op.window.data.dimensions) if part.moves]
    fold = computation_fold(op.to_apply.block, type_.element_type)
    start = splat_of(op.init_values[0])
    if len(moving) != 1 or fold is None or start is None:
        return None
    ((d, part),) = moving
    neutral = neutral_number(fold, type_.element_type)
    # Zeros of both signs are equal here: all results start from that of the program.
    if neutral is None or not np.array_equal(start, neutral):
        return None
    for is_from_end in (False, True):
        if part == _window(sizes_of(type_)[d], is_from_end=is_from_end):
            return Cumulative(d, is_from_end, fold)
    return None


def _window(size: int, *, is_from_end: bool) -> WindowDimension:
    """The window of a cumulative fold of so many elements."""
    low, high = (0, size - 1) if is_from_end else (size - 1, 0)
    return WindowDimension(size, padding_low=low, padding_high=high)


def cumulative(local: LocalOperation, found: Cumulative) -> Sequence[SSAValue]:
    """The fold of this part, and of what the parts before it came to."""
    b, d = local.b, found.d
    value, start = local.operands
    here = local.blocked(0, d)
    value = b.without_tail(value, here, start)
    mine = _folded(local, value, d, _window(here.block, is_from_end=found.is_from_end))
    last = 0 if found.is_from_end else here.block - 1
    totals = b.all_gather(b.slice(mine, d, last, last + 1), d, here.atoms)
    # The places of others are moved out of the array: those from this part on, or up to it.
    moves = [-q - 1 if found.is_from_end else here.parts - q for q in range(here.parts)]
    others = b.masked(totals, d, b.by_block(here.atoms, moves), here.parts, start)
    before = _folded(local, others, d, WindowDimension(here.parts))
    kept = [e for e in range(len(shape_of(mine))) if e != d]
    before = b.reshape(before, [shape_of(mine)[e] for e in kept])
    return [b.emit(FOLDS[found.fold], b.broadcast(before, kept, shape_of(mine)), mine)]


def _folded(local: LocalOperation, value: SSAValue, d: int, window: WindowDimension) -> SSAValue:
    """The fold with another window along the dimension."""
    sizes = list(shape_of(value))
    sizes[d] = window.placements(sizes[d])
    dimensions = [WindowDimension(1)] * len(sizes)
    dimensions[d] = window
    type_ = array(array_type(value).element_type, sizes)
    attribute = WindowAttr(Window(tuple(dimensions)))
    same = replace(local, result_types=[type_])
    return same.again([value, local.operands[1]], {"window": attribute})[0]


def admits_reduction(division: Division, factor: int, atoms: Atoms) -> bool:
    """Whether elements are only selected: the start, and any order, may come twice."""
    return isinstance(division.op, ReduceOp) and selects(division.op)


def reduce(local: LocalOperation) -> Sequence[SSAValue]:
    """What all devices have selected, selected from once more; padding is the start."""
    op, b = local.op, local.b
    assert isinstance(op, ReduceOp)
    relations = local.division.relations
    atoms: list[int] = []
    count = len(op.inputs)
    inputs, starts = local.operands[:count], local.operands[count:]
    for d in local.integers("dimensions"):
        factor = local.factor_of(0, d)
        if factor is None or is_regular(relations, factor):
            continue
        here = local.blocked(0, d)
        atoms.extend(here.atoms)
        inputs = [
            b.without_tail(value, here, start) for value, start in zip(inputs, starts, strict=True)
        ]
    if not atoms:
        return regular(local)
    found = local.again([*inputs, *starts])
    lined = [b.reshape(value, (1, *shape_of(value))) for value in found]
    gathered = [b.all_gather(value, 0, tuple(atoms)) for value in lined]
    return local.again([*gathered, *starts], {"dimensions": integer_list([0])})


RULES: dict[type[XlaOp], LocalRule] = {
    ConvolutionOp: LocalRule(convolution, convolution_moves, admits_window),
    ReduceWindowOp: LocalRule(reduce_window, reduce_window_moves, admits_window),
    ReduceOp: LocalRule(reduce, admits=admits_reduction),
}
