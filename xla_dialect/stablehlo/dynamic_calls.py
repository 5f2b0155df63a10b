"""Custom calls that become operations.

Most are JAX's for arrays of unbounded size: assertions, operations that StableHLO has for static
shapes only, and others with operands that say the sizes of results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from xla_dialect.ops.random import RngBitGeneratorOp
from xla_dialect.ops.reduction import ReduceWindowOp
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.shapes.window import Window, WindowAttr
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo.approximate_top_k import convert_approximate_top_k
from xla_dialect.stablehlo.attributes import RngAlgorithmAttr, xla_word
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.dynamic_shapes import sized_result, take_shape
from xla_dialect.stablehlo.expanded_calls import EXPANDED_CALLS, ReplacedCall
from xla_dialect.stablehlo.ops.custom_calls import CustomCallOp
from xla_dialect.stablehlo.source import UnknownShape, has_elements, integers_of
from xla_dialect.types import fits, spell_all

SHAPE_OPERANDS = "indices_of_shape_operands"
WRAPPER = "stablehlo.shape_refinement_operand_wrapper"
"""The target of the call that gives users of a refined argument its former type."""


def take_shape_operands(op: CustomCallOp) -> Sequence[int]:
    """The positions of the operands that say sizes, one for each result; none if none does."""
    given = op.attributes.pop(SHAPE_OPERANDS, DenseArrayBase.from_list(i64, ()))
    positions = integers_of(given)
    if positions is None or not has_elements(given, i64):
        op.fail(f"{SHAPE_OPERANDS} is {given}, not a list of i64")
    count = len(op.operands)
    if positions and len(positions) != len(op.results):
        op.fail(f"{SHAPE_OPERANDS} has {len(positions)} entries for {len(op.results)} results")
    if any(not 0 <= position < count for position in positions):
        op.fail(f"{SHAPE_OPERANDS} is {list(positions)}, there are {count} operands")
    return positions


def apply_shape_operands(
    op: CustomCallOp, conversion: Conversion, positions: Sequence[int]
) -> None:
    """
    Gives results the sizes that operands at these positions say, and takes those operands away.

    Raises SourceError for sizes that contradict a declared type, UnknownShape for ones that depend
    on arguments; while sizes may be unknown, results stay as they are declared.
    """
    types: list[Attribute] = []
    for number, position in enumerate(positions):
        try:
            sizes = take_shape(op, conversion, position)
        except UnknownShape:
            if not conversion.KEEPS_UNKNOWN_SIZES:
                raise
        else:
            types.append(sized_result(op, conversion, sizes, number))
    if not conversion.KEEPS_UNKNOWN_SIZES:
        conversion.refine_results(op, types)
    op.operands = [value for i, value in enumerate(op.operands) if i not in positions]


def _known(op: CustomCallOp, conversion: Conversion, position: int) -> tuple[int, ...]:
    found = conversion.constant_integers(conversion.operands(op)[position])
    if found is None:
        raise UnknownShape(op, position)
    return found


def convert_assertion(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@shape_assertion(condition, values...)`: nothing, or its message with the values put in."""
    text = op.attributes.pop("error_message", None)
    if not isinstance(text, StringAttr):
        op.fail(f"error_message is {text}, not a string")
    message = text.data
    if not op.operands or op.results:
        op.fail("takes a condition and values, and has no results")
    (holds,) = _known(op, conversion, 0) or (0,)
    if not holds:
        for i in range(1, len(op.operands)):
            (value,) = _known(op, conversion, i) or (0,)
            message = message.replace(f"{{{i - 1}}}", str(value))
        op.fail(message)
    return ()


def convert_dynamic_reduce_window(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """
    `@stablehlo.dynamic_reduce_window(inputs..., inits..., sizes, strides, base dilations, window
    dilations, padding)`, with the reducer as called computation.
    """
    count = len(op.operands) - 5
    names = op.callees
    if count < 2 or count % 2 or len(names) != 1:
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
    body = conversion.computation(names[0], op)
    return conversion.emit(
        ReduceWindowOp,
        conversion.operands(op)[:count],
        conversion.result_types(op),
        {"window": WindowAttr(window)},
        [body],
    )


def convert_dynamic_top_k(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@stablehlo.dynamic_top_k(operand, k)`."""
    if len(op.operands) != 2 or len(op.results) != 2:
        op.fail("takes an array and a number, and has two results")
    (k,) = _known(op, conversion, 1)
    operand = conversion.operands(op)[0]
    properties = {"k": IntegerAttr(k, i64)}
    return conversion.emit(TopkOp, [operand], conversion.result_types(op), properties)


def convert_dynamic_approximate_top_k(
    op: CustomCallOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`@stablehlo.dynamic_approx_top_k(inputs..., inits..., k)`: `@ApproxTopK` for a known k."""
    if not op.operands:
        op.fail("takes arrays, as many initial values, and a number")
    (k,) = _known(op, conversion, len(op.operands) - 1)
    config = op.attributes.get("mhlo.backend_config")
    entries = dict(config.data) if isinstance(config, DictionaryAttr) else {}
    op.attributes["mhlo.backend_config"] = DictionaryAttr({**entries, "top_k": IntegerAttr(k, i64)})
    op.operands = op.operands[:-1]
    return convert_approximate_top_k(op, conversion)


def convert_dynamic_bits(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@stablehlo.dynamic_rng_bit_generator(state, sizes)`."""
    if len(op.operands) != 2 or len(op.results) != 2:
        op.fail("takes a state and the sizes of the bits, and has two results")
    sizes = take_shape(op, conversion, 1)
    types = [conversion.result_types(op)[0], sized_result(op, conversion, sizes, 1)]
    algorithm = op.attributes.pop("rng_algorithm", None)
    if not isinstance(algorithm, RngAlgorithmAttr):
        op.fail(f"rng_algorithm is {algorithm}, not #stablehlo<rng_algorithm ...>")
    properties = {"algorithm": xla_word(algorithm)}
    return conversion.emit(RngBitGeneratorOp, conversion.operands(op)[:1], types, properties)


def convert_wrapper(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@stablehlo.shape_refinement_operand_wrapper(operand)`: the operand, in its own type."""
    operands, declared = conversion.operands(op), conversion.result_types(op)
    given = [operand.type for operand in operands]
    if not len(given) == len(declared) == 1 or not fits(given[0], declared[0]):
        op.fail(f"has operands {spell_all(given)} and results {spell_all(declared)}, not one array")
    return operands


REPLACED_CALLS: Mapping[str, ReplacedCall] = {
    **EXPANDED_CALLS,
    "ApproxTopK": convert_approximate_top_k,
    "shape_assertion": convert_assertion,
    "stablehlo.dynamic_approx_top_k": convert_dynamic_approximate_top_k,
    "stablehlo.dynamic_reduce_window": convert_dynamic_reduce_window,
    "stablehlo.dynamic_rng_bit_generator": convert_dynamic_bits,
    "stablehlo.dynamic_top_k": convert_dynamic_top_k,
    WRAPPER: convert_wrapper,
}
"""By the name of the target: what becomes other operations while a program is read."""
