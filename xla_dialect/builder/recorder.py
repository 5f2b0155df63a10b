"""What all methods of the builder share: operations are appended at the insertion point.

The builder stands in the innermost open block. Calling a Python function to build the computation
of an operation opens a block inside the operation, and closes it when the function returns.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from inspect import isfunction
from operator import index
from typing import Any, TypeVar, cast

from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.builder.arguments import explained
from xla_dialect.builder.caller import build_error, caller_location
from xla_dialect.builder.constant_values import Number, as_array
from xla_dialect.builder.value import Operand, Operators, XlaValue
from xla_dialect.literals.arrays import from_numpy
from xla_dialect.op import PropertyValue, XlaOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.types import array
from xla_dialect.violations import Violation

EnumT = TypeVar("EnumT", bound=EnumAttribute[Any])


class Recorder:
    """The open blocks of a program that is being built."""

    def __init_subclass__(cls) -> None:
        """Public methods say which argument has a wrong type."""
        super().__init_subclass__()
        for name, method in list(vars(cls).items()):
            if isfunction(method) and not name.startswith("_"):
                setattr(cls, name, explained(method))

    def __init__(self) -> None:
        self._entry = Block()
        self._open_blocks = [self._entry]
        """The blocks whose values are visible, the innermost last."""
        self._finished = False

    @property
    def _self(self) -> Operators:
        """Methods of all families are methods of one class."""
        return cast(Operators, self)

    def _ssa(self, value: object, what: str = "operand") -> SSAValue:
        """The value in the IR, if it can be used where the builder stands."""
        if not isinstance(value, XlaValue):
            raise build_error(
                f"{what} is a Python {type(value).__name__}, not a value; constant makes one of it"
            )
        if value.builder is not self._self:
            raise build_error(f"{what} is a value of another builder, '{value.builder.name}'")
        owner = value.ssa.owner
        block = owner.parent if isinstance(owner, Operation) else owner
        if not any(block is visible for visible in self._open_blocks):
            raise build_error(
                f"{what} {value!r} was made inside a computation, or outside a function, "
                "and cannot be used here"
            )
        return value.ssa

    def _all_ssa(self, values: Sequence[object], what: str = "operand") -> list[SSAValue]:
        return [self._ssa(value, f"{what} {i}") for i, value in enumerate(values)]

    def _values(self, ssa: Sequence[SSAValue]) -> tuple[XlaValue, ...]:
        return tuple(XlaValue(self._self, value) for value in ssa)

    def _append(
        self,
        op_class: type[XlaOp],
        *operands: SSAValue | Sequence[SSAValue],
        regions: Sequence[Region | Sequence[Region]] = (),
        result_types: Sequence[Attribute] | None = None,
        element_type: Attribute | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: Any,
    ) -> tuple[XlaValue, ...]:
        """
        Appends an operation and returns its results.

        Their types are inferred if not given; where only `element_type` is, the operation infers
        the sizes. Raises BuildError with the label of a constraint that does not hold.
        """
        if self._finished:
            raise build_error("the program is built already")
        plain = {name: _plain(f"{op_class.name}: {name}", v) for name, v in properties.items()}
        try:
            op = op_class(
                *operands,
                regions=regions,
                result_types=result_types if element_type is None else [array(element_type, ())],
                attributes=attributes,
                **plain,
            )
            if element_type is not None:
                op.set_result_types(op.infer_types())
            if result_types is None and element_type is None:
                op.verify_inferred()
            else:
                op.verify(verify_nested_ops=False)
        except VerifyException as error:
            raise build_error(_innermost(error)) from None
        op.location = caller_location()
        self._open_blocks[-1].add_op(op)
        return self._values(op.results)

    def append(self, op: XlaOp) -> tuple[XlaValue, ...]:
        """
        Appends an operation that was made without the builder, and returns its results.

        For passes: its operands are values that can be used here, and nothing is checked.
        """
        self._open_blocks[-1].add_op(op)
        return self._values(op.results)

    def _append_one(self, op_class: type[XlaOp], *operands: Any, **keywords: Any) -> XlaValue:
        """As `_append`, for an operation of one result."""
        (result,) = self._append(op_class, *operands, **keywords)
        return result

    def _word(self, method: str, attribute: type[EnumT], given: object) -> EnumT:
        """The attribute for a case of an enumeration, or for its name in HLO text."""
        try:
            return attribute(attribute.enum_type(given))
        except ValueError:
            cases = ", ".join(case.value for case in attribute.enum_type)
            raise build_error(f"{method}: '{given}' is none of {cases}") from None

    @contextmanager
    def _standing_in(self, block: Block, *, isolated: bool = False) -> Generator[None]:
        """The builder stands in the block; if `isolated`, only its values can be used."""
        outside = self._open_blocks
        self._open_blocks = [block] if isolated else [*outside, block]
        try:
            yield
        finally:
            self._open_blocks = outside

    def _literal(self, array: Any) -> XlaValue:
        """A constant of the type that the array has."""
        return self._append_one(ConstantOp, value=from_numpy(array))

    def _scalar(self, number: Number, element_type: Attribute) -> XlaValue:
        """A scalar constant of the element type; raises BuildError if the number does not fit."""
        return self._literal(as_array(number, element_type))

    def _operand(self, operand: Operand, element_type: Attribute, what: str) -> SSAValue:
        """A value, or the scalar constant that a number stands for."""
        if isinstance(operand, bool | int | float | complex):
            return self._scalar(operand, element_type).ssa
        return self._ssa(operand, what)

    def _pair(self, method: str, lhs: Operand, rhs: Operand) -> tuple[XlaValue, XlaValue]:
        """Two operands as arrays; a number takes the element type of the other operand."""
        if isinstance(lhs, XlaValue):
            second = self._operand(rhs, lhs.element_type, "rhs")
            first = self._ssa(lhs, "lhs")
        elif isinstance(rhs, XlaValue):
            first = self._operand(lhs, rhs.element_type, "lhs")
            second = self._ssa(rhs, "rhs")
        else:
            raise build_error(f"{method}: neither operand is a value; constant makes one")
        return XlaValue(self._self, first), XlaValue(self._self, second)

    def _checked_array(self, operand: XlaValue, what: str = "operand") -> SSAValue:
        """The value in the IR of an array that can be used here."""
        ssa = self._ssa(operand, what)
        _ = operand.array_type
        return ssa


def violated(method: str, violation: Violation) -> Exception:
    """The error for a rule of the builder itself: `broadcast_in_dim: (C3) ...`."""
    return build_error(f"{method}: {violation}")


def _plain(name: str, value: Any) -> PropertyValue:
    """The value of a property with numpy's integers, and arrays of them, as Python has them."""
    if isinstance(value, Attribute | Enum | bool | str | float | None):
        return value
    is_list = isinstance(value, Iterable)
    found = [index(number) for number in (cast("Iterable[Any]", value) if is_list else [value])]
    for number in found:
        if not -(2**63) <= number < 2**63:
            raise build_error(f"{name}: {number} is not an integer of 64 bits")
    return found if is_list else found[0]


def normalized(dimension: int, rank: int) -> int:
    """A dimension counted from the end (-1 is the last) counted from the start."""
    dimension = index(dimension)
    return dimension + rank if -rank <= dimension < 0 else dimension


def all_normalized(dimensions: Sequence[int], rank: int) -> tuple[int, ...]:
    """Dimensions counted from the end counted from the start; what is out of range stays so."""
    return tuple(normalized(d, rank) for d in dimensions)


def _innermost(error: BaseException) -> str:
    """The message of the constraint; xDSL wraps it into a print of the operation."""
    while isinstance(error.__cause__, VerifyException):
        error = error.__cause__
    return str(error).strip()
