"""Straight-line code on scalars: what the bodies of structured operations are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects import arith, complex, math, tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    ComplexType,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    Signedness,
    TensorType,
    UnknownLoc,
    f32,
    i1,
)
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.dialects.arith_extension import IndexCastUIOp
from lowerings.ir.scalar_attributes import scalar_attribute
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import append

OperationT = TypeVar("OperationT", bound=Operation)

INDEX = IndexType()

Values: TypeAlias = Sequence[SSAValue]
"""Scalars of a body, or the tensors that a loop carries."""

_CMPI = {name: IntegerAttr(i, 64) for i, name in enumerate(arith.CMPI_COMPARISON_OPERATIONS)}
_CMPF = {name: IntegerAttr(i, 64) for i, name in enumerate(arith.CMPF_COMPARISON_OPERATIONS)}


def storage(element_type: Attribute) -> Attribute:
    """The signless type in which elements are stored: `ui8` becomes `i8`, others stay."""
    if not isinstance(element_type, IntegerType):
        return element_type
    integer_type = cast(IntegerType, element_type)
    if integer_type.signedness.data == Signedness.SIGNLESS:
        return integer_type
    return IntegerType(integer_type.width.data)


def int_width(value: SSAValue) -> int:
    """The number of bits of an integer scalar."""
    return cast(IntegerType, value.type).width.data


def is_float(type_: Attribute) -> bool:
    """Whether a scalar type is a float of any format."""
    return isinstance(type_, AnyFloat)


def arithmetic_type(type_: Attribute) -> AnyFloat:
    """The float type in which values of a float type are computed: f64 for f64, else f32."""
    return type_ if isinstance(type_, Float64Type) else f32


@dataclass(eq=False)
class ScalarBuilder:
    """
    Appends scalar operations to a block; every method returns the value it makes.

    Integers are signless: the methods' names say where signedness matters. Constants are shared.
    """

    block: Block
    location: LocationAttr = field(default_factory=UnknownLoc)
    constants: dict[tuple[Attribute, object], SSAValue] = field(
        default_factory=dict[tuple[Attribute, object], SSAValue]
    )
    holds_tensors: bool = False
    """Whether the block has operations that `linalg.generic` does not take in its body."""

    def add(self, op: OperationT) -> OperationT:
        """Appends an operation."""
        op.location = self.location
        append(self.block, op)
        return op

    def emit(
        self,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_type: Attribute | None = None,
        properties: dict[str, Attribute] | None = None,
    ) -> SSAValue:
        """Appends an operation of one result, of the type of the first operand unless given."""
        op = create(
            op_class,
            operands=operands,
            result_types=(operands[0].type if result_type is None else result_type,),
            properties=properties or {},
        )
        op.location = self.location
        append(self.block, op)
        return op.results[0]

    # Constants

    def constant(self, value: float | int | bool, type_: Attribute) -> SSAValue:
        """A constant of a float, integer or index type; integers wrap to their width."""
        # -0.0 equals 0.0 and NaN differs from itself, so floats are compared by their spelling.
        key = type_, value.hex() if isinstance(value, float) else value
        found = self.constants.get(key)
        if found is None:
            found = self.constants[key] = self.constant_of(scalar_attribute(value, type_))
        return found

    def constant_of(self, value: Attribute) -> SSAValue:
        """A new constant of a float or integer attribute, or of a pair of floats (complex)."""
        if isinstance(value, ArrayAttr):
            parts = cast("ArrayAttr[FloatAttr[Any]]", value)
            type_ = ComplexType(parts.data[0].type)
            return self.emit(complex.ConstantOp, (), type_, {"value": parts})
        type_ = cast("IntegerAttr[Any] | FloatAttr[Any]", value).type
        return self.emit(arith.ConstantOp, (), type_, {"value": value})

    def constant_like(self, number: float | int, value: SSAValue) -> SSAValue:
        """A constant of the type of a value."""
        return self.constant(float(number) if is_float(value.type) else number, value.type)

    # Any type

    def select(self, condition: SSAValue, on_true: SSAValue, on_false: SSAValue) -> SSAValue:
        """One of two values by an i1."""
        return self.emit(arith.SelectOp, (condition, on_true, on_false), on_true.type)

    def bitcast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """The bits of a scalar as a type of the same width."""
        return value if value.type == type_ else self.emit(arith.BitcastOp, (value,), type_)

    def read_scalar(self, value: SSAValue) -> SSAValue:
        """The element of a tensor of rank 0, which is defined outside of the body."""
        element_type = cast("TensorType[Attribute]", value.type).element_type
        return self.emit(tensor.ExtractOp, (value,), storage(element_type))

    # Floats

    def compare_floats(self, predicate: str, lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        """An i1; `predicate` as in MLIR, e.g. `olt`."""
        rhs = self._float(lhs, rhs)
        return self.emit(arith.CmpfOp, (lhs, rhs), i1, {"predicate": _CMPF[predicate]})

    def addf(self, lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        """`lhs + rhs`."""
        return self._floats(arith.AddfOp, lhs, rhs)

    def subf(self, lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        """`lhs - rhs`."""
        return self._floats(arith.SubfOp, lhs, rhs)

    def mulf(self, lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        """`lhs * rhs`."""
        return self._floats(arith.MulfOp, lhs, rhs)

    def divf(self, lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        """`lhs / rhs`."""
        return self._floats(arith.DivfOp, lhs, rhs)

    def _floats(self, op_class: type[Operation], lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        return self.emit(op_class, (lhs, self._float(lhs, rhs)))

    def _float(self, like: SSAValue, value: SSAValue | float) -> SSAValue:
        return value if isinstance(value, SSAValue) else self.constant(float(value), like.type)

    def negf(self, value: SSAValue) -> SSAValue:
        """`-value`."""
        return self.emit(arith.NegfOp, (value,))

    def absf(self, value: SSAValue) -> SSAValue:
        """`|value|`."""
        return self.emit(math.AbsFOp, (value,))

    # Integers

    def compare(self, predicate: str, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """An i1 from two integers; `predicate` as in MLIR, e.g. `ult`."""
        rhs = self._integer(lhs, rhs)
        return self.emit(arith.CmpiOp, (lhs, rhs), i1, {"predicate": _CMPI[predicate]})

    def integers(self, op_class: type[Operation], lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """A binary operation of two integers of one type."""
        return self.emit(op_class, (lhs, self._integer(lhs, rhs)))

    def _integer(self, like: SSAValue, value: SSAValue | int) -> SSAValue:
        return value if isinstance(value, SSAValue) else self.constant(value, like.type)

    def both(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Bitwise and."""
        return self.emit(arith.AndIOp, (lhs, rhs))

    def either(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Bitwise or."""
        return self.emit(arith.OrIOp, (lhs, rhs))

    def resize(self, value: SSAValue, width: int, signed: bool) -> SSAValue:
        """An integer of another width: extended by its sign or zeros, or its low bits."""
        old = int_width(value)
        if old == width:
            return value
        extend = arith.ExtSIOp if signed else arith.ExtUIOp
        return self.emit(extend if old < width else arith.TruncIOp, (value,), IntegerType(width))

    def to_index(self, value: SSAValue, signed: bool) -> SSAValue:
        """An integer as an index; an unsigned one of 64 bits with the top bit set is negative."""
        return self.emit(arith.IndexCastOp if signed else IndexCastUIOp, (value,), INDEX)

    def index(self, dimension: int) -> SSAValue:
        """The position of the current iteration along a dimension of the iteration space."""
        key = INDEX, f"linalg.index {dimension}"
        found = self.constants.get(key)
        if found is None:
            found = self.emit(IndexOp, (), INDEX, {"dim": IntegerAttr(dimension, 64)})
            self.constants[key] = found
        return found

    # Complex numbers

    def create_complex(self, real: SSAValue, imaginary: SSAValue) -> SSAValue:
        """`real + i imaginary`."""
        return self.emit(
            complex.CreateOp, (real, imaginary), ComplexType(cast(AnyFloat, real.type))
        )

    def real(self, value: SSAValue) -> SSAValue:
        """The real part."""
        return self.emit(complex.ReOp, (value,), component(value))

    def imaginary(self, value: SSAValue) -> SSAValue:
        """The imaginary part."""
        return self.emit(complex.ImOp, (value,), component(value))

    def parts(self, value: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The real and the imaginary part."""
        return self.real(value), self.imaginary(value)


def component(value: SSAValue) -> AnyFloat:
    """The type of the parts of a complex scalar."""
    return cast("ComplexType[Float32Type | Float64Type]", value.type).element_type
