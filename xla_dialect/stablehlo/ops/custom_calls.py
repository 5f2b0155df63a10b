"""Calls of what the program does not contain, and of what a name stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    ParsePropInAttrDict,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import FLAG, CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.ops import custom_calls as xla
from xla_dialect.stablehlo.op import StableHloOp, integers_of, just_as
from xla_dialect.types import as_array
from xla_dialect.xdsl.definition import op_definition

API_VERSIONS = tuple(CustomCallApiVersion)
"""The versions by their numbers in StableHLO."""

ORIGINAL = API_VERSIONS.index(CustomCallApiVersion.ORIGINAL)
TYPED = API_VERSIONS.index(CustomCallApiVersion.TYPED_FFI)
"""The version whose configuration is a dictionary; it is a string for the others."""

LAYOUTS = ("operand_layouts", "result_layouts")


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

    def xla_properties(self) -> dict[str, Attribute]:
        """What is called, and how; checks the layouts."""
        self._check_layouts()
        version = ORIGINAL if self.api_version is None else self.api_version.value.data
        if not 0 <= version < len(API_VERSIONS):
            raise VerifyException(f"api_version is {version}, not 0 to {len(API_VERSIONS) - 1}")
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
            if len(value.data) != len(types):
                found = f"{len(value.data)} entries for {len(types)} values"
                raise VerifyException(f"{name} has {found}")
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


_QUALIFIED = re.compile(r"[a-zA-Z]\w*(?:\.[\w$]+)+", re.ASCII)
