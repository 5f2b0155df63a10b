"""Custom calls, with their layouts, configuration, aliases and called functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute

from xla_dialect.attributes import CustomCallApiVersion
from xla_dialect.devices.replica_groups import ReplicaGroupsAttr
from xla_dialect.layout import LayoutAttr
from xla_dialect.op import decode
from xla_dialect.ops.custom_calls import ALLOWED_DIRECTION, GROUP_ID, CustomCallOp
from xla_dialect.sharding.attributes import SHARDING, ShardingPerValueAttr
from xla_dialect.stablehlo.attribute_text import (
    attribute_text,
    dictionary_text,
    kept_texts,
    plain_text,
    string_text,
    symbol_text,
    unescaped,
)
from xla_dialect.stablehlo.custom_calls import API_VERSIONS
from xla_dialect.stablehlo.ops.collectives import groups_in
from xla_dialect.stablehlo.syntax import integers_text
from xla_dialect.stablehlo.writing.body import BodyWriter, Write
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import Array, tuple_elements
from xla_dialect.xdsl.operation_table import OperationTable

_ORIGINAL = API_VERSIONS.index(CustomCallApiVersion.ORIGINAL)


def write_custom_call(op: CustomCallOp, body: BodyWriter) -> None:
    """`stablehlo.custom_call @target(%0) {...}`; tuples stay tuples here."""
    if _write_shardy(op, body):
        return
    operands = [body.packed(value) for value in op.operands]
    types = [body.type_text(value.type) for value in op.operands]
    results = [body.type_text(type_) for type_ in op.result_types]
    after = results[0] if len(results) == 1 else f"({', '.join(results)})"
    text = (
        f"stablehlo.custom_call {symbol_text(op.custom_call_target.data)}"
        f"({', '.join(operands)}){body.attributes(op, _texts(op, body))}"
        f" : ({', '.join(types)}) -> {after}"
    )
    names = body.named(text, len(results), [value.name_hint for value in op.results])
    for value, name in zip(op.results, names, strict=True):
        body.trees[value] = body.unpacked(name, value.type)


def _write_shardy(op: CustomCallOp, body: BodyWriter) -> bool:
    """The operation of Shardy that a call stands for, if it says so in attributes of Shardy."""
    attributes = dict(op.attributes)
    match op.custom_call_target.data, [attributes.pop(name, None) for name in _SHARDY]:
        case "Sharding", [ShardingPerValueAttr() as found, *_] if len(found.data) == 1:
            name, text = "sdy.sharding_constraint", f"<{found.data[0]}>"
        case "xla.sdy.ShardingGroup", [_, IntegerAttr() as number, _]:
            name, text = "sdy.sharding_group", f"group_id={decode(number)}"
        case "xla.sdy.PropagationBarrier", [_, _, StringAttr() as direction]:
            name, text = "sdy.propagation_barrier", f"allowed_direction={direction.data}"
        case _:
            return False
    rest = dictionary_text(kept_texts(attributes)) if attributes else ""
    type_ = body.type_text(op.operands[0].type)
    line = f"{name} {body.packed(op.operands[0])} {text}{' ' if rest else ''}{rest} : {type_}"
    names = body.named(line, len(op.results), [value.name_hint for value in op.results])
    for value, found in zip(op.results, names, strict=True):
        body.trees[value] = body.unpacked(found, value.type)
    return True


_SHARDY = (SHARDING, GROUP_ID, ALLOWED_DIRECTION)
"""The attributes that a call of Shardy may have."""


def _texts(call: CustomCallOp, body: BodyWriter) -> dict[str, str]:
    """The attributes of StableHLO's custom calls, those that say something."""
    found: dict[str, str] = {}
    version = call.api_version
    if version is not None and API_VERSIONS.index(version.data) != _ORIGINAL:
        found["api_version"] = f"{API_VERSIONS.index(version.data)} : i32"
    if call.custom_call_has_side_effect.value.data:
        found["has_side_effect"] = "true"
    config = call.attributes.get("xla.backend_config")
    if config is not None:
        typed = version is not None and version.data == CustomCallApiVersion.TYPED_FFI
        found["backend_config"] = _config_text(config, typed)
    called = [body.program.outline(r, call.custom_call_target.data) for r in call.regions]
    kept = call.attributes.get("xla.called_computations")
    if kept is not None:
        found["called_computations"] = attribute_text(kept)
    if called:
        found["called_computations"] = f"[{', '.join(map(symbol_text, called))}]"
    groups = call.attributes.get("xla.replica_groups")
    if isinstance(groups, ReplicaGroupsAttr):
        found["replica_groups"] = str(groups_in(call, groups.data))
    aliases = call.attributes.get("xla.output_to_operand_aliasing")
    if aliases is not None:
        found["output_operand_aliases"] = _aliases_text(plain_text(aliases))
    return found | _layouts(call)


def _config_text(config: Attribute, typed: bool) -> str:
    """A dictionary for typed calls, else a string; HLO text has one in quotes, or JSON."""
    if isinstance(config, DictionaryAttr):
        return attribute_text(config)
    text = plain_text(config)
    if typed and text.startswith("{"):
        return text
    quoted = len(text) > 1 and text.startswith('"') and text.endswith('"')
    return string_text(unescaped(text[1:-1]) if quoted else text)


_ALIAS = re.compile(r"\{([\d,\s]*)\}:\s*\((\d+),\s*\{([\d,\s]*)\}")


def _aliases_text(text: str) -> str:
    """`{{1}: (0, {})}` as a list of `#stablehlo.output_operand_alias`."""
    found: list[str] = []
    for output, operand, element in _ALIAS.findall(text):
        places = [[int(n) for n in part.split(",") if n.strip()] for part in (output, element)]
        found.append(
            f"#stablehlo.output_operand_alias<output_tuple_indices = {integers_text(places[0])}, "
            f"operand_index = {operand}, operand_tuple_indices = {integers_text(places[1])}>"
        )
    return f"[{', '.join(found)}]"


def _layouts(call: CustomCallOp) -> dict[str, str]:
    """
    The layouts of operands and results, both or none.

    They are those that StableHLO gave. From HLO text they are its constraints for the operands and
    the layouts of the results' types, if there are any.
    """
    names = ("operand_layouts", "result_layouts")
    kept = [call.attributes.get(f"xla.{name}") for name in names]
    if any(isinstance(value, ArrayAttr) for value in kept):
        return {
            name: attribute_text(value or ArrayAttr(()))
            for name, value in zip(names, kept, strict=True)
        }
    constraints = call.attributes.get("xla.operand_layout_constraints")
    results: Sequence[Attribute] = call.result_types
    if len(results) == 1:
        results = tuple_elements(results[0]) or results
    given = any(
        isinstance(type_, TensorType) and isinstance(cast(Array, type_).encoding, LayoutAttr)
        for type_ in results
    )
    operands: Sequence[Attribute] = [value.type for value in call.operands]
    if isinstance(constraints, StringAttr):
        operands = tuple_elements(parse_type(f"({constraints.data[1:-1]})")) or ()
    elif not given:
        return {}
    if any(isinstance(type_, TupleType) for type_ in (*operands, *results)):
        return {}
    return {"operand_layouts": _layouts_text(operands), "result_layouts": _layouts_text(results)}


def _layouts_text(types: Iterable[Attribute]) -> str:
    return f"[{', '.join(map(_layout_text, types))}]"


def _layout_text(type_: Attribute) -> str:
    """`dense<[1, 0]> : tensor<2xindex>`, from minor to major."""
    order: Sequence[int] = ()
    if isinstance(type_, TensorType):
        array = cast(Array, type_)
        order = tuple(reversed(range(len(array.shape))))
        if isinstance(array.encoding, LayoutAttr):
            order = array.encoding.data.minor_to_major
    text = str(order[0]) if len(order) == 1 else integers_text(order) if order else ""
    return f"dense<{text}> : tensor<{len(order)}xindex>"


WRITERS = OperationTable[Write]().add(CustomCallOp, write_custom_call)
