"""Building the body of a fused operation: equal operations once, constants folded."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith, complex
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    ComplexType,
    IndexType,
    IntegerAttr,
    LocationAttr,
)
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.tensors.constants import exact_reciprocal
from lowerings.tensors.indices import Index
from lowerings.tensors.scalar_folding import fold
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import append, insert_before
from xla_dialect.xdsl.traversal import operands_of

_CONSTANTS = frozenset({arith.ConstantOp, complex.ConstantOp})

INDEX = IndexType()


class FusedBody:
    """Appends scalar operations to a block, or puts them in front of an operation."""

    def __init__(self, block: Block, location: LocationAttr, before: Operation | None = None):
        self.block = block
        self.location = location
        self.before = before
        self.constants: dict[SSAValue, Attribute] = {}
        self._known: dict[Hashable, SSAValue] = {}

    def _insert(self, op: Operation, location: LocationAttr = UNKNOWN_LOC) -> None:
        op.location = self.location if location is UNKNOWN_LOC else location
        if self.before is None:
            append(self.block, op)
        else:
            insert_before(op, self.before)

    def constant(self, value: Attribute) -> SSAValue:
        """The constant of a number attribute, or of a pair of floats (complex)."""
        found = self._known.get(value)
        if found is not None:
            return found
        if isinstance(value, ArrayAttr):
            parts = cast("ArrayAttr[Any]", value)
            op: Operation = create(
                complex.ConstantOp,
                result_types=(ComplexType(parts.data[0].type),),
                properties={"value": parts},
            )
        else:
            type_ = cast("IntegerAttr[Any]", value).type
            op = create(arith.ConstantOp, result_types=(type_,), properties={"value": value})
        self._insert(op)
        result = op.results[0]
        self._known[value] = result
        self.constants[result] = value
        return result

    def copy(self, op: Operation, values: Mapping[SSAValue, SSAValue]) -> SSAValue:
        """The result of an operation on the values that stand for its operands."""
        if type(op) in _CONSTANTS:
            return self.constant(op.properties["value"])
        operands = [values.get(operand, operand) for operand in operands_of(op)]
        folded = fold(op, operands, [self.constants.get(operand) for operand in operands])
        if isinstance(folded, SSAValue):
            return folded
        if folded is not None:
            return self.constant(folded)
        if type(op) is arith.DivfOp:
            factor = exact_reciprocal(self.constants.get(operands[1]))
            if factor is not None:
                factors = (operands[0], self.constant(factor))
                return self.emit(
                    arith.MulfOp, factors, op.results[0].type, op.properties, op.location
                )
        return self.emit(type(op), operands, op.results[0].type, op.properties, op.location)

    def emit(
        self,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_type: Attribute,
        properties: Mapping[str, Attribute],
        location: LocationAttr = UNKNOWN_LOC,
    ) -> SSAValue:
        """A new operation, or an equal one that is already there."""
        key = op_class, tuple(operands), tuple(sorted(properties.items(), key=_name)), result_type
        found = self._known.get(key)
        if found is None:
            op = create(
                op_class,
                operands=operands,
                result_types=(result_type,),
                properties=dict(properties),
            )
            self._insert(op, location)
            found = self._known[key] = op.results[0]
        return found

    def position(self, index: Index) -> SSAValue:
        """The value of an index in the loops around the body."""
        loop, scale, offset = index
        if loop is None:
            return self.constant(IntegerAttr(offset, INDEX))
        value = self.emit(IndexOp, (), INDEX, {"dim": IntegerAttr(loop, 64)})
        if scale != 1:
            factor = self.constant(IntegerAttr(scale, INDEX))
            value = self.emit(arith.MuliOp, (value, factor), INDEX, {})
        if offset:
            value = self.emit(
                arith.AddiOp, (value, self.constant(IntegerAttr(offset, INDEX))), INDEX, {}
            )
        return value


def _name(item: tuple[str, Attribute]) -> str:
    return item[0]
