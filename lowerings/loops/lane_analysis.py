"""How each value in the body of a nest depends on the lane when a dimension is vectorized."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from xdsl.dialects import arith, complex, memref
from xdsl.dialects.builtin import ComplexType, IndexType
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Operation, SSAValue

from lowerings.ir.scalar_attributes import constant_integer
from lowerings.loops.access import memref_layout, static_memref
from lowerings.loops.constants import element_bits, part_type
from lowerings.loops.nest import LOADS, Nest
from xla_dialect.xdsl.traversal import AttributeMemo, operands_of

MOST_LANES = 256
"""Of any vector."""


class Lanewise(Enum):
    """How a value depends on the lane of a vector, as in OpenMP's `declare simd`."""

    UNIFORM = auto()
    """The same in all lanes."""
    LINEAR = auto()
    """An integer that grows by a constant from lane to lane."""
    VARYING = auto()
    """Different in each lane."""


class LaneAnalysis:
    """How every value of a body depends on the lane when `dimension` is vectorized."""

    def __init__(self, nest: Nest, dimension: int):
        self.nest = nest
        self.dimension = dimension
        self.steps: dict[SSAValue, int] = {}
        """For linear values, how much they grow from lane to lane."""
        self.is_possible = not any(op.regions for op in nest.ops)
        self._vectors: set[SSAValue] = set()
        self._part_bits = AttributeMemo(lambda type_: element_bits(part_type(type_)))
        for argument in (*nest.read, *nest.accumulators):
            if self._varies(argument):
                self._note_vector(argument)
        for op in nest.ops:
            self._visit(op)
        # What is the same in all lanes is no vector of complex numbers, nor are folds of them.
        for value in (*nest.yields, *nest.folded):
            if isinstance(value.type, ComplexType):
                self.is_possible &= self._varies(value) and value not in nest.folded

    def _varies(self, value: SSAValue) -> bool:
        return bool(self.nest.mask.get(value, 0) >> self.dimension & 1)

    def _note_vector(self, value: SSAValue) -> None:
        self._vectors.add(value)
        if self._part_bits(value.type) is None:
            self.is_possible = False

    def of(self, value: SSAValue) -> Lanewise:
        """How a value of the body, or one from outside, depends on the lane."""
        if value in self._vectors:
            return Lanewise.VARYING
        return Lanewise.LINEAR if value in self.steps else Lanewise.UNIFORM

    def lanes(self, vector_bits: int) -> int:
        """
        How many of the widest elements that differ from lane to lane a register holds, and vectors
        may have.
        """
        accesses = (each for each in self.nest.accesses if each.reaches(self.dimension))
        types = [*(each.type.element_type for each in accesses), *(v.type for v in self._vectors)]
        bits = [
            element_bits(part_type(each)) or 64 for each in types if type(each) is not IndexType
        ]
        fitting = vector_bits // max(8, *bits) if bits else vector_bits // 32
        return max(1, min(fitting, MOST_LANES))

    def _visit(self, op: Operation) -> None:
        varying = [result for result in op.results if self._varies(result)]
        if not varying:
            return
        step = self._linear_step(op) if op.name in _LINEAR else None
        if step is not None:
            self.steps[op.results[0]] = step
            return
        for result in varying:
            self._note_vector(result)
        if type(op) in COMPLEX:
            return
        if type(op) in LOADS:
            step, is_complex = self.load_step(op), type(op.results[0].type) is ComplexType
            self.is_possible &= step == 1 if is_complex else step is not None
        elif self.nest.has_complex_numbers and any(
            type(value.type) is ComplexType for value in (*operands_of(op), *op.results)
        ):
            self.is_possible = False
        elif op.name.partition(".")[0] not in ("arith", "math", "words") or len(op.results) != 1:
            self.is_possible = False

    def _linear_step(self, op: Operation) -> int | None:
        if type(op) is IndexOp:
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
        """The last operands of an operation on vectors, which must be vectors themselves."""
        if type(op) is memref.LoadOp:
            return [] if self.load_step(op) == 1 else op.indices[self.first_in_lanes(op) :]
        if op.name == arith.SelectOp.name and self.of(op.operands[0]) is Lanewise.UNIFORM:
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
        if memref_type is None or layout is None or None in layout[0] or not indices:
            return None
        last, span = len(indices) - 1, 1
        varying = (n for n, i in enumerate(indices) if self.of(i) is not Lanewise.UNIFORM)
        first = next(varying, last)
        for place in range(last, first - 1, -1):
            if layout[0][place] != span:
                return None
            span *= memref_type.get_shape()[place]
        return first


COMPLEX: frozenset[type[Operation]] = frozenset((complex.CreateOp, complex.ReOp, complex.ImOp))
"""What vectors of complex numbers are taken apart and made by."""

_LINEAR = frozenset(
    c.name for c in (IndexOp, arith.IndexCastOp, arith.AddiOp, arith.SubiOp, arith.MuliOp)
)
"""What makes linear values of linear ones; by name, for parsed casts are of a class of ours."""
