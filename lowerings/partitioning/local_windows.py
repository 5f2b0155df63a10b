"""Convolutions and reduce-windows whose windows reach into the parts of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue

from lowerings.partitioning.factor_atoms import Division
from lowerings.partitioning.local_blocks import moved_block
from lowerings.partitioning.local_builder import array_type, shape_of
from lowerings.partitioning.local_movement import dilated_places
from lowerings.partitioning.local_operation import LocalOperation, LocalRule, without_padding
from lowerings.partitioning.reshard_steps import Atoms
from xla_dialect.dimensions import FactorType
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.ops.reduction import ReduceWindowOp
from xla_dialect.shapes.size_arithmetic import ceil_div, dilated
from xla_dialect.shapes.window import Window, WindowAttr, WindowDimension


def _covered(part: WindowDimension, placements: int, parts: int) -> tuple[list[int], int]:
    """Where in the dilated base the windows of each block of placements begin, and their extent."""
    block = ceil_div(placements, parts)
    first = [q * block * part.stride - part.padding_low for q in range(parts)]
    return first, (block - 1) * part.stride + dilated(part.size, part.window_dilation)


def admits_window(op: XlaOp, division: Division, factor: int, atoms: Atoms) -> bool:
    """Whether blocks of placements begin at the same place between elements of a dilated base."""
    found = division.relations.factors[factor]
    part = found.along
    if found.type is not FactorType.PERMUTATION or not isinstance(part, WindowDimension):
        return False
    first, extent = _covered(part, found.size, division.mesh.parts(atoms))
    return found.size > 0 and dilated_places(first, extent, part.base_dilation) is not None


def _with_halo(
    local: LocalOperation, operand: int, d: int, value: SSAValue, fill: SSAValue
) -> tuple[SSAValue, WindowDimension] | None:
    """The base that the placements of this device cover, and the window over it."""
    factor = local.factor_of(operand, d)
    if factor is None:
        return None
    found = local.division.relations.factors[factor]
    part, here = found.along, local.blocked(operand, d)
    if not isinstance(part, WindowDimension) or here.parts == 1:
        return None
    first, extent = _covered(part, found.size, here.parts)
    places = dilated_places(first, extent, part.base_dilation)
    assert places is not None
    starts, phase, count = places
    moved = moved_block(local.b, value, here, starts, count, fill)
    high = extent - phase - dilated(count, part.base_dilation)
    return moved, replace(part, padding_low=phase, padding_high=high)


def convolution(local: LocalOperation) -> Sequence[SSAValue]:
    """What lies outside of the base reads as zero, on its borders only."""
    op = local.op
    assert isinstance(op, ConvolutionOp)
    labels = op.dim_labels.data
    base, kernel = without_padding(local, local.operands)
    zero = local.b.scalar(0, array_type(base).element_type)
    dimensions = list(op.window.data.dimensions)
    spatial = zip(labels.lhs_order()[2:], labels.rhs_order()[2:], strict=True)
    for i, (d, k) in enumerate(spatial):
        found = _with_halo(local, 0, d, base, zero)
        if found is not None:
            base, dimensions[i] = found
        dimensions[i] = replace(dimensions[i], size=shape_of(kernel)[k])
    properties: dict[str, Attribute] = {"window": WindowAttr(Window(tuple(dimensions)))}
    batch, features = labels.lhs_order()[:2]
    for name, d in (("feature_group_count", features), ("batch_group_count", batch)):
        count = decode(op.properties[name])
        if count > 1:
            groups = local.division.relations.operands[0][d][0]
            parts = local.division.mesh.parts(local.divided.get(groups, ()))
            properties[name] = IntegerAttr(count // parts, i64)
    return local.again([base, kernel], properties)


def reduce_window(local: LocalOperation) -> Sequence[SSAValue]:
    """What lies outside of the base is the init value, on its borders only."""
    op = local.op
    assert isinstance(op, ReduceWindowOp)
    count = len(op.inputs)
    values, inits = list(local.operands[:count]), local.operands[count:]
    dimensions = list(op.window.data.dimensions)
    for d in range(len(dimensions)):
        for i, value in enumerate(values):
            found = _with_halo(local, i, d, value, inits[i])
            if found is not None:
                values[i], window = found
                if i == count - 1:
                    dimensions[d] = window
    return local.again([*values, *inits], {"window": WindowAttr(Window(tuple(dimensions)))})


RULES: dict[type[XlaOp], LocalRule] = {
    ConvolutionOp: LocalRule(admits_window, convolution),
    ReduceWindowOp: LocalRule(admits_window, reduce_window),
}
