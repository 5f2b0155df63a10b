"""How operations are written that StableHLO has just as the dialect has them.

Derived from the rows of the reader: name, custom form and properties are stated there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Attribute

from xla_dialect.op import XlaOp, decode
from xla_dialect.stablehlo.attribute_text import dictionary_text
from xla_dialect.stablehlo.conversion import Row
from xla_dialect.stablehlo.correspondence import Same, Special
from xla_dialect.stablehlo.reader import ROWS
from xla_dialect.stablehlo.syntax import CustomForm


@dataclass
class RegularForm:
    """The form of one operation."""

    name: str
    """In StableHLO."""
    row: Row
    same: Same
    defaults: Mapping[str, Attribute]
    """The values of properties that are left out."""
    _memo: dict[tuple[int, ...], tuple[Sequence[Attribute | None], dict[str, Any]]] = field(
        default_factory=dict[tuple[int, ...], tuple[Sequence[Attribute | None], dict[str, Any]]]
    )
    """By the identities of the properties, which are held to keep these unique."""

    @property
    def custom(self) -> CustomForm | None:
        """Its custom form; None where it has none, or one of its own."""
        return self.row.form if isinstance(self.row.form, CustomForm) else None

    def values(self, properties: Mapping[str, Attribute]) -> dict[str, Any]:
        """The properties in StableHLO with their values in Python."""
        names = self.same.properties
        if not names:
            return {}
        defaults = self.defaults
        given = [properties.get(name, defaults.get(name)) for name in names]
        key = tuple(map(id, given))
        known = self._memo.get(key)
        if known is None:
            found = {
                each.name: each.value(decode(value))
                for each, value in zip(names.values(), given, strict=True)
                if value is not None
            }
            known = self._memo[key] = given, found
        return known[1]

    def generic(self, values: Mapping[str, Any]) -> dict[str, str]:
        """The texts of the properties as attributes."""
        properties = self.same.properties.values()
        return {
            each.name: each.text(values[each.name]) for each in properties if each.name in values
        }


def properties_text(texts: Mapping[str, str]) -> str:
    """` <{a = 1 : i64}>`, or nothing."""
    return f" <{dictionary_text(texts)}>" if texts else ""


def _regular_forms() -> dict[type[XlaOp], RegularForm]:
    found: dict[type[XlaOp], RegularForm] = {}
    for name, row in ROWS.items():
        convert = row.convert
        same = convert.same if isinstance(convert, Special) else convert
        if isinstance(same, Same) and same.op_class not in found:
            definition = same.op_class.get_irdl_definition()
            defaults = {
                key: prop.default_value
                for key, prop in definition.properties.items()
                if prop.default_value is not None
            }
            found[same.op_class] = RegularForm(name, row, same, defaults)
    return found


REGULAR: Mapping[type[XlaOp], RegularForm] = _regular_forms()
"""By the class of the `xla` dialect."""
