"""The pass `xla-expand-dynamic-dimensions`."""

from __future__ import annotations

from itertools import accumulate
from typing import cast

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute, TypeAttribute

from lowerings.expand.xla_expand_compound import expand
from lowerings.rewriting.conversion import ConversionBuilder, ConversionFailed
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from lowerings.rewriting.value_attributes import said_by, say
from xla_dialect.entry import ENTRY_LAYOUT
from xla_dialect.layout import LayoutAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops.dynamic_shapes import (
    DynamicReshapeOp,
    GetDimensionSizeOp,
    SetDimensionSizeOp,
    shared_dimensions,
)
from xla_dialect.ops.elementwise import MinimumOp
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.text.shapes import parse_type, spell_entry_layout
from xla_dialect.types import (
    S32,
    Array,
    all_compatible,
    array,
    flatten,
    sizes_of,
    without_bounds,
)
from xla_dialect.xdsl.linking import insert_before
from xla_dialect.xdsl.traversal import inventory, operations_in

RUN_TIME_CHECKS = "xla.run_time_checks"
"""The attribute of a function that lists what may go wrong in it: operation, message, location."""

ENTRY_SYMBOL = "main"


class XlaExpandDynamicDimensionsPass(ReportingPass):
    """
    Gives arrays with dynamic dimensions their bounds as sizes, and puts their sizes beside them.

    A function takes, after its parameters, one `s32[]` for each dynamic dimension of them, in
    order, and returns the same for its results. Where something may go wrong at run time, such as a
    size that exceeds its bound, it returns the number of the first check that failed, too, and the
    number that it failed for; 0 is none.

    ```
    func.func @main(%x: tensor<?xf32, #xla.layout<{0}, bounds = [8]>>, %zero: tensor<f32>)
        -> tensor<f32> {
      %0 = xla.reduce %x, %zero {dimensions = [0]} : ...
    // becomes
    func.func @main(%x: tensor<8xf32>, %zero: tensor<f32>, %x_size: tensor<i32>)
        -> tensor<f32> {
      %i = xla.iota {iota_dimension = 0} : () -> tensor<8xi32>
      %n = xla.broadcast %x_size : (tensor<i32>) -> tensor<8xi32>
      %inside = xla.compare %i, %n {direction = LT} : ...
      %y = xla.select %inside, %x, %minus_zeros : ...
      %0 = xla.reduce %y, %zero {dimensions = [0]} : ...
    ```

    Calls have to be inlined and tuples flattened before.
    """

    name = "xla-expand-dynamic-dimensions"
    takes = UNLOWERED

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through every function; raises ConversionFailed for what has no rule."""
        if not has_dynamic_dimensions(op):
            return False
        # It loads the builder, which takes time.
        from lowerings.expand import dynamic_dimensions as expansion  # noqa: PLC0415

        for inner in operations_in(op):
            if isinstance(inner, XlaOp) and expansion.has_parts(inner):
                _cut(inner)
                expand(inner, ConversionBuilder(op, inner))
        illegal_ops = expansion.illegal_ops(op)
        if illegal_ops:
            raise ConversionFailed(self.name, illegal_ops)
        for function in op.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks:
                before = function.function_type
                walk = expansion.DynamicDimensionExpansion()
                walk.function(function)
                _complete(op, function, before.inputs.data, before.outputs.data)
                if walk.checks:
                    function.attributes[RUN_TIME_CHECKS] = ArrayAttr(walk.checks)
        return True


def _cut(op: XlaOp) -> None:
    """Cuts the operands to what all of them have, where their elements belong together."""
    operands = list(op.operands)
    for group in shared_dimensions(op):
        sizes = [sizes_of(cast(Array, operands[i].type))[d] for i, d in group]
        if not is_dynamic(sizes):
            continue
        found = [GetDimensionSizeOp(operands[i], dimension=d) for i, d in group]
        smallest = list(accumulate(found[1:], MinimumOp, initial=found[0]))
        cut = [SetDimensionSizeOp(operands[i], smallest[-1], dimension=d) for i, d in group]
        for new in (*found, *smallest[1:], *cut):
            insert_before(new, op)
        for (i, _), new in zip(group, cut, strict=True):
            operands[i] = new.result
    op.operands = operands


def has_dynamic_dimensions(module: ModuleOp) -> bool:
    """Whether a module has to do with bounded dynamic dimensions, or with sizes at run time."""
    contents = inventory(module)
    return not contents.operations.isdisjoint(
        (GetDimensionSizeOp, SetDimensionSizeOp, DynamicReshapeOp)
    ) or any(map(_has_bounds, flatten(contents.types)))


def _has_bounds(type_: Attribute) -> bool:
    encoding = cast("TensorType[Attribute]", type_).encoding if isinstance(type_, TensorType) else 0
    return isinstance(encoding, LayoutAttr) and bool(encoding.data.bounds)


def _complete(
    module: ModuleOp,
    function: func.FuncOp,
    inputs: tuple[Attribute, ...],
    outputs: tuple[Attribute, ...],
) -> None:
    """What is said of the parameters and results of a function, for those that it has now."""
    type_ = function.function_type
    now = (type_.inputs.data, type_.outputs.data)
    parameters, results = (
        [*said, *({} for _ in types[len(said) :])]
        for said, types in zip(said_by(function), now, strict=True)
    )
    say(function, parameters, results)
    written = module.attributes.get(ENTRY_LAYOUT)
    if not isinstance(written, StringAttr) or function.sym_name.data != ENTRY_SYMBOL:
        return
    parameters, _, result = written.data[1:-1].rpartition("->")
    taken, returned = (flatten([parse_type(text)]) for text in (parameters, result))
    if all_compatible(taken, inputs) and all_compatible(returned, outputs):
        taken, returned = (
            [*map(without_bounds, types), *[array(S32, ())] * (len(now) - len(types))]
            for types, now in ((taken, type_.inputs.data), (returned, type_.outputs.data))
        )
        only = returned[0] if len(returned) == 1 else None
        result_type = only or TupleType(tuple(cast(TypeAttribute, each) for each in returned))
        module.attributes[ENTRY_LAYOUT] = StringAttr(spell_entry_layout(taken, result_type))
