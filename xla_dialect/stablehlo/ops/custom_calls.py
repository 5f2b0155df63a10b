"""Calls of what the program does not contain, and of what a name stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TupleType,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import (
    ParsePropInAttrDict,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import FLAG, CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.op import decode
from xla_dialect.ops import custom_calls as xla
from xla_dialect.stablehlo.attributes import OutputAlias, integers
from xla_dialect.stablehlo.op import StableHloOp, has_elements, integers_of, just_as
from xla_dialect.stablehlo.ops.dynamic_shapes import verify_sizes
from xla_dialect.types import as_array, spell_all
from xla_dialect.violations import check
from xla_dialect.xdsl.definition import op_definition

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


@just_as(xla.CustomCallOp)
class CustomCallOp(StableHloOp):
    """The results of a function outside of the program."""

    name = "stablehlo.custom_call"
    call_target_name = prop_def(SymbolNameConstraint())
    has_side_effect = opt_prop_def(FLAG)
    backend_config = opt_prop_def()
    api_version = opt_prop_def(IntegerAttr.constr(type=i32))
    called_computations = opt_prop_def(ArrayAttr)
    operand_layouts = opt_prop_def(ArrayAttr)
    result_layouts = opt_prop_def(ArrayAttr)
    output_operand_aliases = opt_prop_def(ArrayAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$call_target_name `(` $inputs `)` attr-dict `:` functional-type(operands, results)"
    )

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
        self.aliases()
        for position, type_ in zip(self.shape_positions(), declared, strict=False):
            verify_sizes(position, operands[position], type_, self.operands[position])
        super().verify_types(operands, declared)

    def xla_properties(self, operands: Sequence[Attribute] = ()) -> dict[str, Attribute]:
        """What is called, and how; checks the layouts."""
        self._check_layouts()
        version = ORIGINAL if self.api_version is None else self.api_version.value.data
        check(
            0 <= version < len(API_VERSIONS),
            "api_version is {}, not 0 to {}",
            version,
            len(API_VERSIONS) - 1,
        )
        config = self.backend_config
        if config is not None and isinstance(config, DictionaryAttr) != (version == TYPED):
            raise VerifyException(
                f"backend_config is {config}, which does not go with api_version {version}"
            )
        effect = BoolAttr.from_bool(False) if self.has_side_effect is None else self.has_side_effect
        found: dict[str, Attribute] = {
            "custom_call_target": self.call_target_name,
            "custom_call_has_side_effect": effect,
        }
        if version != ORIGINAL:
            found["api_version"] = CustomCallApiVersionAttr(API_VERSIONS[version])
        return found

    def _check_layouts(self) -> None:
        """Layouts are those of all operands and all results, or none; each is a permutation."""
        given = (self.operand_layouts, self.result_layouts)
        if given == (None, None):
            return
        results: Sequence[Attribute] = self.result_types
        if len(results) == 1 and isinstance(results[0], TupleType):
            results = results[0].types.data
        for name, value, types in zip(LAYOUTS, given, (self.operand_types, results), strict=True):
            if value is None:
                raise VerifyException(f"{name} is missing, the other list is given")
            check(
                len(value.data) == len(types),
                "{} has {} entries for {} values",
                name,
                len(value.data),
                len(types),
            )
            for layout, type_ in zip(value.data, types, strict=True):
                array_type = as_array(type_)
                rank = 0 if array_type is None else len(array_type.get_shape())
                order = integers_of(layout)
                if order is None or sorted(order) != list(range(rank)):
                    raise VerifyException(f"{name}: {layout} is no layout of {type_}")


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
    irdl_options = (ParsePropInAttrDict(),)
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
