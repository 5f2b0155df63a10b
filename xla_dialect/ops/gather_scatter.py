"""Indexed reads (operations.md, section 32)."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from xla_dialect import shapes
from xla_dialect.constraints import require_dimensions, require_length, with_elements
from xla_dialect.op import Types, XlaOp
from xla_dialect.types import ElementClass, array
from xla_dialect.violation import require

Ints = tuple[int, ...]
INTEGERS = DenseArrayBase.constr(i64)
EMPTY = DenseArrayBase.from_list(i64, ())
FLAG = IntegerAttr.constr(type=i1)


@irdl_op_definition
class GatherOp(XlaOp):
    """
    Stitches together slices of the operand that start where `start_indices` says.

    With G the batch part of an output index and O its offset part: `S = start_indices[G]` along
    `index_vector_dim`, spread over the operand's dimensions by `start_index_map`, clamped so that
    the slice lies inside, plus O at the dimensions that are neither collapsed nor batching.

    (C1) indices are integers. (C2) `0 <= index_vector_dim <= rank(start_indices)`; at the rank, a
    trailing 1 is implied. (C3) `offset_dims` ascend inside the result.
    (C4) `collapsed_slice_dims` ascend inside the operand, with slice sizes 0 or 1.
    (C5) the operand's dimensions are offset, collapsed or batching ones; one slice size for each.
    (C6) `0 <= slice size <= size`. (C7) `start_index_map` has one distinct dimension of the operand
    per index. (C8) batching dimensions pair up with equal sizes; on the operand they ascend, have
    slice sizes 0 or 1 and are neither collapsed nor indexed; on the indices `index_vector_dim` is
    not among them.
    """

    name = "xla.gather"
    operand = operand_def()
    start_indices = operand_def()
    offset_dims = prop_def(INTEGERS)
    collapsed_slice_dims = prop_def(INTEGERS, default_value=EMPTY)
    operand_batching_dims = prop_def(INTEGERS, default_value=EMPTY)
    start_indices_batching_dims = prop_def(INTEGERS, default_value=EMPTY)
    start_index_map = prop_def(INTEGERS)
    index_vector_dim = prop_def(IntegerAttr.constr(type=i64))
    slice_sizes = prop_def(INTEGERS)
    indices_are_sorted = prop_def(FLAG, default_value=BoolAttr.from_bool(False))
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def infer(
        operand: Attribute,
        start_indices: Attribute,
        *,
        offset_dims: Ints,
        collapsed_slice_dims: Ints,
        operand_batching_dims: Ints,
        start_indices_batching_dims: Ints,
        start_index_map: Ints,
        index_vector_dim: int,
        slice_sizes: Ints,
    ) -> Types:
        """Batch dimensions from the indices, offset dimensions from the slice sizes."""
        source = with_elements(operand, ElementClass.ANY, "operand")
        indices = with_elements(start_indices, ElementClass.INTEGER, "start_indices")
        sizes, index_sizes = source.get_shape(), indices.get_shape()
        rank = len(sizes)
        require(
            0 <= index_vector_dim <= len(index_sizes),
            "C2",
            "index_vector_dim = {} for indices of rank {}",
            index_vector_dim,
            len(index_sizes),
        )
        extended = shapes.with_index_vector(index_sizes, index_vector_dim)
        _require_ascending(offset_dims, len(extended) - 1 + len(offset_dims), "offset_dims", "C3")
        _require_ascending(collapsed_slice_dims, rank, "collapsed_slice_dims", "C4")
        require_length(slice_sizes, rank, "slice_sizes", "C5")
        dropped = (*collapsed_slice_dims, *operand_batching_dims)
        require(
            rank == len(offset_dims) + len(dropped),
            "C5",
            "{} offset, {} collapsed and {} batching dimensions for an operand of rank {}",
            len(offset_dims),
            len(collapsed_slice_dims),
            len(operand_batching_dims),
            rank,
        )
        require(
            all(0 <= s <= d for s, d in zip(slice_sizes, sizes, strict=True)),
            "C6",
            "slice sizes {} of an operand with sizes {}",
            list(slice_sizes),
            list(sizes),
        )
        for d in collapsed_slice_dims:
            require(slice_sizes[d] <= 1, "C4", "collapsed slice size is {}", slice_sizes[d])
        require_length(start_index_map, extended[index_vector_dim], "start_index_map", "C7")
        require_dimensions(start_index_map, rank, "start_index_map", "C7")
        _require_batching(
            (operand_batching_dims, sizes, slice_sizes),
            (start_indices_batching_dims, extended, index_vector_dim),
            (*collapsed_slice_dims, *start_index_map),
        )
        result = shapes.gathered(extended, index_vector_dim, slice_sizes, dropped, offset_dims)
        return (array(source.element_type, result),)


def _require_ascending(numbers: Ints, rank: int, name: str, label: str) -> None:
    require_dimensions(numbers, rank, name, label)
    require(shapes.is_ascending(numbers), label, "{} = {} do not ascend", name, list(numbers))


def _require_batching(
    operand: tuple[Ints, Ints, Ints], indices: tuple[Ints, Ints, int], taken: Ints
) -> None:
    """(C8): `operand` is (dims, sizes, slice sizes), `indices` is (dims, sizes, index vector)."""
    dims, sizes, slice_sizes = operand
    index_dims, index_sizes, index_vector_dim = indices
    _require_ascending(dims, len(sizes), "operand_batching_dims", "C8")
    require_dimensions(index_dims, len(index_sizes), "start_indices_batching_dims", "C8")
    found = [sizes[d] for d in dims], [index_sizes[d] for d in index_dims]
    require(found[0] == found[1], "C8", "batching sizes are {} and {}", *found)
    require(all(slice_sizes[d] <= 1 for d in dims), "C8", "batching slice sizes exceed 1")
    require(
        not set(dims) & set(taken),
        "C8",
        "batching dimensions {} are collapsed or indexed",
        list(dims),
    )
    require(
        index_vector_dim not in index_dims,
        "C8",
        "index_vector_dim {} is a batching dimension",
        index_vector_dim,
    )
