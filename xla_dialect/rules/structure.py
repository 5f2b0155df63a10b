"""Which operands, regions and properties an operation of a class has at all.

Checked before any rule of the operation, which may then rely on it; results are compared with the
inferred ones. This replaces the generic verification of xDSL (0.74.0), which looks through the
definitions of the class anew for every operation and takes more than half of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedSegments,
    OpDef,
    OptionalDef,
    VariadicDef,
    VerificationContext,
)
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from xla_dialect.violations import Violation

Segment: TypeAlias = int | slice | None
"""Where a definition is in a flat list; None for an optional one that is absent."""


@dataclass(frozen=True)
class Segments:
    """How the flat list of operands or regions divides into the definitions of a class."""

    label: str
    """The label of the error where it does not: `Operands` or `Regions`."""
    definitions: tuple[tuple[str, object], ...]
    _segments: dict[int, Mapping[str, Segment]] = field(
        default_factory=dict[int, Mapping[str, Segment]]
    )

    def segments(self, count: int) -> Mapping[str, Segment]:
        """
        Where each definition is in a list of `count` entries; variadic ones are of equal size.

        Raises Violation.
        """
        found = self._segments.get(count)
        if found is None:
            found = self._segments[count] = self._divided(count)
        return found

    def _divided(self, count: int) -> Mapping[str, Segment]:
        names = [name for name, d in self.definitions if isinstance(d, VariadicDef)]
        rest = count - (len(self.definitions) - len(names))
        each, left = divmod(rest, len(names)) if names else (0, rest)
        optional = any(isinstance(d, OptionalDef) for _, d in self.definitions)
        if rest < 0 or left or (optional and each > 1):
            spelled = [f"{name}..." if name in names else name for name, _ in self.definitions]
            equal = " with lists of one length" if len(names) > 1 else ""
            raise Violation(self.label, f"found {count}, taken are ({', '.join(spelled)}){equal}")
        segments: dict[str, Segment] = {}
        position = 0
        for name, definition in self.definitions:
            if isinstance(definition, OptionalDef):
                segments[name] = position if each else None
                position += each
            elif isinstance(definition, VariadicDef):
                segments[name] = slice(position, position + each)
                position += each
            else:
                segments[name] = position
                position += 1
        return segments


@dataclass(frozen=True)
class Structure:
    """The definitions of one class, ready to be compared with operations."""

    operands: Segments
    regions: Segments
    properties: Mapping[str, tuple[AttrConstraint[Attribute], bool]]
    """The constraint of each property, and whether the property may be absent."""
    traits: tuple[OpTrait, ...]
    """The traits that verify something."""

    @staticmethod
    def of(definition: OpDef) -> Structure:
        """Reads the definition of a class; raises TypeError for sizes of segments in attributes."""
        if any(isinstance(option, AttrSizedSegments) for option in definition.options):
            raise TypeError(f"{definition.name}: segments have to follow from their number")
        return Structure(
            Segments("Operands", tuple(definition.operands)),
            Segments("Regions", tuple(definition.regions)),
            {
                name: (prop.constr, isinstance(prop, OptionalDef))
                for name, prop in definition.properties.items()
            },
            tuple(trait for trait in definition.traits if _verifies(trait)),
        )

    def check_properties(self, found: Mapping[str, Attribute]) -> None:
        """Every property is there, known, and of its class; raises Violation."""
        present = 0
        for name, (constraint, optional) in self.properties.items():
            value = found.get(name)
            if value is None:
                if not optional:
                    unknown = self._unknown(found)
                    there = f"; {unknown}" if unknown else ""
                    raise Violation("Properties", f"{name} is missing{there}")
                continue
            present += 1
            try:
                constraint.verify(value, VerificationContext())
            except VerifyException as error:
                raise Violation("Properties", f"{name}: {str(error).splitlines()[0]}") from None
        if present != len(found):
            raise Violation("Properties", self._unknown(found))

    def _unknown(self, found: Mapping[str, Attribute]) -> str:
        """Names that are no properties, and those that are; empty where all are."""
        unknown = ", ".join(name for name in found if name not in self.properties)
        known = ", ".join(self.properties) or "none"
        return f"there is no {unknown} (there are: {known})" if unknown else ""


def _verifies(trait: OpTrait) -> bool:
    """Whether a trait has a verifier; most are markers."""
    return type(trait).verify is not OpTrait.verify
