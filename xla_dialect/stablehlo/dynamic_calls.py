"""Custom calls that JAX prints for arrays of unbounded size: assertions, and operations that
StableHLO has for static shapes only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, SymbolRefAttr, i64
from xdsl.ir import Attribute, SSAValue

from xla_dialect.attributes import SpellingError
from xla_dialect.ops.reduction import ReduceWindowOp
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.shapes.window import Window, WindowAttr
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.source import SourceOp, UnknownShape

ReplacedCall: TypeAlias = Callable[[SourceOp, Conversion], Sequence[SSAValue]]
"""Emits what replaces a custom call."""


def _known(op: SourceOp, conversion: Conversion, position: int) -> tuple[int, ...]:
    found = conversion.constant_integers(conversion.operands(op)[position])
    if found is None:
        raise UnknownShape(op, position)
    return found


def convert_assertion(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@shape_assertion(condition, values...)`: nothing, or its message with the values put in."""
    message = op.text("error_message")
    if not op.operands or op.results:
        op.fail("takes a condition and values, and has no results")
    (holds,) = _known(op, conversion, 0) or (0,)
    if not holds:
        for i in range(1, len(op.operands)):
            (value,) = _known(op, conversion, i) or (0,)
            message = message.replace(f"{{{i - 1}}}", str(value))
        op.fail(message)
    return ()


def convert_dynamic_reduce_window(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """
    `@stablehlo.dynamic_reduce_window(inputs..., inits..., sizes, strides, base dilations, window
    dilations, padding)`, with the reducer as called computation.
    """
    count = len(op.operands) - 5
    called = op.take("called_computations")
    names = cast("ArrayAttr[Attribute]", called).data if isinstance(called, ArrayAttr) else ()
    if count < 2 or count % 2 or len(names) != 1 or not isinstance(names[0], SymbolRefAttr):
        op.fail("takes inputs, init values, five lists, and one called computation")
    sizes, strides, base, dilations, padding = (_known(op, conversion, count + i) for i in range(5))
    try:
        window = Window.of(
            sizes,
            stride=strides,
            base_dilation=base,
            window_dilation=dilations,
            padding=list(zip(padding[::2], padding[1::2], strict=True)),
        )
    except (SpellingError, ValueError) as error:
        op.fail(str(error))
    body = conversion.computation(names[0].root_reference.data, op)
    return conversion.emit(
        ReduceWindowOp,
        conversion.operands(op)[:count],
        conversion.result_types(op),
        {"window": WindowAttr(window)},
        [body],
    )


def convert_dynamic_top_k(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@stablehlo.dynamic_top_k(operand, k)`."""
    if len(op.operands) != 2 or len(op.results) != 2:
        op.fail("takes an array and a number, and has two results")
    (k,) = _known(op, conversion, 1)
    operand = conversion.operands(op)[0]
    properties = {"k": IntegerAttr(k, i64)}
    return conversion.emit(TopkOp, [operand], conversion.result_types(op), properties)


DYNAMIC_CALLS: Mapping[str, ReplacedCall] = {
    "shape_assertion": convert_assertion,
    "stablehlo.dynamic_reduce_window": convert_dynamic_reduce_window,
    "stablehlo.dynamic_top_k": convert_dynamic_top_k,
}
"""By the name of the target; they are replaced while a program is read."""
