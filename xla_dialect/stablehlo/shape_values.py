"""Arrays that shapes are made of: computed while a program is read, where they are constant."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Operation, SSAValue

from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.ops.dynamic_shapes import GetDimensionSizeOp
from xla_dialect.types import as_array, element_count, extents

if TYPE_CHECKING:
    import numpy as np

MAX_ELEMENTS = 1 << 12
"""Larger arrays are no shapes."""


class ShapeValues:
    """Constant values of shape computations; each is folded once, by the reference."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Any] = {}

    @cached_property
    def _interpreter(self) -> Any:
        # Only programs with dynamic dimensions need it: reading others does not load it.
        from xla_dialect.reference.interpreter import (  # noqa: PLC0415
            ReferenceInterpreter,
            register_reference,
        )

        found = ReferenceInterpreter(ModuleOp([]))
        register_reference(found)
        return found

    def integers(self, value: SSAValue) -> tuple[int, ...] | None:
        """The elements of an array of integers, None where they depend on the arguments."""
        type_ = as_array(value.type)
        if type_ is None or not isinstance(type_.element_type, IntegerType):
            return None
        found = self._value(value)
        return None if found is None else tuple(int(number) for number in found.reshape(-1))

    def _value(self, value: SSAValue) -> np.ndarray[Any, Any] | None:
        """The array, None where it is not known; without recursion, for chains are long."""
        stack = [value]
        while stack:
            current = stack[-1]
            owner = current.owner
            if current in self._known:
                stack.pop()
                continue
            if not isinstance(owner, XlaOp) or not _is_small(owner):
                self._known[current] = None
                continue
            size = _dimension_size(owner)
            if size is not None:
                self._compute(owner, size)
                continue
            missing = [operand for operand in owner.operands if operand not in self._known]
            if missing:
                stack.extend(missing)
                continue
            self._compute(owner, None)
        return self._known[value]

    def _compute(self, op: XlaOp, size: int | None) -> None:
        operands = [self._known.get(operand) for operand in op.operands]
        values: Any = None
        if size is not None:
            values = (import_module("numpy").array(size, "int32"),)
        elif all(operand is not None for operand in operands):
            try:
                values = self._interpreter.run_op(op, tuple(operands))
            except XlaError:
                values = None
        for i, result in enumerate(op.results):
            self._known[result] = None if values is None else values[i]


def _is_small(op: Operation) -> bool:
    if op.regions:
        return False
    types = [as_array(result.type) for result in op.results]
    return all(t is not None and element_count(extents(t)) <= MAX_ELEMENTS for t in types)


def _dimension_size(op: Operation) -> int | None:
    """The size that `get_dimension_size` gives, of a static dimension."""
    if not isinstance(op, GetDimensionSizeOp):
        return None
    type_ = as_array(op.operand.type)
    dimension = op.dimension.value.data
    sizes = () if type_ is None else type_.get_shape()
    if not 0 <= dimension < len(sizes) or sizes[dimension] < 0:
        return None
    return sizes[dimension]
