"""The pass `convert-xla-to-linalg`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import ClassVar, cast, get_args

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ComplexType, ModuleOp, TensorType
from xdsl.ir import Attribute, Operation

from lowerings.layouts.expansion import require_default_boundaries
from lowerings.rewriting.conversion import (
    ConversionBuilder,
    ConversionFailed,
    ConversionFunction,
    ConversionPass,
    conversion_table,
    illegal_op,
)
from lowerings.rewriting.difference import ResultDifference
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.xla_to_linalg import (
    contraction,
    control_flow,
    conversion,
    convolution,
    creation,
    custom_calls,
    data_movement,
    gather_scatter,
    reduce_window,
    reduction,
    scatter,
    select_and_scatter,
)
from lowerings.xla_to_linalg.elementwise_clusters import ElementwiseClusters
from lowerings.xla_to_linalg.fourier import fft
from lowerings.xla_to_linalg.kept_attributes import drop_kept_attributes
from lowerings.xla_to_linalg.scalar_functions.element_functions import NotLowered
from lowerings.xla_to_linalg.scalar_functions.scalar_operations import ELEMENTWISE
from lowerings.xla_to_linalg.signless import make_signless
from lowerings.xla_to_linalg.sorting import sort, topk
from lowerings.xla_to_linalg.structured import array_type, empty
from xla_dialect.analysis.computations import Reducing, accumulates_in_f32
from xla_dialect.analysis.mixed_precision import mixed_operations
from xla_dialect.ops import elementwise
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.ops.linear_algebra import FftOp
from xla_dialect.runtime.self_checking import OBSERVATIONS
from xla_dialect.types import element_count, is_array
from xla_dialect.xdsl.traversal import AttributeMemo, operands_of


class _Extent(Enum):
    """Whether a result has elements to compute, and whether its shape can be lowered."""

    DYNAMIC = auto()
    EMPTY = auto()
    OTHER = auto()


def _extent(type_: Attribute) -> _Extent:
    if not isinstance(type_, TensorType):
        return _Extent.OTHER
    sizes = type_.get_shape()
    if DYNAMIC_INDEX in sizes:
        return _Extent.DYNAMIC
    return _Extent.OTHER if element_count(sizes) else _Extent.EMPTY


def _guarded(
    function: ConversionFunction,
    *,
    is_pure: bool = True,
    extent_of: Callable[[Attribute], _Extent] = _extent,
) -> ConversionFunction:
    """
    What is not lowered yet is the match failure that the error for an illegal op quotes.

    An empty result needs no computation, where nothing else is asked for.
    """

    def convert(op: Operation, builder: ConversionBuilder) -> str | None:
        for value in (*op.results, *operands_of(op)):
            if extent_of(value.type) is _Extent.DYNAMIC:
                return "dynamic sizes are not lowered yet"
        if is_pure and all(extent_of(result.type) is _Extent.EMPTY for result in op.results):
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
    reduce_window.convert_reduce_window,
    select_and_scatter.convert_select_and_scatter,
    reduction.convert_map,
    fft.convert_fft,
    sort.convert_sort,
    topk.convert_topk,
    contraction.convert_dot,
    convolution.convert_convolution,
    gather_scatter.convert_gather,
    scatter.convert_scatter,
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
            4096, "running sums have other blocks than windows", where=reduce_window.is_in_blocks
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
