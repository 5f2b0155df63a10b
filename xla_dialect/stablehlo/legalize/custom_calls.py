"""Custom calls and composites.

Some custom calls become operations. Of others, layouts, configuration and aliases stay as
attributes of HLO. Tuples stay tuples here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    Builtin,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
    TupleType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.utils.exceptions import ParseError, VerifyException

from xla_dialect import shardy
from xla_dialect.analysis.computations import TOP_K, top_k_properties
from xla_dialect.attributes import RandomAlgorithmAttr
from xla_dialect.devices.replica_groups import ReplicaGroupsAttr
from xla_dialect.layout import LayoutAttr
from xla_dialect.layouts.type_layouts import layout_of
from xla_dialect.op import decode
from xla_dialect.ops import custom_calls as xla
from xla_dialect.ops.collectives import RaggedAllToAllOp
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.ops.custom_calls import CustomCallOp as XlaCustomCallOp
from xla_dialect.ops.random import RngBitGeneratorOp
from xla_dialect.ops.reduction import ReduceWindowOp
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.shapes.window import Window, WindowAttr
from xla_dialect.sharding.attributes import SHARDING, ShardingAttr, ShardingPerValueAttr
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo.attributes import (
    ATTRIBUTES,
    CHLO_ATTRIBUTES,
    Inexpressible,
    MeshAxes,
    OutputAlias,
    RngAlgorithmAttr,
    stablehlo_type,
)
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sized_result, sizes_from_operand
from xla_dialect.stablehlo.legalize.chlo import FUNCTIONS, FunctionCall
from xla_dialect.stablehlo.legalize.from_xla import (
    FromXla,
    LegalizeFromXla,
    discardable,
    frontend_attributes,
    plain_text,
    unescaped,
)
from xla_dialect.stablehlo.legalize.sorting import convert_approximate_top_k
from xla_dialect.stablehlo.op import UnknownShape
from xla_dialect.stablehlo.ops import custom_calls as stablehlo
from xla_dialect.stablehlo.ops.collectives import groups_among, groups_in, matrix_of_groups
from xla_dialect.stablehlo.ops.custom_calls import CustomCallOp
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import (
    fits,
    is_array,
    is_unbounded,
    spell_all,
    tuple_elements,
)
from xla_dialect.violations import check
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.text import MlirParser

ReplacedCall: TypeAlias = Callable[[CustomCallOp, Conversion], Sequence[SSAValue]]
"""Emits what replaces a custom call."""


def pop_attributes(op: CustomCallOp) -> Mapping[str, Attribute]:
    """The attributes of the operation that a call stands for, which the call has no longer."""
    op.attributes.pop("mhlo.version", None)
    found = op.attributes.pop("mhlo.attributes", None)
    if found is not None and not isinstance(found, DictionaryAttr):
        op.fail(f"mhlo.attributes is {found}, not a dictionary")
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
        op.fail(f"its attributes have k = {k} and largest = {largest}, not a number and a flag")
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
        op.fail("its comparator does not compare the two elements by `<` or `>`")
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
    check(op.operands and not op.results, "takes a condition and values, and has no results")
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
    check(
        count >= 2 and not count % 2 and len(names) == 1,
        "takes inputs, init values, five lists, and one called computation",
    )
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
    check(
        len(op.operands) == 2 and len(op.results) == 2,
        "takes an array and a number, and has two results",
    )
    (k,) = _known(op, conversion, 1)
    operand = conversion.operands(op)[0]
    properties = {"k": IntegerAttr(k, i64)}
    return conversion.emit(TopkOp, [operand], conversion.result_types(op), properties)


def convert_dynamic_approximate_top_k(
    op: CustomCallOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`@stablehlo.dynamic_approx_top_k(inputs..., inits..., k)`: `@ApproxTopK` for a known k."""
    check(op.operands, "takes arrays, as many initial values, and a number")
    (k,) = _known(op, conversion, len(op.operands) - 1)
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
        op.fail(f"rng_algorithm is {algorithm}, not #stablehlo<rng_algorithm ...>")
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
        op.attributes.update(_kept(op, shapes, conversion))
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


def _kept(
    op: stablehlo.CustomCallOp, shapes: Sequence[int], conversion: Conversion
) -> Mapping[str, Attribute]:
    """
    What a call says of its operands and results, and for what it calls.

    The operands at the positions `shapes` say shapes, and are none of the call that is left.
    """
    kept: dict[str, Attribute] = {}
    config = op.backend_config
    if isinstance(config, StringAttr):
        # Quoted as in HLO text, where an empty string is the same as no attribute.
        escaped = config.data.replace("\\", "\\\\").replace('"', '\\"')
        config = StringAttr(f'"{escaped}"') if config.data else None
    if config is not None:
        kept["xla.backend_config"] = config
    groups = op.attributes.get("replica_groups")
    if isinstance(groups, MeshAxes):
        del op.attributes["replica_groups"]
        kept["xla.replica_groups"] = ReplicaGroupsAttr(groups_among(groups, conversion.meshes))
    if aliases := [_spelled_alias(op, *alias, shapes) for alias in op.aliases()]:
        kept["xla.output_to_operand_aliasing"] = StringAttr(f"{{{', '.join(aliases)}}}")
    for name in ("called_computations", *stablehlo.LAYOUTS):
        value = op.properties.get(name)
        if name == stablehlo.LAYOUTS[0] and op.operand_layouts is not None:
            layouts = op.operand_layouts.data
            value = ArrayAttr(found for i, found in enumerate(layouts) if i not in shapes)
        if value is not None and value != ArrayAttr(()):
            kept[f"xla.{name}"] = value
    return kept


def _spelled_alias(
    op: stablehlo.CustomCallOp,
    output: Sequence[int],
    index: int,
    part: Sequence[int],
    dropped: Sequence[int],
) -> str:
    """Which result shares memory with an operand, as HLO text says it: `{}: (0, {})`."""
    check(index not in dropped, "output_operand_aliases: operand {} says a shape", index)
    index -= sum(position < index for position in set(dropped))
    result, operand = (",".join(map(str, found)) for found in (output, part))
    return f"{{{result}}}: ({index}, {{{operand}}})"


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
        properties["composite_attributes"] = _dictionary(text)
    if found:
        rest = {name: StringAttr(text) for name, text in found.items()}
        attributes["mhlo.frontend_attributes"] = DictionaryAttr(rest)
    return legalization.replaced(op, stablehlo.CompositeOp, properties, attributes=attributes)


def _dictionary(text: str) -> Attribute:
    """The dictionary that a text of MLIR stands for, as HLO text keeps it; Inexpressible."""
    try:
        found = MlirParser(_context(), text).parse_attribute()
    except (ParseError, VerifyException, ValueError):
        found = None
    if not isinstance(found, DictionaryAttr):
        raise Inexpressible(f"{text} is no dictionary of MLIR")
    return found


@cache
def _context() -> Context:
    context = Context(allow_unregistered=True)
    attributes = (("stablehlo", ATTRIBUTES), ("chlo", CHLO_ATTRIBUTES))
    for dialect in (Builtin, *(Dialect(name, [], list(found)) for name, found in attributes)):
        context.load_dialect(dialect)
    return context


def custom_call_of_xla(op: xla.CustomCallOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.custom_call`, or the operation of Shardy that it stands for."""
    attributes = discardable(op.attributes)
    operands = list(map(legalization.packed, op.operands))
    types = list(map(stablehlo_type, op.result_types))
    said = _shardy_operation(op)
    if said is not None:
        if said[0] is shardy.ShardingConstraintOp:
            del attributes[SHARDING]
        made = legalization.emit(said[0], operands, types, said[1], attributes=attributes)
    else:
        properties = _properties(op, legalization)
        groups = op.attributes.get("xla.replica_groups")
        if isinstance(groups, ReplicaGroupsAttr):
            attributes["replica_groups"] = groups_in(op, groups.data)
        made = legalization.emit(
            stablehlo.CustomCallOp, operands, types, properties, attributes=attributes
        )
    return [leaf for value in made.results for leaf in legalization.unpacked(value)]


def _shardy_operation(
    call: xla.CustomCallOp,
) -> tuple[type[Operation], dict[str, Attribute]] | None:
    """The operation of Shardy that a call stands for, if its attributes say so; its properties."""
    names = (SHARDING, xla.GROUP_ID, xla.ALLOWED_DIRECTION)
    match call.custom_call_target.data, [call.attributes.get(name) for name in names]:
        case xla.SHARDING_CONSTRAINT, [ShardingPerValueAttr() as found, *_] if len(found.data) == 1:
            return shardy.ShardingConstraintOp, {"sharding": ShardingAttr(found.data[0])}
        case xla.SHARDING_GROUP, [_, IntegerAttr() as number, _]:
            group = IntegerAttr(cast(int, decode(cast(Attribute, number))), i64)
            return shardy.ShardingGroupOp, {"group_id": group}
        case xla.PROPAGATION_BARRIER, [_, _, StringAttr() as word]:
            direction = IntegerAttr(shardy.DIRECTIONS.index(word.data), i32)
            return shardy.PropagationBarrierOp, {"allowed_direction": direction}
        case _:
            return None


def _properties(call: xla.CustomCallOp, legalization: FromXla) -> dict[str, Attribute]:
    """The properties of StableHLO's custom calls, those that say something."""
    target = call.custom_call_target
    found: dict[str, Attribute] = {"call_target_name": target}
    version = call.api_version
    number = stablehlo.ORIGINAL
    if version is not None:
        number = stablehlo.API_VERSIONS.index(version.data)
    if number != stablehlo.ORIGINAL:
        found["api_version"] = IntegerAttr(number, i32)
    if call.custom_call_has_side_effect.value.data:
        found["has_side_effect"] = call.custom_call_has_side_effect
    config = call.attributes.get("xla.backend_config")
    if config is not None:
        found["backend_config"] = _configuration(config, number == stablehlo.TYPED)
    called = [legalization.outline(region, target.data) for region in call.regions]
    kept = call.attributes.get("xla.called_computations")
    if called or kept is not None:
        found["called_computations"] = kept if kept is not None else ArrayAttr(called)
    aliases = call.attributes.get("xla.output_to_operand_aliasing")
    if aliases is not None:
        found["output_operand_aliases"] = _aliases(plain_text(aliases))
    return found | _layouts(call)


def _configuration(config: Attribute, typed: bool) -> Attribute:
    """A dictionary for typed calls, else a string; HLO text has one in quotes, or JSON."""
    if isinstance(config, DictionaryAttr):
        return config
    text = plain_text(config)
    if typed and text.startswith("{"):
        return _dictionary(text)
    quoted = len(text) > 1 and text.startswith('"') and text.endswith('"')
    return StringAttr(unescaped(text[1:-1]) if quoted else text)


_ALIAS = re.compile(r"\{([\d,\s]*)\}:\s*\((\d+),\s*\{([\d,\s]*)\}")


def _aliases(text: str) -> Attribute:
    """`{{1}: (0, {})}` as a list of `#stablehlo.output_operand_alias`."""
    found: list[Attribute] = []
    for output, operand, element in _ALIAS.findall(text):
        places = [[int(n) for n in part.split(",") if n.strip()] for part in (output, element)]
        found.append(OutputAlias.of(places[0], int(operand), places[1]))
    return ArrayAttr(found)


def _layouts(call: xla.CustomCallOp) -> dict[str, Attribute]:
    """
    The layouts of operands and results, both or none.

    They are those that StableHLO gave. From HLO text they are its constraints for the operands and
    the layouts of the results' types, if there are any.
    """
    names = stablehlo.LAYOUTS
    kept = [call.attributes.get(f"xla.{name}") for name in names]
    if any(isinstance(value, ArrayAttr) for value in kept):
        return {name: value or ArrayAttr(()) for name, value in zip(names, kept, strict=True)}
    constraints = call.attributes.get("xla.operand_layout_constraints")
    results: Sequence[Attribute] = call.result_types
    if len(results) == 1:
        results = tuple_elements(results[0]) or results
    given = any(is_array(type_) and isinstance(type_.encoding, LayoutAttr) for type_ in results)
    operands: Sequence[Attribute] = call.operand_types
    if isinstance(constraints, StringAttr):
        operands = tuple_elements(parse_type(f"({constraints.data[1:-1]})")) or ()
    elif not given:
        return {}
    if any(isinstance(type_, TupleType) for type_ in (*operands, *results)):
        return {}
    return {
        name: ArrayAttr(map(_layout_of, each))
        for name, each in zip(names, (operands, results), strict=True)
    }


def _layout_of(type_: Attribute) -> Attribute:
    """`dense<[1, 0]> : tensor<2xindex>`, from minor to major."""
    order = layout_of(type_).minor_to_major if is_array(type_) else ()
    list_type = cast(Any, TensorType(IndexType(), (len(order),)))
    return DenseIntOrFPElementsAttr.from_list(list_type, list(order))


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
