"""The pass `convert-xla-to-linalg`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast, get_args

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ComplexType,
    FunctionType,
    ModuleOp,
    NoneAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from lowerings.layouts.expansion import require_default_boundaries
from lowerings.layouts.memory_order import TILED_ARRAY
from lowerings.rewriting.conversion import (
    ConversionBuilder,
    ConversionFailed,
    ConversionFunction,
    ConversionPass,
    conversion_table,
    illegal_op,
)
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.rewriting.passes import ResultDifference
from lowerings.rewriting.value_attributes import said_by, say
from lowerings.xla_to_linalg import (
    contraction,
    control_flow,
    conversion,
    convolution,
    creation,
    custom_calls,
    data_movement,
    gather_scatter,
    reduction,
    select_and_scatter,
)
from lowerings.xla_to_linalg.elementwise_clusters import ElementwiseClusters
from lowerings.xla_to_linalg.fourier import fft
from lowerings.xla_to_linalg.scalar_functions.element_functions import NotLowered
from lowerings.xla_to_linalg.scalar_functions.scalar_operations import ELEMENTWISE
from lowerings.xla_to_linalg.scalar_functions.scalars import storage
from lowerings.xla_to_linalg.sorting import topk
from lowerings.xla_to_linalg.structured import array_type, empty
from xla_dialect.aliasing_attributes import BUFFER_DONOR
from xla_dialect.analysis.computations import Reducing, accumulates_in_f32
from xla_dialect.analysis.mixed_precision import mixed_operations
from xla_dialect.ops import elementwise
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.ops.linear_algebra import FftOp
from xla_dialect.runtime.self_checking import OBSERVATIONS
from xla_dialect.types import Array, element_count, is_array
from xla_dialect.xdsl.traversal import (
    AttributeMemo,
    inventory,
    operands_of,
    operations_in,
    shape_of,
)


def signless(type_: Attribute) -> Attribute:
    """Integers without sign, arrays of such and without layout; any other type itself."""
    if not isinstance(type_, TensorType):
        return storage(type_)
    type_ = cast(Array, type_)
    element_type = storage(type_.element_type)
    if element_type is type_.element_type and isinstance(type_.encoding, NoneAttr):
        return type_
    return TensorType(element_type, type_.shape)


def make_signless(module: ModuleOp) -> None:
    """Changes the types of all values and functions of a module in place."""
    if all(signless(type_) is type_ for type_ in inventory(module).types):
        return
    new_type = AttributeMemo(signless)
    for op in operations_in(module):
        if isinstance(op, func.FuncOp):
            _change_function(op)
        values: list[SSAValue] = [*op.results]
        for region in op.regions:
            for block in region.blocks:
                values.extend(cast("Sequence[SSAValue]", block.args))
        for value in values:
            type_ = new_type(value.type)
            if type_ is not value.type:
                Rewriter.replace_value_with_new_type(cast("Any", value), type_)


def _change_function(op: func.FuncOp) -> None:
    old = op.function_type
    inputs, outputs = _all(old.inputs.data), _all(old.outputs.data)
    op.properties["function_type"] = FunctionType.from_lists(inputs, outputs)


def _all(types: Sequence[Attribute]) -> list[Attribute]:
    return [signless(t) for t in types]


FRONT_END_DIALECTS = ("xla", "mhlo", "jax", "sdy")
"""Dialects whose attributes only matter to front ends: names, positions, shardings."""

LOWERED = (BUFFER_DONOR, TILED_ARRAY)
"""Exceptions: attributes that bufferization reads, and who runs a printed level."""


def drop_kept_attributes(module: ModuleOp) -> None:
    """Drops them from a module, its functions, and their arguments and results."""
    module.attributes = _others(module.attributes)
    for op in module.body.block.ops:
        if not isinstance(op, func.FuncOp):
            continue
        op.attributes = _others(op.attributes)
        parameters, results = said_by(op)
        say(op, list(map(_others, parameters)), list(map(_others, results)))


def _others(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """The attributes of all other dialects, and what is lowered."""
    return {
        name: value
        for name, value in attributes.items()
        if name.partition(".")[0] not in FRONT_END_DIALECTS or "." not in name or name in LOWERED
    }


def _extent(type_: Attribute) -> int | None:
    """How many elements an array has, of which some are to be computed; None if that is dynamic."""
    if not isinstance(type_, TensorType):
        return 1
    sizes = shape_of(cast(Array, type_))
    return None if DYNAMIC_INDEX in sizes else element_count(sizes)


def _guarded(
    function: ConversionFunction,
    *,
    is_pure: bool = True,
    extent_of: Callable[[Attribute], int | None] = _extent,
) -> ConversionFunction:
    """
    What is not lowered yet is the match failure that the error for an illegal op quotes.

    An empty result needs no computation, where nothing else is asked for.
    """

    def convert(op: Operation, builder: ConversionBuilder) -> str | None:
        for value in (*op.results, *operands_of(op)):
            if extent_of(value.type) is None:
                return "dynamic sizes are not lowered yet"
        if is_pure and all(extent_of(result.type) == 0 for result in op.results):
            builder.replace([empty(builder, array_type(r)) for r in op.results])
            return None
        try:
            return function(op, builder)
        except NotLowered as reason:
            return str(reason)

    return convert


_PURE = conversion_table(
    creation.convert_constant,
    creation.convert_iota,
    conversion.bitcast_convert,
    data_movement.convert_regular,
    data_movement.convert_concatenate,
    data_movement.convert_copy,
    data_movement.convert_dynamic_slice,
    data_movement.convert_dynamic_update_slice,
    data_movement.convert_pad,
    data_movement.convert_reshape,
    data_movement.convert_slice,
    reduction.convert_reduce,
    reduction.convert_reduce_window,
    select_and_scatter.convert_select_and_scatter,
    reduction.convert_map,
    fft.convert_fft,
    topk.convert_sort,
    topk.convert_topk,
    contraction.convert_dot,
    convolution.convert_convolution,
    gather_scatter.convert_gather,
    gather_scatter.convert_scatter,
)


def _if_wide(function: ConversionFunction) -> ConversionFunction:
    """A conversion of what has the type that it accumulates in."""

    def convert(op: Operation, builder: ConversionBuilder) -> str | None:
        if accumulates_in_f32(cast(Reducing, op)):
            return "it accumulates in f32, which xla-expand-compound makes of it"
        return function(op, builder)

    return convert


_PURE.update({op_class: _if_wide(_PURE[op_class]) for op_class in get_args(Reducing)})

_FORMULAS = (
    *(elementwise.AcosOp, elementwise.AcoshOp, elementwise.AsinOp),
    *(elementwise.AsinhOp, elementwise.AtanhOp, elementwise.CoshOp),
    *(elementwise.SinhOp, elementwise.LogisticOp, FftOp),
)


def _is_formula(op: Operation) -> bool:
    """Whether an operation is computed by a formula, as all are of complex numbers."""
    return isinstance(op, _FORMULAS) or any(
        is_array(value.type) and isinstance(value.type.element_type, ComplexType)
        for value in (*op.operands, *op.results)
    )


_EFFECTFUL = conversion_table(custom_calls.convert_custom_call).add(
    OBSERVATIONS, custom_calls.convert_observation
)


class ConvertXlaToLinalgPass(ConversionPass):
    """
    Lowers the operations of the xla dialect to linalg, tensor and arith on tensors.

    Elementwise operations, reductions, contractions, windows and gathers become `linalg.generic`,
    data movement slices and reshapes; cumulative reductions, scatters and sorts become `scf.for`,
    custom calls, checks and prints calls of declared functions. Elementwise operations of one size
    become one generic where only the last of them is used by others. Integers become signless;
    layouts, and what importers keep in attributes, are dropped in the whole module.
    Loops, branches, tuples and fusions have to be gone before, and layouts other than the default
    of what public functions take and return.

    ```
    %1 = xla.maximum %0, %x : tensor<4xf32>
    // becomes
    %e = tensor.empty() : tensor<4xf32>
    %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
           ins(%0, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %m = arith.maximumf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    ```
    """

    name = "convert-xla-to-linalg"
    takes = ON_TENSORS
    gives = "tensors"
    difference = (
        ResultDifference(
            64,
            "functions without an operation of their own become formulas, Fourier transforms "
            "stages",
            where=_is_formula,
        ),
        ResultDifference(
            0,
            "infinities are multiplied with the zeros of padding",
            inputs=("plain",),
            where=lambda op: isinstance(op, ConvolutionOp),
        ),
        ResultDifference(
            4096, "running sums have other blocks than windows", where=reduction.is_in_blocks
        ),
    )
    illegal: ClassVar[Sequence[str | type[Operation]]] = ("xla", "check", "interpreter")
    conversions: ClassVar[Mapping[type[Operation], ConversionFunction]] = {
        **{op_class: _guarded(function) for op_class, function in _PURE.items()},
        **{
            op_class: _guarded(function, is_pure=False) for op_class, function in _EFFECTFUL.items()
        },
        **conversion_table(
            control_flow.convert_call,
            control_flow.convert_boundary,
            control_flow.needs_inlining,
            control_flow.needs_scf,
            control_flow.needs_flattening,
            control_flow.needs_expansion,
        ),
    }

    def conversions_in(self, module: ModuleOp) -> Mapping[type[Operation], ConversionFunction]:
        """As of any conversion; elementwise operations are converted in clusters."""
        convert = _guarded(ElementwiseClusters(module).convert, extent_of=AttributeMemo(_extent))
        return {**super().conversions_in(module), **dict.fromkeys(ELEMENTWISE, convert)}

    @classmethod
    def added_conversions(cls) -> Mapping[type[Operation], ConversionFunction]:
        """As of any conversion; those of other packages are guarded like our own."""
        added = super().added_conversions()
        return {op_class: _guarded(function) for op_class, function in added.items()}

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Converts, raises for illegal operations, then makes types signless."""
        require_default_boundaries(self.name, op)
        mixed = mixed_operations(op)
        if mixed:
            reason = "xla-expand-mixed-precision gives it floats of one precision"
            raise ConversionFailed(self.name, [illegal_op(each, reason) for each in mixed])
        super().change(ctx, op)
        make_signless(op)
        drop_kept_attributes(op)
        return True
