"""The pass `xla-expand-compound`: operations that are made of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any, ClassVar, TypeAlias

from xdsl.ir import Operation, SSAValue

from lowerings.expand.extremum_reducers import Extremum, extremum_of
from lowerings.rewriting.conversion import ConversionBuilder, ConversionFunction, ConversionPass
from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import RaggedDotOp, ScaledDotOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.custom_calls import ANNOTATIONS, LAYOUT_CONSTRAINT, CustomCallOp
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.ops.linear_algebra import CholeskyOp, TriangularSolveOp
from xla_dialect.ops.normalization import (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
)
from xla_dialect.ops.random import RngBitGeneratorOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.types import is_array
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import operations_in

_EXPANSIONS: Mapping[type[XlaOp], str] = {
    BatchNormGradOp: "batch_norm:gradient",
    BatchNormInferenceOp: "batch_norm:inference",
    BatchNormTrainingOp: "batch_norm:training",
    CholeskyOp: "factorizations:cholesky",
    RaggedDotOp: "ragged_dot:ragged_dot",
    RngBitGeneratorOp: "random_bits:random_bits",
    ScaledDotOp: "scaled_dot:scaled_dot",
    TriangularSolveOp: "factorizations:triangular_solve",
}
"""Module and function of each expansion. They are loaded on use: the builder takes time to load."""

Expansion: TypeAlias = "Callable[..., Sequence[Any]]"
"""From an `XlaBuilder`, the operation and the values of its operands to those of its results."""


@cache
def loaded(place: str, package: str = "lowerings.expand") -> tuple[type[Any], Expansion]:
    """The builder's class, and the expansion at `module:function` of a package."""
    module, name = place.split(":")
    builder_class = import_module("xla_dialect.builder").XlaBuilder
    return builder_class, getattr(import_module(f"{package}.{module}"), name)


def build_before(
    op: Operation, operands: Sequence[SSAValue], expansion: Expansion, builder_class: type[Any]
) -> list[SSAValue]:
    """Inserts what an expansion builds before an operation, with its location; the results."""
    b = builder_class(op.name)
    parameters = [b.parameter(i, operand.type) for i, operand in enumerate(operands)]
    block = b.build_computation(tuple(expansion(b, *parameters))).body.block
    for argument, operand in zip(block.args, operands, strict=True):
        argument.replace_all_uses_with(operand)
    *operations, last = block.ops
    assert isinstance(last, ReturnOp)
    returned = list(last.operands)
    block.erase_op(last)
    target = op.parent
    assert target is not None
    for built in operations:
        built.detach()
        for inner in operations_in(built):
            inner.location = op.location
    target.insert_ops_before(operations, op)
    return returned


def is_compound(op: XlaOp) -> bool:
    """Whether `expand` knows an operation."""
    return type(op) in _EXPANSIONS


def expand(op: XlaOp, builder: ConversionBuilder) -> str | None:
    """Puts what the expansion builds in the place of the operation."""
    if not all(is_array(result.type) for result in op.results):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    builder_class, expansion = loaded(_EXPANSIONS[type(op)])
    returned = build_before(op, op.operands, partial(_of_operation, expansion, op), builder_class)
    # The builder ignores layouts: only results with one differ in type.
    builder.replace(
        [
            value
            if value.type == result.type
            else builder.insert(CopyOp.make([value], {}, result_types=[result.type])).result
            for value, result in zip(returned, op.results, strict=True)
        ]
    )
    return None


def take_annotation(op: CustomCallOp, builder: ConversionBuilder) -> None:
    """A custom call that only annotates its operand is the identity."""
    target = op.custom_call_target.data
    if target in ANNOTATIONS - {LAYOUT_CONSTRAINT} and op.operand_types == op.result_types:
        builder.replace(op.operands)


def expand_arg_extremum(op: ReduceOp, builder: ConversionBuilder) -> None:
    """A reduction that finds the first place of an extremum; other reductions stay."""
    extremum = extremum_of(op)
    if extremum is None:
        return
    builder_class, expansion = loaded("arg_extremum:first_places")
    (dimension,) = op.dimensions.get_values()
    builder.replace(
        build_before(op, op.operands, partial(_with, expansion, extremum, dimension), builder_class)
    )


def _with(expansion: Expansion, extremum: Extremum, dimension: int, b: Any, *operands: Any) -> Any:
    return expansion(b, extremum, dimension, *operands)


def _of_operation(expansion: Expansion, op: XlaOp, b: Any, *operands: Any) -> Sequence[Any]:
    return expansion(b, op, *operands)


class XlaExpandCompoundPass(ConversionPass):
    """
    Replaces operations that are made of others by those: batch normalization, Cholesky factors,
    triangular systems, ragged and scaled dots, random bits. A reduction that finds where the
    greatest or least element is becomes two, which vectors can do.

    Narrow floats are computed in f32 and rounded at the end. Custom calls that annotate a value for
    a compiler, as with a sharding, are that value.

    ```
    %y, %mean, %variance = xla.batch_norm_training %x, %scale, %offset {epsilon = 1.0e-3 : f32,
        feature_index = 1 : i64} : ...
    // becomes
    %sum = xla.reduce %x, %zero {dimensions = [0]} : ...
    %mean = xla.divide %sum, %count : tensor<3xf32>
    ...
    ```
    """

    name = "xla-expand-compound"
    illegal: ClassVar[Sequence[str | type[Operation]]] = tuple(_EXPANSIONS)
    conversions = (
        OperationTable[ConversionFunction]()
        .add(_EXPANSIONS, expand)
        .add(CustomCallOp, take_annotation)
        .add(ReduceOp, expand_arg_extremum)
    )
