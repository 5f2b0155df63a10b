"""The rules that operations of many classes share.

Each of the constraints raises `Violation` with the caller's label. `Structure` says which operands,
regions and properties an operation has at all. It is checked before any rule of the operation,
which may then rely on it; results are compared with the inferred ones. This replaces the generic
verification of xDSL (0.74.0), which looks through the definitions of the class anew for every
operation and takes more than half of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Region
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

from xla_dialect.shapes.size_arithmetic import are_dimensions, bounded, compatible
from xla_dialect.shapes.window import Window
from xla_dialect.types import (
    Array,
    ElementClass,
    all_compatible,
    element_class,
    element_name,
    flatten,
    is_scalar,
    keeps_marks,
    same_sizes,
    spell,
    spell_all,
)
from xla_dialect.violations import Violation, require


def as_array(type_: Attribute, name: str, label: str = "C1") -> Array:
    """The type as an array type; `name` is the operand's name in messages."""
    if not isinstance(type_, TensorType):
        raise Violation(label, f"{name} is {spell(type_)}, not an array")
    return cast(Array, type_)


def with_elements(type_: Attribute, allowed: ElementClass, name: str, label: str = "C1") -> Array:
    """The type as an array type whose elements are of one of the allowed classes."""
    array_type = as_array(type_, name, label)
    if not element_class(array_type.element_type) & allowed:
        raise Violation(
            label,
            f"{name} has element type {element_name(array_type.element_type)}, "
            f"allowed: {allowed.describe()}",
        )
    return array_type


@dataclass(frozen=True)
class ArrayOf(AttrConstraint[Array]):
    """An operand is an array whose elements are of one of the allowed classes, by a rule."""

    elements: ElementClass = ElementClass.ANY
    label: str = "C1"

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        """Raises VerifyException."""
        try:
            with_elements(attr, self.elements, "it", self.label)
        except Violation as violation:
            raise VerifyException(str(violation)) from None

    def get_bases(self) -> set[type[Attribute]]:
        """Arrays are tensors."""
        return {TensorType}

    def mapping_type_vars(self, type_var_mapping: object) -> ArrayOf:
        """There are none."""
        return self


def require_same_shape(a: Array, b: Array, names: str, label: str) -> None:
    """Both arrays have the same dimension sizes; marks of dynamic dimensions are ignored."""
    if a is not b and not same_sizes(a, b):
        raise Violation(label, f"{names} have shapes {spell(a)} and {spell(b)}")


def require_same_elements(a: Array, b: Array, names: str, label: str) -> None:
    """Both arrays have the same element type."""
    if a.element_type != b.element_type:
        raise Violation(
            label,
            f"{names} have element types {element_name(a.element_type)} "
            f"and {element_name(b.element_type)}",
        )


def require_dimensions(numbers: Sequence[int], rank: int, name: str, label: str) -> None:
    """The numbers name dimensions of an array of that rank, none twice."""
    require(
        are_dimensions(numbers, rank),
        label,
        "{} = {} are not distinct dimensions of rank {}",
        name,
        list(numbers),
        rank,
    )


def require_length(values: Sequence[int], length: int, name: str, label: str) -> None:
    """An attribute list has one entry per dimension."""
    require(
        compatible(len(values), length),
        label,
        "{} has {} entries, not {}",
        name,
        len(values),
        length,
    )


def require_window(window: Window, rank: int, labels: tuple[str, str]) -> None:
    """
    A window has `rank` dimensions, and sizes, strides and dilations are at least 1.

    `labels`: of the rules about the number of dimensions and about the values.
    """
    require(
        len(window.dimensions) == rank,
        labels[0],
        "window has {} dimensions, not {}",
        len(window.dimensions),
        rank,
    )
    for i, d in enumerate(window.dimensions):
        for name, value in (
            ("size", d.size),
            ("stride", d.stride),
            ("base dilation", d.base_dilation),
            ("window dilation", d.window_dilation),
        ):
            require(bounded(1, value), labels[1], "{} of window dimension {} is {}", name, i, value)


def require_index_scalars(indices: Sequence[Attribute], rank: int, label: str) -> None:
    """One scalar of one integer type per dimension."""
    require(len(indices) == rank, label, "{} start indices for rank {}", len(indices), rank)
    for index in indices:
        if not is_scalar(index) or not element_class(cast(Array, index).element_type) & (
            ElementClass.INTEGER
        ):
            raise Violation(label, f"start index is {spell(index)}, not an integer scalar")
        if cast(Array, index).element_type != cast(Array, indices[0]).element_type:
            raise Violation(label, f"start indices {spell_all(indices)} differ in type")


def declared_array(declared: Sequence[Attribute], label: str = "Result") -> Array:
    """The declared result type of an operation whose result does not follow from its operands."""
    if len(declared) != 1:
        raise Violation("Result", f"one result type has to be given, found {len(declared)}")
    return as_array(declared[0], "the result", label)


def signature(region: Region, name: str, label: str) -> tuple[list[Attribute], list[Attribute]]:
    """
    Parameter and result types of a computation, i.e. of a region of one block.

    It ends with the return of the dialect that its operation is of; CHLO and MHLO have StableHLO's.
    """
    block = region.first_block
    if block is None or block.next_block is not None:
        raise Violation(label, f"{name} is not one block")
    owner, last = region.parent_op(), block.last_op
    dialect = "xla" if owner is None else owner.name.partition(".")[0]
    expected = f"{'stablehlo' if dialect in ('chlo', 'mhlo') else dialect}.return"
    if last is None or last.name != expected:
        found = "nothing" if last is None else last.name
        raise Violation(label, f"{name} ends with {found}, not with {expected}")
    return [a.type for a in block.args], [o.type for o in last.operands]


def require_computation(
    region: Region,
    name: str,
    parameters: Sequence[Attribute],
    results: Sequence[Attribute],
    labels: tuple[str, str],
) -> None:
    """
    A computation has these parameter and result types (up to layout).

    Several results may be one tuple. `labels`: of the rules about parameters and results.
    """
    found_parameters, found_results = signature(region, name, labels[0])
    if not all_compatible(found_parameters, parameters):
        raise Violation(
            labels[0],
            f"{name} takes {spell_all(found_parameters)}, expected {spell_all(parameters)}",
        )
    if not results_agree(found_results, results):
        raise Violation(
            labels[1], f"{name} returns {spell_all(found_results)}, expected {spell_all(results)}"
        )


def require_marks(
    given: Sequence[Attribute], name: str, parameters: Sequence[Attribute], label: str
) -> None:
    """Types are compatible, and dynamic dimensions of arguments are dynamic in the parameters."""
    for number, (value, parameter) in enumerate(zip(given, parameters, strict=True)):
        if not keeps_marks(parameter, value):
            found = f"parameter {number} of {name} is {spell(parameter)}"
            raise Violation(label, f"{found}, a value for it {spell(value)}")


def results_agree(declared: Sequence[Attribute], inferred: Sequence[Attribute]) -> bool:
    """
    Whether declared result types are the inferred ones, up to layout.

    Where HLO has one tuple of several results, the tuple and its elements are both legal. A
    dimension may be declared dynamic without being so, but not the other way round.
    """
    if len(declared) == 1 != len(inferred) and isinstance(declared[0], TupleType):
        declared = declared[0].types.data
    return all_compatible(declared, inferred) and all(map(keeps_marks, declared, inferred))


def results_follow(declared: Sequence[Attribute], inferred: Sequence[Attribute]) -> bool:
    """Whether an operation may declare these results: as `results_agree`, or all their leaves."""
    if results_agree(declared, inferred):
        return True
    are_leaves = not any(isinstance(type_, TupleType) for type_ in declared)
    return are_leaves and results_agree(declared, flatten(inferred))


def flat_results(results: Sequence[Attribute]) -> tuple[Attribute, ...]:
    """The results of a computation, one tuple taken apart."""
    if len(results) == 1 and isinstance(results[0], TupleType):
        return tuple(results[0].types.data)
    return tuple(results)


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
