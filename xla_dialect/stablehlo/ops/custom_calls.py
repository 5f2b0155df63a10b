"""Calls of what the program does not contain, and of what a name stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    IndexType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    TupleType,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Dialect, TypeAttribute
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import ParseError, VerifyException

from xla_dialect.attributes import FLAG, CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.layout import LayoutAttr
from xla_dialect.layouts.type_layouts import layout_of
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops import custom_calls as xla
from xla_dialect.stablehlo.attributes import (
    ATTRIBUTES,
    CHLO_ATTRIBUTES,
    Inexpressible,
    OutputAlias,
    integers,
)
from xla_dialect.stablehlo.op import (
    Codec,
    StableHloOp,
    flag,
    has_elements,
    in_order,
    integers_of,
    just_as,
)
from xla_dialect.stablehlo.ops.dynamic_shapes import verify_sizes
from xla_dialect.text.shapes import parse_type
from xla_dialect.text.strings import plain_text, unescaped
from xla_dialect.types import as_array, is_array, spell_all, tuple_elements
from xla_dialect.violations import check
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.text import MlirParser

API_VERSIONS = tuple(CustomCallApiVersion)
"""The versions by their numbers in StableHLO."""

ORIGINAL = API_VERSIONS.index(CustomCallApiVersion.ORIGINAL)
TYPED = API_VERSIONS.index(CustomCallApiVersion.TYPED_FFI)
"""The version whose configuration is a dictionary; it is a string for the others."""

LAYOUTS = ("operand_layouts", "result_layouts")

SHAPE_OPERANDS = "indices_of_shape_operands"
_ALIASES = "output_operand_aliases"


def _part_of(type_: Attribute, indices: Sequence[int]) -> Attribute:
    """The part of a type at indices into nested tuples; raises VerifyException."""
    for index in indices:
        if not isinstance(type_, TupleType) or not 0 <= index < len(type_.types.data):
            raise VerifyException(f"{_ALIASES}: {type_} has no element {index}")
        type_ = type_.types.data[index]
    return type_


def _xla_version(op: CustomCallOp, value: Attribute | None) -> Attribute | None:
    check(
        0 <= op.version < len(API_VERSIONS),
        "api_version is {}, not 0 to {}",
        op.version,
        len(API_VERSIONS) - 1,
    )
    return None if op.version == ORIGINAL else CustomCallApiVersionAttr(API_VERSIONS[op.version])


def _own_version(op: XlaOp, value: CustomCallApiVersionAttr | None) -> Attribute | None:
    number = ORIGINAL if value is None else API_VERSIONS.index(value.data)
    return None if number == ORIGINAL else IntegerAttr(number, i32)


def _kept_configuration(op: CustomCallOp, config: Attribute | None) -> Attribute | None:
    """A dictionary, or a string in quotes; HLO text has none where that is empty."""
    check(
        config is None or isinstance(config, DictionaryAttr) == (op.version == TYPED),
        "backend_config is {}, which does not go with api_version {}",
        config,
        op.version,
    )
    if not isinstance(config, StringAttr):
        return config
    escaped = config.data.replace("\\", "\\\\").replace('"', '\\"')
    return StringAttr(f'"{escaped}"') if config.data else None


def _own_configuration(op: XlaOp, config: Attribute | None) -> Attribute | None:
    """A dictionary for typed calls, else a string; HLO text has one in quotes, or JSON."""
    if config is None or isinstance(config, DictionaryAttr):
        return config
    text = plain_text(config)
    if text.startswith("{") and decode(op.properties.get("api_version")) == API_VERSIONS[TYPED]:
        return dictionary_of(text)
    quoted = len(text) > 1 and text.startswith('"') and text.endswith('"')
    return StringAttr(unescaped(text[1:-1]) if quoted else text)


def dictionary_of(text: str) -> Attribute:
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


def _kept_aliases(op: CustomCallOp, value: Attribute | None) -> Attribute | None:
    """`{{1}: (0, {})}`: which results share memory with which operands that are left."""
    dropped, found = set(op.shape_positions()), list[str]()
    for output, index, part in op.aliases():
        check(index not in dropped, "{}: operand {} says a shape", _ALIASES, index)
        index -= sum(position < index for position in dropped)
        result, operand = (",".join(map(str, each)) for each in (output, part))
        found.append(f"{{{result}}}: ({index}, {{{operand}}})")
    return StringAttr(f"{{{', '.join(found)}}}") if found else None


def _own_aliases(op: XlaOp, aliases: Attribute | None) -> Attribute | None:
    if aliases is None:
        return None
    found: list[Attribute] = []
    for output, operand, element in _ALIAS.findall(plain_text(aliases)):
        places = [[int(n) for n in part.split(",") if n.strip()] for part in (output, element)]
        found.append(OutputAlias.of(places[0], int(operand), places[1]))
    return ArrayAttr(found)


_ALIAS = re.compile(r"\{([\d,\s]*)\}:\s*\((\d+),\s*\{([\d,\s]*)\}")


def _layouts(place: int) -> Codec:
    """
    The layouts of all operands, or of all results: both or none; each is a permutation.

    In `xla` they are those that StableHLO gave. From HLO text they are its constraints for the
    operands and the layouts of the results' types, if there are any.
    """
    name, kept = LAYOUTS[place], [f"xla.{each}" for each in LAYOUTS]

    def kept_layouts(op: CustomCallOp, layouts: ArrayAttr[Attribute] | None) -> Attribute | None:
        types = _values(op)[place]
        if layouts is None:
            lacks = (op.operand_layouts, op.result_layouts) != (None, None)
            check(not lacks, "{} is missing, the other list is given", name)
            return None
        count, wanted = len(layouts.data), len(types)
        check(count == wanted, "{} has {} entries for {} values", name, count, wanted)
        for layout, type_ in zip(layouts.data, types, strict=True):
            array_type, order = as_array(type_), integers_of(layout)
            rank = 0 if array_type is None else len(array_type.get_shape())
            is_order = order is not None and sorted(order) == list(range(rank))
            check(is_order, "{}: {} is no layout of {}", name, layout, type_)
        dropped = () if place else op.shape_positions()
        left = [layout for i, layout in enumerate(layouts.data) if i not in dropped]
        return ArrayAttr(left) if left else None

    def own_layouts(op: XlaOp, layouts: Attribute | None) -> Attribute | None:
        if any(isinstance(op.attributes.get(each), ArrayAttr) for each in kept):
            return layouts or ArrayAttr(())
        constraints, types = op.attributes.get("xla.operand_layout_constraints"), _values(op)
        if isinstance(constraints, StringAttr):
            types[0] = tuple_elements(parse_type(f"({constraints.data[1:-1]})")) or ()
        elif not any(is_array(t) and isinstance(t.encoding, LayoutAttr) for t in types[1]):
            return None
        has_tuples = any(isinstance(type_, TupleType) for each in types for type_ in each)
        return None if has_tuples else ArrayAttr(map(_layout_of, types[place]))

    return Codec(kept[place], kept_layouts, own_layouts, is_kept=True)


def _values(op: XlaOp | CustomCallOp) -> list[Sequence[Attribute]]:
    """The types of operands, and of results or the elements of the only one."""
    results = op.result_types
    elements = tuple_elements(results[0]) if len(results) == 1 else None
    return [op.operand_types, elements or results]


def _layout_of(type_: Attribute) -> Attribute:
    """`dense<[1, 0]> : tensor<2xindex>`, from minor to major."""
    order = layout_of(type_).minor_to_major if is_array(type_) else ()
    list_type = cast(Any, TensorType(IndexType(), (len(order),)))
    return DenseIntOrFPElementsAttr.from_list(list_type, list(order))


@just_as(xla.CustomCallOp)
class CustomCallOp(StableHloOp):
    """The results of a function outside of the program."""

    NAMES: ClassVar = {"call_target_name": "custom_call_target"}
    CODECS: ClassVar = {
        "has_side_effect": flag("custom_call_has_side_effect"),
        "api_version": Codec("api_version", _xla_version, _own_version),
        "backend_config": Codec(
            "xla.backend_config", _kept_configuration, _own_configuration, is_kept=True
        ),
        "output_operand_aliases": Codec(
            "xla.output_to_operand_aliasing", _kept_aliases, _own_aliases, is_kept=True
        ),
        "called_computations": Codec(
            "xla.called_computations",
            lambda op, value: value if value is not None and value.data else None,
            lambda op, value: value,
            is_kept=True,
        ),
        **{name: _layouts(place) for place, name in enumerate(LAYOUTS)},
    }
    call_target_name = prop_def(SymbolNameConstraint())
    has_side_effect = opt_prop_def(FLAG)
    backend_config = opt_prop_def()
    api_version = opt_prop_def(IntegerAttr.constr(type=i32))
    called_computations = opt_prop_def(ArrayAttr)
    operand_layouts = opt_prop_def(ArrayAttr)
    result_layouts = opt_prop_def(ArrayAttr)
    output_operand_aliases = opt_prop_def(ArrayAttr)
    assembly_format = (
        "$call_target_name `(` $inputs `)` attr-dict `:` functional-type(operands, results)"
    )

    @property
    def version(self) -> int:
        """The number of the version of the interface."""
        return ORIGINAL if self.api_version is None else self.api_version.value.data

    @property
    def callees(self) -> Sequence[str]:
        """The names of the functions of the program that are called."""
        called = () if self.called_computations is None else self.called_computations.data
        return [each.root_reference.data for each in called if isinstance(each, SymbolRefAttr)]

    def aliases(self) -> Sequence[tuple[Sequence[int], int, Sequence[int]]]:
        """
        Which parts of results share memory with which operands, and parts of these.

        Raises VerifyException for parts that are not there, or of different types.
        """
        found: list[tuple[Sequence[int], int, Sequence[int]]] = []
        listed = self.output_operand_aliases
        for alias in () if listed is None else listed.data:
            if not isinstance(alias, OutputAlias):
                raise VerifyException(f"{_ALIASES} has {alias}, not #{OutputAlias.name}<...>")
            numbers = tuple(map(decode, alias.parameters))
            output, index, part = cast("tuple[Sequence[int], int, Sequence[int]]", numbers)
            check(0 <= index < len(self.operands), "{}: there is no operand {}", _ALIASES, index)
            results = cast("tuple[TypeAttribute, ...]", tuple(self.result_types))
            whole = results[0] if len(results) == 1 else TupleType(results)
            result, given = _part_of(whole, output), _part_of(self.operands[index].type, part)
            check(
                result == given,
                "{}: the result has type {}, the operand {}",
                _ALIASES,
                result,
                given,
            )
            found.append((output, index, part))
        return found

    def shape_positions(self) -> Sequence[int]:
        """
        The positions of the operands that say sizes, one for each result; none if none does.

        Raises VerifyException.
        """
        given = self.attributes.get(SHAPE_OPERANDS, integers(()))
        positions = integers_of(given)
        if positions is None or not has_elements(given, i64):
            raise VerifyException(f"{SHAPE_OPERANDS} is {given}, not a list of i64")
        count, wanted = len(self.operands), len(self.results)
        check(
            not positions or len(positions) == wanted,
            "{} has {} entries for {} results",
            SHAPE_OPERANDS,
            len(positions),
            wanted,
        )
        check(
            all(0 <= position < count for position in positions),
            "{} is {}, there are {} operands",
            SHAPE_OPERANDS,
            list(positions),
            count,
        )
        return positions

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """By the rules of `xla`; results have the sizes that constant operands say."""
        for position, type_ in zip(self.shape_positions(), declared, strict=False):
            verify_sizes(position, operands[position], type_, self.operands[position])
        super().verify_types(operands, declared)

    def xla_properties(self, operands: Sequence[Attribute] = ()) -> dict[str, Attribute]:
        """What is called, and how, in the order of the definition."""
        return in_order(xla.CustomCallOp, super().xla_properties(operands))


@op_definition
class CompositeOp(StableHloOp):
    """What a name stands for, which a function of the program, its decomposition, computes."""

    name = "stablehlo.composite"
    inputs = var_operand_def()
    composite_name = prop_def(StringAttr, prop_name="name")
    decomposition = prop_def(FlatSymbolRefAttrConstr)
    version = opt_prop_def(IntegerAttr.constr(type=i32))
    composite_attributes = opt_prop_def(DictionaryAttr)
    outputs = var_result_def()
    composite_regions = var_region_def()
    assembly_format = (
        "$name $inputs (`(` $composite_regions^ `)`)? attr-dict `:` "
        "functional-type(operands, results)"
    )

    def verify_(self) -> None:
        """Checks name and version."""
        name = self.composite_name.data
        if _QUALIFIED.fullmatch(name) is None:
            raise VerifyException(f"name is {name!r}, not of the form namespace.op")
        if self.version is not None and self.version.value.data < 0:
            raise VerifyException(f"version is {self.version.value.data}, which is negative")
        function = SymbolTable.lookup_symbol(self, self.decomposition)
        if isinstance(function, FuncOp):
            type_, name = function.function_type, function.sym_name.data
            for what, given, taken in (
                ("operands", self.operand_types, type_.inputs.data),
                ("results", self.result_types, type_.outputs.data),
            ):
                check(
                    tuple(given) == tuple(taken),
                    "its {} and those of @{} are {} and {}",
                    what,
                    name,
                    spell_all(given),
                    spell_all(taken),
                )


_QUALIFIED = re.compile(r"[a-zA-Z]\w*(?:\.[\w$]+)+", re.ASCII)
