"""`XlaOp`: what every operation of the dialect shares.

An operation class is the whole contract of its opcode. Its docstring holds the formula and the
numbered constraints; its `infer` computes the result types from operand types, properties and
regions and raises `Violation` with the number of a constraint that does not hold. The constructor
and the verifier both call `infer`. Its `relate` says how the dimensions of operands and results
relate, see `xla_dialect.dimensions`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import Any, ClassVar, Self, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    TupleType,
    f32,
    i64,
)
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import (
    Attribute,
    Data,
    Operation,
    OpResult,
    Region,
    SSAValue,
    SSAValues,
)
from xdsl.irdl import (
    IRDLOperation,
    OpDef,
    OptionalDef,
    RangeLengthConstraint,
    RangeOf,
    VariadicDef,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, NoTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import FLAG, SpelledAttribute
from xla_dialect.constraints import ArrayOf, Structure, results_follow, with_elements
from xla_dialect.dimensions import (
    DataFlowEdge,
    DimensionRelations,
    Numbering,
    RelationsBuilder,
    pointwise,
)
from xla_dialect.layout import LayoutError
from xla_dialect.layouts.type_layouts import validate_layout_for_shape
from xla_dialect.literals.arrays import higher_precision
from xla_dialect.shapes.size_arithmetic import Sizes
from xla_dialect.spelling import SpellingError
from xla_dialect.types import (
    MAX_ELEMENTS,
    Array,
    BufferType,
    ElementClass,
    OpaqueType,
    TokenType,
    element_class,
    element_count,
    extents,
    flatten,
    float_types,
    is_unbounded,
    spell,
    spell_all,
    with_floats,
)
from xla_dialect.violations import Violation
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.directives import parse_operation, print_operation

Ints: TypeAlias = tuple[int, ...]
"""A list property of integers, such as dimensions, as `infer` and `decode` have it."""

Types: TypeAlias = tuple[Attribute, ...]
"""What `infer` returns: the result types, one per result."""


def encode(value: Any, attribute_class: type[Attribute] = Attribute) -> Attribute:
    """
    The attribute of a class, that of a property, for a value: an attribute itself, too.

    Integers become `i64`, floats `f32`, lists of integers `array<i64: ...>`; a string is a word of
    an enumeration, or the text of an attribute that is spelled as in HLO. Raises SpellingError for
    a word or text that has no meaning, and for an integer of more than 64 bits.
    """
    if isinstance(value, Attribute):
        return value
    if issubclass(attribute_class, SpelledAttribute):
        return cast("type[SpelledAttribute[Any]]", attribute_class).of(value)
    if issubclass(attribute_class, EnumAttribute):
        words = [case.value for case in attribute_class.enum_type]
        if value not in words:
            raise SpellingError(f"'{value}' is none of {', '.join(words)}")
        return cast(Attribute, attribute_class(attribute_class.enum_type(value)))
    if issubclass(attribute_class, FloatAttr) or isinstance(value, float):
        return FloatAttr(float(value), f32)
    if isinstance(value, str):
        return StringAttr(value)
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if issubclass(attribute_class, DenseArrayBase) or isinstance(value, Iterable):
        return DenseArrayBase.from_list(i64, list(map(_integer, cast("Iterable[Any]", value))))
    return IntegerAttr(_integer(value), i64)


def _integer(given: Any) -> int:
    """An integer of Python or numpy, as Python has it."""
    number = index(given)
    if not -(2**63) <= number < 2**63:
        raise SpellingError(f"{number} is not an integer of 64 bits")
    return number


def decode(attribute: Attribute | None) -> Any:
    """The Python value of a property, the inverse of `encode`; None where it is absent."""
    match attribute:
        case DenseArrayBase():
            return tuple(cast("DenseArrayBase[Any]", attribute).get_values())
        case IntegerAttr():
            value = cast("IntegerAttr[Any]", attribute)
            return bool(value.value.data) if value.type == _I1 else value.value.data
        case FloatAttr():
            return cast("FloatAttr[Any]", attribute).value.data
        case EnumAttribute() | StringAttr() | SpelledAttribute():
            return cast("Data[Any]", attribute).data
        case _:
            return attribute


_I1 = BoolAttr.from_bool(True).type


_AttributeClass = TypeVar("_AttributeClass", bound=Attribute)


def properties_of_class(
    definition: OpDef, base: type[_AttributeClass]
) -> dict[str, type[_AttributeClass]]:
    """The properties of an operation whose attributes are of a subclass of `base`, with it."""
    found: dict[str, type[_AttributeClass]] = {}
    for name, prop in definition.properties.items():
        attribute_class = next(iter(prop.constr.get_bases() or ()), Attribute)
        if issubclass(attribute_class, base):
            found[name] = attribute_class
    return found


@dataclass(frozen=True)
class Keywords:
    """What a function takes of an operation by keyword: `infer`, `relate`, or one that runs it."""

    properties: tuple[str, ...]
    regions: tuple[str, ...]

    @staticmethod
    def of(function: Callable[..., Any] | None, definition: OpDef) -> Keywords:
        """Those among its keywords; a parameter `**name` takes all other properties."""
        parameters = () if function is None else inspect.signature(function).parameters.values()
        names = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        if any(each.kind is each.VAR_KEYWORD for each in parameters):
            names += [name for name in definition.properties if name not in names]
        properties = tuple(name for name in names if name in definition.properties)
        return Keywords(properties, _named(names, definition.regions))


@dataclass(frozen=True)
class Contract:
    """How to call `infer` and `relate` of one class; found once by introspection."""

    infer: Callable[..., Types]
    structure: Structure
    operands: tuple[str, ...]
    """Operand definitions that `infer` takes, in order."""
    arrays: Sequence[tuple[int, str, ArrayOf]]
    """Which of these are arrays of some elements: their positions, names and constraints."""
    keywords: Keywords
    takes_declared: bool
    """Whether `infer` takes the declared result types (where they do not follow)."""
    classes: Mapping[str, type[Attribute]]
    """Of the attribute of each property; `Attribute` where it may be any."""
    enums: Mapping[str, type[EnumAttribute[Any]]]
    """The properties that are enumerations."""
    spelled: Mapping[str, type[SpelledAttribute[Any]]]
    """The properties that are written as in HLO text."""
    relate: Callable[..., None] | None
    relate_keywords: Keywords

    @staticmethod
    def of(op_class: type[XlaOp]) -> Contract:
        """Reads the contract off the signature of `infer` and the definition of the class."""
        definition = op_class.get_irdl_definition()
        infer = cast("Callable[..., Types]", getattr(op_class, "infer"))  # noqa: B009
        relate = cast("Callable[..., None] | None", getattr(op_class, "relate", None))
        wanted = tuple(inspect.signature(infer).parameters)
        operands = _named(wanted, definition.operands)
        return Contract(
            infer,
            Structure.of(definition),
            operands,
            _arrays(definition, operands),
            Keywords.of(infer, definition),
            "declared" in wanted,
            properties_of_class(definition, Attribute),
            properties_of_class(definition, EnumAttribute),
            properties_of_class(definition, SpelledAttribute),
            relate,
            Keywords.of(relate, definition),
        )

    @property
    def elements(self) -> ElementClass:
        """The classes of elements that the first array may have."""
        return self.arrays[0][2].elements if self.arrays else ElementClass(0)

    def types_inferred(self, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Types:
        """What `infer` gives, if operands are the arrays that they should be; raises Violation."""
        for position, name, constraint in self.arrays:
            given = arguments[position]
            named = {name: given}
            if isinstance(given, tuple):
                each = cast("tuple[Attribute, ...]", given)
                named = {f"{name.removesuffix('s')} {i}": type_ for i, type_ in enumerate(each)}
            for name, type_ in named.items():
                with_elements(type_, constraint.elements, name, constraint.label)
        return self.infer(*arguments, **keywords)

    def grouped(self, names: Iterable[str], found: Sequence[Any]) -> list[Any]:
        """
        What operand definitions have of something that each operand has: a tuple for a list.

        Raises Violation for a wrong number of operands.
        """
        places = self.structure.operands.segments(len(found))
        groups: list[Any] = []
        for name in names:
            place = places[name]
            if isinstance(place, int):
                groups.append(found[place])
            else:
                groups.append(None if place is None else tuple(found[place]))
        return groups

    def values(
        self, wanted: Keywords, properties: Mapping[str, Attribute], regions: Sequence[Region]
    ) -> dict[str, Any]:
        """Decoded properties, and regions, by their names; raises Violation."""
        found: dict[str, Any] = {name: decode(properties.get(name)) for name in wanted.properties}
        places = self.structure.regions.segments(len(regions))
        for name in wanted.regions:
            place = places[name]
            found[name] = None if place is None else regions[place]
        return found


def _arrays(definition: OpDef, names: Sequence[str]) -> list[tuple[int, str, ArrayOf]]:
    """The constraints of operands that are arrays, with their places among these names."""
    found: list[tuple[int, str, ArrayOf]] = []
    for name, operand in definition.operands:
        constraint = operand.constr
        while isinstance(constraint, RangeLengthConstraint):
            constraint = constraint.constraint
        each = cast("RangeOf[Attribute]", constraint).constr
        if isinstance(each, ArrayOf):
            found.append((names.index(name), name, each))
    return found


def _named(wanted: Iterable[str], definitions: Sequence[tuple[str, Any]]) -> tuple[str, ...]:
    names = {name for name, _ in definitions}
    return tuple(name for name in wanted if name in names)


class _ConstructorSignature:
    """The signature of a constructor, as editors and `help` ask for it: what the class defines."""

    def __get__(self, instance: object, owner: type[XlaOp]) -> inspect.Signature:
        if owner is XlaOp:
            raise AttributeError("no operation")
        definition = owner.get_irdl_definition()
        given = inspect.signature(XlaOp.__init__).parameters
        parameters: list[inspect.Parameter] = []
        for name, operand in definition.operands:
            kind = "SSAValue | Operation"
            is_list = isinstance(operand, VariadicDef)
            annotation = f"Sequence[{kind}]" if is_list else kind
            parameters.append(
                inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY, annotation=annotation)
            )
        parameters += [property_parameter(owner, name) for name in definition.properties]
        others = ("regions", "result_types", "attributes")
        parameters += [given[each] for each in others if each != "regions" or definition.regions]
        return inspect.Signature(parameters)


def property_parameter(operation: type[XlaOp], name: str) -> inspect.Parameter:
    """What constructors take for a property: as an annotation, what `encode` does; the default."""
    definition = operation.get_irdl_definition().properties[name]
    attribute_class = operation.contract().classes[name]
    default: Any = inspect.Parameter.empty
    if definition.default_value is not None:
        default = decode(definition.default_value)
    elif isinstance(definition, OptionalDef):
        default = None
    if issubclass(attribute_class, SpelledAttribute):
        spelled = cast("type[SpelledAttribute[Any]]", attribute_class)
        annotation = spelled.GIVEN
    elif issubclass(attribute_class, EnumAttribute):
        annotation = f"{attribute_class.enum_type.__name__} | str"
    elif issubclass(attribute_class, IntegerAttr):
        annotation = "bool" if definition.constr == FLAG else "int"
    else:
        annotation = _ANNOTATIONS.get(attribute_class, "str")
    if annotation == "Groups":
        default = None
    elif default is None:
        annotation += " | None"
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


_ANNOTATIONS: Mapping[type[Attribute], str] = {DenseArrayBase: "Sequence[int]", FloatAttr: "float"}


_CONTRACTS: dict[type[XlaOp], Contract] = {}


class XlaOp(IRDLOperation):
    """
    Base of all operations of the dialect.

    Subclasses define operands, properties and regions in the order in which `infer` takes them:
    operands as types (variadic ones as tuples of types), then by keyword properties as Python
    values (see `decode`), regions, and `declared`, the declared result types, where the result
    does not follow from the rest. A class may also have a static `relate`: it fills a
    `RelationsBuilder`, and takes properties and regions by keyword as `infer` does.
    """

    __signature__ = _ConstructorSignature()

    UNRELATED: ClassVar[str | None] = None
    """Why a class has no `relate`: what its operands and results have in common instead."""

    HANDS_ON: ClassVar[bool] = False
    """Whether the results are the operands, or their bits: nothing is rounded."""

    NUMBERING: ClassVar[Mapping[str, Numbering]] = {}
    """The properties, and lists of operands, that go by the dimensions of an array."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.verify_ is not XlaOp.verify_:
            raise TypeError(
                f"{cls.__name__}.verify_ is never called: what types and properties have to be "
                "belongs in `infer`, what needs more in `verify_context`"
            )

    def __init__(
        self,
        *operands: SSAValue | Operation | Sequence[SSAValue | Operation],
        regions: Sequence[Region | Sequence[Region]] = (),
        result_types: Sequence[Attribute] | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
        **properties: Any,
    ):
        """
        Builds the operation; result types are inferred unless given.

        Raises VerifyException naming operation and constraint if they cannot be inferred.
        """
        contract = self.contract()
        encoded = {
            name: encode(value, contract.classes.get(name, Attribute))
            for name, value in properties.items()
            if value is not None
        }
        definition = self.get_irdl_definition()
        if len(operands) != len(definition.operands):
            raise VerifyException(
                f"{self.name}: takes {len(definition.operands)} operands or operand lists "
                f"({', '.join(name for name, _ in definition.operands)}), got {len(operands)}"
            )
        groups = [_as_values(operand) for operand in operands]
        Operation.__init__(
            self,
            operands=[value for group in groups for value in group],
            result_types=result_types or (),
            properties=encoded,
            attributes={k: v for k, v in (attributes or {}).items() if v is not None},
            regions=[region for group in regions for region in _as_regions(group)],
        )
        if result_types is None:
            self.set_result_types(self.infer_types())

    @classmethod
    def contract(cls) -> Contract:
        """How `infer` of this class is called."""
        found = _CONTRACTS.get(cls)
        if found is None:
            found = _CONTRACTS[cls] = Contract.of(cls)
        return found

    @classmethod
    def make(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        regions: Sequence[Region] = (),
        result_types: Sequence[Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """
        The fast constructor of importers and passes: flat operands, encoded properties.

        Result types are inferred unless given; nothing else is checked.
        """
        op = create(
            cls,
            operands=operands,
            result_types=result_types or (),
            properties=properties,
            regions=regions,
            attributes=attributes or {},
        )
        if result_types is None:
            op.set_result_types(op.infer_types())
        return op

    def set_result_types(self, types: Sequence[Attribute]) -> None:
        """Gives a fresh operation without uses its results."""
        self.results = SSAValues(OpResult(t, self, i) for i, t in enumerate(types))

    def infer_types(self, has_unknown_sizes: bool = False) -> Types:
        """
        The result types, one per result, by `infer`.

        Raises VerifyException `xla.dot: (C3) ...` where a constraint does not hold, or where an
        operand has a dimension without a bound and `has_unknown_sizes` does not allow it.
        """
        if not has_unknown_sizes:
            self.require_bounds(self.operand_types)
        try:
            return self.types_of(
                [operand.type for operand in self.operands],
                self.properties,
                self.regions,
                self.result_types,
            )
        except Violation as violation:
            raise VerifyException(f"{self.name}: {violation}") from None

    def require_bounds(self, types: Iterable[Attribute]) -> None:
        """Raises VerifyException for a type with a dimension that has no bound."""
        for type_ in types:
            if is_unbounded(type_):
                message = f"{spell(type_)} has an unbounded dynamic dimension"
                raise VerifyException(f"{self.name}: (Size) {message}")

    @classmethod
    def types_of(
        cls,
        operands: Sequence[Attribute],
        properties: Mapping[str, Attribute],
        regions: Sequence[Region],
        declared: Sequence[Attribute],
    ) -> Types:
        """The result types for operands of these types, by `infer`; raises Violation."""
        contract = cls.contract()
        arguments = contract.grouped(contract.operands, operands)
        contract.structure.check_properties(properties)
        keywords = contract.values(contract.keywords, properties, regions)
        if contract.takes_declared:
            keywords["declared"] = tuple(declared)
        return contract.types_inferred(arguments, keywords)

    @classmethod
    def may_mix_precisions(cls) -> bool:
        """Whether the class computes what its results are, so that these may be rounded floats."""
        return cls.contract().relate is not None and not cls.HANDS_ON

    def declares(self, inferred: Types) -> bool:
        """
        Whether the declared results are the inferred ones: up to layout, and up to the precision of
        floats where these are computed.
        """
        declared = tuple(self.result_types)
        if declared == inferred or results_follow(declared, inferred):
            return True
        return self.may_mix_precisions() and results_follow(
            *([with_floats(type_, f32) for type_ in types] for types in (declared, inferred))
        )

    def in_one_precision(self) -> tuple[Types, Types] | None:
        """
        The types of operands and results in which an operation is computed, all whose floats are of
        one precision: the highest for which its constraints hold, of those that it has.

        Where it is none of its own, operands are converted to that, results from it. None where
        there is no such precision, or where no results are declared and it is not clear which one
        is the higher.
        """
        if not self.may_mix_precisions():
            return None
        operands, declared = self.operand_types, self.result_types
        parameters = (a.type for r in self.regions for block in r.blocks for a in block.args)
        precisions = float_types((*operands, *declared, *parameters))
        if not declared:
            orders = [[higher_precision(one, other) for other in precisions] for one in precisions]
            precisions = [p for p, found in zip(precisions, orders, strict=True) if {p} == {*found}]
        for precision in precisions:
            converted = tuple(with_floats(type_, precision) for type_ in operands)
            wanted = [with_floats(type_, precision) for type_ in declared]
            try:
                found = self.types_of(converted, self.properties, self.regions, wanted)
            except Violation:
                continue
            if not declared or self.declares(found):
                return converted, found
        return None

    @classmethod
    def is_pointwise(cls) -> bool:
        """Whether every element is computed from those in its place, and from scalars."""
        return cls.contract().relate is pointwise

    def data_flow_edges(self) -> Iterable[DataFlowEdge]:
        """How values are forwarded through the computations; a class without edges has none."""
        return ()

    @classmethod
    def forwards_values(cls) -> bool:
        """Whether the class declares data-flow edges."""
        return cls.data_flow_edges is not XlaOp.data_flow_edges

    def dimension_relations(self) -> DimensionRelations | None:
        """
        How the dimensions of operands and results relate, by `relate` of the class.

        A result that is a tuple counts as its elements. None where the class declares nothing (see
        `UNRELATED`), for operands that are tuples, and for unbounded dimensions. The operation is
        one that verifies.
        """
        if self.contract().relate is None:
            return None
        operands = [_bounded_sizes(operand.type) for operand in self.operands]
        results = [_bounded_sizes(type_) for type_ in flatten(self.result_types)]
        if None in operands or None in results:
            return None
        arrays = cast("list[Sizes]", operands), cast("list[Sizes]", results)
        return self.relations_for(*arrays, self.properties)

    def relations_for(
        self,
        operands: Sequence[Sizes],
        results: Sequence[Sizes],
        properties: Mapping[str, Attribute],
    ) -> DimensionRelations:
        """The relations of an operation like this one on arrays of other sizes."""
        contract = self.contract()
        wanted = contract.relate_keywords
        assert contract.relate is not None
        if not wanted.regions:
            values = [properties.get(name) for name in wanted.properties]
            return _relations(
                contract.relate, tuple(operands), tuple(results), wanted.properties, *values
            )
        builder = RelationsBuilder(operands, results)
        keywords = contract.values(wanted, properties, self.regions)
        contract.relate(builder, **keywords)
        return builder.build()

    def verify(self, verify_nested_ops: bool = True) -> None:
        """
        Checks structure, constraints and declared result types; subclasses have no `verify_`.

        Raises VerifyException.
        """
        if verify_nested_ops:
            for region in self.regions:
                region.verify()
        try:
            if self.next_op is None:
                _verify_end_of_block(self)
            self._verify_results()
            self.verify_inferred()
        except VerifyException as error:
            self.emit_error(f"Operation does not verify: {error}", error)

    def verify_inferred(self) -> None:
        """
        What there is to check where the constructor has inferred the result types.

        Raises VerifyException.
        """
        for type_ in self.result_types:
            fault = _fault(type_)
            if fault is not None:
                raise VerifyException(f"{self.name}: {fault}")
        for trait in self.contract().structure.traits:
            trait.verify(self)
        self.verify_context()

    def verify_context(self) -> None:
        """Checks rules that need more than types and properties; raises VerifyException."""

    def _verify_results(self) -> None:
        try:
            inferred = self.infer_types(has_unknown_sizes=True)
        except VerifyException:
            if self.in_one_precision() is None:
                raise
            return
        if not self.declares(inferred):
            raise undeclared(self, inferred)

    def print(self, printer: Printer) -> None:
        """Prints the one syntax of the dialect, see `xla_dialect.xdsl.directives`."""
        print_operation(self, printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses the one syntax of the dialect, see `xla_dialect.xdsl.directives`."""
        parts = parse_operation(cls.get_irdl_definition(), cls.contract().enums, parser)
        return create(
            cls,
            operands=parts.operands,
            result_types=parts.result_types,
            properties=parts.properties,
            attributes=parts.attributes,
            regions=parts.regions,
        )


class PureOp(XlaOp):
    """An operation without effects that has one result."""

    result = result_def()
    traits = traits_def(Pure())


class PointwiseOp(PureOp):
    """One whose every element is computed from those in its place, and from scalars."""

    relate = staticmethod(pointwise)


def undeclared(op: XlaOp, inferred: Types) -> VerifyException:
    """The error of declared results that are not the inferred ones."""
    declared = spell_all(op.result_types)
    return VerifyException(
        f"{op.name}: (Result) declared {declared}, inferred {spell_all(inferred)}"
    )


@lru_cache(maxsize=1 << 12)
def _relations(
    relate: Callable[..., None],
    operands: tuple[Sizes, ...],
    results: tuple[Sizes, ...],
    names: tuple[str, ...],
    *values: Attribute | None,
) -> DimensionRelations:
    """The relations of operations that differ in nothing that `relate` takes."""
    builder = RelationsBuilder(operands, results)
    relate(builder, **dict(zip(names, map(decode, values), strict=True)))
    return builder.build()


def _bounded_sizes(type_: Attribute) -> Sizes | None:
    """
    The sizes of an array, bounds for dynamic ones, and none for what has no elements.

    None for a tuple, and where there is no bound.
    """
    if isinstance(type_, TensorType):
        sizes = extents(cast(Array, type_))
        return None if DYNAMIC_INDEX in sizes else tuple(map(int, sizes))
    return None if isinstance(type_, TupleType) else ()


def _verify_end_of_block(op: Operation) -> None:
    """The last operation of a block is a terminator, unless the parent has `NoTerminator`."""
    block = op.parent
    region = None if block is None else block.parent
    if region is None or op.has_trait(IsTerminator):
        return
    parent = region.parent
    one_block = region.first_block is region.last_block
    if not one_block or (parent is not None and not parent.has_trait(NoTerminator)):
        raise VerifyException(f"{op.name}: (Block) ends a block, but is no terminator")


@lru_cache(maxsize=1 << 12)
def _fault(type_: Attribute) -> str | None:
    """What is wrong with the type of a result; most results of a program share a few types."""
    if isinstance(type_, TupleType):
        return next(filter(None, map(_fault, type_.types.data)), None)
    if isinstance(type_, TokenType | OpaqueType):
        return None
    if isinstance(type_, BufferType):
        type_ = type_.content
    if not isinstance(type_, TensorType) or not element_class(cast(Array, type_).element_type):
        return f"(Type) a result is {type_}, which is no type of XLA"
    type_ = cast(Array, type_)
    dimensions = extents(type_)
    if element_count([d for d in dimensions if d > 0]) > MAX_ELEMENTS:
        return f"(Size) {dimensions} has more than 2^63 - 1 elements"
    try:
        validate_layout_for_shape(type_)
    except LayoutError as error:
        return f"layout of {type_}: {error}"
    return None


def _as_values(operand: SSAValue | Operation | Sequence[SSAValue | Operation]) -> list[SSAValue]:
    if isinstance(operand, SSAValue | Operation):
        return [SSAValue.get(operand)]
    return [SSAValue.get(value) for value in operand]


def _as_regions(regions: Region | Sequence[Region]) -> Sequence[Region]:
    return (regions,) if isinstance(regions, Region) else regions
