"""`StableHloOp`: what every operation of StableHLO and CHLO shares.

Most operations are just as one of `xla` is. Their classes name it, `SAME`, and what differs: names
of properties, or their attributes. Its `infer` is their verifier, and legalization goes both ways
by what the class states.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    AttrConstraint,
    IRDLOperation,
    OperandDef,
    OptionalDef,
    ParsePropInAttrDict,
    PropertyDef,
    RegionDef,
    ResultDef,
    VarOperandDef,
    VarRegionDef,
    VarResultDef,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import FALSE, TRUE
from xla_dialect.constraints import Segments, Structure, results_follow
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp, properties_of_class
from xla_dialect.quantized_types import has_quantized
from xla_dialect.spelling import suggestion
from xla_dialect.stablehlo.attributes import (
    NO_ELEMENT_TYPE,
    DimensionNumbers,
    TokenType,
    is_index,
    own_constraint,
    own_value,
    xla_type,
    xla_value,
)
from xla_dialect.types import is_unbounded, spell_all
from xla_dialect.violations import Violation, check
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.definition import op_definition


class SourceError(XlaError):
    """An operation that cannot be read as what it claims to be."""

    def __init__(self, op: Operation, message: str):
        self.op = op
        super().__init__(f"{op.name}: {message}")


class UnknownShape(SourceError):
    """A shape that depends on the arguments of the program."""

    def __init__(self, op: Operation, position: int = 0, message: str = ""):
        default = f"operand {position} says a shape, but depends on the arguments"
        super().__init__(op, message or default)


MAX_LIST = 1 << 16
"""No list of dimensions, sizes or paddings is longer."""


def rows_of(name: str, value: Attribute) -> Sequence[Sequence[int]]:
    """
    The rows of a matrix, `dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>`.

    Raises VerifyException for anything else; `name` is that of the property.
    """
    dense = cast("DenseIntOrFPElementsAttr[Any]", value)
    if (
        not isinstance(value, DenseIntOrFPElementsAttr)
        or len(dense.get_shape()) != 2
        or dense.get_element_type() != i64
    ):
        raise VerifyException(f"{name} is {value}, not a matrix of i64")
    count, width = dense.get_shape()
    numbers = integers_of(cast(Attribute, value))
    if numbers is None:
        raise VerifyException(f"{name} has more than {MAX_LIST} numbers")
    return [numbers[i * width : (i + 1) * width] for i in range(count)]


def has_elements(value: Attribute, type_: IntegerType) -> bool:
    """Whether the elements of a list of integers are of a type."""
    if isinstance(value, DenseArrayBase):
        return cast("DenseArrayBase[Any]", value).elt_type == type_
    if isinstance(value, DenseIntOrFPElementsAttr):
        return cast("DenseIntOrFPElementsAttr[Any]", value).get_element_type() == type_
    elements = cast("ArrayAttr[IntegerAttr[Any]]", value).data
    return all(element.type == type_ for element in elements)


def integers_of(value: Attribute) -> tuple[int, ...] | None:
    """A list of integers, however it is written; None for anything else."""
    if isinstance(value, DenseArrayBase):
        numbers = cast("DenseArrayBase[Any]", value).get_values()
        return tuple(int(number) for number in numbers)
    if isinstance(value, ArrayAttr):
        elements = cast("ArrayAttr[Attribute]", value).data
        if all(isinstance(element, IntegerAttr) for element in elements):
            return tuple(cast("IntegerAttr[Any]", element).value.data for element in elements)
        return None
    if isinstance(value, DenseIntOrFPElementsAttr):
        dense = cast("DenseIntOrFPElementsAttr[Any]", value)
        count = 1
        for size in dense.get_shape():
            count *= size
        if isinstance(dense.get_element_type(), IntegerType | IndexType) and count <= MAX_LIST:
            numbers: tuple[int, ...] = dense.get_values()
            return numbers * count if len(numbers) == 1 else numbers
    return None


def warn_of_misspellings(op: Operation, known: Iterable[str], place: LocationAttr) -> None:
    """Warns of attributes that are kept without a meaning, but whose names are nearly known."""
    for name in op.attributes:
        hint = suggestion(name, known) if "." not in name else ""
        if hint:
            where = str(place)[len("loc(") : -1].replace('"', "")
            message = f"{where}: {op.name}: attribute {name!r} is kept, but has no meaning{hint}"
            warnings.warn(message, UserWarning, stacklevel=2)


@dataclass(frozen=True)
class Codec:
    """
    What a property of an operation is in `xla`, and the way back; None where it says nothing.

    Raise VerifyException and Inexpressible.
    """

    name: str
    """What it is called there."""
    read: Callable[[Any, Any], Attribute | None]
    """Of an operation of StableHLO and the value that it has."""
    write: Callable[[Any, Any], Attribute | None]
    """Of an operation of `xla` and the value that it has."""
    is_kept: bool = False
    """Whether it is a discardable attribute there."""


def flag(name: str) -> Codec:
    """A flag that is not written where it is false."""
    return Codec(name, lambda op, value: value, lambda op, value: value if value == TRUE else None)


class StableHloOp(IRDLOperation):
    """Base of all operations of the dialects."""

    irdl_options = (ParsePropInAttrDict(),)

    INDEX_OPERANDS: ClassVar[int | None] = None
    """The first of the operands that may have elements of type `index`, if there are any."""

    GIVES_INDEX: ClassVar[bool] = False
    """Whether its result may have them."""

    SAME: ClassVar[type[XlaOp] | None] = None
    """The operation of `xla` that is just as this one."""

    NAMES: ClassVar[Mapping[str, str]] = {}
    """Its names of the properties that have another one here."""

    CODECS: ClassVar[Mapping[str, Codec]] = {}
    """How the properties are said in `xla` that are not the same there, by their names here."""

    HANDS_ON_TOKENS: ClassVar[bool] = False
    """Whether its regions may take and return tokens."""

    SIZED_RESULTS: ClassVar[slice] = slice(0)
    """The results whose sizes have to be known, as nothing else tells them."""

    def check_indices(self) -> None:
        """Raises VerifyException for a type `index` that no operand or result here may have."""
        first = self.INDEX_OPERANDS
        for position, operand in enumerate(self.operands):
            if is_index(operand.type) and (first is None or position < first):
                message = f"operand {position} is {operand.type}: {NO_ELEMENT_TYPE}"
                raise VerifyException(message)
        for result in () if self.GIVES_INDEX else self.results:
            check(
                not is_index(result.type),
                "type {} is not supported: {}",
                result.type,
                NO_ELEMENT_TYPE,
            )

    def xla_properties(self, operands: Sequence[Attribute] = ()) -> dict[str, Attribute]:
        """
        The properties of `SAME` for those of this operation, on operands of some types.

        Raises VerifyException.

        Dimension numbers are taken apart, and what is absent has the default.
        """
        names = self.NAMES
        found: dict[str, Attribute | None] = {}
        coded: dict[str, Attribute | None] = {}
        for name, value in self.properties.items():
            if name not in self.CODECS:
                given = value.values() if isinstance(value, DimensionNumbers) else {name: value}
                found |= {names.get(own, own): xla_value(each) for own, each in given.items()}
        for name, codec in self.CODECS.items():
            if not codec.is_kept:
                coded[codec.name] = codec.read(self, self.properties.get(name))
        given = {name: value for name, value in (coded | found).items() if value is not None}
        if self.SAME is None:
            return given
        # Groups and pairs, and the channel, stand before dimensions and flags.
        first = {
            n: value for n, value in given.items() if n in coded and value not in (FALSE, TRUE)
        }
        return first | in_order(self.SAME, given)

    @classmethod
    def properties_of(cls, op: XlaOp) -> dict[str, Attribute]:
        """The properties for those of an operation `SAME`; raises Inexpressible."""
        own, names = cls.get_irdl_definition().properties, {v: k for k, v in cls.NAMES.items()}
        said = {names.get(name, name): own_value(value) for name, value in op.properties.items()}
        found: dict[str, Attribute | None] = {**said}
        for name, numbers in _dimension_numbers(cls).items():
            found[name] = numbers.new([said[field] for field in numbers.names()])
        for name, codec in cls.CODECS.items():
            entries = op.attributes if codec.is_kept else op.properties
            found[name] = codec.write(op, entries.get(codec.name))
        given = {name: value for name, value in found.items() if value is not None}
        return {name: value for name, value in given.items() if name in own}

    def xla_attributes(self) -> dict[str, Attribute]:
        """The discardable attributes of `SAME` for properties of this operation."""
        found = {
            codec.name: codec.read(self, self.properties.get(name))
            for name, codec in self.CODECS.items()
            if codec.is_kept
        }
        return {name: value for name, value in found.items() if value is not None}

    def xla_operand_types(
        self, types: Sequence[Attribute], regions: Sequence[Region]
    ) -> Sequence[Attribute]:
        """
        The types of the operands of `SAME` where this operation has operands of some types.

        Operands are converted to them. Raises VerifyException for types that only HLO takes.
        """
        return types

    def result_name(self) -> str | None:
        """What a result is called that has no name, if not by a number."""
        return None

    def complete(self) -> None:
        """
        Takes properties from among the attributes, where older texts have them, and lists of
        integers that are written as dense literals; checks the structure.

        Raises VerifyException.
        """
        structure, results, lists = _structure(type(self))
        properties = self.properties
        for name in [name for name in self.attributes if name in structure.properties]:
            check(name not in properties, "attribute {!r} is given twice", name)
            properties[name] = self.attributes.pop(name)
        for name, element_type in lists.items():
            value = properties.get(name)
            found = cast("DenseArrayBase[Any]", value)
            is_list = isinstance(value, DenseArrayBase) and found.elt_type == element_type
            if value is not None and not is_list:
                properties[name] = _as_list(name, value, element_type)
        structure.operands.segments(len(self.operands))
        results.segments(len(self.results))
        structure.regions.segments(len(self.regions))
        structure.check_properties(properties)

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute] | None:
        """
        The result types for operands of these types, by the rules of `SAME`, where these are known.

        Raises Violation.
        """
        if self.SAME is None:
            return None
        return self.SAME.types_of(
            self.xla_operand_types(operands, self.regions),
            self.xla_properties(operands),
            self.regions,
            declared,
        )

    def verify_(self) -> None:
        """
        Checks the constraints and the result types, as far as sizes are known.

        Quantized arrays have rules of their own, `check_quantized`.
        """
        self.check_indices()
        operands, declared = list(self.operand_types), list(self.result_types)
        # Tokens of its regions are StableHLO's, those of the rules are of `xla`.
        has_tokens = self.HANDS_ON_TOKENS and any(
            isinstance(type_, TokenType) for type_ in self._types_inside()
        )
        if has_tokens or has_quantized([*operands, *declared]):
            return
        try:
            for type_ in declared[self.SIZED_RESULTS]:
                found = "the result is {}, its sizes have to be known"
                check(not is_unbounded(type_), found, type_)
            self.xla_attributes()
            self.verify_types(list(map(xla_type, operands)), list(map(xla_type, declared)))
        except VerifyException as error:
            raise VerifyException(f"{self.name}: {error}") from None

    def _types_inside(self) -> Iterator[Attribute]:
        """The types that regions take and return."""
        for block in (block for region in self.regions for block in region.blocks):
            yield from block.arg_types
            if block.last_op is not None:
                yield from block.last_op.operand_types

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """
        Checks the constraints and the result types for operands and results of these types of
        `xla`. Raises VerifyException.
        """
        inferred = self.inferred(operands, declared)
        if inferred is not None:
            require_results(declared, inferred)


class PureOp(StableHloOp):
    """An operation without effects that has one result."""

    result = result_def()
    traits = traits_def(Pure())


def in_order(op_class: type[XlaOp], properties: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Those that an operation of `xla` has, in the order of its definition, with defaults."""
    known = _defaults(op_class)
    found = ((name, properties.get(name, default)) for name, default in known.items())
    return {name: value for name, value in found if value is not None}


@cache
def _defaults(op_class: type[XlaOp]) -> Mapping[str, Attribute | None]:
    """The default of each property of an operation of `xla`; None where there is none."""
    properties = op_class.get_irdl_definition().properties
    return {name: prop.default_value for name, prop in properties.items()}


@cache
def _dimension_numbers(op_class: type[StableHloOp]) -> Mapping[str, type[DimensionNumbers]]:
    """The properties of an operation that are made of several of `xla`."""
    return properties_of_class(op_class.get_irdl_definition(), DimensionNumbers)


def require_results(declared: Sequence[Attribute], inferred: Sequence[Attribute]) -> None:
    """The declared results are inferred ones, as far as sizes are known; raises Violation."""
    if not results_follow(declared, inferred):
        found = f"declared {spell_all(declared)}, inferred {spell_all(inferred)}"
        raise Violation("Result", found)


@cache
def _structure(
    op_class: type[StableHloOp],
) -> tuple[Structure, Segments, Mapping[str, IntegerType]]:
    """
    What operations of a class have at all, their results, and the elements of its properties that
    are lists.
    """
    definition = op_class.get_irdl_definition()
    lists = {
        name: _INTEGERS[prop.constr]
        for name, prop in definition.properties.items()
        if prop.constr in _INTEGERS
    }
    return Structure.of(definition), Segments("Results", tuple(definition.results)), lists


_INTEGERS: Mapping[AttrConstraint, IntegerType] = {
    DenseArrayBase.constr(type_): type_ for type_ in (i64, i1)
}


def _as_list(name: str, value: Any, element_type: IntegerType) -> Attribute:
    found = integers_of(value)
    if found is None or not has_elements(value, element_type):
        raise VerifyException(f"{name} is {value}, not a list of {element_type}")
    is_array = isinstance(value, DenseArrayBase)
    return cast(Attribute, value if is_array else DenseArrayBase.from_list(element_type, found))


def applied_to_two(
    op_class: type[Operation], element_type: Attribute, end: type[Operation]
) -> Region:
    """The computation that applies an operation to two numbers; `end` is what ends it."""
    scalar = TensorType(element_type, ())
    block = Block(arg_types=[scalar, scalar])
    result = create(op_class, operands=block.args, result_types=[scalar])
    block.add_ops([result, create(end, operands=result.results)])
    return Region(block)


OperationT = TypeVar("OperationT", bound=StableHloOp)


def same_as(
    xla: type[XlaOp], base: type[StableHloOp], name: str = "", **members: Any
) -> type[StableHloOp]:
    """
    The class of an operation that is just as one of `xla`; `members` are what it has beside that.

    Its name is that of the operation of `xla` in StableHLO, unless it has another.
    """
    return just_as(xla)(class_of(name or _name_of(xla), base, xla.__doc__, members))


def _name_of(xla: type[XlaOp]) -> str:
    return f"stablehlo.{xla.name.removeprefix('xla.')}"


def applying(xla: type[XlaOp], base: type[OperationT], name: str) -> type[OperationT]:
    """The class of an operation that applies one of `xla`: its `APPLIED`."""
    return op_definition(class_of(name, base, xla.__doc__, {"APPLIED": xla}))


def class_of(
    name: str, base: type[OperationT], doc: str | None, members: Mapping[str, Any]
) -> type[OperationT]:
    """A class that is not defined yet, of an operation with a name and its documentation."""
    given = {"__doc__": doc, "__module__": base.__module__, "name": name, **members}
    constants = {each: ClassVar for each in members if each.isupper()}
    made: Any = type(name, (base,), {**given, "__annotations__": constants})
    return made


_FIELDS: Mapping[type[Any], Callable[[], Any]] = {
    OperandDef: operand_def,
    VarOperandDef: var_operand_def,
    ResultDef: result_def,
    VarResultDef: var_result_def,
    RegionDef: region_def,
    VarRegionDef: var_region_def,
}


def just_as(xla: type[XlaOp]) -> Callable[[type[OperationT]], type[OperationT]]:
    """
    Defines the operation of a class, which is just as one of `xla`: its `SAME`.

    It has the name of that, unless it says another one. Where neither the class nor its bases
    define operands, it has those of that operation, by their names and places, and so with results,
    regions, properties and traits. What types may be is said by the rules. Classes with code that
    names operands define them, for whoever checks types.
    """
    definition = xla.get_irdl_definition()

    def define(cls: type[OperationT]) -> type[OperationT]:
        cls.SAME = xla
        if "name" not in vars(cls):
            cls.name = _name_of(xla)
        cls.__annotations__ = {**cls.__annotations__, "SAME": ClassVar}
        bases: Sequence[type[Any]] = cls.mro()[: cls.mro().index(StableHloOp)]
        own: set[type[Any]] = {type(value) for base in bases for value in vars(base).values()}
        for name, each in (*definition.operands, *definition.results, *definition.regions):
            field = _FIELDS[type(each)]()
            if type(field) not in own and not hasattr(cls, name):
                setattr(cls, name, field)
        if type(prop_def()) not in own:
            names = {theirs: mine for mine, theirs in cls.NAMES.items()}
            for name, prop in definition.properties.items():
                setattr(cls, names.get(name, name), _own_property(prop))
        if type(definition.traits) not in own:
            cls.traits = definition.traits
        return op_definition(cls)

    return define


def _own_property(prop: PropertyDef) -> Any:
    """The definition of a property of `xla` in StableHLO, where it may lack if it has a default."""
    is_required = prop.default_value is None and not isinstance(prop, OptionalDef)
    return (prop_def if is_required else opt_prop_def)(own_constraint(prop.constr))
