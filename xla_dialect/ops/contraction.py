"""Contractions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xla_dialect.attributes import INTEGER, INTEGERS, NO_INTEGERS
from xla_dialect.constraints import (
    ArrayOf,
    declared_array,
    require_dimensions,
    require_length,
    require_window,
    with_elements,
)
from xla_dialect.dimensions import Factor, FactorType, Numbering, RelationsBuilder, Traversal
from xla_dialect.literals.arrays import higher_precision
from xla_dialect.op import Ints, PureOp, Types
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.size_arithmetic import compatible, compatible_sizes, divisible, united
from xla_dialect.shapes.window import (
    ConvolutionLabels,
    ConvolutionLabelsAttr,
    Window,
    WindowAttr,
    WindowDimension,
)
from xla_dialect.types import Array, ElementClass, array, sizes_of, spell_all
from xla_dialect.violations import Violation, require

# The dimensions of `dot`, `ragged_dot` and `scaled_dot`.


@dataclass(frozen=True)
class DotDimensions:
    """Which dimensions of both operands of a dot are batch dimensions, and which are contracted."""

    lhs_batch_dims: Ints
    lhs_contracting_dims: Ints
    rhs_batch_dims: Ints
    rhs_contracting_dims: Ints

    def require(self, sizes: Ints, others: Ints) -> None:
        """Raises Violation (C2) to (C4) if operands of these sizes have not these dimensions."""
        for name, dims, rank in (
            ("lhs dimensions", (*self.lhs_batch_dims, *self.lhs_contracting_dims), len(sizes)),
            ("rhs dimensions", (*self.rhs_batch_dims, *self.rhs_contracting_dims), len(others)),
        ):
            require_dimensions(dims, rank, name, "C4")
        for label, kind, mine, theirs in (
            ("C2", "contracting", self.lhs_contracting_dims, self.rhs_contracting_dims),
            ("C3", "batch", self.lhs_batch_dims, self.rhs_batch_dims),
        ):
            found = [sizes[d] for d in mine], [others[d] for d in theirs]
            require(compatible_sizes(*found), label, "{} sizes are {} and {}", kind, *found)

    def contracted(self, sizes: Ints, others: Ints, of_groups: Ints = ()) -> Ints:
        """
        The sizes of the result: batch dimensions, free ones of lhs, free ones of rhs.

        rhs may have dimensions of groups, which the result has not.
        """
        batch = tuple(sizes[d] for d in self.lhs_batch_dims)
        rows = shapes.without(sizes, (*self.lhs_batch_dims, *self.lhs_contracting_dims))
        taken = (*self.rhs_batch_dims, *self.rhs_contracting_dims, *of_groups)
        return (*batch, *rows, *shapes.without(others, taken))

    def joined(self, sizes: Ints, others: Ints) -> Ints:
        """The sizes of lhs, whose batch dimensions are dynamic where those of rhs are."""
        found = list(sizes)
        for mine, theirs in zip(self.lhs_batch_dims, self.rhs_batch_dims, strict=True):
            (found[mine],) = united([found[mine]], [others[theirs]])
        return tuple(found)

    def pairs(self, lhs_rank: int, rhs_rank: int) -> Iterator[tuple[Mapping[int, int], bool]]:
        """
        The dimensions of the dot: batch, free lhs, free rhs, contracting ones.

        Each as a dimension of lhs (0), of rhs (1) or of both, and whether the result has it.
        """
        for mine, theirs in zip(self.lhs_batch_dims, self.rhs_batch_dims, strict=True):
            yield {0: mine, 1: theirs}, True
        for d in shapes.without(
            range(lhs_rank), (*self.lhs_batch_dims, *self.lhs_contracting_dims)
        ):
            yield {0: d}, True
        for d in shapes.without(
            range(rhs_rank), (*self.rhs_batch_dims, *self.rhs_contracting_dims)
        ):
            yield {1: d}, True
        for mine, theirs in zip(self.lhs_contracting_dims, self.rhs_contracting_dims, strict=True):
            yield {0: mine, 1: theirs}, False

    def relate(self, relations: RelationsBuilder) -> None:
        """Relates the dimensions of a dot."""
        place = 0
        for operands, is_kept in self.pairs(*map(len, relations.operands)):
            ((operand, d), *_) = operands.items()
            size = relations.operands[operand][d]
            if is_kept:
                relations.add(size, operands, {0: place})
                place += 1
            else:
                relations.add(Factor(size, FactorType.REDUCTION, neutral=0), operands)

    def relate_ragged(self, relations: RelationsBuilder, ragged: int, groups: Ints) -> None:
        """Relates the dimensions of a ragged dot: operand 2 decides the indices of groups."""
        lhs, rhs, group_sizes = relations.operands
        prefix = ragged_prefix(len(lhs), self.lhs_batch_dims, self.lhs_contracting_dims, ragged)
        rows = dict(zip(prefix, range(len(group_sizes) - 1), strict=False))
        relations.keep_static("groups and dynamic sizes do not go together")
        place = in_front = int(ragged in self.lhs_contracting_dims)
        for operands, is_kept in self.pairs(len(lhs), len(rhs)):
            ((operand, d), *_) = operands.items()
            if operand == 1 and d in groups:
                continue
            factor = Factor(
                relations.operands[operand][d],
                FactorType.PASS_THROUGH if is_kept else FactorType.REDUCTION,
                Traversal.INDEXED if operands.get(0) == ragged else None,
            )
            of_groups = {2: rows[d]} if operand == 0 and d in rows else {}
            relations.add(factor, {**operands, **of_groups}, {0: place} if is_kept else {})
            place += is_kept
        of_rhs = {1: groups[0]} if groups else {}
        group = Factor(group_sizes[-1], FactorType.NEED_REPLICATION, Traversal.INDEXED)
        relations.add(group, {**of_rhs, 2: len(group_sizes) - 1}, {0: 0} if in_front else {})

    def relate_scaled(self, relations: RelationsBuilder) -> None:
        """Relates the dimensions of a scaled dot: one with a scale is split into blocks."""
        scales = relations.operands[2:]
        relations.keep_static("blocks and dynamic sizes do not go together")
        place = 0
        for operands, is_kept in self.pairs(*map(len, relations.operands[:2])):
            ((operand, d), *_) = operands.items()
            size = relations.operands[operand][d]
            blocks = {2 + i: scales[i][d] for i, d in operands.items() if scales[i]}
            counts = [1, *sorted({*blocks.values(), size} - {1})]
            along = None
            if size == 1:
                counts = [1, 1]
            elif 0 in counts or any(n % m for m, n in pairwise(counts)):
                # Neither division refines the other, such as 2 and 3 blocks of 6 elements.
                along, counts = Traversal.REGROUPED, [1, size]
            for taken, count in pairwise(counts):
                within = {i: operands[i - 2] for i, n in blocks.items() if n >= count and not along}
                factor = Factor(
                    count // taken,
                    FactorType.PASS_THROUGH if is_kept else FactorType.REDUCTION,
                    along,
                )
                relations.add(factor, {**operands, **within}, {0: place} if is_kept else {})
            place += is_kept


def ragged_prefix(rank: int, batch: Ints, contracting: Ints, ragged: int) -> Ints:
    """
    The dimensions of lhs that may have group sizes of their own.

    Those before the ragged one among the batch dimensions; or all batch dimensions and those before
    the ragged one among the contracting or the free dimensions.
    """
    if ragged in batch:
        return batch[: batch.index(ragged)]
    free = shapes.without(range(rank), (*batch, *contracting))
    own = contracting if ragged in contracting else free
    return (*batch, *own[: own.index(ragged)])


def _result(left: Array, right: Array, declared: Types, sizes: Ints, label: str) -> Types:
    """The result of these sizes, of the declared element type or the operands' more precise one."""
    if declared:
        result = with_elements(declared_array(declared), ElementClass.ANY, "the result")
        return (array(result.element_type, sizes),)
    found = higher_precision(left.element_type, right.element_type)
    if found is None:
        types = spell_all((left, right))
        raise Violation(label, f"lhs and rhs are {types}, of which neither is more precise")
    return (array(found, sizes),)


PRECISION, ALGORITHM = "xla.operand_precision", "xla.algorithm"
"""Discardable attributes of products, spelled as in HLO text."""


def has_default_precision(op: Operation) -> bool:
    """Whether nothing is said of how exact a product is."""
    return ALGORITHM not in op.attributes and "high" not in str(op.attributes.get(PRECISION))


class ProductOp(PureOp):
    """Sums of products over dimensions that both operands have."""

    lhs_batch_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    lhs_contracting_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    rhs_batch_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    rhs_contracting_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)


@irdl_op_definition
class DotOp(ProductOp):
    """
    Sums of products over the contracting dimensions, for every batch index.

    `result[b.., m.., n..] = Σ_k lhs[b.., m.., k..] * rhs[b.., k.., n..]`. The result type is the
    declared one: bf16 operands may give f32. Without one it is that of the operands, of two types
    the more precise one, f32 of f32 and bf16. Floats below f64 accumulate in f32 and round once,
    integers are first converted to the result type; pred: or of ands. Products of real and
    imaginary parts are four sums.

    (C1) numbers or pred; without a declared result type, one of the operands' is more precise.
    (C2) contracting dimensions pair up with equal sizes. (C3) so do the batch dimensions.
    (C4) on each side, no dimension is named twice.
    """

    name = "xla.dot"
    NUMBERING: ClassVar = {
        "lhs_batch_dims": Numbering(numbers=0),
        "lhs_contracting_dims": Numbering(numbers=0),
        "rhs_batch_dims": Numbering(numbers=1),
        "rhs_contracting_dims": Numbering(numbers=1),
    }

    lhs = rhs = operand_def(ArrayOf())

    @staticmethod
    def infer(
        lhs: Array,
        rhs: Array,
        *,
        declared: Types,
        **dimensions: Ints,
    ) -> Types:
        """Batch, free lhs and free rhs dimensions; the element type as declared."""
        sizes, others = sizes_of(lhs), sizes_of(rhs)
        dot = DotDimensions(**dimensions)
        dot.require(sizes, others)
        found = dot.contracted(dot.joined(sizes, others), others)
        return _result(lhs, rhs, declared, found, "C1")

    @staticmethod
    def relate(
        relations: RelationsBuilder,
        **dimensions: Ints,
    ) -> None:
        """Batch and free dimensions pass through, contracting ones are reduced."""
        DotDimensions(**dimensions).relate(relations)


@irdl_op_definition
class RaggedDotOp(PureOp):
    """
    A dot whose one ragged dimension of lhs is cut into consecutive groups of `group_sizes`.

    Ragged and free: `result[.., m, n..] = Σ_k lhs[.., m, k] * rhs[group of m, .., k, n..]`, where
    `rhs_group_dims` names the dimension of the groups; 0 after the last group. Ragged and
    contracting: `result[g, ..] = Σ_k` over the k of group g. Ragged and batch: as `dot`.

    (C1) as for `dot`; group sizes are integers. (C2) contracting dimensions pair up with equal
    sizes. (C3) so do the batch dimensions. (C4) on each side, no dimension is named twice. (C5)
    exactly one dimension of lhs is ragged. (C6) if it is free, there is one group dimension,
    neither batch nor contracting, with one entry per group; else there is none. (C7) `group_sizes`
    has the groups as last dimension, alone or after the sizes of the dimensions of lhs before the
    ragged one: batch dimensions, then the others of its kind.
    """

    name = "xla.ragged_dot"
    lhs = rhs = operand_def(ArrayOf())
    group_sizes = operand_def(ArrayOf(ElementClass.INTEGER))
    lhs_batch_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    lhs_contracting_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    rhs_batch_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    rhs_contracting_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)
    lhs_ragged_dims = prop_def(INTEGERS)
    rhs_group_dims = prop_def(INTEGERS, default_value=NO_INTEGERS)

    @staticmethod
    def infer(
        lhs: Array,
        rhs: Array,
        group_sizes: Array,
        *,
        lhs_ragged_dims: Ints,
        rhs_group_dims: Ints,
        declared: Types,
        **dimensions: Ints,
    ) -> Types:
        """As `dot` without the group dimension, or with the groups in front if contracting."""
        groups, sizes, others = map(sizes_of, (group_sizes, lhs, rhs))
        dot = DotDimensions(**dimensions)
        dot.require(sizes, others)
        require_length(lhs_ragged_dims, 1, "lhs_ragged_dims", "C5")
        require_dimensions(lhs_ragged_dims, len(sizes), "lhs_ragged_dims", "C5")
        (ragged,) = lhs_ragged_dims
        batch, contracting = dot.lhs_batch_dims, dot.lhs_contracting_dims
        prefix = ragged_prefix(len(sizes), batch, contracting, ragged)
        expected = [sizes[d] for d in prefix]
        require(
            len(groups) == 1 or (bool(groups) and compatible_sizes(groups[:-1], expected)),
            "C7",
            "group_sizes has sizes {}, expected [g] or {}",
            list(groups),
            [*expected, "g"],
        )
        is_free = ragged not in (*batch, *contracting)
        require_length(rhs_group_dims, int(is_free), "rhs_group_dims", "C6")
        taken = (*dot.rhs_batch_dims, *dot.rhs_contracting_dims)
        require_dimensions((*taken, *rhs_group_dims), len(others), "rhs_group_dims", "C6")
        for d in rhs_group_dims:
            require(
                compatible(others[d], groups[-1]),
                "C6",
                "{} groups in rhs, not {}",
                others[d],
                groups[-1],
            )
        result = dot.contracted(sizes, others, rhs_group_dims)
        result = (groups[-1], *result) if ragged in contracting else result
        return _result(lhs, rhs, declared, result, "C1")

    @staticmethod
    def relate(
        relations: RelationsBuilder,
        *,
        lhs_ragged_dims: Ints,
        rhs_group_dims: Ints,
        **dimensions: Ints,
    ) -> None:
        """As `dot`, but for the ragged dimension; where that is contracted, groups come first."""
        DotDimensions(**dimensions).relate_ragged(relations, lhs_ragged_dims[0], rhs_group_dims)


@irdl_op_definition
class ScaledDotOp(ProductOp):
    """
    A dot of `lhs` and `rhs` after multiplying blocks of them by scales.

    Element i of an operand is multiplied by element `i div (size / scale size)`, per dimension, of
    its scale; a scalar scale stands for none.

    (C1) as for `dot`. (C2) contracting
    dimensions pair up with equal sizes. (C3) so do the batch dimensions. (C4) on each side, no
    dimension is named twice. (C5) there is one contracting dimension. (C6) a scale has floats, the
    rank of its operand and sizes that divide those of the operand, or is a scalar. (C7) not both
    scales are scalars.
    """

    name = "xla.scaled_dot"
    lhs = rhs = operand_def(ArrayOf())
    lhs_scale = rhs_scale = operand_def(ArrayOf(ElementClass.FLOAT, "C6"))

    @staticmethod
    def infer(
        lhs: Array,
        rhs: Array,
        lhs_scale: Array,
        rhs_scale: Array,
        *,
        declared: Types,
        **dimensions: Ints,
    ) -> Types:
        """As `dot`."""
        sizes, others = sizes_of(lhs), sizes_of(rhs)
        dot = DotDimensions(**dimensions)
        dot.require(sizes, others)
        require_length(dot.lhs_contracting_dims, 1, "lhs_contracting_dims", "C5")
        _require_scale(lhs_scale, lhs, "lhs_scale")
        _require_scale(rhs_scale, rhs, "rhs_scale")
        require(any(map(sizes_of, (lhs_scale, rhs_scale))), "C7", "both scales are scalars")
        return _result(lhs, rhs, declared, dot.contracted(sizes, others), "C1")

    @staticmethod
    def relate(
        relations: RelationsBuilder,
        **dimensions: Ints,
    ) -> None:
        """As `dot`; a dimension with a scale is one of blocks and one inside of them."""
        DotDimensions(**dimensions).relate_scaled(relations)


def _require_scale(scale: Array, operand: Array, name: str) -> None:
    """Raises Violation (C6) for sizes that are not those of a scale of an operand."""
    blocks, sizes = sizes_of(scale), sizes_of(operand)
    require(
        not blocks
        or (
            len(blocks) == len(sizes)
            and all(
                divisible(s, b) if b else compatible(s, 0)
                for s, b in zip(sizes, blocks, strict=True)
            )
        ),
        "C6",
        "{} has sizes {}, its operand {}",
        name,
        list(blocks),
        list(sizes),
    )


@irdl_op_definition
class ConvolutionOp(PureOp):
    """
    Sums of products of a kernel `rhs` that slides as a window over the base `lhs`.

    `result[b, o, p] = Σ_i,k lhs[b, i, x] * rhs[o, i, k]` with
    `x = p * stride + k * window_dilation - padding_low` in the dilated and padded base, whose holes
    and padding are 0; a reversed window dimension reads kernel element `size - 1 - k`. `dim_labels`
    says which dimension is which. Feature groups: group g of the input features meets group g of
    the output features only. Batch groups: output features of group g read group g of the batch.
    Element types and accumulation as in `dot`.

    (C1) both operands have rank n + 2, the window n dimensions with the kernel's sizes, and each
    list of labels names every dimension once. (C2) as for C1 of `dot`. (C3) strides, dilations
    and kernel sizes are at least 1. (C4) group counts are at least 1. (C5) they are not both
    greater than 1. (C6) `feature_group_count` times the input features of rhs is those of lhs; it
    divides the output features. (C7) `batch_group_count` divides batch and output features.
    """

    name = "xla.convolution"
    lhs = rhs = operand_def(ArrayOf(ElementClass.ANY, "C2"))
    window = prop_def(WindowAttr, default_value=WindowAttr(Window()))
    dim_labels = prop_def(ConvolutionLabelsAttr)
    feature_group_count = prop_def(INTEGER, default_value=IntegerAttr(1, i64))
    batch_group_count = prop_def(INTEGER, default_value=IntegerAttr(1, i64))

    @staticmethod
    def infer(
        lhs: Array,
        rhs: Array,
        *,
        window: Window,
        dim_labels: ConvolutionLabels,
        feature_group_count: int,
        batch_group_count: int,
        declared: Types,
    ) -> Types:
        """Batch, output features and, per spatial dimension, how often the window fits."""
        _require_labels(dim_labels, lhs, rhs)
        batch, features, *base = shapes.permuted(sizes_of(lhs), dim_labels.lhs_order())
        outputs, inputs, *kernel = shapes.permuted(sizes_of(rhs), dim_labels.rhs_order())
        require_window(window, len(base), ("C1", "C3"))
        require(
            compatible_sizes(window.sizes, kernel),
            "C1",
            "the window has sizes {}, the kernel {}",
            list(window.sizes),
            kernel,
        )
        groups = feature_group_count, batch_group_count
        require(min(groups) >= 1, "C4", "group counts are {} and {}", *groups)
        require(min(groups) == 1, "C5", "feature and batch groups at once: {} and {}", *groups)
        require(
            compatible(inputs * feature_group_count, features)
            and divisible(features, feature_group_count)
            and divisible(outputs, feature_group_count),
            "C6",
            "{} feature groups of {} input features in rhs, {} in lhs, {} output features",
            feature_group_count,
            inputs,
            features,
            outputs,
        )
        require(
            divisible(batch, batch_group_count) and divisible(outputs, batch_group_count),
            "C7",
            "{} batch groups for a batch of {} and {} output features",
            batch_group_count,
            batch,
            outputs,
        )
        found = (batch // batch_group_count, outputs, *window.placements(base))
        place = dict(zip(dim_labels.result_order(), found, strict=True))
        return _result(lhs, rhs, declared, tuple(place[d] for d in range(len(place))), "C2")

    @staticmethod
    def relate(
        relations: RelationsBuilder,
        *,
        window: Window,
        dim_labels: ConvolutionLabels,
        feature_group_count: int,
        batch_group_count: int,
    ) -> None:
        """Batch, spatial dimensions with what the window covers, groups, input, output features."""
        batch, features, *base = dim_labels.lhs_order()
        outputs, inputs, *kernel = dim_labels.rhs_order()
        kept, made, *places = dim_labels.result_order()
        rhs, result = relations.operands[1], relations.results[0]
        groups = 1
        if batch_group_count > 1:
            groups = batch_group_count
            relations.add(groups, {0: batch, 1: outputs}, {0: made})
            relations.static.update(
                dict.fromkeys([(0, batch), (1, outputs)], "batches are in groups")
            )
        in_lhs = {} if batch_group_count > 1 == result[kept] else {0: batch}
        relations.add(result[kept], in_lhs, {0: kept})
        for part, *dimensions in zip(window.dimensions, base, kernel, places, strict=True):
            _relate_window(relations, part, *dimensions)
        if feature_group_count > 1:
            groups = feature_group_count
            relations.add(groups, {0: features, 1: outputs}, {0: made})
            places_in_groups = [(0, features), (1, outputs), (1, inputs)]
            relations.static.update(dict.fromkeys(places_in_groups, "features are in groups"))
        in_lhs = {} if feature_group_count > 1 == rhs[inputs] else {0: features}
        relations.add(Factor(rhs[inputs], FactorType.REDUCTION, neutral=0), {**in_lhs, 1: inputs})
        if rhs[outputs] > groups:
            relations.add(rhs[outputs] // groups, {1: outputs}, {0: made})


def _require_labels(labels: ConvolutionLabels, left: Array, right: Array) -> None:
    """Raises Violation (C1)."""
    for name, found, operand in (("lhs", labels.lhs, left), ("rhs", labels.rhs, right)):
        require(
            len(found) == len(operand.shape.data),
            "C1",
            "dim_labels {} for {} of rank {}",
            labels,
            name,
            len(operand.shape.data),
        )
    faults = labels.faults()
    require(not faults, "C1", "dim_labels {}: {} is no permutation", labels, ", ".join(faults))


def _relate_window(
    relations: RelationsBuilder, part: WindowDimension, base: int, kernel: int, place: int
) -> None:
    """
    A spatial dimension of lhs, rhs and the result.

    A window that covers the base, and one whose places lie side by side, divides it into factors.
    """
    size, placements = relations.operands[0][base], relations.results[0][place]
    covered = Factor(part.size, FactorType.REDUCTION, neutral=0)
    relations.static[1, kernel] = "the size of the window is fixed"
    is_dense = part == WindowDimension(part.size, part.stride)
    if not part.moves:
        relations.add(placements, {0: base}, {0: place})
        relations.add(replace(covered, along=Traversal.WINDOW), {1: kernel})
    elif is_dense and part.size == size:
        relations.add(covered, {0: base, 1: kernel})
    elif is_dense and part.size * placements == size and part.size == part.stride:
        relations.add(placements, {0: base}, {0: place})
        relations.add(covered, {0: base, 1: kernel})
    else:
        relations.add(Factor(placements, FactorType.PERMUTATION, part), {0: base}, {0: place})
        relations.add(replace(covered, along=Traversal.WINDOW), {0: base, 1: kernel})
