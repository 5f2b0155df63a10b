"""
xDSL's `vector` dialect with the operations of MLIR 22 that xDSL 0.74.0 does not define and
loops over vectors need: `vector.gather` and `vector.scatter`.

`VECTOR` is to be loaded in the place of `xdsl.dialects.vector.Vector`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    IndexType,
    IndexTypeConstr,
    IntegerType,
    MemRefType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.type import get_element_type_or_self

from xla_dialect.xdsl.definition import op_definition

IndexVector = VectorType.constr(IndexTypeConstr | base(IntegerType))
MaskVector = VectorType.constr(i1)


def verify_indexed_access(
    base: SSAValue, offsets: Sequence[SSAValue], vectors: Sequence[SSAValue]
) -> None:
    """
    Raises a VerifyException unless there is one offset for each dimension of `base` and
    the vectors (indices, mask, values) have one shape and the last `base`'s element type.
    """
    base_type, types = base.type, [vector.type for vector in vectors]
    assert isinstance(base_type, MemRefType)
    if len(offsets) != base_type.get_num_dims():
        raise VerifyException(f"{len(offsets)} offsets into {base_type}")
    shapes = {each.get_shape() for each in types if isinstance(each, VectorType)}
    if len(shapes) != 1:
        raise VerifyException("vectors differ in shape: " + ", ".join(map(str, types)))
    if get_element_type_or_self(types[-1]) != base_type.get_element_type():
        raise VerifyException(f"element types of {base_type} and {types[-1]} differ")


@op_definition
class GatherOp(IRDLOperation):
    """
    `result[i] = base[offsets ... + index_vec[i]] if mask[i] else pass_thru[i]`; the index
    vector counts elements along the last dimension.
    """

    name = "vector.gather"
    base = operand_def(MemRefType)
    offsets = var_operand_def(IndexType)
    index_vec = operand_def(IndexVector)
    mask = operand_def(MaskVector)
    pass_thru = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$base `[` $offsets `]` `[` $index_vec `]` `,` $mask `,` $pass_thru attr-dict `:` "
        "type($base) `,` type($index_vec) `,` type($mask) `,` type($pass_thru) `into` "
        "type($result)"
    )

    def __init__(
        self,
        base: SSAValue | Operation,
        offsets: Sequence[SSAValue | Operation],
        index_vec: SSAValue | Operation,
        mask: SSAValue | Operation,
        pass_thru: SSAValue | Operation,
    ):
        pass_thru = SSAValue.get(pass_thru)
        result_types: list[Attribute] = [pass_thru.type]
        super().__init__(
            operands=[base, offsets, index_vec, mask, pass_thru], result_types=result_types
        )

    def verify_(self) -> None:
        verify_indexed_access(
            self.base, self.offsets, [self.index_vec, self.mask, self.pass_thru, self.result]
        )
        if self.result.type != self.pass_thru.type:
            raise VerifyException(
                f"result type {self.result.type} is not that of pass_thru, {self.pass_thru.type}"
            )


@op_definition
class ScatterOp(IRDLOperation):
    """
    `base[offsets ... + index_vec[i]] = value[i]` where `mask[i]`, in ascending order of
    `i`; the index vector counts elements along the last dimension.
    """

    name = "vector.scatter"
    base = operand_def(MemRefType)
    offsets = var_operand_def(IndexType)
    index_vec = operand_def(IndexVector)
    mask = operand_def(MaskVector)
    value_to_store = operand_def(VectorType)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$base `[` $offsets `]` `[` $index_vec `]` `,` $mask `,` $value_to_store attr-dict "
        "`:` type($base) `,` type($index_vec) `,` type($mask) `,` type($value_to_store)"
    )

    def __init__(
        self,
        base: SSAValue | Operation,
        offsets: Sequence[SSAValue | Operation],
        index_vec: SSAValue | Operation,
        mask: SSAValue | Operation,
        value_to_store: SSAValue | Operation,
    ):
        super().__init__(operands=[base, offsets, index_vec, mask, value_to_store])

    def verify_(self) -> None:
        verify_indexed_access(
            self.base, self.offsets, [self.index_vec, self.mask, self.value_to_store]
        )


VECTOR = Dialect(
    "vector",
    [*vector.Vector.operations, GatherOp, ScatterOp],
    list(vector.Vector.attributes),
)
"""`vector` with the operations above."""
