"""What all methods of the builder share: operations are appended at the insertion point.

The builder stands in the innermost open block. Calling a Python function to build the computation
of an operation opens a block inside the operation, and closes it when the function returns.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import VariadicDef
from xdsl.utils.exceptions import VerifyException

from xla_dialect.builder.caller import build_error, caller_location
from xla_dialect.builder.constant_values import Number, as_array
from xla_dialect.builder.properties import all_normalized, encoded, normalized
from xla_dialect.builder.value import Operand, XlaValue
from xla_dialect.dimensions import Numbering
from xla_dialect.literals.arrays import from_numpy
from xla_dialect.op import XlaOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.types import array
from xla_dialect.violations import Violation


class Recorder:
    """The open blocks of a program that is being built."""

    def __init__(self) -> None:
        self._entry = Block()
        self._open_blocks = [self._entry]
        """The blocks whose values are visible, the innermost last."""
        self._finished = False

    def _ssa(self, value: object, what: str = "operand") -> SSAValue:
        """The value in the IR, if it can be used where the builder stands."""
        if not isinstance(value, XlaValue):
            raise build_error(
                f"{what} is a Python {type(value).__name__}, not a value; constant makes one of it"
            )
        if value.builder is not self:
            raise build_error(f"{what} is a value of another builder, '{value.builder.name}'")
        owner = value.ssa.owner
        block = owner.parent if isinstance(owner, Operation) else owner
        if not any(block is visible for visible in self._open_blocks):
            raise build_error(
                f"{what} {value!r} was made inside a computation, or outside a function, "
                "and cannot be used here"
            )
        return value.ssa

    def _all_ssa(self, values: Iterable[object], what: str = "operand") -> list[SSAValue]:
        return [self._ssa(value, f"{what} {i}") for i, value in enumerate(values)]

    def _values(self, ssa: Sequence[SSAValue]) -> tuple[XlaValue, ...]:
        return tuple(XlaValue(self, value) for value in ssa)

    def _append(
        self,
        op_class: type[XlaOp],
        *operands: Any,
        regions: Sequence[Region | Sequence[Region]] = (),
        result_types: Sequence[Attribute] | None = None,
        element_type: Attribute | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        **properties: Any,
    ) -> Any:
        """
        Appends an operation; returns its result, or a tuple where it may have several.

        Where one value is given for a first list of operands, there is one result. Types of results
        are inferred if not given; where only `element_type` is, the operation infers the sizes.
        Properties are as callers give them. Raises BuildError with the label of a constraint that
        does not hold.
        """
        if self._finished:
            raise build_error("the program is built already")
        names, has_list_of_results, first_list = _parts(op_class)
        given = [
            [self._ssa(operand, name)]
            if isinstance(operand, XlaValue) or not np.iterable(operand)
            else self._all_ssa(operand, name)
            for name, operand in zip(names, operands, strict=True)
        ]
        types = [*(value.type for values in given for value in values), *(result_types or ())]
        plain = {
            name: encoded(op_class, name, _from_start(op_class.NUMBERING.get(name), value, types))
            for name, value in properties.items()
        }
        try:
            op = op_class(
                *given,
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
                op.require_bounds(op.operand_types)
                op.verify(verify_nested_ops=False)
        except VerifyException as error:
            raise build_error(_innermost(error)) from None
        op.location = caller_location()
        results = self.append(op)
        is_one = first_list is not None and isinstance(operands[first_list], XlaValue)
        return results if has_list_of_results and not is_one else results[0]

    def append(self, op: XlaOp) -> tuple[XlaValue, ...]:
        """
        Appends an operation that was made without the builder, and returns its results.

        For passes: its operands are values that can be used here, and nothing is checked.
        """
        self._open_blocks[-1].add_op(op)
        return self._values(op.results)

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
        return self._append(ConstantOp, value=from_numpy(array))

    def _scalar(self, number: Number, element_type: Attribute) -> XlaValue:
        """A scalar constant of the element type; raises BuildError if the number does not fit."""
        return self._literal(as_array(number, element_type))

    def _operand(self, operand: Operand, element_type: Attribute, what: str) -> XlaValue:
        """A value, or the scalar constant that a number stands for."""
        if isinstance(operand, bool | int | float | complex):
            return self._scalar(operand, element_type)
        self._ssa(operand, what)
        return operand

    def _pair(self, method: str, lhs: Operand, rhs: Operand) -> tuple[XlaValue, XlaValue]:
        """Two operands as arrays; a number takes the element type of the other operand."""
        types = (side.element_type for side in (lhs, rhs) if isinstance(side, XlaValue))
        element_type = next(types, None)
        if element_type is None:
            raise build_error(f"{method}: neither operand is a value; constant makes one")
        return self._operand(lhs, element_type, "lhs"), self._operand(rhs, element_type, "rhs")


def violated(method: str, violation: Violation) -> Exception:
    """The error for a rule of the builder itself: `broadcast_in_dim: (C3) ...`."""
    return build_error(f"{method}: {violation}")


def as_list(operand: XlaValue | Iterable[XlaValue]) -> list[XlaValue]:
    """The values of an operand that may be one, or several."""
    return [operand] if isinstance(operand, XlaValue) else list(operand)


@cache
def _parts(op_class: type[XlaOp]) -> tuple[tuple[str, ...], bool, int | None]:
    """The names of operands, whether results are a list, and which operand is the first list."""
    definition = op_class.get_irdl_definition()
    lists = (i for i, (_, part) in enumerate(definition.operands) if isinstance(part, VariadicDef))
    return (
        tuple(name for name, _ in definition.operands),
        isinstance(definition.results[0][1], VariadicDef),
        next(lists, None),
    )


def _from_start(numbering: Numbering | None, given: Any, types: Sequence[Attribute]) -> Any:
    """
    Numbers of dimensions counted from the start; -1 is the last where they may be from the end.

    `types`: of the operands and, as far as they are given, of the results.
    """
    if numbering is None or numbering.numbers is None or given is None:
        return given
    type_ = types[numbering.numbers] if types else None
    rank = len(type_.shape.data) if isinstance(type_, TensorType) else 0
    return all_normalized(given, rank) if np.iterable(given) else normalized(given, rank)


def _innermost(error: BaseException) -> str:
    """The message of the constraint; xDSL wraps it into a print of the operation."""
    while isinstance(error.__cause__, VerifyException):
        error = error.__cause__
    return str(error).strip()
