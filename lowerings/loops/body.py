"""
What each value in the body of a nest depends on, and how it depends on the lane when a dimension of
the nest is vectorized.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from xdsl.dialects import arith, complex, memref, tensor
from xdsl.dialects.builtin import ComplexType
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lowerings.dialects.words import DotProductOp
from lowerings.ir.scalar_attributes import constant_integer
from lowerings.loops.constants import element_bits, part_type
from lowerings.loops.nest import Access, Nest, memref_layout, static_memref
from xla_dialect.xdsl.traversal import AttributeMemo, operands_in, operands_of


class Lanewise(Enum):
    """How a value depends on the lane of a vector, as in OpenMP's `declare simd`."""

    UNIFORM = auto()
    """The same in all lanes."""
    LINEAR = auto()
    """An integer that grows by a constant from lane to lane."""
    VARYING = auto()
    """Different in each lane."""


@dataclass(frozen=True)
class Combiner:
    """An associative and commutative operation that folds terms into an accumulator."""

    kind: CombiningKindFlag
    """How `vector.reduction` names it."""
    neutral: float | int | str
    """The value that changes nothing; for integers "min", "max" and "ones" by the bit width."""


COMBINERS: dict[type[Operation], Combiner] = {
    arith.AddfOp: Combiner(CombiningKindFlag.ADD, -0.0),
    arith.MulfOp: Combiner(CombiningKindFlag.MUL, 1.0),
    arith.MaximumfOp: Combiner(CombiningKindFlag.MAXIMUMF, float("-inf")),
    arith.MinimumfOp: Combiner(CombiningKindFlag.MINIMUMF, float("inf")),
    arith.AddiOp: Combiner(CombiningKindFlag.ADD, 0),
    arith.MuliOp: Combiner(CombiningKindFlag.MUL, 1),
    arith.MaxSIOp: Combiner(CombiningKindFlag.MAXSI, "min"),
    arith.MinSIOp: Combiner(CombiningKindFlag.MINSI, "max"),
    arith.MaxUIOp: Combiner(CombiningKindFlag.MAXUI, 0),
    arith.MinUIOp: Combiner(CombiningKindFlag.MINUI, "ones"),
    arith.AndIOp: Combiner(CombiningKindFlag.AND, "ones"),
    arith.OrIOp: Combiner(CombiningKindFlag.OR, 0),
    arith.XOrIOp: Combiner(CombiningKindFlag.XOR, 0),
}
"""By the class of the scalar operation. `maxnumf` drops NaNs by a rule of its own: no entry."""


def neutral_element(combiner: Combiner, element_type: Attribute) -> float:
    """The neutral element of a combiner of an element type."""
    neutral = combiner.neutral
    if not isinstance(neutral, str):
        return neutral
    width = element_bits(element_type)
    assert width is not None
    return {"min": -(1 << (width - 1)), "max": (1 << (width - 1)) - 1, "ones": -1}[neutral]


def indexed_dimensions(nest: Nest) -> frozenset[int]:
    """The dimensions whose index the body asks for."""
    return frozenset([op.dim.value.data for op in nest.body.ops if type(op) is IndexOp])


class Body:
    """The body of a nest, analysed. Sets of dimensions are bit masks."""

    def __init__(self, nest: Nest):
        self.nest = nest
        self.ops: list[Operation] = []
        block: Block = nest.body
        count = len(nest.inputs)
        self.inputs: dict[SSAValue, Access] = {}
        self.scalars: dict[SSAValue, SSAValue] = {}
        for argument, entry in zip(block.args[:count], nest.inputs, strict=True):
            if isinstance(entry, Access):
                self.inputs[argument] = entry
            else:
                self.scalars[argument] = entry
        self.accumulators: tuple[BlockArgument, ...] = tuple(block.args[count:])
        terminator = block.last_op
        assert terminator is not None
        self.yields: tuple[SSAValue, ...] = tuple(terminator.operands)
        self.mask: dict[SSAValue, int] = {}
        """The dimensions that a value depends on. Values from outside the body have no entry."""
        self.folded: set[SSAValue] = set()
        """The values that depend on what an output holds from points before."""
        self._analyse(block, terminator)

    def access_mask(self, access: Access) -> int:
        """The dimensions with more than one iteration that an access depends on."""
        return sum(1 << d for d, n in enumerate(self.nest.extents) if n > 1 and access.reaches(d))

    def _analyse(self, block: Block, terminator: Operation) -> None:
        mask = self.mask
        for argument, access in self.inputs.items():
            mask[argument] = self.access_mask(access)
        everywhere = sum(1 << d for d in self.nest.loop_dimensions)
        for output, argument in enumerate(self.accumulators):
            access, initial = self.nest.outputs[output], self.nest.initial[output]
            mask[argument] = self.access_mask(access)
            if everywhere & ~mask[argument]:
                self.folded.add(argument)
            elif initial is None:
                # Each point has an element of its own, which is read before it is written.
                self.inputs[argument] = access
            else:
                self.scalars[argument] = initial
        for op in block.ops:
            if op is terminator:
                break
            self.ops.append(op)
            own = 0
            operands = operands_in(op)
            for operand in operands:
                own |= mask.get(operand, 0)
            # By class: `isinstance` of an operation costs as much as all else here.
            if type(op) is IndexOp and self.nest.extents[op.dim.value.data] > 1:
                own = 1 << op.dim.value.data
            is_folded = not self.folded.isdisjoint(operands)
            for result in op.results:
                mask[result] = own
                if is_folded:
                    self.folded.add(result)

    @cached_property
    def has_regions(self) -> bool:
        """Whether some operation of the body holds others."""
        return any(op.regions for op in self.ops)

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

    def has(self, op_class: type[Operation]) -> bool:
        """Whether the body does an operation of a class."""
        return any(type(op) is op_class for op in self.ops)

    def combiner(self, output: int) -> tuple[Operation, SSAValue] | None:
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

    def fused_product(self, op: Operation, term: SSAValue) -> arith.MulfOp | DotProductOp | None:
        """The product that an addition folds in one operation, if it is the term's only source."""
        product = term.owner
        classes = (arith.MulfOp, DotProductOp) if isinstance(op, arith.AddfOp) else (DotProductOp,)
        if not isinstance(product, classes) or product not in self.ops:
            return None
        return product if term.has_one_use() else None


class LaneAnalysis:
    """How every value of a body depends on the lane when `dimension` is vectorized."""

    def __init__(self, body: Body, dimension: int):
        self.body = body
        self.dimension = dimension
        self.steps: dict[SSAValue, int] = {}
        """For linear values, how much they grow from lane to lane."""
        self.is_possible = not body.has_regions
        self._vectors: set[SSAValue] = set()
        self._part_bits = AttributeMemo(lambda type_: element_bits(part_type(type_)))
        for argument in (*body.inputs, *body.accumulators):
            self._note_vector(argument)
        for op in body.ops:
            self._visit(op)
        # What is the same in all lanes is no vector of complex numbers, nor are folds of them.
        for value in (*body.yields, *body.folded):
            if isinstance(value.type, ComplexType):
                self.is_possible &= self._varies(value) and value not in body.folded

    def _varies(self, value: SSAValue) -> bool:
        return bool(self.body.mask.get(value, 0) >> self.dimension & 1)

    def _note_vector(self, value: SSAValue) -> None:
        if self._varies(value):
            self._vectors.add(value)
            if self._part_bits(value.type) is None:
                self.is_possible = False

    def of(self, value: SSAValue) -> Lanewise:
        """How a value of the body, or one from outside, depends on the lane."""
        if value in self._vectors:
            return Lanewise.VARYING
        return Lanewise.LINEAR if value in self.steps else Lanewise.UNIFORM

    def _visit(self, op: Operation) -> None:
        if not any(self._varies(result) for result in op.results):
            return
        step = self._linear_step(op) if op.name in _LINEAR else None
        if step is not None:
            self.steps[op.results[0]] = step
            return
        for result in op.results:
            self._note_vector(result)
        if type(op) in COMPLEX:
            return
        if type(op) in LOADS:
            step, is_complex = self.load_step(op), type(op.results[0].type) is ComplexType
            self.is_possible &= step == 1 if is_complex else step is not None
        elif any(type(value.type) is ComplexType for value in (*operands_of(op), *op.results)):
            self.is_possible = False
        elif op.name.partition(".")[0] not in ("arith", "math", "words") or len(op.results) != 1:
            self.is_possible = False

    def _linear_step(self, op: Operation) -> int | None:
        if isinstance(op, IndexOp):
            return 1
        if isinstance(op, arith.IndexCastOp):
            return self.steps.get(op.input)
        if not isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp):
            return None
        if self.of(op.lhs) is Lanewise.VARYING or self.of(op.rhs) is Lanewise.VARYING:
            return None
        left, right = self.steps.get(op.lhs, 0), self.steps.get(op.rhs, 0)
        if isinstance(op, arith.AddiOp):
            return left + right
        if isinstance(op, arith.SubiOp):
            return left - right
        factor = constant_integer(op.rhs if left else op.lhs)
        return None if factor is None else (left or right) * factor

    def operands_in_lanes(self, op: Operation) -> Sequence[SSAValue]:
        """The operands of an operation on vectors that must be vectors themselves."""
        if type(op) is memref.LoadOp:
            return [] if self.load_step(op) == 1 else op.indices[self.first_in_lanes(op) :]
        if isinstance(op, arith.SelectOp) and self.of(op.cond) is Lanewise.UNIFORM:
            return op.operands[1:]
        return op.operands

    def load_step(self, op: Operation) -> int | None:
        """
        How far apart, in elements of the last dimension, the lanes of a load are.

        0 stands for a load whose indices differ freely from lane to lane; None for one that cannot
        be done for all lanes at once.
        """
        first = self.first_in_lanes(op)
        if first is None:
            return None
        _, *others, last = op.operands
        return self.steps.get(last, 0) if first == len(others) else 0

    def first_in_lanes(self, op: Operation) -> int | None:
        """
        The first dimension where the index of a load is not the same in all lanes, the last one if
        there is none. None where the elements of that and the following ones are not neighbours.
        """
        memory, *indices = op.operands
        memref_type = static_memref(memory.type)
        layout = None if memref_type is None else memref_layout(memref_type)
        if memref_type is None or layout is None or not indices:
            return None
        last, span = len(indices) - 1, 1
        varying = (n for n, i in enumerate(indices) if self.of(i) is not Lanewise.UNIFORM)
        first = next(varying, last)
        for place in range(last, first - 1, -1):
            if layout[0][place] != span:
                return None
            span *= memref_type.get_shape()[place]
        return first


LOADS: frozenset[type[Operation]] = frozenset((memref.LoadOp, tensor.ExtractOp))
"""What reads an element of an array, the first operand, at computed indices, the others."""

COMPLEX: frozenset[type[Operation]] = frozenset((complex.CreateOp, complex.ReOp, complex.ImOp))
"""What vectors of complex numbers are taken apart and made by."""

_LINEAR = frozenset(
    c.name for c in (IndexOp, arith.IndexCastOp, arith.AddiOp, arith.SubiOp, arith.MuliOp)
)
"""What makes linear values of linear ones; by name, for parsed casts are of a class of ours."""
