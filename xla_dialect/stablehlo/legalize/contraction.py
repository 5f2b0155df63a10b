"""Convolutions, and what StableHLO has left of earlier dialects: Einstein sums, index_select.

The kernel has the sizes of the window, and an operand may say its padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from xla_dialect.ops import contraction as xla
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.data_movement import SliceOp, TransposeOp
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.stablehlo.conversion import (
    Conversion,
    Legalize,
    sizes_of,
)
from xla_dialect.stablehlo.legalize.dynamic_shapes import convert_shaped
from xla_dialect.stablehlo.op import applied_to_two
from xla_dialect.stablehlo.ops import contraction as stablehlo
from xla_dialect.types import Array, ElementClass, array, element_class
from xla_dialect.xdsl.operation_table import OperationTable


def emit_sum(conversion: Conversion, value: SSAValue, dimensions: Sequence[int]) -> SSAValue:
    """The sum of an array over some of its dimensions."""
    type_ = cast(Array, value.type)
    is_complex = element_class(type_.element_type) == ElementClass.COMPLEX
    element = (0, 0) if is_complex else 0
    zero = conversion.constant(TensorType(type_.element_type, ()), [element])
    regions = [applied_to_two(AddOp, type_.element_type, ReturnOp)]
    return conversion.made(ReduceOp([value], [zero], dimensions=dimensions, regions=regions))


class EinsumOperand:
    """An array with one letter for each of its dimensions."""

    def __init__(self, conversion: Conversion, value: SSAValue, labels: str):
        self.conversion = conversion
        self.value = value
        self.labels = labels

    @property
    def type(self) -> Array:
        """The type of the array."""
        return cast(Array, self.value.type)

    @staticmethod
    def of(conversion: Conversion, value: SSAValue, labels: str) -> EinsumOperand:
        """With its diagonal where a letter occurs twice, which then comes last."""
        found = EinsumOperand(conversion, value, labels)
        while (repeated := _repeated(found.labels)) is not None:
            found = found.diagonal(repeated)
        return found

    def diagonal(self, label: str) -> EinsumOperand:
        """The elements whose indices in the first two dimensions with a letter are equal."""
        first = self.labels.index(label)
        second = self.labels.index(label, first + 1)
        sizes = sizes_of(self.type)
        rest = [d for d in range(len(sizes)) if d not in (first, second)]
        outer, size = [sizes[d] for d in rest], sizes[first]
        make = self.conversion.made
        value = make(TransposeOp(self.value, dimensions=[*rest, first, second]))
        value = self.conversion.reshaped(value, [*outer, size * size])
        start, strides = [0] * (len(outer) + 1), [*(1 for _ in outer), size + 1]
        ends = [*outer, size * size]
        value = make(SliceOp(value, start_indices=start, limit_indices=ends, strides=strides))
        labels = "".join(self.labels[d] for d in rest) + label
        return EinsumOperand(self.conversion, value, labels)

    def places(self, labels: str) -> list[int]:
        """The dimensions with these letters."""
        return [self.labels.index(label) for label in labels]

    def summed_to(self, wanted: str) -> EinsumOperand:
        """The sum over the dimensions whose letters are not among the wanted ones."""
        dropped = [d for d, label in enumerate(self.labels) if label not in wanted]
        if not dropped:
            return self
        total = emit_sum(self.conversion, self.value, dropped)
        rest = "".join(label for label in self.labels if label in wanted)
        return EinsumOperand(self.conversion, total, rest)

    def ordered(self, wanted: str) -> SSAValue:
        """The array with its dimensions in the wanted order."""
        if wanted == self.labels:
            return self.value
        return self.conversion.made(TransposeOp(self.value, dimensions=self.places(wanted)))


def _repeated(labels: str) -> str | None:
    return next((label for label in labels if labels.count(label) > 1), None)


def convert_einsum(op: stablehlo.EinsumBase, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.einsum`: sums over letters of one operand, a contraction, a transposition."""
    labels, wanted = op.letters([value.type for value in conversion.operands(op)])
    sides = [
        EinsumOperand.of(conversion, value, text)
        for value, text in zip(conversion.operands(op), labels, strict=True)
    ]
    lhs = sides[0].summed_to(wanted + labels[1])
    rhs = sides[1].summed_to(wanted + labels[0])
    shared = [label for label in lhs.labels if label in rhs.labels]
    batch = "".join(label for label in shared if label in wanted)
    contracted = "".join(label for label in shared if label not in wanted)
    free = ["".join(label for label in side.labels if label not in shared) for side in (lhs, rhs)]
    lhs_sizes, rhs_sizes = sizes_of(lhs.type), sizes_of(rhs.type)
    sizes = [lhs_sizes[d] for d in lhs.places(batch + free[0])]
    sizes += [rhs_sizes[d] for d in rhs.places(free[1])]
    declared = cast(Array, conversion.result_types(op)[0])
    product = conversion.made(
        xla.DotOp(
            lhs.value,
            rhs.value,
            lhs_batch_dims=lhs.places(batch),
            rhs_batch_dims=rhs.places(batch),
            lhs_contracting_dims=lhs.places(contracted),
            rhs_contracting_dims=rhs.places(contracted),
            result_types=[array(declared.element_type, sizes)],
        )
    )
    result = EinsumOperand(conversion, product, batch + free[0] + free[1])
    return [result.ordered(wanted)]


def convert_unary_einsum(op: stablehlo.EinsumBase, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.unary_einsum`: a sum over letters that the result has not, and a transposition."""
    (value,) = conversion.operands(op)
    (labels,), wanted = op.letters([value.type])
    operand = EinsumOperand.of(conversion, value, labels)
    return [operand.summed_to(wanted).ordered(wanted)]


def convert_torch_index_select(
    op: stablehlo.TorchIndexSelectOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`stablehlo.torch_index_select`: a gather along `dim`; the first `batch_dims` are batching."""
    operand, index = conversion.operands(op)
    sizes, index_sizes = sizes_of(operand.type), sizes_of(index.type)
    dim, batch_count = op.dim.value.data, op.batch_dims.value.data
    batch = range(batch_count)
    vectors = conversion.reshaped(index, (*index_sizes, 1))
    added = len(index_sizes) - batch_count
    offsets = [*range(batch_count, dim), *range(dim + added, len(sizes) - 1 + added)]
    kept = [1 if d in batch or d == dim else size for d, size in enumerate(sizes)]
    return conversion.add(
        GatherOp(
            operand,
            vectors,
            offset_dims=offsets,
            collapsed_slice_dims=[dim],
            operand_batching_dims=batch,
            start_indices_batching_dims=batch,
            start_index_map=[dim],
            index_vector_dim=len(index_sizes),
            slice_sizes=kept,
            indices_are_sorted=False,
            result_types=conversion.result_types(op),
        )
    )


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.DynamicConvOp, convert_shaped)
    .add(stablehlo.EinsumOp, convert_einsum)
    .add(stablehlo.UnaryEinsumOp, convert_unary_einsum)
    .add(stablehlo.TorchIndexSelectOp, convert_torch_index_select)
)
