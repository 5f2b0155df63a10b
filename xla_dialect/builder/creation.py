"""Constants and random numbers (docs/generated/ops.md#creation)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute

from xla_dialect.attributes import RandomAlgorithm, RandomDistribution
from xla_dialect.builder.caller import build_error
from xla_dialect.builder.computations import Computations
from xla_dialect.builder.constant_values import ArrayLike, as_array
from xla_dialect.builder.operation_methods import appends
from xla_dialect.builder.type_spelling import (
    ElementTypeLike,
    TypeLike,
    as_array_type,
    as_element_type,
    as_type,
    names_element_type,
)
from xla_dialect.builder.value import Operand, XlaValue
from xla_dialect.literals.arrays import from_numpy
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.random import RngBitGeneratorOp, RngOp
from xla_dialect.types import is_array, spell


class CreationMethods(Computations):
    """Methods whose results are not made of arrays."""

    @appends(ConstantOp)
    def constant(
        self, value: ArrayLike | tuple[object, ...], shape: TypeLike | ElementTypeLike | None = None
    ) -> XlaValue:
        """
        A constant: an array, a number, lists of numbers, or a Python tuple of these for a tuple.

        `shape` is its type, or its element type only. Without it, arrays keep their element type;
        Python numbers are pred, s32, f32 or c64. A number with the type of an array fills it.
        Raises BuildError where `shape` would not hold the value, up to rounding.

        Example: `b.constant([[1, 2], [3, 4]], "f32")`.
        """
        if isinstance(value, XlaValue):
            raise build_error("constant: this is a value already")
        if shape is None:
            return self._append(ConstantOp, value=_literal(value, None))
        if names_element_type(shape):
            element_type = as_element_type(cast("ElementTypeLike", shape))
            return self._literal(as_array(value, element_type))
        type_ = as_type(cast("TypeLike", shape))
        if is_array(type_) and np.ndim(cast(Any, value)) == 0:
            scalar = self._literal(as_array(value, type_.element_type))
            if type_.get_shape() and type_.has_static_shape():
                return self._expanded(scalar, type_.get_shape(), ())
        return self._append(ConstantOp, value=_literal(value, type_))

    @appends(RngOp)
    def rng_normal(self, mu: Operand, sigma: Operand, shape: TypeLike) -> XlaValue:
        """
        Numbers of a normal distribution with mean `mu` and standard deviation `sigma`.

        Example: `b.rng_normal(0, 1, "f32[4,8]")`.
        """
        return self._rng(RandomDistribution.NORMAL, mu, sigma, shape)

    @appends(RngOp)
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
        return self._append(
            RngOp,
            self._operand(a, type_.element_type, "the first parameter"),
            self._operand(b, type_.element_type, "the second parameter"),
            [],
            distribution=distribution,
            result_types=[type_],
        )

    @appends(RngBitGeneratorOp)
    def rng_bit_generator(
        self, algorithm: RandomAlgorithm | str, initial_state: XlaValue, shape: TypeLike
    ) -> tuple[XlaValue, ...]:
        """
        The state to go on with, and random bits that follow from the initial state alone.

        `algorithm`: rng_three_fry (state u64[2]), rng_philox (u64[2] or u64[3]) or
        rng_default (u64[2] or more).
        Example: `b.rng_bit_generator("rng_philox", b.constant([1, 2], "u64"), "u32[8]")`.
        """
        result_types = [initial_state.type, as_array_type(shape)]
        return self._append(
            RngBitGeneratorOp, initial_state, algorithm=algorithm, result_types=result_types
        )


def _literal(value: object, type_: Attribute | None) -> Attribute:
    """The literal of a value, of this type or else of the one that the value has."""
    if isinstance(type_, TupleType) or (type_ is None and isinstance(value, tuple)):
        if not isinstance(value, list | tuple):
            raise build_error(f"constant: a Python {type(value).__name__} is not a tuple")
        elements = cast("Sequence[object]", value)
        types = [None] * len(elements) if type_ is None else type_.types.data
        if len(elements) != len(types):
            raise build_error(
                f"constant: {len(elements)} elements for the tuple {spell(cast(Attribute, type_))}"
            )
        return ArrayAttr([_literal(*pair) for pair in zip(elements, types, strict=True)])
    if type_ is None:
        return from_numpy(as_array(value))
    if not is_array(type_):
        raise build_error(f"constant: there are no constants of type {spell(type_)}")
    array = as_array(value, type_.element_type)
    if array.shape != type_.get_shape():
        raise build_error(
            f"constant: the value has sizes {list(array.shape)}, not those of {spell(type_)}"
        )
    return from_numpy(array, type_)
