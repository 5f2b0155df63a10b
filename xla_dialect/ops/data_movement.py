"""Operations that move elements without changing them."""

from __future__ import annotations

from itertools import accumulate
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    var_operand_def,
)

from xla_dialect.attributes import INTEGER, INTEGERS, NO_INTEGERS
from xla_dialect.constraints import (
    ArrayOf,
    declared_array,
    require_dimensions,
    require_index_scalars,
    require_length,
    require_same_elements,
    with_elements,
)
from xla_dialect.dimensions import (
    RESULT,
    Concatenation,
    Factor,
    FactorType,
    Numbering,
    Padding,
    RelationsBuilder,
    Slicing,
    Traversal,
)
from xla_dialect.layout import LayoutError
from xla_dialect.layouts.type_layouts import byte_size_of, validate_layout_for_shape
from xla_dialect.op import Ints, PointwiseOp, PureOp, Types
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.size_arithmetic import (
    bounded,
    compatible,
    compatible_sizes,
    is_dynamic,
    is_unknown,
    marked,
    united,
)
from xla_dialect.types import (
    Array,
    ElementClass,
    array,
    element_count,
    is_scalar,
    map_leaves,
    sizes_of,
    without_layout,
)
from xla_dialect.violations import Violation, require


@irdl_op_definition
class BroadcastOp(PureOp):
    """
    `result[o] = operand[(o[dimensions[k]])_k]`: operand dimension k becomes `dimensions[k]`.

    (C1) one entry of `dimensions` per dimension of the operand. (C3) the entries are distinct
    dimensions of the result. (C4) mapped sizes are equal; size 1 is not stretched.
    """

    name = "xla.broadcast"
    NUMBERING: ClassVar = {"dimensions": Numbering(listed=0, numbers=RESULT)}
    operand = operand_def(ArrayOf())
    dimensions = prop_def(INTEGERS, default_value=NO_INTEGERS)

    @staticmethod
    def infer(operand: Array, *, dimensions: Ints, declared: Types) -> Types:
        """The declared type."""
        result = declared_array(declared)
        require_same_elements(operand, result, "operand and result", "Result")
        before, sizes = sizes_of(operand), list(sizes_of(result))
        require_length(dimensions, len(before), "dimensions", "C1")
        require_dimensions(dimensions, len(sizes), "dimensions", "C3")
        mapped = [sizes[d] for d in dimensions]
        require(
            compatible_sizes(before, mapped),
            "C4",
            "operand sizes {} map to {}",
            list(before),
            mapped,
        )
        for size, d in zip(before, dimensions, strict=True):
            sizes[d] = size
        return (array(result.element_type, sizes),)

    @staticmethod
    def relate(relations: RelationsBuilder, *, dimensions: Ints) -> None:
        """Dimensions of the result that none becomes are new."""
        for d, size in enumerate(relations.results[0]):
            relations.add(size, {0: dimensions.index(d)} if d in dimensions else {}, {0: d})


@irdl_op_definition
class ReshapeOp(PureOp):
    """
    The elements in row-major order, refilled in row-major order.

    (C1) sizes are not negative. (C2) operand and result have as many elements; dynamic dimensions
    of the operand give dynamic ones in the result.
    """

    name = "xla.reshape"
    operand = operand_def(ArrayOf())

    @staticmethod
    def infer(operand: Array, *, declared: Types) -> Types:
        """The declared type."""
        result = declared_array(declared)
        require_same_elements(operand, result, "operand and result", "Result")
        before, after = sizes_of(operand), sizes_of(result)
        require(
            compatible(element_count(before), element_count(after)),
            "C2",
            "{} elements of {} become {} of {}",
            element_count(before),
            list(before),
            element_count(after),
            list(after),
        )
        require(
            not is_dynamic(before) or is_dynamic(after),
            "C2",
            "sizes {} are dynamic, {} are not",
            list(before),
            list(after),
        )
        return (result,)

    relate = staticmethod(RelationsBuilder.add_regrouping)


@irdl_op_definition
class TransposeOp(PureOp):
    """
    `result[o] = operand[x]` with `x[dimensions[i]] = o[i]`.

    (C1) `dimensions` is a permutation of the dimensions of the operand.
    """

    name = "xla.transpose"
    NUMBERING: ClassVar = {"dimensions": Numbering(listed=RESULT, numbers=0)}
    operand = operand_def(ArrayOf())
    dimensions = prop_def(INTEGERS)

    @staticmethod
    def infer(operand: Array, *, dimensions: Ints) -> Types:
        """`result size i = operand size dimensions[i]`."""
        sizes = sizes_of(operand)
        require(
            sorted(dimensions) == list(range(len(sizes))),
            "C1",
            "{} is no permutation of {} dimensions",
            list(dimensions),
            len(sizes),
        )
        return (array(operand.element_type, shapes.permuted(sizes, dimensions)),)

    @staticmethod
    def relate(relations: RelationsBuilder, *, dimensions: Ints) -> None:
        """Dimension d of the result is `dimensions[d]` of the operand."""
        for d, source in enumerate(dimensions):
            relations.add(relations.results[0][d], {0: source}, {0: d})


@irdl_op_definition
class SliceOp(PureOp):
    """
    `result[i] = operand[start_indices + i * strides]`; limits are exclusive.

    Of a dynamic dimension the elements that are there remain; a single one is always there.

    (C1) one start, limit and stride per dimension. (C2) `0 <= start <= limit <= size`.
    (C3) strides are positive.
    """

    name = "xla.slice"
    NUMBERING: ClassVar = dict.fromkeys(
        ("start_indices", "limit_indices", "strides"), Numbering(listed=0)
    )
    operand = operand_def(ArrayOf())
    start_indices = prop_def(INTEGERS)
    limit_indices = prop_def(INTEGERS)
    strides = prop_def(INTEGERS)

    @staticmethod
    def infer(operand: Array, *, start_indices: Ints, limit_indices: Ints, strides: Ints) -> Types:
        """`⌈(limit - start) / stride⌉` per dimension."""
        sizes = sizes_of(operand)
        for name, values in (
            ("start_indices", start_indices),
            ("limit_indices", limit_indices),
            ("strides", strides),
        ):
            require_length(values, len(sizes), name, "C1")
        for d, (start, limit, size) in enumerate(
            zip(start_indices, limit_indices, sizes, strict=True)
        ):
            require(
                bounded(0, start, limit) and bounded(start, limit, size),
                "C2",
                "[{}:{}] of dimension {} with size {}",
                start,
                limit,
                d,
                size,
            )
        require(all(bounded(1, s) for s in strides), "C3", "strides are {}", list(strides))
        result = shapes.sliced(start_indices, limit_indices, strides)
        return (
            array(
                operand.element_type,
                [n if n == 1 else marked(n, d) for n, d in zip(result, sizes, strict=True)],
            ),
        )

    @staticmethod
    def relate(
        relations: RelationsBuilder, *, start_indices: Ints, limit_indices: Ints, strides: Ints
    ) -> None:
        """Dimension by dimension; those that are taken whole pass through."""
        sizes = relations.operands[0]
        relations.add_each(
            size
            if (start, limit, stride) == (0, size, 1)
            else Factor(size, FactorType.PERMUTATION, Slicing(start, limit, stride))
            for size, start, limit, stride in zip(
                sizes, start_indices, limit_indices, strides, strict=True
            )
        )


@irdl_op_definition
class ConcatenateOp(PureOp):
    """
    The operands one after the other along `dimension`.

    (C1) there is an operand. (C2) all have one element type and rank.
    (C3) `0 <= dimension < rank`. (C4) all other sizes are equal.
    """

    name = "xla.concatenate"
    NUMBERING: ClassVar = {"dimension": Numbering(numbers=0)}
    inputs = var_operand_def(ArrayOf())
    dimension = prop_def(INTEGER)

    @staticmethod
    def infer(inputs: tuple[Array, ...], *, dimension: int) -> Types:
        """Sizes along `dimension` add up."""
        require(bool(inputs), "C1", "there are no operands")
        first = inputs[0]
        sizes = list(sizes_of(first))
        rank = len(sizes)
        require(0 <= dimension < rank, "C3", "dimension {} of rank {}", dimension, rank)
        for i, other in enumerate(inputs[1:], 1):
            require_same_elements(first, other, f"operands 0 and {i}", "C2")
            found = sizes_of(other)
            require(len(found) == rank, "C2", "operand {} has rank {}, not {}", i, len(found), rank)
            require(
                all(
                    compatible(a, b)
                    for d, (a, b) in enumerate(zip(sizes, found, strict=True))
                    if d != dimension
                ),
                "C4",
                "operand {} has sizes {}, operand 0 {}",
                i,
                list(found),
                list(sizes_of(first)),
            )
            for d, size in enumerate(found):
                sizes[d] = sizes[d] + size if d == dimension else united([sizes[d]], [size])[0]
        return (array(first.element_type, sizes),)

    @staticmethod
    def relate(relations: RelationsBuilder, *, dimension: int) -> None:
        """Along `dimension` sizes add up; the other dimensions are those of all operands."""
        ends = tuple(accumulate(sizes[dimension] for sizes in relations.operands))
        joined = Factor(ends[-1], FactorType.NEED_REPLICATION, Concatenation((0, *ends[:-1])))
        relations.add_each(
            (joined if d == dimension else size for d, size in enumerate(relations.results[0])),
            range(len(relations.operands)),
        )


@irdl_op_definition
class PadOp(PureOp):
    """
    `result[low + i * (interior + 1)] = operand[i]`; all else is `padding_value`.

    Negative low or high padding removes elements after the interior padding.

    (C1) `padding_value` is a scalar of the operand's element type. (C2) one entry per dimension.
    (C3) interior padding is not negative. (C4) result sizes are not negative.
    """

    name = "xla.pad"
    NUMBERING: ClassVar = dict.fromkeys(
        ("edge_padding_low", "edge_padding_high", "interior_padding"), Numbering(listed=0)
    )
    operand = operand_def(ArrayOf())
    padding_value = operand_def()
    edge_padding_low = prop_def(INTEGERS)
    edge_padding_high = prop_def(INTEGERS)
    interior_padding = prop_def(INTEGERS)

    @staticmethod
    def infer(
        operand: Array,
        padding_value: Attribute,
        *,
        edge_padding_low: Ints,
        edge_padding_high: Ints,
        interior_padding: Ints,
    ) -> Types:
        """`low + d + max(d - 1, 0) * interior + high` per dimension."""
        require(
            is_scalar(padding_value, operand.element_type),
            "C1",
            "padding value is {}, not a scalar of {}",
            padding_value,
            operand.element_type,
        )
        sizes = sizes_of(operand)
        for name, values in (
            ("edge_padding_low", edge_padding_low),
            ("edge_padding_high", edge_padding_high),
            ("interior_padding", interior_padding),
        ):
            require_length(values, len(sizes), name, "C2")
        require(
            all(bounded(0, i) for i in interior_padding),
            "C3",
            "interior padding is {}",
            list(interior_padding),
        )
        result = shapes.padded(sizes, edge_padding_low, edge_padding_high, interior_padding)
        require(all(bounded(0, d) for d in result), "C4", "result sizes are {}", list(result))
        return (array(operand.element_type, result),)

    @staticmethod
    def relate(
        relations: RelationsBuilder,
        *,
        edge_padding_low: Ints,
        edge_padding_high: Ints,
        interior_padding: Ints,
    ) -> None:
        """Dimension by dimension; those without padding pass through."""
        sizes = relations.operands[0]
        relations.add_each(
            Factor(size, FactorType.PERMUTATION, Padding(low, high, interior))
            if low or high or interior
            else size
            for size, low, high, interior in zip(
                sizes, edge_padding_low, edge_padding_high, interior_padding, strict=True
            )
        )


@irdl_op_definition
class ReverseOp(PureOp):
    """
    `result[i] = operand[i']` with `i'[d] = size[d] - 1 - i[d]` for d in `dimensions`.

    (C1) `dimensions` are distinct dimensions of the operand.
    """

    name = "xla.reverse"
    NUMBERING: ClassVar = {"dimensions": Numbering(numbers=0)}
    operand = operand_def(ArrayOf())
    dimensions = prop_def(INTEGERS)

    @staticmethod
    def infer(operand: Array, *, dimensions: Ints) -> Types:
        """The type of the operand."""
        require_dimensions(dimensions, len(operand.shape.data), "dimensions", "C1")
        return (without_layout(operand),)

    @staticmethod
    def relate(relations: RelationsBuilder, *, dimensions: Ints) -> None:
        """Dimension by dimension."""
        relations.add_each(
            Factor(size, FactorType.PERMUTATION, Traversal.REVERSED) if d in dimensions else size
            for d, size in enumerate(relations.operands[0])
        )


@irdl_op_definition
class DynamicSliceOp(PureOp):
    """
    `result[k] = operand[start + k]`, every start clamped to `[0, size - slice size]`.

    (C1) one integer scalar of one type per dimension. (C2) one slice size per dimension.
    (C3) `0 <= slice size <= size`.
    """

    name = "xla.dynamic_slice"
    NUMBERING: ClassVar = dict.fromkeys(
        ("start_indices", "dynamic_slice_sizes"), Numbering(listed=0)
    )
    operand = operand_def(ArrayOf())
    start_indices = var_operand_def()
    dynamic_slice_sizes = prop_def(INTEGERS)

    @staticmethod
    def infer(
        operand: Array, start_indices: tuple[Attribute, ...], *, dynamic_slice_sizes: Ints
    ) -> Types:
        """The slice sizes; a dynamic dimension that is taken whole remains dynamic."""
        sizes = sizes_of(operand)
        require_index_scalars(start_indices, len(sizes), "C1")
        require_length(dynamic_slice_sizes, len(sizes), "dynamic_slice_sizes", "C2")
        require(
            all(bounded(0, s, d) for s, d in zip(dynamic_slice_sizes, sizes, strict=True)),
            "C3",
            "slice sizes {} of an array with sizes {}",
            list(dynamic_slice_sizes),
            list(sizes),
        )
        result = [
            d if s == d and not is_unknown(d) else s
            for s, d in zip(dynamic_slice_sizes, sizes, strict=True)
        ]
        return (array(operand.element_type, result),)

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        """Dimension by dimension; those that are taken whole pass through."""
        relations.add_each(
            size
            if size == taken
            else Factor(size, FactorType.NEED_REPLICATION, Traversal.INDEXED, blocked=True)
            for size, taken in zip(relations.operands[0], relations.results[0], strict=True)
        )


@irdl_op_definition
class DynamicUpdateSliceOp(PureOp):
    """
    The operand with the box at start overwritten by `update`.

    Every start is clamped to `[0, size - update size]`.

    (C1) operand and update have one element type and rank. (C2) `update size <= size`.
    (C3) one integer scalar of one type per dimension.
    """

    name = "xla.dynamic_update_slice"
    NUMBERING: ClassVar = {"start_indices": Numbering(listed=0)}
    operand = operand_def(ArrayOf())
    update = operand_def(ArrayOf())
    start_indices = var_operand_def()

    @staticmethod
    def infer(operand: Array, update: Array, start_indices: tuple[Attribute, ...]) -> Types:
        """The type of the operand."""
        require_same_elements(operand, update, "operand and update", "C1")
        sizes, part_sizes = sizes_of(operand), sizes_of(update)
        require_length(part_sizes, len(sizes), "update", "C1")
        require(
            all(bounded(0, u, d) for u, d in zip(part_sizes, sizes, strict=True)),
            "C2",
            "update sizes {} of an array with sizes {}",
            list(part_sizes),
            list(sizes),
        )
        require_index_scalars(start_indices, len(sizes), "C3")
        return (without_layout(operand),)

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        """Dimension by dimension; along those that are written whole all three go together."""
        operand, update = relations.operands[:2]
        relations.own_sizes = (1,)
        for d, (size, written) in enumerate(zip(operand, update, strict=True)):
            if size == written:
                relations.add(size, {0: d, 1: d}, {0: d})
            else:
                relations.add(Factor(size, along=Traversal.INDEXED), {0: d}, {0: d})
                part = Factor(written, FactorType.NEED_REPLICATION, Traversal.INDEXED)
                relations.add(part, {1: d})


@irdl_op_definition
class CopyOp(PointwiseOp):
    """
    The operand, possibly in another layout or memory space.

    (C1) the operand is an array, or a tuple of arrays at any depth.
    """

    name = "xla.copy"
    operand = operand_def()

    @staticmethod
    def infer(operand: Attribute) -> Types:
        """The type of the operand."""

        def copied(leaf: Attribute) -> Attribute:
            return without_layout(with_elements(leaf, ElementClass.ANY, "operand"))

        return (map_leaves(copied, operand),)


def buffer_bytes(type_: Array) -> int:
    """Bytes of an array in memory, its layout included; raises Violation (C2) for a wrong one."""
    try:
        validate_layout_for_shape(type_)
    except LayoutError as error:
        raise Violation("C2", f"layout of {type_}: {error}") from None
    return byte_size_of(type_)


@irdl_op_definition
class BitcastOp(PureOp):
    """
    The bytes of the operand in the order of its layout, read in the order of the result's layout.

    (C1) both are arrays of XLA element types. (C2) they have as many bytes, padding of the layouts
    included.
    """

    name = "xla.bitcast"
    HANDS_ON: ClassVar = True
    operand = operand_def(ArrayOf())

    @staticmethod
    def infer(operand: Array, *, declared: Types) -> Types:
        """The declared type."""
        result = with_elements(declared_array(declared), ElementClass.ANY, "result")
        before, after = buffer_bytes(operand), buffer_bytes(result)
        require(before == after, "C2", "{} bytes become {}", before, after)
        return (result,)

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        """How dimensions correspond depends on the layouts."""
        relations.add_mixed()
        relations.keep_static("bytes in memory have no dynamic sizes")
