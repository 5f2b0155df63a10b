"""What operations say beside what they compute, constants and names: less of it, and simpler."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    UnknownLoc,
    i1,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OptionalDef
from xdsl.traits import ConstantLike

from lowerings.delta_debugging.edits import Edit
from xla_dialect.literals.arrays import Array, dense_to_numpy, from_numpy
from xla_dialect.xdsl.traversal import operations_in


def drop_attributes(module: ModuleOp) -> list[Edit]:
    """Attributes of a dialect other than the operation's, and properties that may be absent."""

    def drop(found: dict[str, Attribute], name: str) -> bool:
        return found.pop(name, None) is not None

    edits: list[Edit] = []
    for op in operations_in(module):
        edits += [partial(drop, op.attributes, name) for name in op.attributes]
        if not isinstance(op, FuncOp):
            edits += [partial(drop, op.properties, name) for name in _optional(op)]
            continue
        for name in ("arg_attrs", "res_attrs"):
            value = op.properties.get(name)
            if isinstance(value, ArrayAttr) and any(
                cast(DictionaryAttr, entry).data for entry in cast("ArrayAttr[Attribute]", value)
            ):
                edits.append(partial(drop, op.properties, name))
    return edits


def _optional(op: Operation) -> Iterator[str]:
    if isinstance(op, IRDLOperation):
        definition = op.get_irdl_definition()
        for name in op.properties:
            if (
                isinstance(definition.properties.get(name), OptionalDef)
                and name != "sym_visibility"
            ):
                yield name


def _change(op: Operation, name: str, new: Attribute) -> bool:
    is_other = op.properties.get(name) != new
    op.properties[name] = new
    return is_other


def simpler_numbers(module: ModuleOp) -> list[Edit]:
    """Numbers and lists of numbers in properties become what they mostly are: 0, or 1."""

    return [
        partial(_change, op, name, new)
        for op in operations_in(module)
        for name, value in op.properties.items()
        for new in _simpler(name, value)
    ]


_SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")


def _simpler(name: str, value: Attribute) -> Iterator[Attribute]:
    """Attributes that are simpler than one; each of them is so once only."""
    if name in _SEGMENTS or name == "value":
        return
    if isinstance(value, IntegerAttr):
        number = cast("IntegerAttr[Any]", value)
        if number.type == i1:
            if number.value.data:
                yield BoolAttr.from_bool(False)
            return
        yield from (IntegerAttr(n, number.type) for n in (0, 1) if n < number.value.data)
    elif isinstance(value, DenseArrayBase):
        array = cast("DenseArrayBase[Any]", value)
        numbers = list(array.get_values())
        for n in (0, 1):
            if any(number > n for number in numbers):
                less = [min(number, n) for number in numbers]
                yield DenseArrayBase.from_list(array.elt_type, less)


def simpler_constants(module: ModuleOp) -> list[Edit]:
    """The value of a constant becomes one number all over, 0, 1 or the first that it has."""

    return [
        partial(_change, op, "value", new)
        for op in operations_in(module)
        if op.has_trait(ConstantLike) and "value" in op.properties
        for new in _simpler_elements(op.properties["value"])
    ]


def _simpler_elements(value: Attribute) -> list[Attribute]:
    """Values that are simpler than one, the simplest last: the last edit is made first."""
    if isinstance(value, DenseIntOrFPElementsAttr):
        literal = cast("DenseIntOrFPElementsAttr[Any]", value)
        array = dense_to_numpy(literal)
        return [from_numpy(other, cast(Any, literal.type)) for other in _simpler_arrays(array)]
    if isinstance(value, IntegerAttr):
        integer = cast("IntegerAttr[Any]", value)
        return [IntegerAttr(n, integer.type) for n in (1, 0) if abs(integer.value.data) > n]
    if isinstance(value, FloatAttr):
        number = cast("FloatAttr[Any]", value)
        return [FloatAttr(n, number.type) for n in (1.0, 0.0) if _rank(number.value.data) > n]
    return []


def _rank(number: Any) -> int:
    """How simple a number is: 0, then 1, then all others."""
    return 0 if number == 0 and not np.signbit(float(np.real(number))) else 1 if number == 1 else 2


def _simpler_arrays(array: Array) -> list[Array]:
    if not array.size:
        return []
    first = array.reshape(-1)[0]
    is_splat = bool(np.all((array == first) | ((array != array) & (first != first))))
    rank = _rank(first) if is_splat else 3
    found = [np.full(array.shape, n, array.dtype) for n in (1, 0) if rank > n]
    return found if is_splat else [np.full(array.shape, first, array.dtype), *found]


def drop_names(module: ModuleOp) -> list[Edit]:
    """Values are numbered, and operations are nowhere from."""

    def values() -> list[SSAValue]:
        return [
            value
            for op in operations_in(module)
            for value in (
                *op.results,
                *(arg for region in op.regions for block in region.blocks for arg in block.args),
            )
        ]

    def drop() -> bool:
        named = [value for value in values() if value.name_hint is not None]
        placed = [op for op in operations_in(module) if not isinstance(op.location, UnknownLoc)]
        for value in named:
            value.name_hint = None
        for op in placed:
            op.location = UNKNOWN_LOC
        return bool(named or placed)

    return [drop] if any(value.name_hint for value in values()) else []
