"""The pass `xla-assign-layouts`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FunctionType,
    ModuleOp,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from lowerings.layouts.alignment import forwards_values
from lowerings.layouts.assignment import LayoutAssignment
from lowerings.layouts.entry_layout import entry_type
from lowerings.layouts.expansion import is_laid_out, retyped
from lowerings.layouts.memory_order import MemoryOrder
from lowerings.layouts.movement import (
    bytes_moved,
    declared_order,
    misplaced,
)
from lowerings.layouts.objections import require_lowered_layouts
from lowerings.rewriting.conversion import require_single_blocks
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.levels import UNLOWERED
from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.ops.custom_calls import LAYOUT_CONSTRAINT, CustomCallOp
from xla_dialect.ops.data_movement import CopyOp, TransposeOp
from xla_dialect.types import Array, array, is_array
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import inventory, operations_in

_Copies: TypeAlias = dict[tuple[Block, SSAValue, Attribute], CopyOp]
"""The copies of a block so far, by what is copied and to which type."""


@dataclass(frozen=True)
class XlaAssignLayoutsPass(ModulePass):
    """
    Chooses layouts, so that little is moved, and copies arrays where two layouts meet.

    What is written stays: the layouts of parameters and results of functions (as
    `entry_computation_layout` has them, where HLO text says that), those of instructions, and
    JAX's layout constraints. An
    instruction without a layout may get that of its operands, under the names that its dimensions
    have; a transpose does, where that spares its movement. Where an operand still is in another
    layout than its instruction needs, `xla.copy` brings it there.

    ```
    func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<3x5xf32> {
      %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %1 = xla.dot %0, %y ... : (tensor<3x2xf32>, tensor<2x5xf32>) -> tensor<3x5xf32>
    // becomes
      %0 = xla.transpose %x {dimensions = [1, 0]}
          : (tensor<2x3xf32>) -> tensor<3x2xf32, #xla.layout<{0,1}>>
      %1 = xla.dot %0, %y ...
          : (tensor<3x2xf32, #xla.layout<{0,1}>>, tensor<2x5xf32>) -> tensor<3x5xf32>
    ```

    Calls have to be inlined, tuples flattened and bitcasts expanded before.
    """

    name = "xla-assign-layouts"
    takes = UNLOWERED

    report: bool = False
    """Says on stderr how many bytes copies and transposes move before and afterwards."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Goes through every function; raises ConversionFailed for layouts that are not lowered."""
        require_single_blocks(self.name, op)
        functions = [
            inner for inner in op.ops if isinstance(inner, func.FuncOp) and inner.body.blocks
        ]
        for function in functions:
            _take_entry_type(function, entry_type(op, function))
            _take_constraints(function)
        contents = inventory(op)
        in_default = not any(map(is_laid_out, contents.types))
        if in_default and not self.report and TransposeOp not in contents.operations:
            # Nothing moves.
            return
        require_lowered_layouts(self.name, op)
        before = bytes_moved(op) if self.report else None
        for function in functions:
            block = function.body.block
            choices = list(LayoutAssignment.of(block, in_default=in_default).chosen())
            if in_default and not choices:
                continue
            for value, order in choices:
                attempt(partial(retyped, value, _type_in(value, order)))
            copies: _Copies = {}
            _copy_misplaced(block, copies)
            _copy_results(function, copies)
        if before is not None:
            print(f"{self.name}: before: {before}", file=sys.stderr)
            print(f"{self.name}: after: {bytes_moved(op)}", file=sys.stderr)


def _take_entry_type(function: func.FuncOp, type_: FunctionType) -> None:
    """Gives parameters and results the layouts that callers see."""
    for argument, wanted in zip(tuple(function.body.block.args), type_.inputs, strict=True):
        retyped(argument, wanted)
    function.properties["function_type"] = type_


def _take_constraints(function: func.FuncOp) -> None:
    """Makes the custom calls with which JAX says a layout copies to that layout."""
    for op in operations_in(function):
        if not isinstance(op, CustomCallOp) or op.custom_call_target.data != LAYOUT_CONSTRAINT:
            continue
        block, (operand,), (result,) = op.parent, op.operands, op.results
        assert block is not None
        copy = CopyOp.make([operand], {}, result_types=[_constrained(op, cast(Array, result.type))])
        copy.location = op.location
        block.insert_op_before(copy, op)
        result.replace_all_uses_with(copy.result)
        erase(op)


def _constrained(op: CustomCallOp, type_: Array) -> Array:
    """The result type of a layout constraint; StableHLO says the layout in an attribute."""
    layouts = op.attributes.get("xla.result_layouts")
    if not isinstance(layouts, ArrayAttr):
        return type_
    (written,) = cast("ArrayAttr[DenseIntOrFPElementsAttr[Any]]", layouts).data
    order = Layout(tuple(int(value) for value in written.get_values()))
    return array(type_.element_type, type_.get_shape(), LayoutAttr(order))


def _copy_misplaced(block: Block, copies: _Copies) -> None:
    """Copies operands to the layouts in which they are needed; what a function returns is left."""
    for op in tuple(block.ops):
        if op.regions and forwards_values(type(op)):
            for region in op.regions:
                _copy_misplaced(region.block, copies)
        if isinstance(op, CopyOp):
            copies[block, op.operand, op.result.type] = op
        elif not isinstance(op, func.ReturnOp):
            for user, index, order in tuple(misplaced(op, declared_order)):
                _copy_operand(user, index, _type_in(user.operands[index], order), copies)


def _copy_results(function: func.FuncOp, copies: _Copies) -> None:
    """Copies what is returned to the layouts that the function's type says."""
    last = function.body.block.last_op
    assert last is not None
    for index, wanted in enumerate(function.function_type.outputs):
        if last.operands[index].type != wanted and is_array(wanted):
            _copy_operand(last, index, wanted, copies)


def _type_in(value: SSAValue, order: MemoryOrder) -> Array:
    type_ = cast(Array, value.type)
    encoding = None if order.is_default else LayoutAttr(order.layout)
    return array(type_.element_type, type_.get_shape(), encoding)


def _copy_operand(op: Operation, index: int, type_: Attribute, copies: _Copies) -> None:
    """Has an operation take a copy of an operand; one for all operations of a block."""
    operand, block = op.operands[index], op.parent
    assert block is not None
    copy = copies.get((block, operand, type_))
    if copy is None:
        copy = CopyOp.make([operand], {}, result_types=[type_])
        copy.location = op.location
        block.insert_op_before(copy, op)
        copies[block, operand, type_] = copy
    op.operands[index] = copy.result
