"""Dimensions whose size is known at run time only.

A dynamic dimension has an upper bound, which counts as its size in every constraint. Operations
see the elements that are there; what lies between size and bound is padding without a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    var_operand_def,
)

from xla_dialect.attributes import INTEGER
from xla_dialect.constraints import (
    ArrayOf,
    declared_array,
    require_same_elements,
)
from xla_dialect.dimensions import (
    DimensionRelations,
    Factor,
    FactorType,
    Numbering,
    Place,
    RelationsBuilder,
    Traversal,
)
from xla_dialect.op import PureOp, Types, XlaOp, decode
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.shapes.size_arithmetic import DynamicSize, bounded, is_dynamic, is_unknown
from xla_dialect.types import (
    S32,
    Array,
    array,
    element_count,
    extents,
    is_scalar,
    sizes_of,
    spell,
)
from xla_dialect.violations import require

MAX_SIZE = 2**31 - 1
"""Sizes of dimensions are read and set as s32."""


def _require_sized(operand: Array, dimension: int, label: str) -> None:
    """(C2) of both operations, and the rule of this label: the size of the dimension fits s32."""
    sizes = sizes_of(operand)
    require(0 <= dimension < len(sizes), "C2", "dimension {} of rank {}", dimension, len(sizes))
    size = sizes[dimension]
    require(
        bounded(0, size, MAX_SIZE), label, "size {} of dimension {} exceeds s32", size, dimension
    )


@irdl_op_definition
class GetDimensionSizeOp(PureOp):
    """
    The size of `dimension`, the one at run time if it is dynamic, as `s32[]`.

    (C1) the operand is an array. (C2) `0 <= dimension < rank`. (C3) the size is at most 2^31 - 1.
    """

    name = "xla.get_dimension_size"
    NUMBERING: ClassVar = {"dimension": Numbering(numbers=0)}
    operand = operand_def(ArrayOf())
    dimension = prop_def(INTEGER)

    @staticmethod
    def infer(operand: Array, *, dimension: int) -> Types:
        """`s32[]`."""
        _require_sized(operand, dimension, "C3")
        return (array(S32, ()),)

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        """No element is read."""


def _is_dynamic_in(declared: Sequence[Attribute], dimension: int) -> bool:
    """Whether a dimension of the declared result is dynamic, or there is no such dimension."""
    if len(declared) != 1 or not isinstance(declared[0], TensorType):
        return True
    sizes = sizes_of(cast(Array, declared[0]))
    return len(sizes) <= dimension or is_dynamic([sizes[dimension]])


@irdl_op_definition
class SetDimensionSizeOp(PureOp):
    """
    The operand, of which only the first `size` elements along `dimension` count.

    The bound of the dimension does not change. Where a dimension that is dynamic already grows, the
    reference has zeros. The result may be declared with a static `dimension`: all elements count.

    (C1) the operand is an array. (C2) `0 <= dimension < rank`. (C3) `size` is `s32[]`.
    (C4) at run time `0 <= size <= bound`; the bound is at most 2^31 - 1. (C5) at run time `size` is
    the bound where `dimension` of the result is static.
    """

    name = "xla.set_dimension_size"
    NUMBERING: ClassVar = {"dimension": Numbering(numbers=0)}
    operand = operand_def(ArrayOf())
    size = operand_def()
    dimension = prop_def(INTEGER)

    @staticmethod
    def infer(operand: Array, size: Attribute, *, dimension: int, declared: Types = ()) -> Types:
        """The type of the operand with `dimension` dynamic, unless it is declared static."""
        _require_sized(operand, dimension, "C4")
        sizes = sizes_of(operand)
        require(is_scalar(size, S32), "C3", "size is {}, not s32[]", spell(size))
        is_static = not (is_unknown(sizes[dimension]) or _is_dynamic_in(declared, dimension))
        sized = int if is_static else DynamicSize
        marked = [
            sized(n) if d == dimension and not is_unknown(n) else n for d, n in enumerate(sizes)
        ]
        return (array(operand.element_type, marked),)

    @property
    def is_whole(self) -> bool:
        """Whether all elements count, for the dimension of the result is static."""
        return not _is_dynamic_in(self.result_types, self.dimension.value.data)

    @staticmethod
    def relate(relations: RelationsBuilder, *, dimension: int) -> None:
        """Dimension by dimension; the size of `dimension` counts from its first element."""
        relations.add_each(
            Factor(size, FactorType.NEED_REPLICATION, Traversal.INDEXED) if d == dimension else size
            for d, size in enumerate(relations.operands[0])
        )


@irdl_op_definition
class DynamicReshapeOp(PureOp):
    """
    The elements in row-major order, refilled into an array of the sizes `dim_sizes`.

    The declared type bounds the sizes.

    (C1) operand and result are arrays of one element type. (C2) `dim_sizes` has one `s32[]` per
    dimension of the result. (C3) the bounds of the result have as many elements as the operand.
    (C4) at run time the sizes have as many elements as the operand, none exceeds its bound, and
    those of static dimensions are as declared.
    """

    name = "xla.dynamic_reshape"
    operand = operand_def(ArrayOf())
    dim_sizes = var_operand_def()

    @staticmethod
    def infer(operand: Array, dim_sizes: tuple[Attribute, ...], *, declared: Types) -> Types:
        """The declared type."""
        result = declared_array(declared)
        require_same_elements(operand, result, "operand and result", "C1")
        before, after = sizes_of(operand), sizes_of(result)
        require(
            len(dim_sizes) == len(after), "C2", "{} sizes for rank {}", len(dim_sizes), len(after)
        )
        for number, size in enumerate(dim_sizes):
            require(is_scalar(size, S32), "C2", "size {} is {}, not s32[]", number, spell(size))
        require(
            element_count(before) == element_count(after),
            "C3",
            "{} elements of {} become {} of {}",
            element_count(before),
            list(before),
            element_count(after),
            list(after),
        )
        return (result,)

    relate = staticmethod(RelationsBuilder.add_mixed)


Dimensions: TypeAlias = Sequence[Place]
"""Numbers of operands, each with one of its dimensions."""


def _relations(op: Operation) -> DimensionRelations | None:
    return op.dimension_relations() if isinstance(op, XlaOp) else None


def shared_dimensions(op: Operation) -> tuple[Dimensions, ...]:
    """
    The groups of dimensions of operands whose elements belong together.

    At run time the smallest size in a group is that of all of them.
    """
    relations = _relations(op)
    groups = () if relations is None else relations.sized_together
    return tuple(group for group in groups if len(group) > 1)


def undefined(op: Operation) -> str | None:
    """Why dynamic dimensions of the operands have no meaning for an operation; None if they do."""
    relations = _relations(op)
    if relations is None:
        return None
    for (i, d), reason in relations.static.items():
        if isinstance(extents(cast(Array, op.operands[i].type))[d], DynamicSize):
            return f"dimension {d} of operand {i} cannot be dynamic: {reason}"
    return None


def whole_windows(op: ScatterOp) -> dict[int, int]:
    """
    The window dimensions of the updates along which windows have a place and size of their own.

    For each the dimension of the inputs, all of which it takes in.
    """
    relations = op.dimension_relations()
    assert relations is not None
    updates = relations.operands[len(op.inputs) + 1]
    return {
        p: d
        for p in cast("tuple[int, ...]", decode(op.update_window_dims))
        for i, d in relations.operand_places(updates[p][0])
        if i == 0
    }
