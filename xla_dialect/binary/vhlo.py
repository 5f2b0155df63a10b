"""The properties of operations in bytecode, and VHLO's operations as those of StableHLO.

VHLO has each operation of StableHLO in revisions, `vhlo.all_reduce_v2`. Its attributes are simpler:
none is optional, structures are taken apart, arrays of integers are tensors. A `VhloOp` has, for
each property of StableHLO, the attributes of VHLO that it comes from and goes to. An older revision
lacks what came later, which then has the value that says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatTF32Type,
    FunctionType,
    IntegerAttr,
    IntegerType,
    NoneType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnitAttr,
    UnrankedTensorType,
    UnregisteredOp,
    i1,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils.format import parse_func_op_like
from xdsl.ir import Attribute, Operation, Region, SSAValue, TypeAttribute
from xdsl.irdl import IRDLOperation, OptionalDef
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xla_dialect.binary.encodings import of_class
from xla_dialect.binary.stablehlo_encodings import (
    CONSTANT_TYPES,
    CONVOLUTION,
    VHLO_ATTRIBUTES,
    VHLO_NAMES,
    ApiVersion,
    convolution,
    convolution_numbers,
)
from xla_dialect.stablehlo.attributes import (
    FLAG,
    INTEGERS,
    AccuracyModeAttr,
    Bounds,
    ChannelHandleAttr,
    ComparisonType,
    ComparisonTypeAttr,
    ConvolutionNumbers,
    DotAlgorithm,
    DotNumbers,
    FutureType,
    GatherNumbers,
    Precision,
    PrecisionAttr,
    ResultAccuracy,
    ScatterNumbers,
    Struct,
    TokenType,
    Word,
)
from xla_dialect.stablehlo.conversion import end_with_return
from xla_dialect.stablehlo.op import integers_of
from xla_dialect.stablehlo.ops import operation_named
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.text.accuracy import AccuracyMode
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.text import MlirParser

Version: TypeAlias = tuple[int, int, int]

OLDEST: Version = (0, 9, 0)
NEWEST: Version = (1, 20, 0)
"""The versions of VHLO that are known."""


@dataclass(frozen=True)
class PropertyForms:
    """A property of StableHLO, and the attributes of VHLO that say the same."""

    native: str
    names: tuple[str, ...]
    """In VHLO."""
    read: Callable[[Sequence[Attribute]], Attribute | None]
    """The property; None where it says nothing, and is left out."""
    write: Callable[[Attribute | None, int], Sequence[Attribute]]
    """The attributes of VHLO for a property, or for none; windows have a number of dimensions."""
    is_optional: bool = False
    newer: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    """The attributes that came with the newest revision, with what they mean where they lack."""


@dataclass(frozen=True)
class VhloOp:
    """An operation, in VHLO and in StableHLO."""

    parts: tuple[PropertyForms, ...] = ()
    revision: int = 1
    """The newest one."""
    revised: Version = OLDEST
    """The version that has the newest revision first."""
    first: Version = OLDEST
    """The version that has the operation first."""
    former: tuple[str, ...] = ()
    """The attributes that only the revision before has."""

    def names(self, revision: int) -> list[str]:
        """The attributes of a revision in VHLO, as bytecode orders them."""
        is_newest = revision == self.revision
        names = [
            name
            for part in self.parts
            for name in part.names
            if is_newest or name not in part.newer
        ]
        return sorted([*names, *(() if is_newest else self.former)])

    def properties(self) -> Sequence[PropertyList]:
        """
        The properties in StableHLO, as bytecode orders them: all, and those that there were before
        the newest revision.
        """
        former = [part for part in self.parts if part.names != tuple(part.newer)]
        return [
            sorted((part.native, part.is_optional) for part in parts)
            for parts in (self.parts, former)
        ]


PropertyList: TypeAlias = Sequence[tuple[str, bool]]
"""Names of properties, and whether they may be absent, in the order of bytecode."""


# How one attribute becomes one property


def integers_in(value: Attribute) -> list[int]:
    """The elements of a list of integers; raises VerifyException."""
    is_listed = not isinstance(value, DenseIntOrFPElementsAttr) or len(value.get_shape()) == 1
    found = integers_of(cast(Attribute, value)) if is_listed else None
    if found is None:
        raise VerifyException(f"{value} is no list of integers")
    return list(found)


def integer_in(value: Attribute) -> int:
    """The value of an integer; raises VerifyException."""
    return cast("IntegerAttr[Any]", of_class(IntegerAttr)(value)).value.data


def tensor(values: Sequence[int], type_: IntegerType = i64, *sizes: int) -> Attribute:
    """A list of integers as a tensor, by default of one dimension."""
    shape = sizes or (len(values),)
    return DenseIntOrFPElementsAttr.from_list(TensorType(type_, shape), list(values))


def list_as_tensor(value: Attribute) -> Attribute:
    """A list of integers as a tensor; raises VerifyException."""
    return tensor(integers_in(value))


def one(
    name: str,
    read: Callable[[Attribute], Attribute] = lambda value: value,
    write: Callable[[Attribute], Attribute] = lambda value: value,
    default: Callable[[int], Attribute] | None = None,
    *,
    native: str = "",
    is_newer: bool = False,
) -> PropertyForms:
    """
    A property that is one attribute in VHLO too.

    `default`: what says nothing, for a number of dimensions; the property may then be absent.
    """

    def read_one(values: Sequence[Attribute]) -> Attribute | None:
        (value,) = values
        says_nothing = default is not None and _is_full_of(value, default(1))
        return None if says_nothing else read(value)

    def write_one(value: Attribute | None, rank: int) -> Sequence[Attribute]:
        if value is not None:
            return [write(value)]
        if default is None:
            raise VerifyException(f"{native or name} is missing")
        return [default(rank)]

    newer = {name: default(0)} if is_newer and default is not None else {}
    return PropertyForms(native or name, (name,), read_one, write_one, default is not None, newer)


def _is_full_of(value: Attribute, default: Attribute) -> bool:
    """Whether an attribute is the default, or has no other elements, however many it has."""
    found, wanted = integers_of(value), integers_of(default)
    has_no_other = found is not None and wanted is not None and set(found) <= set(wanted)
    return has_no_other or value == default


def kept(*names: str) -> tuple[PropertyForms, ...]:
    """Properties that are the same in both, and always there."""
    return tuple(one(name) for name in names)


def optional(name: str, default: Attribute, is_newer: bool = False) -> PropertyForms:
    """A property that is the same in both; absent, it is `default`."""
    return one(name, default=lambda _: default, is_newer=is_newer)


def lists(
    *names: str, default: Callable[[int], Attribute] | None = None
) -> tuple[PropertyForms, ...]:
    """Lists of integers, `array<i64>` in StableHLO."""
    return tuple(one(name, _as_array, list_as_tensor, default) for name in names)


def _as_array(value: Attribute) -> Attribute:
    return DenseArrayBase.from_list(i64, integers_in(value))


_FLAGS = one(
    "window_reversal",
    lambda value: DenseArrayBase.from_list(i1, [n & 1 for n in integers_in(value)]),
    lambda value: tensor([n & 1 for n in integers_in(value)], i1),
    lambda rank: tensor([0] * rank, i1),
)
_PADDING = one("padding", default=lambda rank: tensor([0] * (2 * rank), i64, rank, 2))


def _ones(rank: int) -> Attribute:
    return tensor([1] * rank)


def flag(*names: str) -> tuple[PropertyForms, ...]:
    """Booleans; absent, they are false."""
    return tuple(optional(name, BoolAttr.from_bool(False)) for name in names)


def _unit(name: str, is_newer: bool = False) -> PropertyForms:
    return one(
        name,
        lambda _: UnitAttr(),
        lambda _: BoolAttr.from_bool(True),
        lambda _: BoolAttr.from_bool(False),
        is_newer=is_newer,
    )


def _symbol(value: Attribute) -> Attribute:
    return SymbolRefAttr(of_class(StringAttr)(value))


def _name(value: Attribute) -> Attribute:
    if not isinstance(value, SymbolRefAttr) or value.nested_references.data:
        raise VerifyException(f"{value} is no name of a function")
    return value.root_reference


def elements_in(value: Attribute) -> Sequence[Attribute]:
    """The elements of an array of attributes; raises VerifyException."""
    return of_class(ArrayAttr)(value).data


_EMPTY = ArrayAttr[Attribute](())
_NO_TEXT = StringAttr("")
_SYMBOLS = one(
    "called_computations",
    lambda value: ArrayAttr(map(_symbol, elements_in(value))),
    lambda value: ArrayAttr(map(_name, elements_in(value))),
    lambda _: _EMPTY,
)


# Several attributes that become one property


def _structure(
    native: str,
    class_: type[Struct],
    newer: Sequence[str] = (),
    absent: Attribute | None = None,
) -> PropertyForms:
    """The values of one attribute; `absent`: what each is where the property is not there."""
    names = class_.names()

    def read(values: Sequence[Attribute]) -> Attribute | None:
        if values[0] == absent:
            return None
        return class_.new(
            [
                _as_array(cast(Attribute, value))
                if isinstance(value, DenseIntOrFPElementsAttr)
                else value
                for value in values
            ]
        )

    def write(value: Attribute | None, rank: int) -> Sequence[Attribute]:
        if value is None and absent is not None:
            return [absent] * len(names)
        if not isinstance(value, class_):
            raise VerifyException(f"{native} is {'missing' if value is None else value}")
        return [
            list_as_tensor(cast(Attribute, each)) if isinstance(each, DenseArrayBase) else each
            for each in value.parameters
        ]

    nothing = tensor([]) if absent is None else absent
    return PropertyForms(
        native, tuple(names), read, write, absent is not None, dict.fromkeys(newer, nothing)
    )


def _read_convolution(values: Sequence[Attribute]) -> Attribute:
    numbers = [
        integers_in(value) if name.endswith("s") else integer_in(value)
        for name, value in zip(CONVOLUTION, values, strict=True)
    ]
    return convolution(*numbers)


def _write_convolution(value: Attribute | None, _: int) -> Sequence[Attribute]:
    if not isinstance(value, ConvolutionNumbers):
        raise VerifyException(f"dimension_numbers is {'missing' if value is None else value}")
    return [
        IntegerAttr(number, i64) if isinstance(number, int) else tensor(number)
        for number in convolution_numbers(value)
    ]


def _channel(*types: str, is_optional: bool = True) -> PropertyForms:
    """A channel, whose type stands beside it where it is not 0."""

    def read(values: Sequence[Attribute]) -> Attribute | None:
        handle, *type_ = map(integer_in, values)
        if is_optional and not handle:
            return None
        return ChannelHandleAttr.of(handle, type_[0] if type_ else 0)

    def write(value: Attribute | None, _: int) -> Sequence[Attribute]:
        fields = value.values() if isinstance(value, ChannelHandleAttr) else {}
        return [
            fields.get(name, IntegerAttr(0, i64)) for name in ("handle", "type")[: 1 + len(types)]
        ]

    return PropertyForms("channel_handle", ("channel_id", *types), read, write, is_optional)


_CHANNEL = _channel()
_GROUPS = kept("replica_groups")
_PRECISION_DEFAULT = PrecisionAttr(Precision.DEFAULT)


def _read_precision(values: Sequence[Attribute]) -> Attribute | None:
    return values[0] if {*elements_in(values[0])} - {_PRECISION_DEFAULT} else None


_PRECISION = PropertyForms(
    "precision_config",
    ("precision_config",),
    _read_precision,
    lambda value, _: [ArrayAttr([_PRECISION_DEFAULT] * 2) if value is None else value],
    True,
)
_ACCURACY = optional(
    "result_accuracy",
    ResultAccuracy.of(0.0, 0.0, 0, AccuracyModeAttr(AccuracyMode.DEFAULT)),
    is_newer=True,
)
_GATHER = _structure(
    "dimension_numbers", GatherNumbers, ("operand_batching_dims", "start_indices_batching_dims")
)
_SCATTER = _structure(
    "scatter_dimension_numbers",
    ScatterNumbers,
    ("input_batching_dims", "scatter_indices_batching_dims"),
)
_DOT = _structure("dot_dimension_numbers", DotNumbers)
_ALGORITHM = _structure("algorithm", DotAlgorithm, DotAlgorithm.names(), NoneType())
_WINDOW = (
    *lists("window_strides", default=_ones),
    *lists("lhs_dilation", "rhs_dilation", default=_ones),
    _FLAGS,
)
_CONVOLUTION = (
    PropertyForms("dimension_numbers", CONVOLUTION, _read_convolution, _write_convolution),
    *kept("batch_group_count", "feature_group_count"),
    _PRECISION,
    *_WINDOW,
)
_NO_PAIRS = tensor([])
_PAIRS = optional("source_target_pairs", _NO_PAIRS, is_newer=True)
_TRANSFER = (
    _channel("channel_type", is_optional=False),
    *flag("is_host_transfer"),
    _PAIRS,
)


_API_VERSION = one(
    "api_version",
    lambda value: IntegerAttr(of_class(ApiVersion)(value).data, i32),
    lambda value: ApiVersion(integer_in(value)),
    lambda _: ApiVersion(1),
)
_ACCURATE = VhloOp((_ACCURACY,), 2, (1, 10, 0))
_BROADCAST = lists("broadcast_dimensions")
_EXPANDING = lists(
    "known_expanding_dimensions", "known_nonexpanding_dimensions", default=lambda _: tensor([])
)
_CALL = VhloOp((one("callee", _symbol, _name),))

ROWS: Mapping[str, VhloOp] = {
    "all_gather": VhloOp(
        (*kept("all_gather_dim"), *_GROUPS, _CHANNEL, _unit("use_global_device_ids")), 2, (1, 5, 0)
    ),
    "all_reduce": VhloOp((*_GROUPS, _CHANNEL, _unit("use_global_device_ids")), 2, (1, 5, 0)),
    "all_to_all": VhloOp(
        (*_GROUPS, _CHANNEL, *kept("concat_dimension", "split_count", "split_dimension")),
        2,
        (1, 5, 0),
    ),
    "call": _CALL,
    "collective_broadcast": VhloOp(
        (*_GROUPS, _CHANNEL, _unit("has_dynamic_root", is_newer=True)), 2, (1, 20, 0), (0, 16, 0)
    ),
    "collective_permute": VhloOp((_CHANNEL, *kept("source_target_pairs"))),
    "collective_reduce": VhloOp(
        (*_GROUPS, _CHANNEL, _unit("has_dynamic_root"), _unit("use_global_device_ids")),
        first=(1, 19, 0),
    ),
    "compare": VhloOp(
        (
            *kept("comparison_direction"),
            optional("compare_type", ComparisonTypeAttr(ComparisonType.NOTYPE)),
        )
    ),
    "composite": VhloOp(
        (
            optional("composite_attributes", DictionaryAttr({})),
            one("decomposition", _symbol, _name),
            *kept("name"),
            optional("version", IntegerAttr(0, i32)),
        ),
        2,
        (1, 14, 0),
        (0, 19, 0),
    ),
    "convolution": VhloOp((*_CONVOLUTION, _PADDING)),
    "cross-replica-sum": VhloOp(_GROUPS),
    "custom_call": VhloOp(
        (
            _API_VERSION,
            optional("backend_config", _NO_TEXT),
            *kept("call_target_name"),
            _SYMBOLS,
            *flag("has_side_effect"),
            optional("operand_layouts", _EMPTY),
            optional("output_operand_aliases", _EMPTY),
            optional("result_layouts", _EMPTY),
            optional("result_tilings", _EMPTY, is_newer=True),
        ),
        2,
        (1, 18, 0),
    ),
    "dot": VhloOp((_PRECISION,)),
    "dot_general": VhloOp(
        (
            _DOT,
            _PRECISION,
            _ALGORITHM,
        ),
        2,
        (1, 6, 0),
    ),
    "dynamic_broadcast_in_dim": VhloOp((*_BROADCAST, *_EXPANDING)),
    "dynamic_conv": VhloOp(_CONVOLUTION, 2, (0, 20, 0), former=("padding",)),
    "dynamic_gather": VhloOp((_GATHER, *flag("indices_are_sorted")), 2, (1, 1, 0)),
    "einsum": VhloOp(kept("einsum_config")),
    "func": VhloOp(
        (
            *(optional(name, _EMPTY) for name in ("arg_attrs", "res_attrs")),
            *kept("function_type", "sym_name"),
            optional("sym_visibility", _NO_TEXT),
        )
    ),
    "gather": VhloOp((_GATHER, *flag("indices_are_sorted"), *lists("slice_sizes")), 2, (1, 1, 0)),
    "infeed": VhloOp((optional("infeed_config", _NO_TEXT), optional("layout", _EMPTY))),
    "outfeed": VhloOp((optional("outfeed_config", _NO_TEXT),)),
    "recv": VhloOp(_TRANSFER, 2, (1, 12, 0)),
    "reduce_scatter": VhloOp(
        (*_GROUPS, _CHANNEL, *kept("scatter_dimension"), _unit("use_global_device_ids"))
    ),
    "reduce_window": VhloOp(
        (
            *lists("window_dimensions"),
            *lists("base_dilations", "window_dilations", "window_strides", default=_ones),
            _PADDING,
        )
    ),
    "scatter": VhloOp((_SCATTER, *flag("indices_are_sorted", "unique_indices")), 2, (1, 1, 0)),
    "select_and_scatter": VhloOp(
        (
            *(replace(part, is_optional=True) for part in lists("window_dimensions")),
            *lists("window_strides", default=_ones),
            _PADDING,
        )
    ),
    "send": VhloOp(_TRANSFER, 2, (1, 12, 0)),
    "sort": VhloOp((optional("dimension", IntegerAttr(-1, i64)), *flag("is_stable"))),
    "tan": VhloOp((_ACCURACY,), 2, (1, 10, 0), (1, 4, 0)),
    "exponential": VhloOp((_ACCURACY,), 2, (1, 9, 0)),
}
"""By the name in StableHLO: what does not follow from the class there."""

_OTHERS: Mapping[str, Sequence[str]] = {
    "builtin.module": ("sym_name?", "sym_visibility?"),
    "func.func": (
        *("arg_attrs?", "function_type", "no_inline?", "res_attrs?", "sym_name", "sym_visibility?"),
    ),
    "func.call": ("arg_attrs?", "callee", "no_inline?", "res_attrs?"),
    "arith.constant": ("value",),
    **dict.fromkeys(("arith.addi", "arith.muli", "arith.subi"), ("overflowFlags",)),
}
"""The properties where they are not those of xDSL's class; those with a `?` may be absent."""

VHLO_NAME = re.compile(r"vhlo\.([\w-]+)_v([1-9][0-9]{0,3})")


def revised(name: str) -> tuple[str, VhloOp, int] | None:
    """The base name of an operation of VHLO, its row and revision; None for other operations."""
    match = VHLO_NAME.fullmatch(name)
    if match is None:
        return None
    base, revision = match.group(1), int(match.group(2))
    row = row_of(base)
    if revision > row.revision:
        raise VerifyException(
            f"revision {revision} is not known, the newest one is {row.revision} "
            f"(of VHLO {version_text(NEWEST)})"
        )
    return base, row, revision


@cache
def row_of(base: str) -> VhloOp:
    """The row of an operation, by its name in StableHLO; by default that of its class there."""
    operation = operation_named(f"stablehlo.{base}")
    if base in ROWS or operation is None or not issubclass(operation, IRDLOperation):
        return ROWS.get(base, VhloOp())
    properties = operation.get_irdl_definition().properties
    if "result_accuracy" in properties:
        return _ACCURATE
    parts: list[PropertyForms] = []
    for name, prop in properties.items():
        is_flag = isinstance(prop, OptionalDef) and prop.constr == FLAG
        form = lists if prop.constr == INTEGERS else flag if is_flag else kept
        parts += form(name)
    return VhloOp(tuple(parts))


def version_text(version: Version) -> str:
    """`1.17.0`"""
    return ".".join(map(str, version))


def properties_of(name: str, operation: type[Operation] | None) -> Sequence[PropertyList]:
    """
    The properties of an operation, of a class, as bytecode has them, in the newest version and in
    an older one that has less of them.
    """
    dialect, _, base = name.partition(".")
    found = revised(name)
    if found is not None:
        return [[(each, False) for each in found[1].names(found[2])]]
    if dialect == "stablehlo":
        return row_of(base).properties()
    if name in _OTHERS:
        return [[(each.rstrip("?"), each.endswith("?")) for each in _OTHERS[name]]]
    if operation is None or not issubclass(operation, IRDLOperation):
        return [()]
    properties = operation.get_irdl_definition().properties
    return [[(each, isinstance(properties[each], OptionalDef)) for each in sorted(properties)]]


# Operations as bytecode has them become operations of a context, those of VHLO StableHLO's.


class Operations:
    """Makes operations."""

    def __init__(self, context: Context):
        self.context = context
        self.class_of = cache(context.get_optional_op)
        """The class of an operation by its name, if there is one."""

    def attribute(self, text: str) -> Attribute:
        """The attribute or type with a text; raises ParseError."""
        return MlirParser(self.context, text).parse_attribute()

    def __call__(
        self,
        name: str,
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
        regions: Sequence[Region],
    ) -> Operation:
        """An operation of the context; raises VerifyException."""
        found = revised(name)
        if found is not None:
            base, row, revision = found
            values = {**attributes, **properties}
            name = OF_FUNC.get(base, f"stablehlo.{base}")
            properties = self.upgraded(row, revision, values)
            attributes = values
        operation = self.class_of(name)
        if operation is None:
            raise VerifyException("this operation is not supported")
        if attributes and not properties and issubclass(operation, IRDLOperation):
            # Before version 5 of bytecode, there are no properties.
            declared = operation.get_irdl_definition().properties
            properties = {each: attributes[each] for each in attributes if each in declared}
            attributes = {each: attributes[each] for each in attributes if each not in declared}
        if issubclass(operation, UnregisteredOp):
            attributes = {**attributes, "op_name__": StringAttr(name)}
        op = create(
            operation,
            operands=operands,
            result_types=types,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )
        if isinstance(op, FuncOp):
            end_with_return(op)
        return op

    def upgraded(
        self, row: VhloOp, revision: int, values: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """The properties of an operation in StableHLO, taken from what VHLO has."""
        properties: dict[str, Attribute] = {}
        for part in row.parts:
            parts: list[Attribute] = []
            for name in part.names:
                value = values.pop(name, None)
                if value is None:
                    if name not in part.newer or revision == row.revision:
                        raise VerifyException(f"{name} is missing")
                    value = part.newer[name]
                parts.append(value)
            found = part.read(parts)
            if found is not None:
                properties[part.native] = found
        for name in row.former:
            values.pop(name, None)
        return properties


OF_FUNC = {"call": "func.call", "func": "func.func"}
"""Operations of VHLO that are not StableHLO's."""


# VHLO as text: a portable artifact as `stablehlo-opt` prints it.
#
# Its types and attributes wrap those of StableHLO and are read as these, its operations as bytecode
# has them.


class VhloParser(StableHloParser):
    """Reads what VHLO has in the place of what StableHLO has."""

    def __init__(self, context: Context, text: str, file_name: str):
        super().__init__(context, text, file_name)
        self.operations = Operations(context)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """A class that makes the operation of StableHLO, of an operation of VHLO."""
        if not name.startswith("vhlo."):
            return super()._get_op_by_name(name)
        self._names.append(self.lexer.input.content.rfind(name, 0, self.pos))

        def make(**parts: Any) -> Operation:
            op = self.operations(
                name,
                *(parts[part] for part in ("operands", "result_types", "properties")),
                *(parts[part] for part in ("attributes", "regions")),
            )
            op.location = parts["location"] or op.location
            return op

        def parse(parser: Parser) -> Operation:
            if not name.startswith("vhlo.func_"):
                parser.raise_error(f"{name} has only the generic form")
            return self.function(name)

        methods = {"name": name, "create": staticmethod(make), "parse": staticmethod(parse)}
        return type("VhloOp", (Operation,), methods)

    def function(self, name: str) -> Operation:
        """Parses what follows the name of a function."""
        symbol, inputs, outputs, body, extra, _, _ = parse_func_op_like(
            self, reserved_attr_names=("sym_name", "function_type")
        )
        attributes = {} if extra is None else dict(extra.data)
        attributes |= self.parse_optional_attr_dict()
        attributes["sym_name"] = StringAttr(symbol)
        attributes["function_type"] = FunctionType.from_lists(inputs, outputs)
        return self.operations(name, (), (), {}, attributes, [body])

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ) -> Any:
        if not attr_name.startswith("vhlo."):
            return super()._parse_dialect_type_or_attribute_body(
                attr_name, is_type, is_opaque, starting_opaque_pos
            )
        name = attr_name.removeprefix("vhlo.")
        if is_opaque:
            return self.word(name)
        if is_type and name in _TYPES:
            return _TYPES[name]
        base = name.removesuffix("_v1")
        parse = (_COMPOSED if is_type else _ATTRIBUTES).get(name)
        if parse is None and (is_type or base not in VHLO_NAMES):
            self.raise_error(f"{attr_name} is not known")
        with self.in_angle_brackets():
            return self.structure(base) if parse is None else parse(self)

    def word(self, name: str) -> Attribute:
        """Parses the word of an enumeration."""
        if name == "api_version_v1":
            return ApiVersion(ApiVersion.parse_parameter(self))
        class_ = cast("type[Word]", self.ctx.get_attr(f"stablehlo.{name.removesuffix('_v1')}"))
        return class_(class_.parse_parameter(self))

    def structure(self, name: str) -> Attribute:
        """Parses `name = value, ...`, fields of an attribute; the last ones may be left out."""
        code, names = VHLO_NAMES[name]
        encoding, values = VHLO_ATTRIBUTES[code], list[Any]()
        for each, part in zip(names, encoding.fields, strict=True):
            if values and self.parse_optional_punctuation(",") is None:
                values.append(())
                continue
            self.parse_keyword(each)
            self.parse_punctuation("=")
            values.append(part.parse(self))
        return encoding.make(*values)

    def entry(self) -> tuple[str, Attribute]:
        """Parses `#vhlo.string_v1<"name"> = value`."""
        name = self.parse_attribute()
        if not isinstance(name, StringAttr):
            self.raise_error(f"{name} is the name of an attribute")
        self.parse_punctuation("=")
        return name.data, self.parse_attribute()

    def array(self) -> Attribute:
        """Parses sizes and the type of elements; bounds may follow."""
        sizes, type_ = self.parse_shape()
        if sizes is None:
            return UnrankedTensorType(type_)
        if self.parse_optional_punctuation(",") is None:
            return TensorType(type_, sizes)
        return TensorType(type_, sizes, self.parse_attribute())

    def types(self) -> Sequence[TypeAttribute]:
        """Parses types up to the end of the angle brackets."""
        parse = self.parse_optional_undelimited_comma_separated_list
        return parse(self.parse_optional_type, self.parse_type) or ()


_TYPES: Mapping[str, Attribute] = {
    **{f"{type_}_v1": type_ for type_ in CONSTANT_TYPES.values()},
    "bool_v1": i1,
    "tf31_v1": FloatTF32Type(),
    "token_v1": TokenType(),
}
"""Those that are one word; VHLO prints tf32 as tf31."""

_COMPOSED: Mapping[str, Callable[[VhloParser], Attribute]] = {
    "complex_v1": lambda parser: ComplexType(cast(Any, parser.parse_type())),
    "func_v1": VhloParser.parse_type,
    "future_v1": lambda parser: FutureType.new([ArrayAttr(parser.types())]),
    "tensor_v1": VhloParser.array,
    "tuple_v1": lambda parser: TupleType(tuple(parser.types())),
    "unranked_tensor_v1": lambda parser: UnrankedTensorType(parser.parse_type()),
}
"""Types with something in angle brackets."""

_ATTRIBUTES: Mapping[str, Callable[[VhloParser], Attribute]] = {
    "array_v1": lambda parser: ArrayAttr(
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
    ),
    "bool_v1": lambda parser: BoolAttr.from_bool(parser.parse_boolean()),
    "dict_v1": lambda parser: DictionaryAttr(
        dict(parser.parse_comma_separated_list(parser.Delimiter.BRACES, parser.entry))
    ),
    "type_extensions_v1": Bounds.parse_older,
    **dict.fromkeys(
        ("float_v1", "integer_v1", "string_v1", "tensor_v1", "type_v1"),
        VhloParser.parse_attribute,
    ),
}
"""Attributes with something in angle brackets."""
