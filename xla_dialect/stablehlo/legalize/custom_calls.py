"""Custom calls and composites.

Some custom calls become operations. Of others, layouts, configuration and aliases stay as
attributes of HLO. Tuples stay tuples here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.analysis.computations import TOP_K, top_k_properties
from xla_dialect.attributes import RandomAlgorithmAttr
from xla_dialect.devices.replica_groups import ReplicaGroupsAttr
from xla_dialect.ops import custom_calls as xla
from xla_dialect.ops.collectives import RaggedAllToAllOp
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.ops.custom_calls import CustomCallOp as XlaCustomCallOp
from xla_dialect.ops.random import RngBitGeneratorOp
from xla_dialect.ops.reduction import ReduceWindowOp
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.shapes.window import Window, WindowAttr
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo.attributes import (
    Inexpressible,
    MeshAxes,
    RngAlgorithmAttr,
    stablehlo_type,
)
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sized_result, sizes_from_operand
from xla_dialect.stablehlo.legalize.chlo import FUNCTIONS, FunctionCall
from xla_dialect.stablehlo.legalize.from_xla import (
    FromXla,
    LegalizeFromXla,
    discardable,
)
from xla_dialect.stablehlo.legalize.sharding import annotation_of_xla
from xla_dialect.stablehlo.legalize.sorting import convert_approximate_top_k
from xla_dialect.stablehlo.op import UnknownShape
from xla_dialect.stablehlo.ops import custom_calls as stablehlo
from xla_dialect.stablehlo.ops.collectives import groups_among, groups_in, matrix_of_groups
from xla_dialect.stablehlo.ops.custom_calls import CustomCallOp
from xla_dialect.text.strings import frontend_attributes
from xla_dialect.types import (
    fits,
    is_unbounded,
    spell_all,
)
from xla_dialect.violations import check
from xla_dialect.xdsl.operation_table import OperationTable

ReplacedCall: TypeAlias = Callable[[CustomCallOp, Conversion], Sequence[SSAValue]]
"""Emits what replaces a custom call."""


def pop_attributes(op: CustomCallOp) -> Mapping[str, Attribute]:
    """The attributes of the operation that a call stands for, which the call has no longer."""
    op.attributes.pop("mhlo.version", None)
    found = op.attributes.pop("mhlo.attributes", None)
    if found is not None and not isinstance(found, DictionaryAttr):
        raise VerifyException(f"mhlo.attributes is {found}, not a dictionary")
    return {} if found is None else found.data


def function_call(convert: FunctionCall) -> ReplacedCall:
    """The conversion of a call that stands for a function of one array."""

    def convert_call(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
        pop_attributes(op)
        check(len(op.operands) == 1 and len(op.results) == 1, "takes and returns one array")
        return convert(op, conversion)

    return convert_call


def convert_top_k_operation(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@mhlo.topk(operand) {mhlo.attributes = {k = 2, largest = true}}`."""
    attributes = pop_attributes(op)
    k, largest = attributes.get("k"), attributes.get("largest", BoolAttr.from_bool(True))
    if not isinstance(k, IntegerAttr) or not isinstance(largest, IntegerAttr):
        raise VerifyException(
            f"its attributes have k = {k} and largest = {largest}, not a number and a flag"
        )
    check(len(op.operands) == 1 and len(op.results) == 2, "takes one array and has two results")
    properties = cast("Mapping[str, Attribute]", {"k": k, "largest": largest})
    return conversion.replaced(op, TopkOp, properties)


def convert_top_k_call(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@TopK(operand)`, with its comparator as a computation."""
    check(len(op.operands) == 1 and len(op.results) == 2, "takes one array and has two results")
    regions = [conversion.computation(name, op) for name in op.callees]
    properties = {"custom_call_target": StringAttr(TOP_K)}
    results = conversion.replaced(op, XlaCustomCallOp, properties, regions)
    if top_k_properties(cast(XlaCustomCallOp, cast(Operation, results[0].owner))) is None:
        raise VerifyException("its comparator does not compare the two elements by `<` or `>`")
    return results


WRAPPER = "stablehlo.shape_refinement_operand_wrapper"
"""The target of the call that gives users of a refined argument its former type."""


def apply_shape_operands(
    op: CustomCallOp, conversion: Conversion, positions: Sequence[int]
) -> None:
    """
    Gives results the sizes that operands at these positions say, and takes those operands away.

    Raises SourceError for sizes that contradict a declared type, UnknownShape for ones that depend
    on arguments.
    """
    sizes = [sizes_from_operand(op, conversion, position) for position in positions]
    types = [sized_result(op, conversion, each, i) for i, each in enumerate(sizes)]
    conversion.refine_results(op, types)
    op.operands = [value for i, value in enumerate(op.operands) if i not in positions]


def convert_assertion(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@shape_assertion(condition, values...)`: nothing, or its message with the values put in."""
    text = op.attributes.pop("error_message", None)
    if not isinstance(text, StringAttr):
        raise VerifyException(f"error_message is {text}, not a string")
    message = text.data
    check(op.operands and not op.results, "takes a condition and values, and has no results")
    (holds,) = conversion.known_integers(op, 0) or (0,)
    if not holds:
        for i in range(1, len(op.operands)):
            (value,) = conversion.known_integers(op, i) or (0,)
            message = message.replace(f"{{{i - 1}}}", str(value))
        raise VerifyException(message)
    return ()


def convert_dynamic_reduce_window(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """
    `@stablehlo.dynamic_reduce_window(inputs..., inits..., sizes, strides, base dilations, window
    dilations, padding)`, with the reducer as called computation.
    """
    count = len(op.operands) - 5
    names = op.callees
    check(
        count >= 2 and not count % 2 and len(names) == 1,
        "takes inputs, init values, five lists, and one called computation",
    )
    sizes, strides, base, dilations, padding = (
        conversion.known_integers(op, count + i) for i in range(5)
    )
    try:
        window = Window.of(
            sizes,
            stride=strides,
            base_dilation=base,
            window_dilation=dilations,
            padding=list(zip(padding[::2], padding[1::2], strict=True)),
        )
    except (SpellingError, ValueError) as error:
        raise VerifyException(str(error)) from None
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
    check(
        len(op.operands) == 2 and len(op.results) == 2,
        "takes an array and a number, and has two results",
    )
    (k,) = conversion.known_integers(op, 1)
    operand = conversion.operands(op)[0]
    properties = {"k": IntegerAttr(k, i64)}
    return conversion.emit(TopkOp, [operand], conversion.result_types(op), properties)


def convert_dynamic_approximate_top_k(
    op: CustomCallOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`@stablehlo.dynamic_approx_top_k(inputs..., inits..., k)`: `@ApproxTopK` for a known k."""
    check(op.operands, "takes arrays, as many initial values, and a number")
    (k,) = conversion.known_integers(op, len(op.operands) - 1)
    config = op.attributes.get("mhlo.backend_config")
    entries = dict(config.data) if isinstance(config, DictionaryAttr) else {}
    op.attributes["mhlo.backend_config"] = DictionaryAttr({**entries, "top_k": IntegerAttr(k, i64)})
    op.operands = op.operands[:-1]
    return convert_approximate_top_k(op, conversion)


def convert_dynamic_bits(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@stablehlo.dynamic_rng_bit_generator(state, sizes)`."""
    check(
        len(op.operands) == 2 and len(op.results) == 2,
        "takes a state and the sizes of the bits, and has two results",
    )
    sizes = sizes_from_operand(op, conversion, 1)
    types = [conversion.result_types(op)[0], sized_result(op, conversion, sizes, 1)]
    algorithm = op.attributes.pop("rng_algorithm", None)
    if not isinstance(algorithm, RngAlgorithmAttr):
        raise VerifyException(f"rng_algorithm is {algorithm}, not #stablehlo<rng_algorithm ...>")
    properties = {"algorithm": RandomAlgorithmAttr(algorithm.data)}
    return conversion.emit(RngBitGeneratorOp, conversion.operands(op)[:1], types, properties)


def convert_wrapper(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@stablehlo.shape_refinement_operand_wrapper(operand)`: the operand, in its own type."""
    operands, declared = conversion.operands(op), conversion.result_types(op)
    given = [operand.type for operand in operands]
    check(
        len(given) == len(declared) == 1 and fits(given[0], declared[0]),
        "has operands {} and results {}, not one array",
        spell_all(given),
        spell_all(declared),
    )
    return operands


REPLACED_CALLS: Mapping[str, ReplacedCall] = {
    **{
        f"mhlo.{name.partition('.')[2]}": function_call(convert)
        for name, convert in FUNCTIONS.items()
    },
    "mhlo.topk": convert_top_k_operation,
    TOP_K: convert_top_k_call,
    "ApproxTopK": convert_approximate_top_k,
    "shape_assertion": convert_assertion,
    "stablehlo.dynamic_approx_top_k": convert_dynamic_approximate_top_k,
    "stablehlo.dynamic_reduce_window": convert_dynamic_reduce_window,
    "stablehlo.dynamic_rng_bit_generator": convert_dynamic_bits,
    "stablehlo.dynamic_top_k": convert_dynamic_top_k,
    WRAPPER: convert_wrapper,
}
"""By the name of the target: what becomes other operations while a program is read."""


# From StableHLO


def convert_custom_call(op: stablehlo.CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.custom_call`; what is not interpreted is kept."""
    operands = tuple(op.operands)
    try:
        return _call_without_shapes(op, conversion)
    finally:
        op.operands = operands


def _call_without_shapes(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """What a call becomes, whose operands that say shapes are taken away."""
    properties = op.xla_properties()
    replaced = REPLACED_CALLS.get(op.call_target_name.data)
    shapes = op.shape_positions()
    op.attributes.pop(stablehlo.SHAPE_OPERANDS, None)
    if replaced is None:
        groups = op.attributes.get("replica_groups")
        if isinstance(groups, MeshAxes):
            del op.attributes["replica_groups"]
            found = groups_among(groups, conversion.meshes)
            op.attributes["xla.replica_groups"] = ReplicaGroupsAttr(found)
    else:
        for codec in op.CODECS.values():
            op.attributes.pop(codec.name, None)
    if shapes:
        apply_shape_operands(op, conversion, shapes)
    if replaced is not None:
        return replaced(op, conversion)
    types = conversion.result_types(op)
    if any(map(is_unbounded, types)):
        raise UnknownShape(
            op, message=f"no operand says the sizes of its results {spell_all(types)}"
        )
    return conversion.emit(xla.CustomCallOp, conversion.operands(op), types, properties)


def convert_composite(op: stablehlo.CompositeOp, conversion: Conversion) -> Sequence[SSAValue]:
    """
    A call of the decomposition; name, version and attributes are kept as HLO keeps them.

    That is as frontend attributes: a dictionary, or its text where it holds a dictionary itself.
    A composite that is named as a function of StableHLO or CHLO is that function.
    """
    op.verify_()
    operands, name = conversion.operands(op), op.composite_name.data
    version = "0" if op.version is None else str(op.version.value.data)
    callee_name = op.decomposition.root_reference.data
    function = conversion.function_to_inline(callee_name, operands)
    attributes = op.composite_attributes
    has_attributes = attributes is not None and bool(attributes.data)
    if name in FUNCTIONS and len(operands) == 1 and not has_attributes:
        return FUNCTIONS[name](op, conversion)
    if function is not None:
        return conversion.inline_call(op, function)
    kept: dict[str, Attribute] = {
        f"{_COMPOSITE}name": StringAttr(name),
        f"{_COMPOSITE}version": StringAttr(version),
    }
    op.attributes["xla.frontend_attributes"] = (
        StringAttr(
            f'{{{_COMPOSITE}attributes={attributes},{_COMPOSITE}name="{name}",'
            f'{_COMPOSITE}version="{version}"}}'
        )
        if has_attributes
        else DictionaryAttr(kept)
    )
    return conversion.emit(
        CallOp,
        operands,
        conversion.result_types(op),
        {"to_apply": op.decomposition, "is_composite": BoolAttr.from_bool(True)},
    )


_COMPOSITE = "composite."
"""How the names of frontend attributes begin that say what a call stands for."""


# From XLA


def composite_of_xla(op: CallOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.composite`, with what the frontend attributes of the call say."""
    attributes = discardable(op.attributes)
    attributes.pop("mhlo.frontend_attributes", None)
    kept = op.attributes.get("xla.frontend_attributes")
    found = {} if kept is None else frontend_attributes(kept)
    name = found.pop(f"{_COMPOSITE}name", None)
    if name is None:
        raise Inexpressible("a composite without a name in its frontend attributes")
    properties: dict[str, Attribute] = {
        "name": StringAttr(name),
        "decomposition": op.to_apply,
    }
    version = int(found.pop(f"{_COMPOSITE}version", "0"))
    if version:
        properties["version"] = IntegerAttr(version, i32)
    text = found.pop(f"{_COMPOSITE}attributes", "{}")
    if text.strip() != "{}":
        properties["composite_attributes"] = stablehlo.dictionary_of(text)
    if found:
        rest = {name: StringAttr(text) for name, text in found.items()}
        attributes["mhlo.frontend_attributes"] = DictionaryAttr(rest)
    return legalization.replaced(op, stablehlo.CompositeOp, properties, attributes=attributes)


def custom_call_of_xla(op: xla.CustomCallOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.custom_call`, or the operation of Shardy that it stands for."""
    attributes = discardable(op.attributes)
    operands = list(map(legalization.packed, op.operands))
    types = list(map(stablehlo_type, op.result_types))
    said = annotation_of_xla(op)
    if said is not None:
        annotation, properties = said
        attributes.pop(annotation.attribute, None)
        made = legalization.emit(
            annotation.op_class, operands, types, properties, attributes=attributes
        )
    else:
        properties, target = CustomCallOp.properties_of(op), op.custom_call_target.data
        called = [legalization.outline(region, target) for region in op.regions]
        if called:
            properties.setdefault("called_computations", ArrayAttr(called))
        groups = op.attributes.get("xla.replica_groups")
        if isinstance(groups, ReplicaGroupsAttr):
            attributes["replica_groups"] = groups_in(op, groups.data)
        made = legalization.emit(
            stablehlo.CustomCallOp, operands, types, properties, attributes=attributes
        )
    return [leaf for value in made.results for leaf in legalization.unpacked(value)]


def ragged_all_to_all_of_xla(op: RaggedAllToAllOp, legalization: FromXla) -> Sequence[SSAValue]:
    """The custom call that XLA reads as this operation; StableHLO has none."""
    config: dict[str, Attribute] = {"replica_groups": matrix_of_groups(op.groups)}
    if op.channel_id is not None:
        config["channel_id"] = op.channel_id
    properties: dict[str, Attribute] = {
        "call_target_name": StringAttr("ragged_all_to_all"),
        "api_version": IntegerAttr(stablehlo.TYPED, i32),
        "backend_config": DictionaryAttr(config),
    }
    return legalization.replaced(op, stablehlo.CustomCallOp, properties)


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.CustomCallOp, convert_custom_call)
    .add(stablehlo.CompositeOp, convert_composite)
)

FROM_XLA = (
    OperationTable[LegalizeFromXla]()
    .add(xla.CustomCallOp, custom_call_of_xla)
    .add(RaggedAllToAllOp, ragged_all_to_all_of_xla)
)
