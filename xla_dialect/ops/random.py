"""Random numbers."""

from __future__ import annotations

from typing import cast

from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from xla_dialect.attributes import (
    INTEGER,
    RandomAlgorithm,
    RandomAlgorithmAttr,
    RandomDistribution,
    RandomDistributionAttr,
)
from xla_dialect.constraints import (
    ArrayOf,
    declared_array,
    flat_results,
    require_same_shape,
    with_elements,
)
from xla_dialect.dimensions import Factor, FactorType, RelationsBuilder, Traversal
from xla_dialect.op import PointwiseOp, Types, XlaOp
from xla_dialect.shapes.size_arithmetic import bounded
from xla_dialect.types import (
    BY_TYPE,
    MAX_ELEMENTS,
    U64,
    Array,
    ElementClass,
    array,
    array_like,
    is_scalar,
    sizes_of,
    spell,
    spell_all,
    without_layout,
)
from xla_dialect.violations import Violation, require


@irdl_op_definition
class RngOp(XlaOp):
    """
    Independent random numbers of a distribution; which ones is not specified.

    rng_uniform: from the half-open interval [a, b); all a if b <= a. rng_normal: normally
    distributed with mean a and standard deviation b, which is not negative. XLA takes more
    parameters, and does not use them.

    (C1) all parameters are scalars of the result's element type: a float for rng_normal, a pred,
    integer or float for rng_uniform.
    """

    name = "xla.rng"
    a = operand_def()
    b = operand_def()
    more = var_operand_def()
    distribution = prop_def(RandomDistributionAttr)
    result = result_def()

    @staticmethod
    def infer(
        a: Attribute,
        b: Attribute,
        more: tuple[Attribute, ...],
        *,
        distribution: RandomDistribution,
        declared: Types,
    ) -> Types:
        """The declared type."""
        normal = distribution == RandomDistribution.NORMAL
        allowed = ElementClass.FLOAT if normal else ElementClass.REAL | ElementClass.PRED
        result = with_elements(declared_array(declared), allowed, "the result")
        names = ["a", "b", *(f"parameter {i}" for i in range(2, 2 + len(more)))]
        for name, parameter in zip(names, (a, b, *more), strict=True):
            require(
                is_scalar(parameter, result.element_type),
                "C1",
                "{} is {}, not a scalar of the element type of {}",
                name,
                spell(parameter),
                spell(result),
            )
        return (without_layout(result),)

    relate = staticmethod(RelationsBuilder.add_generated)


_STATES = {
    RandomAlgorithm.THREE_FRY: ("u64[2]", 2, 2),
    RandomAlgorithm.PHILOX: ("u64[2] or u64[3]", 2, 3),
    RandomAlgorithm.DEFAULT: ("u64[2] or more", 2, MAX_ELEMENTS),
}
"""The states that an algorithm is computed from; how many u64 these are at least and at most."""


def _fault_of_state(state: Array, algorithm: RandomAlgorithm) -> str | None:
    """Why an algorithm is not computed from a state; None if it is."""
    allowed, least, most = _STATES[algorithm]
    sizes = sizes_of(state)
    if state.element_type == U64 and len(sizes) == 1 and bounded(least, sizes[0], most):
        return None
    return f"the state is {spell(state)}, {algorithm} has {allowed}"


@irdl_op_definition
class RngBitGeneratorOp(XlaOp):
    """
    Random bits that follow from a state, and the state to go on with.

    rng_three_fry and rng_philox count blocks: the state is a key and a counter, see
    `xla_dialect.literals.random_bits`. rng_default is what a backend makes of it: here it is
    rng_philox, computed from `u64[2]` or more; what its state has beyond three numbers stays as it
    is. Backends have states of other types, and programs for these are valid: they are not computed
    here.

    (C1) the state is an array of numbers; to be computed, `u64[2]`, for rng_philox `u64[3]` as
    well, and for rng_default `u64` of 2 or more.
    (C2) the bits are of an integer type of at least 2 bits.
    """

    name = "xla.rng_bit_generator"
    initial_state = operand_def(ArrayOf(ElementClass.REAL))
    algorithm = prop_def(RandomAlgorithmAttr)
    outputs = var_result_def()
    traits = traits_def(Pure())

    @staticmethod
    def infer(initial_state: Array, *, declared: Types) -> Types:
        """The type of the state and the declared type of the bits."""
        results = flat_results(declared)
        if len(results) != 2:
            raise Violation("Result", f"declared {spell_all(declared)}, not a state and bits")
        bits = with_elements(results[1], ElementClass.INTEGER, "the result", "C2")
        width = BY_TYPE[bits.element_type].bits
        require(width > 1, "C2", "the result has elements of 1 bit")
        return (without_layout(initial_state), without_layout(bits))

    def fault(self) -> str | None:
        """Why it is not computed here, though it is valid; None if it is."""
        return _fault_of_state(cast(Array, self.initial_state.type), self.algorithm.data)

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        """All of a state makes the next one, and the bits."""
        for d, size in enumerate(relations.operands[0]):
            state = Factor(size, FactorType.NEED_REPLICATION, Traversal.WHOLE, blocked=True)
            relations.add(state, {0: d}, {0: d})
        relations.add_generated(1)


@irdl_op_definition
class RngGetAndUpdateStateOp(XlaOp):
    """The state of the global generator, a number of 128 bits (low half first), then += `delta`."""

    name = "xla.rng_get_and_update_state"
    delta = prop_def(INTEGER)
    result = result_def()

    @staticmethod
    def infer(*, delta: int) -> Types:
        """`u64[2]`."""
        return (array(U64, (2,)),)

    relate = staticmethod(RelationsBuilder.add_generated)


@irdl_op_definition
class StochasticConvertOp(PointwiseOp):
    """
    `operand[i]` rounded to the element type of the result, up or down by chance.

    Its magnitude is rounded down to one of the result, and then up where `random[i]`, of b bits, is
    less than `2^b` times what that left, as a fraction of the distance to the next. For integers
    what the result cannot hold becomes its nearest number and NaN 0, for floats what `convert`
    makes of it.

    (C1) the operand is a float array. (C2) `random` has its dimensions and is an unsigned integer
    of its bit width. (C3) the result is an integer or float array.
    """

    name = "xla.stochastic_convert"
    operand = operand_def(ArrayOf(ElementClass.FLOAT))
    random = operand_def(ArrayOf(ElementClass.UNSIGNED, "C2"))

    @staticmethod
    def infer(operand: Array, random: Array, *, declared: Types) -> Types:
        """The dimensions of the operand with the declared element type."""
        require_same_shape(operand, random, "operand and random", "C2")
        widths = [BY_TYPE[t.element_type].bits for t in (operand, random)]
        require(widths[0] == widths[1], "C2", "operand has {} bits, random {}", *widths)
        allowed = ElementClass.INTEGER | ElementClass.FLOAT
        result = with_elements(declared_array(declared), allowed, "the result", "C3")
        return (array_like(operand, result.element_type),)
