"""The values that calls of the builder give, and their operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from xla_dialect.builder.caller import build_error
from xla_dialect.builder.constant_values import Number
from xla_dialect.types import (
    Array,
    ElementClass,
    element_class,
    sizes_of,
    spell,
    tuple_elements,
)
from xla_dialect.violations import Violation


class Operators(Protocol):
    """The methods of a builder that the operators of its values stand for."""

    name: str

    def add(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def sub(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def mul(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def div(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def pow(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def dot(self, lhs: XlaValue, rhs: XlaValue, /) -> XlaValue: ...
    def neg(self, operand: XlaValue, /) -> XlaValue: ...
    def not_(self, operand: XlaValue, /) -> XlaValue: ...
    def and_(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def or_(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def xor(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def eq(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def ne(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def lt(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def le(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def gt(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...
    def ge(self, lhs: Operand, rhs: Operand, /) -> XlaValue: ...

    def get_tuple_element(self, operand: XlaValue, index: int, /) -> XlaValue: ...


class XlaValue:
    """
    A value of the program that a builder builds: an array, a tuple or a token.

    Arrays have the operators whose meaning does not depend on who reads them. The other operand is
    an array of the same rank, a scalar, or a Python number, which is a constant of the same element
    type; arrays of different rank need a method, and `broadcast_dimensions`.

    - `+ - *` and unary `-`; `/` and `**` of floats and complex numbers only (integers: `b.div`
      truncates, where Python's `/` does not); `@` is `b.dot`.
    - `& | ^ ~`, bitwise on integers, logical on pred.
    - `== != < <= > >=` give arrays of pred, as in numpy. A value has no truth value itself: `if`
      and `and` over values are errors, `b.conditional` and `b.select` are what is meant.

    A tuple has a length, `t[i]`, and unpacks: `value, index = t`.
    """

    __slots__ = ("builder", "ssa")

    __array_ufunc__ = None
    """Says to numpy that the operators here are meant when one of its arrays stands on the left."""

    def __init__(self, builder: Operators, ssa: SSAValue):
        self.builder = builder
        """The builder that made it."""
        self.ssa = ssa
        """The value in the IR."""

    @property
    def type(self) -> Attribute:
        """The MLIR type."""
        return self.ssa.type

    @property
    def array_type(self) -> Array:
        """The type of an array; raises BuildError for a tuple or a token."""
        type_ = self.ssa.type
        if not isinstance(type_, TensorType):
            raise build_error(f"{spell(type_)} is not an array")
        return cast(Array, type_)

    @property
    def shape(self) -> tuple[int, ...]:
        """
        The sizes of an array; of dynamic dimensions the bounds, as `DynamicSize`.

        Raises BuildError for a tuple or a token, and for a dynamic dimension without a bound.
        """
        try:
            return sizes_of(self.array_type)
        except Violation as violation:
            raise build_error(str(violation)) from None

    @property
    def rank(self) -> int:
        """The number of dimensions of an array; raises BuildError for a tuple or a token."""
        return self.array_type.get_num_dims()

    @property
    def element_type(self) -> Attribute:
        """The MLIR element type of an array; raises BuildError for a tuple or a token."""
        return self.array_type.element_type

    def named(self, name: str) -> XlaValue:
        """The value itself, shown under this name where the IR is printed."""
        if not SSAValue.is_valid_name(name):
            raise build_error(f"'{name}' is not a name for a value")
        self.ssa.name_hint = name
        return self

    def __repr__(self) -> str:
        name = f" %{self.ssa.name_hint}" if self.ssa.name_hint else ""
        return f"<XlaValue{name}: {spell(self.type)}>"

    def __add__(self, other: XlaValue | Number) -> XlaValue:
        return self.builder.add(self, other)

    def __radd__(self, other: Number) -> XlaValue:
        return self.builder.add(other, self)

    def __sub__(self, other: XlaValue | Number) -> XlaValue:
        return self.builder.sub(self, other)

    def __rsub__(self, other: Number) -> XlaValue:
        return self.builder.sub(other, self)

    def __mul__(self, other: XlaValue | Number) -> XlaValue:
        return self.builder.mul(self, other)

    def __rmul__(self, other: Number) -> XlaValue:
        return self.builder.mul(other, self)

    def __truediv__(self, other: XlaValue | Number) -> XlaValue:
        self._require_fractions("/", "div")
        return self.builder.div(self, other)

    def __rtruediv__(self, other: Number) -> XlaValue:
        self._require_fractions("/", "div")
        return self.builder.div(other, self)

    def __pow__(self, other: XlaValue | Number) -> XlaValue:
        self._require_fractions("**", "pow")
        return self.builder.pow(self, other)

    def __rpow__(self, other: Number) -> XlaValue:
        self._require_fractions("**", "pow")
        return self.builder.pow(other, self)

    def _require_fractions(self, operator: str, method: str) -> None:
        if element_class(self.element_type) & (ElementClass.INTEGER | ElementClass.PRED):
            raise build_error(
                f"{operator} of {spell(self.type)} is not what Python means by it; "
                f"say {method}, which stays in the integers"
            )

    def __matmul__(self, other: XlaValue) -> XlaValue:
        return self.builder.dot(self, other)

    def __neg__(self) -> XlaValue:
        return self.builder.neg(self)

    def __invert__(self) -> XlaValue:
        return self.builder.not_(self)

    def __and__(self, other: XlaValue | Number) -> XlaValue:
        return self.builder.and_(self, other)

    def __rand__(self, other: Number) -> XlaValue:
        return self.builder.and_(other, self)

    def __or__(self, other: XlaValue | Number) -> XlaValue:
        return self.builder.or_(self, other)

    def __ror__(self, other: Number) -> XlaValue:
        return self.builder.or_(other, self)

    def __xor__(self, other: XlaValue | Number) -> XlaValue:
        return self.builder.xor(self, other)

    def __rxor__(self, other: Number) -> XlaValue:
        return self.builder.xor(other, self)

    def __eq__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, other: XlaValue | Number
    ) -> XlaValue:
        return self.builder.eq(self, other)

    def __ne__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, other: XlaValue | Number
    ) -> XlaValue:
        return self.builder.ne(self, other)

    __hash__ = object.__hash__

    def __lt__(self, other: XlaValue | Number) -> XlaValue:
        return self.builder.lt(self, other)

    def __le__(self, other: XlaValue | Number) -> XlaValue:
        return self.builder.le(self, other)

    def __gt__(self, other: XlaValue | Number) -> XlaValue:
        return self.builder.gt(self, other)

    def __ge__(self, other: XlaValue | Number) -> XlaValue:
        return self.builder.ge(self, other)

    def __bool__(self) -> bool:
        raise build_error(
            "a value is not true or false before the program runs; "
            "use conditional or select, and & | ~ between pred arrays"
        )

    def _elements(self) -> tuple[Attribute, ...]:
        elements = tuple_elements(self.type)
        if elements is None:
            raise build_error(
                f"{spell(self.type)} is not a tuple; parts of arrays are taken by slice and gather"
            )
        return elements

    def __len__(self) -> int:
        return len(self._elements())

    def __getitem__(self, index: int) -> XlaValue:
        count = len(self)
        return self.builder.get_tuple_element(self, index + count if index < 0 else index)

    def __iter__(self) -> Iterator[XlaValue]:
        return iter([self[i] for i in range(len(self))])


Operand: TypeAlias = XlaValue | Number
"""A value, or a number that stands for a scalar constant of the element type around it."""
