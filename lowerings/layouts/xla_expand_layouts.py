"""The pass `xla-expand-layouts`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    FunctionType,
    ModuleOp,
    StridedLayoutAttr,
    StringAttr,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from lowerings.layouts.alignment import (
    Alignment,
    alignment_of,
    dot_result_order,
    forwards_values,
    is_computable,
    is_free_reshape,
    relisted,
    renamed_order,
    renumbered,
)
from lowerings.layouts.expansion import (
    ExpandFunction,
    Expansion,
    Placed,
    in_default_layout,
    is_laid_out,
    physical_type,
    require_lowered_layouts,
    simplify_computations,
)
from lowerings.layouts.memory_order import (
    BUFFER_LAYOUT,
    TILED_ARRAY,
    MemoryOrder,
    canonical,
    memory_order,
    reshaped,
)
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass, ResultDifference
from lowerings.rewriting.value_attributes import said_by, say
from xla_dialect import ops
from xla_dialect.dimensions import OpOperand, Traversal, terminator
from xla_dialect.literals.arrays import from_numpy, to_numpy
from xla_dialect.op import XlaOp
from xla_dialect.types import Array, is_array, spell, without_layout
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import inventory, tensor_shape

_FOLDS = (
    ops.reduction.ReduceOp,
    ops.reduction.ReduceWindowOp,
    ops.reduction.SelectAndScatterOp,
    ops.contraction.DotOp,
    ops.contraction.ConvolutionOp,
    ops.gather_scatter.ScatterOp,
)


def _folds(op: Operation) -> bool:
    """Whether an operation may go through several dimensions in the order of memory."""
    return isinstance(op, _FOLDS)


class XlaExpandLayoutsPass(ReportingPass):
    """
    Makes every array one in the default layout, whose dimensions are in memory order.

    What a layout says about the order of dimensions, and about tiles, becomes dimensions: an array
    in the layout `{0,1}` becomes its transpose, one in a tiled layout the tiles. Operations are
    computed on those where they can be, with other dimension numbers; a transpose that only renames
    strides is nothing. Parameters and results of functions keep their dimensions: permutations and
    padding become strides of their memrefs. Only tiled ones become their tiles here too, and say by
    `xla.array = "f32[5]{0:T(4)}"` of what.

    ```
    func.func @main(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<3xf32> {
      %1 = xla.negate %x : tensor<2x3xf32, #xla.layout<{0,1}>>
      %2 = xla.reduce %1, %zero {dimensions = [0]} ... -> tensor<3xf32>
    // becomes
    func.func @main(%x: tensor<2x3xf32> {bufferization.buffer_layout = strided<[1, 2]>})
        -> tensor<3xf32> {
      %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %1 = xla.negate %0 : tensor<3x2xf32>
      %2 = xla.reduce %1, %zero {dimensions = [1]} ... -> tensor<3xf32>
    ```

    Between instructions nobody sees padding: there, arrays of the older padded form are dense.
    Memory spaces, packed elements and padding of the tail are ignored.
    """

    name = "xla-expand-layouts"
    takes = UNLOWERED
    difference = ResultDifference(
        4096, "sums over several dimensions go in the order of memory", where=_folds
    )

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through every function; raises ConversionFailed for layouts that are not lowered."""
        if not _has_layouts(op):
            return False
        require_lowered_layouts(self.name, op)
        for function in op.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks:
                _expand_function(function)
        return True


def _has_layouts(module: ModuleOp) -> bool:
    """Whether some value has a layout that is written out."""
    return any(map(is_laid_out, inventory(module).types))


def _expand_function(function: func.FuncOp) -> None:
    block = function.body.block
    *operations, last = tuple(block.ops)
    expansion = Expansion(expansion_of, operations[0] if operations else last)
    inputs = list(function.function_type.inputs)
    outputs = list(function.function_type.outputs)
    for argument in tuple(block.args):
        _expand_parameter(argument, expansion)
    expansion.expand_all(operations)
    _expand_results(last, outputs, expansion)
    expansion.finish()
    # The strides of what is permuted or padded, and the tiled ones.
    parameters, results = (
        [each | _memory(type_) for each, type_ in zip(said, types, strict=True)]
        for said, types in zip(said_by(function), (inputs, outputs), strict=True)
    )
    say(function, parameters, results)
    function.properties["function_type"] = FunctionType.from_lists(
        [_boundary_type(type_) for type_ in inputs], [_boundary_type(type_) for type_ in outputs]
    )


def _expand_parameter(argument: BlockArgument, expansion: Expansion) -> None:
    if not is_laid_out(argument.type):
        return
    type_ = cast(Array, argument.type)
    order = memory_order(type_)
    if not order.tiles:
        plain = in_default_layout(argument)
        if not order.has_default_order:
            order = canonical(order.without_padding, type_.get_shape())
            expansion.take(plain, order, expansion.anchor)
        return
    expansion.take_physical(argument, order)


def _expand_results(last: Operation, types: Sequence[Attribute], expansion: Expansion) -> None:
    expansion.anchor = last
    for index, (value, type_) in enumerate(zip(tuple(last.operands), types, strict=True)):
        if is_array(type_):
            order = memory_order(type_)
            wanted = order if order.tiles else MemoryOrder.default(len(order.major_to_minor))
            last.operands[index] = expansion.returned(value, wanted)


def _boundary_type(type_: Attribute) -> Attribute:
    """The type of a parameter or result: of its tiles, if it has some."""
    if not is_laid_out(type_):
        return type_
    array = cast(Array, type_)
    order = memory_order(array)
    return physical_type(array, order) if order.tiles else without_layout(array)


def _memory(type_: Attribute) -> dict[str, Attribute]:
    if not is_laid_out(type_):
        return {}
    array = cast(Array, type_)
    order = memory_order(array)
    if order.tiles:
        return {TILED_ARRAY: StringAttr(f"{spell(array)}{order.layout}")}
    if order.is_default:
        return {}
    return {BUFFER_LAYOUT: StridedLayoutAttr(order.strides(array.get_shape()))}


def _copy(op: Operation, expansion: Expansion) -> Sequence[Placed]:
    """The operand in the order of the result."""
    order = expansion.declared(op.results[0])
    return [(expansion.value_in(op.operands[0], order), order)]


def _transpose(op: ops.data_movement.TransposeOp, expansion: Expansion) -> Sequence[Placed] | None:
    """Nothing, where the result has the order that the operand has under other names."""
    order = expansion.order(op.operand)
    if order.tiles or expansion.declared(op.result).tiles:
        return None
    value = expansion.value_in(op.operand, order)
    return [(value, renamed_order(op, order))]


def _aligned(alignment: Alignment, op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    """With other numbers of dimensions, where operands and results follow one of them."""
    assert isinstance(op, XlaOp)
    count = len(op.operands)
    found = [expansion.order(value) for value in op.operands]
    found += [expansion.declared(value) for value in op.results]
    is_tiled = any(order.tiles for order in found[count:])
    if not alignment.is_free:
        lead = _lead(op, alignment, found)
        found = [alignment.follow(number, lead) for number in range(len(found))]
    is_tiled = is_tiled or any(order.tiles for order in found)
    if (is_tiled and not alignment.is_elementwise) or not is_computable(op, found):
        return None
    operands = _in_orders(op.operands, found[:count], expansion)
    simplify_computations(op)
    properties = renumbered(op, found)
    return expansion.rebuild(op, relisted(op, operands, found), found[count:], properties)


def _lead(op: XlaOp, alignment: Alignment, found: Sequence[MemoryOrder]) -> MemoryOrder:
    """
    The order of the leader to compute in: its own.

    Where a static slice needs another order, a transpose in front of it fuses with what is before.
    """
    count = len(op.operands)
    lead = found[alignment.leader]
    of_result = alignment.lead(count, found[count])
    if alignment.leader == count or of_result is None or lead.tiles:
        return lead
    relations = op.dimension_relations()
    assert relations is not None
    if any(factor.along is Traversal.INDEXED for factor in relations.factors):
        return lead
    kept = canonical(alignment.follow(count, lead), tensor_shape(op.results[0]))
    return lead if kept == found[count] else of_result


def _constant(op: ops.creation.ConstantOp, expansion: Expansion) -> Sequence[Placed] | None:
    """The literal in memory order."""
    order = expansion.declared(op.result)
    if order.tiles:
        return None
    found = to_numpy(op.value)
    value = from_numpy(cast(Any, found).transpose(order.major_to_minor))
    return expansion.rebuild(op, [], [order], {"value": value})


def _dot(op: ops.contraction.DotOp, expansion: Expansion) -> Sequence[Placed] | None:
    """Operands in whatever order they have; the free dimensions of the result follow them."""
    orders = [expansion.order(op.lhs), expansion.order(op.rhs)]
    relations = op.dimension_relations()
    if relations is None or any(order.tiles for order in orders):
        return None
    values = _in_orders(op.operands, orders, expansion)
    result = dot_result_order(relations, *orders)
    return expansion.rebuild(op, values, [result], renumbered(op, orders))


def _reshape(op: ops.data_movement.ReshapeOp, expansion: Expansion) -> Sequence[Placed] | None:
    """The bytes in memory, where they stay where they are."""
    before, after = expansion.order(op.operand), expansion.declared(op.result)
    before_sizes, after_sizes = tensor_shape(op.operand), tensor_shape(op.result)
    if not is_free_reshape(before_sizes, before, after_sizes, after):
        return None
    value = expansion.value_in(op.operand, before)
    return [(reshaped(expansion.insert, value, after.physical_sizes(after_sizes)), after)]


def _forwarding(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    """
    What a loop or branch forwards to a result is in the order of that, throughout; its computations
    take other operands as they are.
    """
    assert isinstance(op, XlaOp)
    if not all(map(is_array, (*op.operand_types, *op.result_types))):
        return None
    of_values: dict[SSAValue, MemoryOrder] = {}
    of_operands: dict[OpOperand, MemoryOrder] = {}
    for edge in op.data_flow_edges():
        result = edge.result
        order = expansion.order(edge.sources[0].value)
        order = order if result is None else expansion.declared(result)
        of_values.update(dict.fromkeys(edge.targets, order))
        of_operands.update(dict.fromkeys(edge.sources, order))
    operands = [
        expansion.value_in(value, of_operands[OpOperand(op, i)])
        if OpOperand(op, i) in of_operands
        else value
        for i, value in enumerate(op.operands)
    ]
    for region in op.regions:
        arguments = [of_values[argument] for argument in region.block.args]
        last = terminator(region)
        expansion.expand_computation(
            region.block,
            arguments,
            [
                of_operands.get(OpOperand(last, i)) or MemoryOrder.default(len(tensor_shape(value)))
                for i, value in enumerate(last.operands)
            ],
        )
    return expansion.rebuild(op, operands, [of_values[result] for result in op.results])


def _in_orders(
    values: Sequence[SSAValue], orders: Sequence[MemoryOrder], expansion: Expansion
) -> list[SSAValue]:
    return [expansion.value_in(value, order) for value, order in zip(values, orders, strict=True)]


FAMILIES = (
    OperationTable[ExpandFunction]()
    .add(ops.data_movement.CopyOp, _copy)
    .add(ops.data_movement.ReshapeOp, _reshape)
    .add(ops.data_movement.TransposeOp, _transpose)
    .add(ops.creation.ConstantOp, _constant)
    .add(ops.contraction.DotOp, _dot)
)
"""The operations that are computed in memory order in a way of their own."""


def expansion_of(op: Operation, touched: bool) -> ExpandFunction | None:
    """
    How an operation is computed in memory order; None if in default order.

    `touched`: whether an operand or result is in another one. Computations may be, in any case.
    """
    found = FAMILIES.get(type(op))
    if found is not None:
        return found
    if forwards_values(type(op)):
        return _forwarding
    if not touched:
        return None
    alignment = alignment_of(op)
    return None if alignment is None else partial(_aligned, alignment)
