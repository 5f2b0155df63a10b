"""
A perfect loop nest over statically known extents, as a linalg operation on memrefs describes it,
before it is decided in which order and in which steps it runs. Tensors count as the dense memrefs
that they will be, each output as one of its own.

Dimensions keep their number for good: one that was merged into another, or that has one
iteration, stays with extent 1 and needs no loop.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import ComplexType
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import CopyOp, FillOp, GenericOp, IndexOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.utils.exceptions import PassFailedException

from lowerings.dialects.words import DotProductOp
from lowerings.loops.access import Access, is_array, make_access, static_memref
from lowerings.loops.combiners import COMBINERS
from lowerings.rewriting.failure import FailedAt
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.traversal import ins_of, operands_in, operands_of, shape_of

LOADS: frozenset[type[Operation]] = frozenset((memref.LoadOp, tensor.ExtractOp))
"""What reads an element of an array, the first operand, at computed indices, the others."""


@dataclass(frozen=True)
class Nest:
    """A nest that evaluates `body` at every point, for each input and output the element there."""

    op: Operation
    """The operation that the nest comes from."""
    extents: tuple[int, ...]
    is_reduction: tuple[bool, ...]
    inputs: tuple[Access | SSAValue, ...]
    """For each of the first arguments of the body: an access, or the scalar itself."""
    outputs: tuple[Access, ...]
    body: Block
    initial: tuple[SSAValue | None, ...]
    """For each output the scalar that its elements are to start from instead of what they hold."""
    excess: int | None = None
    """The input whose elements are taken off from what the elements of the output start from."""
    enclosing: frozenset[int] = frozenset()
    """Dimensions that loops around the nest run over."""
    rounding: Access | None = None
    """By how much the output is too large, a sum to which loops around add."""

    @cached_property
    def loop_dimensions(self) -> Sequence[int]:
        """The dimensions that the nest needs a loop for."""
        return [d for d, n in enumerate(self.extents) if n != 1 and d not in self.enclosing]

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Inputs in memory, then outputs."""
        return (*(a for a in self.inputs if isinstance(a, Access)), *self.outputs)

    @property
    def is_empty(self) -> bool:
        """Whether the nest has no points, so that all outputs stay as they are."""
        return 0 in self.extents

    def points(self, dimensions: Iterable[int]) -> int:
        """The number of points in some dimensions."""
        return prod(self.extents[d] for d in dimensions)

    def output_stride(self, dimension: int) -> int:
        """How far a step in a dimension moves the first output; 0 where that is not constant."""
        strides = self.outputs[0].strides if self.outputs else None
        return 0 if strides is None else abs(strides[dimension])

    def map_accesses(self, function: Callable[[Access], Access]) -> Nest:
        """The nest with `function` applied to every access."""
        return replace(
            self,
            inputs=tuple(function(a) if isinstance(a, Access) else a for a in self.inputs),
            outputs=tuple(function(a) for a in self.outputs),
            rounding=None if self.rounding is None else function(self.rounding),
        )

    @cached_property
    def ops(self) -> Sequence[Operation]:
        """The operations of the body, without what ends it."""
        return list(self.body.ops)[:-1]

    @cached_property
    def has_complex_numbers(self) -> bool:
        """Whether the body computes with complex numbers, or has their parts."""
        return ComplexType in [type(value.type) for value in self.mask]

    @cached_property
    def math_operations(self) -> int:
        """How many operations of the body are of the math dialect."""
        return sum([op.name.startswith("math.") for op in self.ops])

    @cached_property
    def yields(self) -> Sequence[SSAValue]:
        """What the body gives for each output."""
        terminator = self.body.last_op
        assert terminator is not None
        return terminator.operands

    @cached_property
    def accumulators(self) -> Sequence[SSAValue]:
        """The arguments of the body that hold what is in the outputs."""
        return self.body.args[len(self.inputs) :]

    @cached_property
    def indexed(self) -> frozenset[int]:
        """The dimensions whose index the body asks for."""
        return frozenset([op.dim.value.data for op in self.body.ops if type(op) is IndexOp])

    @cached_property
    def _given(self) -> Mapping[SSAValue, Access | SSAValue]:
        """
        What arguments of the body stand for; not those of outputs that several points fold into
        one element, which depend on the points before, or from which an excess is taken off.
        """
        given: dict[SSAValue, Access | SSAValue] = {}
        given |= zip(self.body.args, self.inputs, strict=False)
        everywhere = sum(1 << d for d in self.loop_dimensions)
        outputs = zip(self.accumulators, self.outputs, self.initial, strict=True)
        for argument, access, initial in outputs:
            if self.excess is None and not everywhere & ~self._mask_of(access):
                # Each point has an element of its own, which is read before it is written.
                given[argument] = access if initial is None else initial
        return given

    @cached_property
    def read(self) -> Mapping[SSAValue, Access]:
        """The arguments of the body that are read from memory at each point."""
        return {each: entry for each, entry in self._given.items() if isinstance(entry, Access)}

    @cached_property
    def scalars(self) -> Mapping[SSAValue, SSAValue]:
        """The arguments of the body that are scalars from outside."""
        return {each: entry for each, entry in self._given.items() if isinstance(entry, SSAValue)}

    def _mask_of(self, access: Access) -> int:
        """The dimensions with more than one iteration that an access depends on."""
        return sum(1 << d for d, n in enumerate(self.extents) if n > 1 and access.reaches(d))

    @cached_property
    def folded(self) -> Set[SSAValue]:
        """The values that depend on what an output holds from points before."""
        folded = {each for each in self.accumulators if each not in self._given}
        if not folded:
            return folded
        for op in self.ops:
            if not folded.isdisjoint(operands_in(op)):
                folded.update(op.results)
        return folded

    @cached_property
    def mask(self) -> Mapping[SSAValue, int]:
        """
        The dimensions that a value of the body depends on, as a bit mask. Values from outside have
        no entry.
        """
        mask = {argument: self._mask_of(access) for argument, access in self.read.items()}
        mask |= zip(self.accumulators, map(self._mask_of, self.outputs), strict=True)
        for op in self.ops:
            own = 0
            for operand in operands_in(op):
                own |= mask.get(operand, 0)
            # By class: `isinstance` of an operation costs as much as all else here.
            if type(op) is IndexOp and self.extents[op.dim.value.data] > 1:
                own = 1 << op.dim.value.data
            mask |= dict.fromkeys(op.results, own)
        return mask

    def slice(
        self, results: Iterable[SSAValue], given: Container[SSAValue] = ()
    ) -> tuple[list[Operation], set[SSAValue]]:
        """The operations that compute values, and what these use; `given` are not computed."""
        needed = set(results)
        ops: list[Operation] = []
        for op in reversed(self.ops):
            if any(result in needed and result not in given for result in op.results):
                ops.append(op)
                needed.update(operands_in(op))
        return ops[::-1], needed

    def copy_slice(
        self, results: Sequence[SSAValue], known: Mapping[SSAValue, SSAValue], block: Block
    ) -> list[SSAValue]:
        """Copies to another body what computes values; `known` has what is there for others."""
        ops, _ = self.slice(results, known)
        mapping = dict(known)
        for op in ops:
            block.add_op(op.clone(mapping))
        return [mapping.get(result, result) for result in results]

    def has(self, op_class: type[Operation]) -> bool:
        """Whether the body does an operation of a class."""
        return any(type(op) is op_class for op in self.ops)

    @cached_property
    def combiners(self) -> Sequence[tuple[Operation, SSAValue] | None]:
        """For each output the operation that folds terms into it, and the term."""
        return [self._combiner(output) for output in range(len(self.outputs))]

    @cached_property
    def sums(self) -> frozenset[int]:
        """The outputs that are sums of floats."""
        return frozenset(
            output
            for output, combiner in enumerate(self.combiners)
            if combiner is not None and isinstance(combiner[0], arith.AddfOp)
        )

    def _combiner(self, output: int) -> tuple[Operation, SSAValue] | None:
        """
        The operation that folds one term into an output, and the term.

        None unless the output is such a fold, by one of `COMBINERS`, of a term that depends on
        no other fold.
        """
        accumulator, result = self.accumulators[output], self.yields[output]
        op = result.owner
        if accumulator not in self.folded:
            return None
        if not isinstance(op, Operation) or type(op) not in COMBINERS or op not in self.ops:
            return None
        if not (accumulator.has_one_use() and result.has_one_use()):
            return None
        lhs, rhs = op.operands
        term = rhs if lhs is accumulator else lhs
        if accumulator not in (lhs, rhs) or term in self.folded:
            return None
        return op, term

    @cached_property
    def products(self) -> Mapping[int, arith.MulfOp | DotProductOp]:
        """By output the products that are added in one operation, each term's only source."""
        found: dict[int, arith.MulfOp | DotProductOp] = {}
        for output, combiner in enumerate(self.combiners):
            if combiner is None or not combiner[1].has_one_use():
                continue
            product = combiner[1].owner
            classes = (arith.MulfOp, DotProductOp) if output in self.sums else (DotProductOp,)
            if isinstance(product, classes) and product in self.ops:
                found[output] = product
        return found


def restrict(nest: Nest, dimension: int, start: int, count: int) -> Nest:
    """The part of a nest where `dimension` runs from `start` to `start + count`."""
    extents = tuple(count if d == dimension else n for d, n in enumerate(nest.extents))
    return replace(_counted(nest, dimension, start=start), extents=extents)


def split(nest: Nest, dimension: int, size: int) -> Nest:
    """
    The nest with `dimension` counting blocks of `size`, and a new last dimension inside them.

    `size` divides the extent.
    """
    assert nest.extents[dimension] % size == 0
    blocks = tuple(n // size if d == dimension else n for d, n in enumerate(nest.extents))
    return replace(
        _counted(nest, dimension, size, inside=True),
        extents=(*blocks, size),
        is_reduction=(*nest.is_reduction, nest.is_reduction[dimension]),
    )


def _counted(
    nest: Nest, dimension: int, size: int = 1, start: int = 0, *, inside: bool = False
) -> Nest:
    """
    A nest with accesses where a dimension counts blocks of `size` from `start` on, and `inside` a
    new last dimension in each.
    """
    rank = len(nest.extents)
    places: list[AffineExpr] = [AffineExpr.dimension(d) for d in range(rank + inside)]
    places[dimension] = places[dimension] * size + (places[rank] if inside else start)

    def moved(access: Access) -> Access:
        indices = tuple(i.replace_dims_and_symbols(places, ()) for i in access.indices)
        offset, strides = access.offset, access.strides
        if strides is not None:
            step = strides[dimension]
            offset += start * step
            scaled = (s * size if d == dimension else s for d, s in enumerate(strides))
            strides = (*scaled, *(step,) * inside)
        return replace(access, indices=indices, strides=strides, offset=offset)

    return nest.map_accesses(moved)


def divided(nest: Nest, dimension: int, size: int) -> Iterable[tuple[Nest, int, int | None]]:
    """
    The parts of a nest with a dimension in pieces of one size, each with the dimension inside of a
    piece and the one that counts the pieces: None for a part of one piece.
    """
    extent = nest.extents[dimension]
    whole = extent - extent % size
    if whole > size:
        part = restrict(nest, dimension, 0, whole)
        yield split(part, dimension, size), len(nest.extents), dimension
    elif whole:
        yield restrict(nest, dimension, 0, whole), dimension, None
    if whole != extent:
        yield restrict(nest, dimension, whole, extent - whole), dimension, None


def nest_of_generic(op: GenericOp) -> Nest:
    """The nest of a linalg.generic. Raises PassFailedException where there is none."""
    maps = [attribute.data for attribute in op.indexing_maps]
    rank = maps[0].num_dims if maps else 0
    operands = operands_of(op)
    input_count = len(ins_of(op))
    extents = [-1] * rank
    for operand, affine_map in zip(operands, maps, strict=True):
        memref_type = static_memref(operand.type)
        if memref_type is not None:
            for index, size in zip(affine_map.results, shape_of(memref_type), strict=True):
                if isinstance(index, AffineDimExpr) and extents[index.position] < 0:
                    extents[index.position] = size
    if -1 in extents:
        raise PassFailedException(
            f"linalg.generic: no operand gives the extent of d{extents.index(-1)}"
        )
    accesses: list[Access | SSAValue] = [
        make_access(operand, affine_map.results, extents) if is_array(operand.type) else operand
        for operand, affine_map in zip(operands, maps, strict=True)
    ]
    kinds = tuple(kind.data is IteratorType.REDUCTION for kind in op.iterator_types)
    outputs = [access for access in accesses[input_count:] if isinstance(access, Access)]
    if len(outputs) != len(operands) - input_count:
        raise PassFailedException("linalg.generic: an output is no memref")
    return Nest(
        op=op,
        extents=tuple(extents),
        is_reduction=kinds,
        inputs=tuple(accesses[:input_count]),
        outputs=tuple(outputs),
        body=op.body.block,
        initial=(None,) * len(outputs),
    )


def elementwise_nest(op: Operation, source: SSAValue, target: SSAValue) -> Nest:
    """The nest that writes `source`, a scalar or a memref of the same shape, to `target`."""
    target_type = static_memref(target.type)
    if target_type is None:
        raise PassFailedException(f"{op.name}: expected a static memref, found {target.type}")
    extents = target_type.get_shape()
    indices = [AffineExpr.dimension(d) for d in range(len(extents))]
    element = target_type.element_type
    body = Block(arg_types=[element, element])
    body.add_op(create(YieldOp, operands=[body.args[0]]))
    return Nest(
        op=op,
        extents=extents,
        is_reduction=(False,) * len(extents),
        inputs=(make_access(source, indices, extents) if is_array(source.type) else source,),
        outputs=(make_access(target, indices, extents),),
        body=body,
        initial=(None,),
    )


def _nest_of_assignment(op: FillOp | CopyOp) -> Nest:
    return elementwise_nest(op, *operands_of(op))


def _nest_of_copy(op: memref.CopyOp) -> Nest:
    return elementwise_nest(op, op.source, op.destination)


NESTS: dict[type[Operation], Callable[..., Nest]] = {
    GenericOp: nest_of_generic,
    FillOp: _nest_of_assignment,
    CopyOp: _nest_of_assignment,
    memref.CopyOp: _nest_of_copy,
}
"""The operations that are nests. The functions raise PassFailedException."""


def nest_of(op: Operation) -> Nest:
    """
    The nest of an operation of a class in `NESTS`.

    Raises FailedAt for an operation that is none.
    """
    try:
        return NESTS[type(op)](op)
    except PassFailedException as error:
        raise FailedAt(op.location, str(error)) from error
