"""Indexed reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Region
from xdsl.irdl import (
    SameVariadicOperandSize,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import RecursiveMemoryEffect

from xla_dialect.attributes import FALSE, FLAG, INTEGER, INTEGERS, NO_INTEGERS
from xla_dialect.constraints import (
    ArrayOf,
    require_dimensions,
    require_length,
    require_same_elements,
    require_same_shape,
)
from xla_dialect.dimensions import Factor, FactorType, RelationsBuilder, Slicing, Traversal
from xla_dialect.op import Ints, PureOp, Types, XlaOp
from xla_dialect.ops.reduction import may_reassociate, require_reducer
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.size_arithmetic import bounded, compatible_sizes, is_dynamic, is_unknown
from xla_dialect.types import Array, ElementClass, array, sizes_of, united_type
from xla_dialect.violations import require


@irdl_op_definition
class GatherOp(PureOp):
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
    operand = operand_def(ArrayOf())
    start_indices = operand_def(ArrayOf(ElementClass.INTEGER))
    offset_dims = prop_def(INTEGERS)
    collapsed_slice_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    operand_batching_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    start_indices_batching_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    start_index_map = prop_def(INTEGERS)
    index_vector_dim = prop_def(INTEGER)
    slice_sizes = prop_def(INTEGERS)
    indices_are_sorted = prop_def(FLAG, default_value=FALSE)

    @staticmethod
    def infer(
        operand: Array,
        start_indices: Array,
        *,
        offset_dims: Ints,
        collapsed_slice_dims: Ints,
        operand_batching_dims: Ints,
        start_indices_batching_dims: Ints,
        start_index_map: Ints,
        index_vector_dim: int,
        slice_sizes: Ints,
    ) -> Types:
        """
        Batch dimensions from the indices, offset dimensions from the slice sizes.

        A dynamic dimension of the operand that slices take whole remains dynamic.
        """
        sizes, index_sizes = sizes_of(operand), sizes_of(start_indices)
        rank = len(sizes)
        extended = _with_index_vector(index_sizes, index_vector_dim, "C2")
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
            all(bounded(0, s, d) for s, d in zip(slice_sizes, sizes, strict=True)),
            "C6",
            "slice sizes {} of an operand with sizes {}",
            list(slice_sizes),
            list(sizes),
        )
        for d in collapsed_slice_dims:
            require(
                bounded(0, slice_sizes[d], 1), "C4", "collapsed slice size is {}", slice_sizes[d]
            )
        require_length(start_index_map, extended[index_vector_dim], "start_index_map", "C7")
        require_dimensions(start_index_map, rank, "start_index_map", "C7")
        _require_batching(
            _Side("operand_batching_dims", operand_batching_dims, sizes),
            _Side("start_indices_batching_dims", start_indices_batching_dims, extended),
            index_vector_dim,
            (*collapsed_slice_dims, *start_index_map),
            "C8",
        )
        require(
            all(bounded(0, slice_sizes[d], 1) for d in operand_batching_dims),
            "C8",
            "batching slice sizes exceed 1",
        )
        window = [
            d if is_dynamic((d,)) and not is_unknown(s) and s == d else s
            for s, d in zip(slice_sizes, sizes, strict=True)
        ]
        result = shapes.gathered(extended, index_vector_dim, window, dropped, offset_dims)
        return (array(operand.element_type, result),)

    @staticmethod
    def relate(
        relations: RelationsBuilder,
        *,
        offset_dims: Ints,
        collapsed_slice_dims: Ints,
        operand_batching_dims: Ints,
        start_indices_batching_dims: Ints,
        start_index_map: Ints,
        index_vector_dim: int,
        slice_sizes: Ints,
    ) -> None:
        """Dimensions of the result: of the indices, or of slices; then what slices drop."""
        sizes, index_sizes = relations.operands
        relations.own_sizes = (0,)
        dropped = (*collapsed_slice_dims, *operand_batching_dims)
        windows = iter(shapes.without(range(len(sizes)), dropped))
        places = iter(shapes.without(range(len(index_sizes)), (index_vector_dim,)))
        paired = dict(zip(start_indices_batching_dims, operand_batching_dims, strict=True))

        def picked(d: int) -> Traversal | Slicing:
            return Traversal.INDEXED if d in start_index_map else Slicing(0, slice_sizes[d], 1)

        for place, size in enumerate(relations.results[0]):
            if place not in offset_dims:
                g = next(places)
                relations.add(size, {1: g} | ({0: paired[g]} if g in paired else {}), {0: place})
                continue
            d = next(windows)
            if slice_sizes[d] == sizes[d]:
                relations.add(size, {0: d}, {0: place})
            elif slice_sizes[d] == 1:
                relations.add(Factor(sizes[d], FactorType.REDUCTION, picked(d)), {0: d})
                one = Factor(1, FactorType.NEED_REPLICATION, picked(d))
                relations.add(one, {}, {0: place})
            else:
                part = Factor(sizes[d], FactorType.NEED_REPLICATION, picked(d), blocked=True)
                relations.add(part, {0: d}, {0: place})
        for d in collapsed_slice_dims:
            type_ = FactorType.REDUCTION if sizes[d] > 1 else FactorType.NEED_REPLICATION
            relations.add(Factor(sizes[d], type_, picked(d)), {0: d})
        _relate_index_vector(relations, index_vector_dim)


def _require_ascending(numbers: Ints, rank: int, name: str, label: str) -> None:
    require_dimensions(numbers, rank, name, label)
    require(shapes.is_ascending(numbers), label, "{} = {} do not ascend", name, list(numbers))


@dataclass(frozen=True)
class _Side:
    """The batching dimensions of the operand, or those of the indices."""

    name: str
    dimensions: Ints
    sizes: Ints
    """All sizes of the array."""


def _require_batching(
    operand: _Side, indices: _Side, index_vector_dim: int, taken: Ints, label: str
) -> None:
    """
    Batching dimensions pair up with equal sizes.

    Those of the operand ascend and are not among `taken`, `index_vector_dim` is not among those of
    the indices.
    """
    _require_ascending(operand.dimensions, len(operand.sizes), operand.name, label)
    require_dimensions(indices.dimensions, len(indices.sizes), indices.name, label)
    found = [[side.sizes[d] for d in side.dimensions] for side in (operand, indices)]
    require(compatible_sizes(*found), label, "batching sizes are {} and {}", *found)
    require(
        not set(operand.dimensions) & set(taken),
        label,
        "{} = {} are inserted, collapsed or indexed",
        operand.name,
        list(operand.dimensions),
    )
    require(
        index_vector_dim not in indices.dimensions,
        label,
        "index_vector_dim {} is a batching dimension",
        index_vector_dim,
    )


def _with_index_vector(sizes: Ints, index_vector_dim: int, label: str) -> Ints:
    """The sizes of indices, with the implied trailing 1."""
    require(
        0 <= index_vector_dim <= len(sizes),
        label,
        "index_vector_dim = {} for indices of rank {}",
        index_vector_dim,
        len(sizes),
    )
    return shapes.with_index_vector(sizes, index_vector_dim)


@irdl_op_definition
class ScatterOp(XlaOp):
    """
    The inputs, with updates combined into windows that start where `scatter_indices` says.

    With G the scatter part of an index U of the updates and W its window part:
    `S = scatter_indices[G]` along `index_vector_dim`, spread over the dimensions of the inputs by
    `scatter_dims_to_operand_dims`, plus W at the dimensions that are neither inserted nor batching,
    gives the place; there `result = to_apply(result, updates[U])`, in row-major order of U. A
    window that is not inside as a whole is skipped as a whole, as XLA does it (StableHLO skips
    single elements).

    (C1) as many updates as inputs, at least one. (C2) all inputs have the same dimensions, and so
    do all updates. (C3) updates have the element types of the inputs. (C4) (RC1) the computation
    takes N current values and N updates, scalars of the element types; (RC2) it returns N of them.
    (C5) indices are integers. (C6) `0 <= index_vector_dim <= rank(scatter_indices)`; at the rank, a
    trailing 1 is implied. (C7) the dimensions of the updates are window dimensions and those of the
    indices without the index vector. (C8) `update_window_dims` ascend inside the updates.
    (C9) `inserted_window_dims` ascend inside the inputs. (C10) the dimensions of the inputs are
    window, inserted or batching ones. (C11) `scatter_dims_to_operand_dims` has one distinct
    dimension of the inputs per index. (C12) windows are no larger than the inputs. (C13) the
    other dimensions of the updates have the sizes of the indices. (C14) batching dimensions pair up
    with equal sizes; on the inputs they ascend and are neither inserted nor indexed; on the indices
    `index_vector_dim` is not among them.
    """

    name = "xla.scatter"
    inputs = var_operand_def(ArrayOf())
    scatter_indices = operand_def(ArrayOf(ElementClass.INTEGER, "C5"))
    updates = var_operand_def(ArrayOf())
    update_window_dims = prop_def(INTEGERS)
    inserted_window_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    input_batching_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    scatter_indices_batching_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    scatter_dims_to_operand_dims = prop_def(INTEGERS)
    index_vector_dim = prop_def(INTEGER)
    indices_are_sorted = prop_def(FLAG, default_value=FALSE)
    unique_indices = prop_def(FLAG, default_value=FALSE)
    outputs = var_result_def()
    to_apply = region_def()
    irdl_options = (SameVariadicOperandSize(),)
    traits = traits_def(RecursiveMemoryEffect())

    @staticmethod
    def infer(
        inputs: tuple[Array, ...],
        scatter_indices: Array,
        updates: tuple[Array, ...],
        *,
        update_window_dims: Ints,
        inserted_window_dims: Ints,
        input_batching_dims: Ints,
        scatter_indices_batching_dims: Ints,
        scatter_dims_to_operand_dims: Ints,
        index_vector_dim: int,
        to_apply: Region,
    ) -> Types:
        """The types of the inputs."""
        _require_pairs(inputs, updates)
        require_reducer(to_apply, "to_apply", inputs)
        sizes, update_sizes = sizes_of(inputs[0]), sizes_of(updates[0])
        extended = _with_index_vector(sizes_of(scatter_indices), index_vector_dim, "C6")
        require(
            len(update_sizes) == len(update_window_dims) + len(extended) - 1,
            "C7",
            "updates have rank {}, with {} window dimensions and indices of rank {}",
            len(update_sizes),
            len(update_window_dims),
            len(extended),
        )
        _require_ascending(update_window_dims, len(update_sizes), "update_window_dims", "C8")
        _require_ascending(inserted_window_dims, len(sizes), "inserted_window_dims", "C9")
        require(
            len(sizes)
            == len(update_window_dims) + len(inserted_window_dims) + len(input_batching_dims),
            "C10",
            "{} window, {} inserted and {} batching dimensions for inputs of rank {}",
            len(update_window_dims),
            len(inserted_window_dims),
            len(input_batching_dims),
            len(sizes),
        )
        name = "scatter_dims_to_operand_dims"
        require_length(scatter_dims_to_operand_dims, extended[index_vector_dim], name, "C11")
        require_dimensions(scatter_dims_to_operand_dims, len(sizes), name, "C11")
        _require_batching(
            _Side("input_batching_dims", input_batching_dims, sizes),
            _Side("scatter_indices_batching_dims", scatter_indices_batching_dims, extended),
            index_vector_dim,
            (*inserted_window_dims, *scatter_dims_to_operand_dims),
            "C14",
        )
        bounds = shapes.without(sizes, (*inserted_window_dims, *input_batching_dims))
        batch = shapes.without(extended, (index_vector_dim,))
        _require_update_sizes(update_sizes, update_window_dims, bounds, batch)
        return tuple(united_type(a, *inputs) for a in inputs)

    @staticmethod
    def relate(
        relations: RelationsBuilder,
        *,
        update_window_dims: Ints,
        inserted_window_dims: Ints,
        input_batching_dims: Ints,
        scatter_indices_batching_dims: Ints,
        scatter_dims_to_operand_dims: Ints,
        index_vector_dim: int,
        to_apply: Region,
    ) -> None:
        """Dimensions of the updates: of the indices, or of windows; then what windows insert."""
        count = len(relations.results)
        results = range(count)
        updates = range(count + 1, 2 * count + 1)
        sizes, index_sizes = relations.operands[0], relations.operands[count]
        inserted = (*inserted_window_dims, *input_batching_dims)
        windows = iter(shapes.without(range(len(sizes)), inserted))
        places = iter(shapes.without(range(len(index_sizes)), (index_vector_dim,)))
        paired = dict(zip(scatter_indices_batching_dims, input_batching_dims, strict=True))
        may_combine = may_reassociate(to_apply)
        combined = FactorType.REDUCTION if may_combine else FactorType.NEED_REPLICATION
        ordered: list[int] = []
        relations.own_sizes = (count, *updates)
        for p, size in enumerate(relations.operands[count + 1]):
            mine = dict.fromkeys(updates, p)
            if p not in update_window_dims:
                g = next(places)
                if g in paired:
                    inputs = dict.fromkeys(results, paired[g])
                    relations.add(size, {**inputs, count: g, **mine}, inputs)
                else:
                    written = Factor(size, combined, Traversal.INDEXED)
                    ordered.append(relations.add(written, {count: g, **mine}))
                continue
            d = next(windows)
            inputs = dict.fromkeys(results, d)
            if d not in scatter_dims_to_operand_dims and size == sizes[d]:
                relations.add(size, {**inputs, **mine}, inputs)
                continue
            base = Factor(sizes[d], FactorType.NEED_REPLICATION, Traversal.INDEXED)
            relations.add(base, inputs, inputs)
            relations.add(Factor(size, FactorType.NEED_REPLICATION, Traversal.INDEXED), mine)
            reason = "its windows do not take in all of a dimension"
            relations.static.update(((i, p), reason) for i in updates)
        for d in inserted_window_dims:
            inputs = dict.fromkeys(results, d)
            relations.add(Factor(sizes[d], along=Traversal.INDEXED), inputs, inputs)
        _relate_index_vector(relations, index_vector_dim, count)
        relations.ordered = () if may_combine else tuple(ordered)


def _require_pairs(inputs: Sequence[Array], updates: Sequence[Array]) -> None:
    """Inputs and updates of a scatter are alike; raises Violation (C1) to (C3)."""
    require(
        len(inputs) == len(updates) and bool(inputs),
        "C1",
        "{} inputs and {} updates",
        len(inputs),
        len(updates),
    )
    for i, (mine, theirs) in enumerate(zip(inputs, updates, strict=True)):
        require_same_shape(inputs[0], mine, f"inputs 0 and {i}", "C2")
        require_same_shape(updates[0], theirs, f"updates 0 and {i}", "C2")
        require_same_elements(mine, theirs, f"input and update {i}", "C3")


def _require_update_sizes(sizes: Ints, window_dims: Ints, bounds: Ints, batch: Ints) -> None:
    """Updates of these sizes have windows within bounds, and else those of the batch: C12, C13."""
    window = tuple(sizes[d] for d in window_dims)
    require(
        all(bounded(0, w, b) for w, b in zip(window, bounds, strict=True)),
        "C12",
        "windows of sizes {} in inputs with window sizes {}",
        list(window),
        list(bounds),
    )
    found = shapes.without(sizes, window_dims)
    require(
        compatible_sizes(found, batch),
        "C13",
        "scatter sizes of the updates are {}, of the indices {}",
        list(found),
        list(batch),
    )


def _relate_index_vector(
    relations: RelationsBuilder, index_vector_dim: int, indices: int = 1
) -> None:
    """The dimension of the indices, operand number `indices`, that holds the parts of one."""
    sizes = relations.operands[indices]
    if index_vector_dim < len(sizes):
        vector = Factor(sizes[index_vector_dim], FactorType.NEED_REPLICATION, Traversal.WHOLE)
        relations.add(vector, {indices: index_vector_dim})
        relations.static[indices, index_vector_dim] = "it holds the parts of an index"
