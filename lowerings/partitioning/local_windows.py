"""
Slices, pads, convolutions and windows on parts: all are windows that slide over a base.

A slice is a window of one element with a stride, which begins behind the edge of the base; a pad
one over a base that is dilated. A device gets the elements of the base that its placements cover.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from lowerings.partitioning.factors import Division
from lowerings.partitioning.local_operation import (
    DividedOperation,
    LocalOperation,
    LocalRule,
    RemotePart,
    without_padding,
)
from lowerings.partitioning.mesh_atoms import Atoms
from lowerings.partitioning.relations import FOLDS, computation_fold, neutral_number
from lowerings.simplify.constant_folding import splat_of
from xla_dialect.builder import XlaValue
from xla_dialect.dimensions import Padding, Slicing, Traversal
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.ops.data_movement import PadOp, SliceOp
from xla_dialect.ops.reduction import ReduceWindowOp
from xla_dialect.shapes.size_arithmetic import ceil_div, dilated
from xla_dialect.shapes.window import Window, WindowDimension
from xla_dialect.types import Array, array, sizes_of


@dataclass(frozen=True)
class _Moving:
    """How the window of a factor moves."""

    window: WindowDimension
    turned: WindowDimension
    """As it is divided: with its elements in the place of its placements, where these are."""
    count: int
    """Of what is divided: placements, or elements of the window."""


def _moving(division: Division, factor: int) -> _Moving | None:
    """How the window of a factor moves; None where there is none, or it cannot be divided."""
    found = division.relations.factors[factor]
    match found.along:
        case Slicing(start, limit, stride):
            window = WindowDimension(1, stride, -start, limit - found.size)
        case Padding(low, high, interior):
            window = WindowDimension(1, 1, low, high, interior + 1)
        case WindowDimension():
            return _Moving(found.along, found.along, found.size)
        case Traversal.WINDOW:
            return _turned(division, factor)
        case _:
            return None
    return _Moving(window, window, window.placements(found.size))


def _turned(division: Division, factor: int) -> _Moving | None:
    """
    The elements k of a window in the place of its placements p: p * stride + k * dilation.

    The placements, of which none is left out, are what each element covers.
    """
    op, relations = division.op, division.relations
    places = dict(relations.operand_places(factor))
    if not isinstance(op, ConvolutionOp) or 0 not in places:
        return None
    window = op.window.data.dimensions[op.dim_labels.data.rhs_order()[2:].index(places[1])]
    if not window.moves or window.reversal:
        return None
    (placements,) = division.shown(relations.operands[0][places[0]])
    turned = replace(
        window,
        size=relations.factors[placements].size,
        stride=window.window_dilation,
        window_dilation=window.stride,
    )
    return _Moving(window, turned, window.size)


@dataclass(frozen=True)
class Slide:
    """How windows slide over what a device has of a dimension of the base."""

    move: RemotePart
    """The base that they cover."""
    window: WindowDimension
    early: Sequence[int] = ()
    """For each block how many placements there are before its first, where that differs."""


def _slide(moving: _Moving, parts: int, operand: int, d: int, size: int) -> Slide:
    """How windows slide over a base of this size, of which devices have so many parts."""
    window, turned, dilation = moving.window, moving.turned, moving.window.base_dilation
    block = ceil_div(moving.count, parts)
    # Where in the dilated base the windows of each block begin, and their extent.
    first = [q * block * turned.stride - turned.padding_low for q in range(parts)]
    extent = (block - 1) * turned.stride + dilated(turned.size, turned.window_dilation)
    starts, early = [ceil_div(at, dilation) for at in first], list[int]()
    low, *others = {start * dilation - at for start, at in zip(starts, first, strict=True)}
    if others or low >= extent:
        # All begin at an element, and are as much larger as one of them has to be early.
        starts, early = [at // dilation for at in first], [at % dilation for at in first]
        low, extent = 0, extent + dilation - 1
    count = ceil_div(extent - low, dilation)
    high = extent - low - dilated(count, dilation)
    end = min(size, ceil_div(dilated(size, dilation) + window.padding_high, dilation))
    move = RemotePart(operand, d, starts, count, end)
    return Slide(move, replace(window, padding_low=low, padding_high=high), early)


def admits_window(division: Division, factor: int, atoms: Atoms) -> bool:
    """
    Whether windows can be divided by their placements, or by their elements.

    Blocks have to begin at the same place between elements of a dilated base; windows that move by
    one can begin earlier.
    """
    moving = _moving(division, factor)
    if moving is None or not moving.count:
        return False
    is_early = _slide(moving, division.mesh.parts(atoms), 0, 0, 0).early
    return not is_early or (moving.window is moving.turned and moving.window.stride == 1)


def slides(divided: DividedOperation, operand: int = 0) -> dict[int, Slide]:
    """How windows slide along the dimensions of a base that are divided."""
    found: dict[int, Slide] = {}
    for d, size in enumerate(divided.division.operand_sizes[operand]):
        factor = divided.factor_of(operand, d)
        moving = None if factor is None else _moving(divided.division, factor)
        if moving is not None:
            found[d] = _slide(moving, divided.blocked(operand, d).parts, operand, d, size)
    return found


def window_moves(divided: DividedOperation) -> Iterator[RemotePart]:
    """What windows cover of every base."""
    if cumulative_of(divided) is None:
        op = divided.op
        for operand in range(len(op.inputs) if isinstance(op, ReduceWindowOp) else 1):
            yield from (slide.move for slide in slides(divided, operand).values())


def _on_time(
    local: LocalOperation,
    operands: Sequence[XlaValue],
    found: Mapping[int, Slide],
    **properties: Any,
) -> Sequence[XlaValue]:
    """
    The operation on these operands, without the placements that are early.

    `found`: how windows slide, by the dimension of the result.
    """
    early = {d: slide for d, slide in found.items() if slide.early}
    if not early:
        return local.again(operands, **properties)
    parts = [
        (sizes_of(type_), type_.element_type) for type_ in cast("list[Array]", local.result_types)
    ]
    types = [
        array(
            element_type,
            [
                n + (early[d].window.base_dilation - 1 if d in early else 0)
                for d, n in enumerate(sizes)
            ],
        )
        for sizes, element_type in parts
    ]
    made = list(replace(local, result_types=types).again(operands, **properties))
    for d, slide in early.items():
        start = local.b.by_block(local.blocked(0, slide.move.d).atoms, slide.early)
        made = [
            local.b.cut(value, d, start, sizes[d])
            for value, (sizes, _) in zip(made, parts, strict=True)
        ]
    return made


def slice_(local: LocalOperation) -> Sequence[XlaValue]:
    """Each device gets the elements that its part of the result is made of."""
    (value,) = local.moved(window_moves(local))
    starts, limits = (list(local.integers(name)) for name in ("start_indices", "limit_indices"))
    for d in range(value.rank):
        if local.factor_of(0, d) is not None:
            starts[d], limits[d] = 0, value.shape[d]
    return local.again([value], start_indices=starts, limit_indices=limits)


def pad(local: LocalOperation) -> Sequence[XlaValue]:
    """Each device gets the elements within its part of the result; all else is padding."""
    operands, found = local.moved(window_moves(local), {0: local.operands[1]}), slides(local)
    edges = {"edge_padding_low": "padding_low", "edge_padding_high": "padding_high"}
    changed = {
        name: [
            getattr(found[d].window, part) if d in found else size
            for d, size in enumerate(local.integers(name))
        ]
        for name, part in edges.items()
    }
    return _on_time(local, operands, found, **changed)


def convolution(local: LocalOperation) -> Sequence[XlaValue]:
    """What lies outside of the base reads as zero, on its borders only."""
    op, b = local.op, local.b
    assert isinstance(op, ConvolutionOp)
    labels, found = op.dim_labels.data, slides(local)
    zero = b.scalar(0, local.operands[0].element_type)
    ready = replace(local, operands=without_padding(local, local.operands))
    base, kernel = ready.moved(window_moves(local), {0: zero})
    dimensions: list[WindowDimension] = []
    for d, k, window in zip(
        labels.lhs_order()[2:], labels.rhs_order()[2:], op.window.data.dimensions, strict=True
    ):
        if local.along(1, k) is Traversal.WINDOW:
            kernel = b.without_tail(kernel, local.blocked(1, k), zero)
        window = found[d].window if d in found else window
        dimensions.append(replace(window, size=kernel.shape[k]))
    changed: dict[str, Any] = {"window": Window(tuple(dimensions))}
    batch, features = labels.lhs_order()[:2]
    for name, d in (("feature_group_count", features), ("batch_group_count", batch)):
        count = decode(op.properties[name])
        if count > 1:
            groups = local.division.relations.operands[0][d][0]
            changed[name] = count // local.division.mesh.parts(local.divided.get(groups, ()))
    results = dict(zip(labels.lhs_order(), labels.result_order(), strict=True))
    by_result = {results[d]: slide for d, slide in found.items()}
    return _on_time(local, [base, kernel], by_result, **changed)


def reduce_window(local: LocalOperation) -> Sequence[XlaValue]:
    """What lies outside of the base is the init value, on its borders only."""
    op = local.op
    assert isinstance(op, ReduceWindowOp)
    along = cumulative_of(local)
    if along is not None:
        return cumulative(local, along)
    found, inits = slides(local), local.operands[len(op.inputs) :]
    values = local.moved(window_moves(local), dict(enumerate(inits)))
    dimensions = [
        found[d].window if d in found else window
        for d, window in enumerate(op.window.data.dimensions)
    ]
    return _on_time(local, values, found, window=Window(tuple(dimensions)))


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
    # Zeros of both signs are equal here: all results start from that of the program.
    if not np.array_equal(start, cast(Any, neutral_number(fold, type_.element_type))):
        return None
    for is_from_end in (False, True):
        if part == _window(sizes_of(type_)[d], is_from_end=is_from_end):
            return Cumulative(d, is_from_end, fold)
    return None


def _window(size: int, *, is_from_end: bool) -> WindowDimension:
    """The window of a cumulative fold of so many elements."""
    low, high = (0, size - 1) if is_from_end else (size - 1, 0)
    return WindowDimension(size, padding_low=low, padding_high=high)


def cumulative(local: LocalOperation, found: Cumulative) -> Sequence[XlaValue]:
    """
    The fold of this part, and of what the parts before it came to.

    Each device folds its part, all get what the parts came to, and each folds those before its own.
    """
    b, d = local.b, found.d
    value, start = local.operands
    here = local.blocked(0, d)
    value = b.without_tail(value, here, start)
    mine = _folded(local, value, d, _window(here.block, is_from_end=found.is_from_end))
    last = 0 if found.is_from_end else here.block - 1
    totals = b.gathered(b.piece(mine, d, last, last + 1), d, here.atoms)
    # The places of others are moved out of the array: those from this part on, or up to it.
    moves = [-q - 1 if found.is_from_end else here.parts - q for q in range(here.parts)]
    others = b.masked(totals, d, b.by_block(here.atoms, moves), here.parts, start)
    before = _folded(local, others, d, WindowDimension(here.parts))
    before = b.broadcast_in_dim(before, mine.shape, range(mine.rank))
    return b.append(FOLDS[found.fold].make([before.ssa, mine.ssa], {}))


def _folded(local: LocalOperation, value: XlaValue, d: int, window: WindowDimension) -> XlaValue:
    """The fold with another window along the dimension."""
    dimensions = [window if e == d else WindowDimension(1) for e in range(value.rank)]
    sizes = [part.placements(n) for part, n in zip(dimensions, value.shape, strict=True)]
    same = replace(local, result_types=[array(value.element_type, sizes)])
    return same.again([value, local.operands[1]], window=Window(tuple(dimensions)))[0]


RULES: dict[type[XlaOp], LocalRule] = {
    SliceOp: LocalRule(slice_, window_moves, admits_window),
    PadOp: LocalRule(pad, window_moves, admits_window),
    ConvolutionOp: LocalRule(convolution, window_moves, admits_window),
    ReduceWindowOp: LocalRule(reduce_window, window_moves, admits_window),
}
