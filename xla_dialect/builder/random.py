"""Random numbers (docs/generated/ops.md#random)."""

from __future__ import annotations

from xla_dialect.attributes import RandomAlgorithm, RandomAlgorithmAttr, RandomDistribution
from xla_dialect.builder.recorder import Recorder
from xla_dialect.builder.type_spelling import TypeLike, as_array_type
from xla_dialect.builder.value import Operand, XlaValue
from xla_dialect.ops.random import RngBitGeneratorOp, RngGetAndUpdateStateOp, RngOp


class RandomMethods(Recorder):
    """Methods that give random numbers."""

    def rng_normal(self, mu: Operand, sigma: Operand, shape: TypeLike) -> XlaValue:
        """
        Numbers of a normal distribution with mean `mu` and standard deviation `sigma`.

        Example: `b.rng_normal(0, 1, "f32[4,8]")`.
        """
        return self._rng(RandomDistribution.NORMAL, mu, sigma, shape)

    def rng_uniform(self, a: Operand, b: Operand, shape: TypeLike) -> XlaValue:
        """
        Numbers of the half-open interval [a, b), all equally likely.

        Example: `b.rng_uniform(0, 10, "s32[4,8]")`.
        """
        return self._rng(RandomDistribution.UNIFORM, a, b, shape)

    def _rng(
        self, distribution: RandomDistribution, a: Operand, b: Operand, shape: TypeLike
    ) -> XlaValue:
        type_ = as_array_type(shape)
        return self._append_one(
            RngOp,
            self._operand(a, type_.element_type, "the first parameter"),
            self._operand(b, type_.element_type, "the second parameter"),
            [],
            distribution=distribution,
            result_types=[type_],
        )

    def rng_bit_generator(
        self, algorithm: RandomAlgorithm | str, initial_state: XlaValue, shape: TypeLike
    ) -> tuple[XlaValue, XlaValue]:
        """
        The state to go on with, and random bits that follow from the initial state alone.

        `algorithm`: rng_three_fry (state u64[2]), rng_philox (u64[2] or u64[3]) or
        rng_default (u64[2] or more).
        Example: `b.rng_bit_generator("rng_philox", b.constant([1, 2], "u64"), "u32[8]")`.
        """
        state, bits = self._append(
            RngBitGeneratorOp,
            self._ssa(initial_state, "initial_state"),
            algorithm=self._word("rng_bit_generator", RandomAlgorithmAttr, algorithm),
            result_types=[initial_state.type, as_array_type(shape)],
        )
        return state, bits

    def rng_get_and_update_state(self, delta: int) -> XlaValue:
        """
        The state of the global generator, `u64[2]`, which is then advanced by `delta`.

        Example: `b.rng_get_and_update_state(4)`.
        """
        return self._append_one(RngGetAndUpdateStateOp, delta=delta)
