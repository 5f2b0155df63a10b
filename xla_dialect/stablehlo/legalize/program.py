"""Functions and calls, what an HLO module says of its entry, and operations beside both dialects.

Of the entry these are layouts and aliases; checks, prints, probes and `run_parallel` are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR
from xla_dialect.entry import ENTRY_SYMBOL, entry_aliases
from xla_dialect.layouts.type_layouts import layout_of
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.self_checking import CHECK, INTERPRETER
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo.attributes import Inexpressible
from xla_dialect.stablehlo.conversion import Conversion, Legalize, check_properties
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla, discardable
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import all_compatible, flatten, is_array
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.operation_table import OperationTable

_SIGNATURE = "xla.entry_computation_layout"

AttributesOfLeaves: TypeAlias = list[dict[str, Attribute]]
"""The attributes of every leaf of the parameters, or of the results."""


def function_of_xla(function: FuncOp, legalization: FromXla) -> Sequence[SSAValue]:
    """The function, whose parameters and results are no tuples."""
    type_ = function.function_type
    of_values = [
        _attributes_of_leaves(function.arg_attrs, type_.inputs.data),
        _attributes_of_leaves(function.res_attrs, type_.outputs.data),
    ]
    module = function.parent_op()
    if function.sym_name.data == ENTRY_SYMBOL and isinstance(module, ModuleOp):
        _add_entry_attributes(module, function, of_values)
    block = function.body.first_block
    if block is not None and block.next_block is not None:
        raise Inexpressible(f"StableHLO has no functions of {len(function.body.blocks)} blocks")
    types = FunctionType.from_lists(
        legalization.types(type_.inputs.data), legalization.types(type_.outputs.data)
    )
    attributes = {"arg_attrs": _attributes(of_values[0]), "res_attrs": _attributes(of_values[1])}
    given = {name: value for name, value in attributes.items() if value is not None}
    properties = {**function.properties, "function_type": types}
    for name in attributes:
        properties.pop(name, None)
    region = Region() if block is None else legalization.region(function.body)
    legalization.emit(FuncOp, (), (), properties | given, [region])
    return ()


def return_of_xla(op: ReturnOp, legalization: FromXla) -> Sequence[SSAValue]:
    """The end of a function."""
    return legalization.emit(ReturnOp, legalization.operands(op), ()).results


def convert_call(op: func.CallOp, conversion: Conversion) -> Sequence[SSAValue]:
    callee = op.properties.get("callee")
    if not isinstance(callee, SymbolRefAttr):
        raise VerifyException("callee is missing")
    check_properties(op, ("callee",))
    function = conversion.function_to_inline(callee.root_reference.data, conversion.operands(op))
    if function is not None:
        return conversion.inline_call(op, function)
    return conversion.replaced(op, CallOp, {"to_apply": callee})


def convert_return(op: Operation, conversion: Conversion) -> Sequence[SSAValue]:
    check_properties(op, ())
    conversion.add(ReturnOp(*conversion.operands(op)))
    return ()


def _attributes(leaves: AttributesOfLeaves) -> ArrayAttr[DictionaryAttr] | None:
    return ArrayAttr(map(DictionaryAttr, leaves)) if any(leaves) else None


def _attributes_of_leaves(
    attributes: ArrayAttr[DictionaryAttr] | None, types: Sequence[Attribute]
) -> AttributesOfLeaves:
    """The attributes of the leaves of values of these types; those of tuples are dropped."""
    if attributes is None:
        return [{} for _ in flatten(types)]
    found: AttributesOfLeaves = []
    for entry, type_ in zip(attributes.data, types, strict=True):
        leaves = flatten([type_])
        found.extend([discardable(entry.data)] if leaves == (type_,) else ({} for _ in leaves))
    return found


def _add_entry_attributes(
    module: ModuleOp, function: FuncOp, of_values: list[AttributesOfLeaves]
) -> None:
    """
    Adds the layouts and aliases of an HLO module's entry, as the attributes that JAX uses.

    Layouts other than the default become `mhlo.layout_mode`, aliases `tf.aliasing_output`, donors
    `jax.buffer_donor`.
    """
    parameters, _ = of_values
    own = function.function_type
    aliases = entry_aliases(module, own.inputs.data, own.outputs.data)
    for parameter, result in aliases.results.items():
        parameters[parameter].setdefault(ALIASING_OUTPUT, IntegerAttr(result, i32))
    for parameter in sorted(aliases.donors):
        parameters[parameter].setdefault(BUFFER_DONOR, BoolAttr.from_bool(True))
    types = _declared_types(module, function)
    for entries, entry_types in zip(of_values, types, strict=True):
        for entry, type_ in zip(entries, entry_types, strict=True):
            order = layout_of(type_).minor_to_major if is_array(type_) else ()
            if order != tuple(reversed(range(len(order)))):
                spelled = ",".join(map(str, order))
                entry.setdefault("mhlo.layout_mode", StringAttr(f"{{{spelled}}}"))


def _declared_types(module: ModuleOp, function: FuncOp) -> list[tuple[Attribute, ...]]:
    """The types of the leaves of parameters and results as the callers of the entry see them."""
    type_ = function.function_type
    found = [flatten(type_.inputs.data), flatten(type_.outputs.data)]
    written = module.attributes.get(_SIGNATURE)
    if isinstance(written, StringAttr):
        inputs, _, output = written.data[1:-1].rpartition("->")
        try:
            declared = [flatten([parse_type(text)]) for text in (inputs, output)]
        except SpellingError:
            return found
        if all(map(all_compatible, declared, found)):
            return declared
    return found


_CHECKS = (*CHECK.operations, *INTERPRETER.operations)


def convert_check(op: Operation, conversion: Conversion) -> Sequence[SSAValue]:
    """The same operation on the converted values."""
    return conversion.add(
        create(
            type(op),
            operands=conversion.operands(op),
            result_types=conversion.result_types(op),
            properties=op.properties,
        )
    )


def check_of_xla(op: Operation, legalization: FromXla) -> Sequence[SSAValue]:
    """The same operation on the values of StableHLO."""
    return legalization.replaced(op, type(op), op.properties)


TO_XLA = (
    OperationTable[Legalize]()
    .add(func.CallOp, convert_call)
    .add(ReturnOp, convert_return)
    .add(_CHECKS, convert_check)
)

FROM_XLA = (
    OperationTable[LegalizeFromXla]()
    .add(FuncOp, function_of_xla)
    .add(ReturnOp, return_of_xla)
    .add(_CHECKS, check_of_xla)
)
