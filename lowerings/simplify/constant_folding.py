"""Values that are constants or splats, and operations on constants, computed by the reference."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue

from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import (
    Array,
    bytes_of,
    dense_to_numpy,
    elements_of,
    from_numpy,
    numpy_dtype,
)
from xla_dialect.op import XlaOp
from xla_dialect.ops import control_flow, creation, data_movement
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import byte_size, element_count, extents, is_array
from xla_dialect.xdsl.dense_literals import is_splat
from xla_dialect.xdsl.traversal import AttributeMemo, operands_of, shape_of

if TYPE_CHECKING:
    from xla_dialect.reference.interpreter import ReferenceInterpreter


Dense: TypeAlias = DenseIntOrFPElementsAttr[Any]


def array_type(value: SSAValue) -> ArrayType | None:
    """The type of an array whose sizes are known, None for anything else."""
    type_ = value.type
    if not is_array(type_):
        return None
    return None if is_dynamic(extents(type_)) or min(shape_of(type_), default=0) < 0 else type_


def dense_of(value: SSAValue) -> Dense | None:
    """The literal of a constant array, None for any other value."""
    owner = value.owner
    if not isinstance(owner, ConstantOp):
        return None
    literal: Attribute = owner.value
    return cast(Dense, literal) if isinstance(literal, DenseIntOrFPElementsAttr) else None


def splat_of(value: SSAValue) -> Array | None:
    """The number, of rank 0, that all elements of an array are, None if there is none known."""
    owner = value.owner
    while type(owner) is BroadcastOp:
        owner = owner.operand.owner
    if type(owner) is not ConstantOp:
        return None
    dense = dense_of(owner.result)
    return None if dense is None else splat_of_literal(dense)


def splat_of_literal(dense: Dense) -> Array | None:
    """The number, of rank 0, that all elements of a literal are, None if there is none."""
    if not is_splat(dense):
        return None
    dtype = numpy_dtype(cast(ArrayType, dense.type).element_type)
    return elements_of(dense.data.data[: dtype.itemsize], dtype).reshape(())


def splat_literal(number: Array, type_: ArrayType) -> Dense:
    """The literal of an array all of whose elements are one number."""
    data = bytes_of(np.asarray(number)) if element_count(type_.get_shape()) else b""
    return DenseIntOrFPElementsAttr(cast(Any, type_), BytesAttr(data))


def number_of(element_type: Attribute, value: float) -> Array:
    """A number as an array of rank 0 of an element type."""
    return np.array(value).astype(numpy_dtype(element_type))


DEFAULT_LIMIT = 1 << 16
"""Bytes of the largest constant that folding makes or reads."""

_MAX_WORK = 1 << 24
"""Elements of the result times those of the largest operand: a bound of what is computed."""

_LEFT_ALONE = (
    # Compact as they are.
    creation.ConstantOp,
    creation.IotaOp,
    data_movement.BroadcastOp,
    # How long a loop takes is not known.
    control_flow.WhileOp,
    control_flow.ScanOp,
)


_KNOWN = (creation.ConstantOp, data_movement.BroadcastOp)
"""What makes values that may be known."""


def _is_empty(type_: Attribute) -> bool:
    """Whether a type is that of an array without elements, but for dynamic sizes."""
    return isinstance(type_, TensorType) and not element_count(type_.get_shape())


class ConstantFolder:
    """Computes operations of constants, within a size in bytes; a limit of 0 computes none."""

    def __init__(self, module: ModuleOp, limit: int = DEFAULT_LIMIT):
        self.module = module
        self.limit = limit
        self._is_empty = AttributeMemo(_is_empty)

    @cached_property
    def _interpreter(self) -> ReferenceInterpreter:
        # Loading it takes as long as most compilations; few programs have constants to fold.
        from xla_dialect.reference.interpreter import (  # noqa: PLC0415
            ReferenceInterpreter,
            register_reference,
        )

        interpreter = ReferenceInterpreter(self.module)
        register_reference(interpreter)
        return interpreter

    def fold(self, op: XlaOp) -> tuple[Dense, ...] | None:
        """The results of a pure operation as literals, None where they are not known."""
        if not op.results or type(op) in _LEFT_ALONE:
            return None
        operands = operands_of(op)
        is_known = bool(operands) and all(type(value.owner) in _KNOWN for value in operands)
        if not is_known and not any(self._is_empty(result.type) for result in op.results):
            return None
        types = [array_type(result) for result in op.results]
        if any(type_ is None for type_ in types):
            return None
        results = cast("list[ArrayType]", types)
        if not any(element_count(type_.get_shape()) for type_ in results):
            return tuple(splat_literal(np.zeros(()), type_) for type_ in results)
        if not is_known or not self.limit:
            return None
        if op.is_pointwise():
            numbers = [splat_of(operand) for operand in op.operands]
            if all(number is not None for number in numbers):
                return self._evaluate(op, cast("list[Array]", numbers), results, scalar=True)
        literals = [self._small_literal(operand) for operand in op.operands]
        if any(literal is None for literal in literals):
            return None
        arrays = [dense_to_numpy(cast(Dense, literal)) for literal in literals]
        if not self._is_small(op, results, arrays):
            return None
        return self._evaluate(op, arrays, results, scalar=False)

    def _small_literal(self, value: SSAValue) -> Dense | None:
        literal = dense_of(value)
        if literal is None or byte_size(cast(ArrayType, literal.type)) > self.limit:
            return None
        return literal

    def _is_small(self, op: XlaOp, results: list[ArrayType], arrays: list[Array]) -> bool:
        if max(map(byte_size, results)) > self.limit:
            return False
        work = max(element_count(type_.get_shape()) for type_ in results)
        if not op.is_pointwise():
            work *= max(array.size for array in arrays)
        return work <= _MAX_WORK

    def _evaluate(
        self, op: XlaOp, arrays: list[Array], types: list[ArrayType], *, scalar: bool
    ) -> tuple[Dense, ...] | None:
        try:
            found = self._interpreter.run_op(op, tuple(arrays))
        except XlaError:
            # What the reference cannot run is left for those who run the program to report.
            return None
        values = [np.asarray(cast(Array, value)) for value in found]
        if scalar:
            return tuple(map(splat_literal, values, types))
        return tuple(map(from_numpy, values, types))
