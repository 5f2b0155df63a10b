"""
Arithmetic on SSA values written as formulas: `x * y + z` appends operations.

A `Number` is a scalar or a vector of any float or integer type. Formulas name no type: constants
take that of the other operand, and what fits scalars fits vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    DenseArrayBase,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    VectorType,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.dialects.arith_extension import (
    NO_FAST_MATH,
    CmpfOp,
    CmpiOp,
    ExtUIOp,
    FPToSIOp,
    IndexCastOp,
    SelectOp,
    SIToFPOp,
    TruncIOp,
    with_element_type,
)
from lowerings.ir.float_formats import FLOAT_FORMATS, FloatFormat
from lowerings.ir.formulas import Formula
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import INDEX, vector_of

Operand: TypeAlias = "Number | float | int"


FORMATS: dict[type[Attribute], FloatFormat] = {
    type_: FLOAT_FORMATS[type_] for type_ in (Float32Type, Float64Type)
}
"""The types that functions are computed in."""

NARROW_TYPES = (Float16Type, BFloat16Type)
"""Types whose functions are computed in f32."""


_OF_INTEGERS: dict[type[Operation], type[Operation]] = {
    arith.AddfOp: arith.AddiOp,
    arith.SubfOp: arith.SubiOp,
    arith.MulfOp: arith.MuliOp,
}
_OF_INTEGERS_COMPARED = {"olt": "slt", "ogt": "sgt", "ole": "sle", "oeq": "eq"}


@dataclass(frozen=True, eq=False)
class Number(Formula["Number"]):
    """A value with the builder that its formulas go to."""

    builder: LoopBuilder
    value: SSAValue

    @property
    def type(self) -> Attribute:
        return self.value.type

    @property
    def element_type(self) -> Attribute:
        """The type itself, or that of the elements of a vector."""
        own = self.type
        return (
            cast("VectorType[Attribute]", own).element_type if isinstance(own, VectorType) else own
        )

    @property
    def is_integer(self) -> bool:
        return isinstance(self.element_type, IntegerType)

    @property
    def format(self) -> FloatFormat:
        """The format of a float; that of the float of the same width for an integer."""
        element = self.element_type
        if isinstance(element, IntegerType):
            return next(f for f in FORMATS.values() if f.bits == element.bitwidth)
        return FORMATS[type(element)]

    def constant(self, number: float) -> Number:
        """A constant of this number's type."""
        return Number(self.builder, self.builder.constants.number(number, self.type))

    def _lift(self, operand: Operand) -> Number:
        return operand if isinstance(operand, Number) else self.constant(operand)

    def _emit(self, op_class: type[Operation], operands: Sequence[Operand]) -> Number:
        values = [self._lift(operand).value for operand in operands]
        return Number(self.builder, self.builder.write(op_class, values, self.type))

    def _converted(self, op_class: type[Operation], element_type: Attribute) -> Number:
        result_type = with_element_type(self.type, element_type)
        return Number(self.builder, self.builder.write(op_class, [self.value], result_type))

    def operation(self, op_class: type[Operation], *operands: Operand) -> Number:
        """An operation of numbers of this one's type: of integers for that of floats."""
        return self._emit(_OF_INTEGERS[op_class] if self.is_integer else op_class, operands)

    def __and__(self, other: Operand) -> Number:
        return self._emit(arith.AndIOp, [self, other])

    def __or__(self, other: Operand) -> Number:
        return self._emit(arith.OrIOp, [self, other])

    def __xor__(self, other: Operand) -> Number:
        return self._emit(arith.XOrIOp, [self, other])

    def __lshift__(self, other: Operand) -> Number:
        return self._emit(arith.ShLIOp, [self, other])

    def __rshift__(self, other: Operand) -> Number:
        """Arithmetic: copies of the sign move in."""
        return self._emit(arith.ShRSIOp, [self, other])

    def shift_right_unsigned(self, other: Operand) -> Number:
        """Zeros move in."""
        return self._emit(arith.ShRUIOp, [self, other])

    def floor(self) -> Number:
        return self.operation(math.FloorOp, self)

    def trunc(self) -> Number:
        return self.operation(math.TruncOp, self)

    def compare(self, predicate: str, other: Operand) -> Number:
        """A comparison, of integers as signed if not said otherwise."""
        other = self._lift(other)
        op_class = CmpfOp
        if self.is_integer:
            op_class, predicate = CmpiOp, _OF_INTEGERS_COMPARED.get(predicate, predicate)
        op = self.builder.add(op_class(self.value, other.value, predicate))
        return Number(self.builder, op.result)

    def choose(self, if_true: Operand, if_false: Operand) -> Number:
        """One of two numbers, by this condition; at least one of them is a `Number`."""
        if not isinstance(if_true, Number):
            assert isinstance(if_false, Number)
            if_true = if_false.constant(if_true)
        if_false = if_true._lift(if_false)
        op = SelectOp(self.value, if_true.value, if_false.value)
        return Number(self.builder, self.builder.add(op).result)

    def above(self, bound: Operand) -> Number:
        """This number, or `bound` where it is less; NaN stays."""
        return self.compare("olt", bound).choose(bound, self)

    def below(self, bound: Operand) -> Number:
        """This number, or `bound` where it is greater; NaN stays."""
        return self.compare("ogt", bound).choose(bound, self)

    def as_integer(self) -> Number:
        """The bits of a float as a signless integer."""
        return self.bitcast(IntegerType(self.format.bits))

    def as_float(self) -> Number:
        """The float with the bits of an integer."""
        bits = self.format.bits
        return self.bitcast(next(t() for t, f in FORMATS.items() if f.bits == bits))

    def bitcast(self, element_type: Attribute) -> Number:
        """The bits of a number as another type of the same width."""
        return self._converted(arith.BitcastOp, element_type)

    def to_float(self, element_type: Attribute) -> Number:
        """An integer as a float of `element_type`."""
        return self._converted(SIToFPOp, element_type)

    def to_integer(self, element_type: Attribute) -> Number:
        """A float, rounded towards zero, as an integer of `element_type`."""
        return self._converted(FPToSIOp, element_type)

    def extended(self, element_type: Attribute = f32) -> Number:
        """A float in a wider type."""
        return self._converted(arith.ExtFOp, element_type)

    def truncated(self, element_type: Attribute) -> Number:
        """A float rounded to a narrower type."""
        return self._converted(arith.TruncFOp, element_type)

    def cut(self, bits: int) -> Number:
        """The low bits of an integer."""
        return self._converted(TruncIOp, IntegerType(bits))

    def zero_extended(self, bits: int) -> Number:
        """An unsigned integer in more bits."""
        return self._converted(ExtUIOp, IntegerType(bits))

    def times_wide(self, factor: Operand) -> tuple[Number, Number]:
        """The low and the high half of the product of two unsigned integers."""
        op = arith.MulUIExtendedOp(self.value, self._lift(factor).value)
        self.builder.add(op)
        return Number(self.builder, op.low), Number(self.builder, op.high)

    def leading_zeros(self) -> Number:
        """How many bits of an integer are zero before the first that is not."""
        return self._emit(math.CountLeadingZerosOp, [self])

    def to_index(self) -> SSAValue:
        """A scalar integer as an index."""
        return self.builder.add(IndexCastOp(self.value, INDEX)).result

    def if_any(
        self, then: Callable[[], Sequence[Number]], otherwise: Sequence[Number]
    ) -> list[Number]:
        """What `then` computes if this condition holds in some lane, else `otherwise`."""
        condition = self.value
        if isinstance(self.type, VectorType):
            properties = {
                "kind": vector.CombiningKindAttr(vector.CombiningKindFlag.OR),
                "fastmath": NO_FAST_MATH,
            }
            condition = self.builder.write(vector.ReductionOp, [condition], i1, properties)
        results = self.builder.branch(
            condition,
            lambda: [number.value for number in then()],
            [number.value for number in otherwise],
        )
        return [Number(self.builder, result) for result in results]

    def call_on_lanes(self, name: str, result_types: Sequence[Attribute]) -> list[Number]:
        """The results of a function of a scalar, for each lane."""
        builder, own = self.builder, self.type
        if not isinstance(own, VectorType):
            return [Number(builder, v) for v in builder.call(name, [self.value], result_types)]
        (lanes,) = own.get_shape()
        constants = builder.constants
        start = [constants.number(0, vector_of(each, lanes)) for each in result_types]
        bounds = [constants.index(each) for each in (0, lanes, 1)]
        properties = {"static_position": DenseArrayBase.from_list(i64, [DYNAMIC_INDEX])}

        def inside(lane: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            write = partial(builder.write, properties=properties)
            element = write(vector.ExtractOp, [self.value, lane], self.element_type)
            results = builder.call(name, [element], result_types)
            return [
                write(vector.InsertOp, [value, before, lane], before.type)
                for value, before in zip(results, carried, strict=True)
            ]

        return [Number(builder, value) for value in builder.loop(bounds, start, inside, "lane")]

    def polynomial(self, coefficients: Sequence[float]) -> Number:
        """The polynomial of this number, coefficients from the constant term up, by Horner."""
        result = self.constant(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = result.times_plus(self, coefficient)
        return result
