"""The rules of programs whose shapes depend on arguments, as far as known sizes decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    SymbolRefAttr,
    TupleType,
    UnrankedTensorType,
    UnrealizedConversionCastOp,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute

from xla_dialect.op import XlaOp
from xla_dialect.stablehlo.attributes import FutureType
from xla_dialect.stablehlo.op import HloOperation, SourceError, UnknownShape
from xla_dialect.stablehlo.ops.dynamic_shapes import ShapedOp
from xla_dialect.stablehlo.quantization.conversion import QuantizedConversion
from xla_dialect.types import compatible, is_unbounded, spell, spell_all
from xla_dialect.xdsl.creation import create

_STATIC_RESULTS = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("broadcast_in_dim", "constant", "infeed", "iota", "recv", "reshape"),
        "rng_bit_generator",
    )
)
"""Operations that nothing tells the sizes of their results."""


_OPERAND_TYPES = ("stablehlo.optimization_barrier", "stablehlo.tuple")
"""Operations that only hand on their operands."""


_CALLEES = {"func.call": "callee", "stablehlo.composite": "decomposition"}
"""What names the function that an operation calls."""


_TAKE_ANY_RANK = ("func.call", "shape.shape_of", "stablehlo.custom_call")
"""Operations on arrays of unknown rank; of them nothing more is to be checked."""


class SizeChecks(QuantizedConversion):
    """
    Makes operations of the `xla` dialect whose types are the declared ones, to be verified.

    What has no operation there, as its shape is an operand, is checked here.
    """

    KEEPS_UNKNOWN_SIZES: ClassVar = True

    def refine(self, op: XlaOp, declared: Sequence[Attribute]) -> None:
        """Leaves the declared types, which are what is checked."""

    def convert_operation(self, op: Operation) -> None:
        """Adds what an operation becomes; its results have the declared types."""
        if op.name in _STATIC_RESULTS:
            is_second = op.name == "stablehlo.rng_bit_generator"
            for result in op.results[is_second:]:  # the state is the first one
                if is_unbounded(self.type(result.type, op)):
                    message = f"the result is {result.type}, its sizes have to be known"
                    raise SourceError(op, message)
        callee = op.properties.get(_CALLEES.get(op.name, ""))
        if isinstance(callee, SymbolRefAttr):
            self._check_call(op, callee.root_reference.data)
        if op.name in _OPERAND_TYPES:
            self._check_same(op)
        if op.name == "func.return":
            self._check_returned_types(op)
        if self._is_left_open(op):
            for result, found in zip(op.results, self.unknown(self.result_types(op)), strict=True):
                self.define(result, found)
            return
        super().convert_operation(op)
        for result in op.results:
            self._declare(result, op)

    def _is_left_open(self, op: Operation) -> bool:
        """Whether nothing more is known of an operation than the types that it declares."""
        types = [value.type for value in (*op.operands, *op.results)]
        if op.name == "stablehlo.async_done" and op.operands:
            future = self.value(op.operands[0]).type  # the context of a start, or from elsewhere
            given = future.types.data if isinstance(future, FutureType) else ()
            declared = self.result_types(op)
            if given and list(given) != declared:
                raise SourceError(op, f"waits for {future}, its results are {spell_all(declared)}")
            return bool(given)
        is_open = UnrankedTensorType | FutureType if op.name == "func.call" else UnrankedTensorType
        return op.name in _TAKE_ANY_RANK and any(isinstance(type_, is_open) for type_ in types)

    def _check_call(self, op: Operation, name: str) -> None:
        """Operands and results have the types of a function, unknown sizes included."""
        function = self.functions.get(name)
        if function is None:
            return
        given = [operand.type for operand in op.operands], [result.type for result in op.results]
        taken = function.function_type.inputs.data, function.function_type.outputs.data
        for what, mine, theirs in zip(("operands", "results"), given, taken, strict=True):
            if tuple(mine) != tuple(theirs):
                lists = " and ".join(f"({', '.join(map(str, types))})" for types in (mine, theirs))
                raise SourceError(op, f"its {what} and those of @{name} are {lists}")

    def _check_returned_types(self, op: Operation) -> None:
        """What a function returns has the very types that it says."""
        parent = op.parent_op()
        declared = parent.function_type.outputs.data if isinstance(parent, func.FuncOp) else ()
        for operand, type_ in zip(op.operands, declared, strict=False):
            if operand.type != type_:
                raise SourceError(op, f"returns {operand.type}, the function says {type_}")

    def _check_same(self, op: Operation) -> None:
        """Results have the types of the operands, unknown sizes included."""
        given = [self.value(operand).type for operand in op.operands]
        declared = [self.type(result.type, op) for result in op.results]
        if declared not in (given, [TupleType(cast("tuple[TypeAttribute, ...]", tuple(given)))]):
            message = f"declared {spell_all(declared)}, the operands are {spell_all(given)}"
            raise SourceError(op, message)

    def _declare(self, result: SSAValue, op: Operation) -> None:
        """A value has its declared type from here on, whatever else is known of it."""
        declared, found = self.type(result.type, op), self.value(result)
        if found.type == declared or isinstance(declared, FutureType):
            return
        if not compatible(found.type, declared):
            message = f"(Result) declared {spell(declared)}, found {spell(found.type)}"
            raise SourceError(op, message)
        self.define(result, self.unknown([declared])[0])

    def by_pattern(self, op: HloOperation) -> Sequence[SSAValue]:
        """What the results of an operation become; checked here where a shape is an operand."""
        if isinstance(op, ShapedOp):
            values = self.operands(op)
            shapes = list(map(self.constant_integers, values[op.first_shape :]))
            declared = self.result_types(op)
            op.verify_shapes([value.type for value in values], declared, shapes)
            return self.unknown(declared)
        try:
            return super().by_pattern(op)
        except UnknownShape:
            return self.unknown(self.result_types(op))

    def unknown(self, types: Sequence[Attribute]) -> Sequence[SSAValue]:
        """Values of these types, of which nothing else is known."""
        return self.add(create(UnrealizedConversionCastOp, operands=(), result_types=types))

    def function_to_inline(self, name: str, operands: Sequence[SSAValue]) -> func.FuncOp | None:
        """None: calls stay."""
        return None

    def is_kept_back(self, op: Operation) -> bool:
        """Every function is checked."""
        return False
