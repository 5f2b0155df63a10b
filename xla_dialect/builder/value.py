"""The values that calls of the builder give, and their operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, cast

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

_Operator: TypeAlias = "Callable[[XlaValue, Any], XlaValue]"


def _operators(method: str, sign: str | None = None) -> tuple[_Operator, _Operator]:
    """
    The operators that are a method of the builder, for a value on the left and on the right.

    `sign`: of one that Python defines otherwise for integers, for which it is an error.
    """

    def require_fractions(value: XlaValue) -> None:
        if element_class(value.element_type) & (ElementClass.INTEGER | ElementClass.PRED):
            raise build_error(
                f"{sign} of {spell(value.type)} is not what Python means by it; "
                f"say {method}, which stays in the integers"
            )

    def on_the_left(self: XlaValue, other: XlaValue | Number) -> XlaValue:
        if sign is not None:
            require_fractions(self)
        return getattr(self.builder, method)(self, other)

    def on_the_right(self: XlaValue, other: Number) -> XlaValue:
        if sign is not None:
            require_fractions(self)
        return getattr(self.builder, method)(other, self)

    return on_the_left, on_the_right


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

    def __init__(self, builder: Any, ssa: SSAValue):
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

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("sub")
    __mul__, __rmul__ = _operators("mul")
    __truediv__, __rtruediv__ = _operators("div", "/")
    __pow__, __rpow__ = _operators("pow", "**")
    __and__, __rand__ = _operators("and_")
    __or__, __ror__ = _operators("or_")
    __xor__, __rxor__ = _operators("xor")
    __lt__, __gt__ = _operators("lt")[0], _operators("gt")[0]
    __le__, __ge__ = _operators("le")[0], _operators("ge")[0]
    __matmul__, _ = _operators("dot")

    def __neg__(self) -> XlaValue:
        return self.builder.neg(self)

    def __invert__(self) -> XlaValue:
        return self.builder.not_(self)

    def __eq__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, other: XlaValue | Number
    ) -> XlaValue:
        return self.builder.eq(self, other)

    def __ne__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, other: XlaValue | Number
    ) -> XlaValue:
        return self.builder.ne(self, other)

    __hash__ = object.__hash__

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
