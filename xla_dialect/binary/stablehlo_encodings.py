"""Attributes and types of StableHLO, of VHLO and of what stands beside it, in bytecode.

They are by their codes. Written are only portable artifacts, which have VHLO's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E8M0FNUType,
    FloatAttr,
    FloatTF32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    NoneType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    bf16,
    f8E3M4,
    f8E4M3,
    f8E4M3B11FNUZ,
    f8E4M3FN,
    f8E4M3FNUZ,
    f8E5M2,
    f8E5M2FNUZ,
    f16,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Data
from xdsl.irdl import AllOf, irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xla_dialect.binary.encodings import (
    ATTRIBUTE,
    ATTRIBUTES,
    BUILTIN_ATTRIBUTES,
    BUILTIN_TYPES,
    DOUBLE,
    DYNAMIC_SIZE,
    SIGNED,
    SIGNEDS,
    STRING,
    TEXT,
    TEXT_ATTRIBUTE,
    TYPE,
    TYPES,
    VARINT,
    Encoding,
    EntryCursor,
    Field,
    constant,
    dense_elements,
    encoding,
    list_of,
    no_way_to_write,
    only_read,
    write_dense,
)
from xla_dialect.op import decode
from xla_dialect.shapes.window import ConvolutionLabels
from xla_dialect.sharding.sharding_rule import SECTIONS, factor_name
from xla_dialect.stablehlo.attributes import (
    FIELDS,
    INTEGER,
    INTEGERS,
    AccuracyModeAttr,
    Bounds,
    ChannelHandleAttr,
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    ConvolutionNumbers,
    DotAlgorithm,
    DotNumbers,
    FutureType,
    GatherNumbers,
    PrecisionAttr,
    ResultAccuracy,
    RngAlgorithmAttr,
    RngDistributionAttr,
    ScatterNumbers,
    StableHloFftTypeAttr,
    StableHloTransposeAttr,
    Struct,
    TokenType,
    integers,
)
from xla_dialect.stablehlo.attributes import (
    FLAG as FLAG_CONSTRAINT,
)
from xla_dialect.xdsl.dense_literals import packed_flags

_Value = TypeVar("_Value")


def by_text(make: Callable[..., str], *fields: Field[Any]) -> Encoding:
    """The encoding of fields that make the text of an attribute or type."""
    return Encoding(
        lambda cursor: cursor.spelled(make(*[field.read(cursor) for field in fields])),
        no_way_to_write,
    )


def part(make: Callable[..., str], *fields: Field[Any]) -> Encoding:
    """The encoding of what stands only inside of other attributes, where it is this text."""
    return only_read(lambda *values: StringAttr(make(*values)), *fields)


def words(class_: type[Any], first: int = 0) -> Encoding:
    """The encoding of an enumeration, whose members have the numbers from `first` on."""
    members = list(class_.enum_type)

    def read(cursor: EntryCursor) -> Attribute:
        start = cursor.offset
        number = cursor.varint()
        if not first <= number < first + len(members):
            cursor.fail(f"{class_.name} has no member {number}", start)
        return class_(members[number - first])

    return Encoding(read, lambda writer, value: writer.varint(members.index(value.data) + first))


def structure(class_: type[Struct]) -> Encoding:
    """The encoding of named values: numbers, lists of them, flags and types."""
    constraints = (parameter.constr for _, parameter in class_.get_irdl_definition().parameters)
    # xDSL combines what the annotation of a parameter says with the constraint that it is given.
    given = (each.attr_constrs[-1] if isinstance(each, AllOf) else each for each in constraints)
    fields = (_FIELDS.get(constraint, TYPE) for constraint in given)
    return only_read(lambda *values: class_.new(values), *fields)


DIRECTIONS = words(ComparisonDirectionAttr)
COMPARISON_TYPES = words(ComparisonTypeAttr)
FFT_TYPES = words(StableHloFftTypeAttr)
PRECISIONS = words(PrecisionAttr)
RNG_ALGORITHMS = words(RngAlgorithmAttr)
RNG_DISTRIBUTIONS = words(RngDistributionAttr, 1)
TRANSPOSES = words(StableHloTransposeAttr, 1)
ACCURACY_MODES = words(AccuracyModeAttr)


def only_read_field(read: Callable[[EntryCursor], _Value]) -> Field[_Value]:
    """A field of what is only read."""
    return Field(read, no_way_to_write)


FLAG = only_read_field(lambda cursor: bool(cursor.byte()))
_FIELDS: Mapping[Any, Field[Any]] = {
    INTEGER: only_read_field(lambda cursor: IntegerAttr(cursor.signed(), i64)),
    INTEGERS: only_read_field(lambda cursor: integers(SIGNEDS.read(cursor))),
    FLAG_CONSTRAINT: only_read_field(lambda cursor: BoolAttr.from_bool(FLAG.read(cursor))),
}
"""By the constraints of the parameters of a `Struct`."""


def optional(item: Field[Any], given: Callable[[EntryCursor], int]) -> Field[Any]:
    """A field with a flag before it that says whether it is there."""
    return only_read_field(lambda cursor: item.read(cursor) if given(cursor) else None)


OPTIONAL_ATTRIBUTE = only_read_field(EntryCursor.optional_attribute)


def quoted(name: str) -> str:
    """A text in quotes, as MLIR escapes it."""
    return str(StringAttr(name))


def joined(parts: Iterable[object]) -> str:
    """Texts of attributes, with commas."""
    return ", ".join(part.data if isinstance(part, StringAttr) else str(part) for part in parts)


JOINED = only_read_field(lambda cursor: joined(ATTRIBUTES.read(cursor)))
QUOTED = only_read_field(lambda cursor: quoted(cursor.string()))
QUOTED_LIST = only_read_field(lambda cursor: ", ".join(map(str, ATTRIBUTES.read(cursor))))


def axis_text(name: str, sub_axis: Attribute | None) -> str:
    """`#stablehlo.axis_ref<name = "a", sub_axis_info = (1)2>`"""
    within = "" if sub_axis is None else f", sub_axis_info = {joined([sub_axis])}"
    return f"#stablehlo.axis_ref<name = {quoted(name)}{within}>"


def mesh_text(axes: Attribute, ids: Attribute | None) -> str:
    """`#stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>]>`"""
    order = "" if ids is None else f", device_ids = {ids}"
    return f"#stablehlo.mesh<axes = {axes}{order}>"


def mesh_axis_text(name: str, size: int) -> str:
    """`#stablehlo.mesh_axis<name = "a", size = 2>`"""
    return f"#stablehlo.mesh_axis<name = {quoted(name)}, size = {size}>"


def mesh_groups_text(mesh: Attribute, axes: Iterable[Attribute]) -> str:
    """`#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [...]>`"""
    return f"#stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [{joined(axes)}]>"


def sub_axis_text(before: int, size: int) -> str:
    """`(1)2`"""
    return f"({before}){size}"


def _output_alias(outputs: list[int], operand: int, inside: list[int]) -> Attribute:
    values = integers(outputs), IntegerAttr(operand, i64), integers(inside)
    return OutputAlias(tuple(zip(OUTPUT_ALIAS_FIELDS, values, strict=True)))


OutputAlias = FIELDS["output_operand_alias"]
OUTPUT_ALIAS_FIELDS = ("output_tuple_indices", "operand_index", "operand_tuple_indices")
OUTPUT_ALIAS = encoding(
    _output_alias,
    lambda value: [decode(dict(value.data)[name]) for name in OUTPUT_ALIAS_FIELDS],
    *(SIGNEDS, SIGNED, SIGNEDS),
)
SUB_AXIS = part(sub_axis_text, SIGNED, SIGNED)


def _bounds(bounds: Sequence[int]) -> Attribute:
    return Bounds(tuple(None if each == DYNAMIC_SIZE else each for each in bounds))


BOUNDS = encoding(
    _bounds,
    lambda value: [[DYNAMIC_SIZE if each is None else each for each in value.data]],
    SIGNEDS,
)


def accuracy(atol: float, rtol: float, ulps: int, mode: Attribute) -> ResultAccuracy:
    """The accuracy of a function, of these tolerances."""
    tolerances = FloatAttr(atol, f64), FloatAttr(rtol, f64), IntegerAttr(ulps, i64)
    names = ("atol", "rtol", "ulps", "mode")
    return ResultAccuracy(tuple(zip(names, (*tolerances, mode), strict=True)))


def _accuracy_parts(value: ResultAccuracy) -> Sequence[Any]:
    fields = dict(value.data)
    return [*(decode(fields.get(name)) or 0 for name in ("atol", "rtol", "ulps")), fields["mode"]]


ACCURACY = encoding(accuracy, _accuracy_parts, DOUBLE, DOUBLE, SIGNED, ATTRIBUTE)

CONVOLUTION = (
    *("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"),
    *("kernel_input_feature_dimension", "kernel_output_feature_dimension"),
    *("kernel_spatial_dimensions", "output_batch_dimension", "output_feature_dimension"),
    "output_spatial_dimensions",
)
"""The dimension numbers of a convolution: two numbers and a list for each array."""
FEATURES = ("bf", "io", "bf")
"""The labels of the features of each array of a convolution."""


def labels(letters: str, first: int, second: int, spatial: Sequence[int]) -> str:
    """What the dimensions of an array of a convolution are called; `?` where nothing says it."""
    found = {first: letters[0], second: letters[1]}
    found |= {dimension: str(d) for d, dimension in enumerate(spatial)}
    return "".join(found.get(d, "?") for d in range(len(spatial) + 2))


def convolution(*values: Any) -> ConvolutionNumbers:
    """The attribute for what `CONVOLUTION` names."""
    sides = (labels(letters, *values[3 * i : 3 * i + 3]) for i, letters in enumerate(FEATURES))
    return ConvolutionNumbers(ConvolutionLabels(*sides))


def convolution_numbers(value: ConvolutionNumbers) -> Sequence[int | Sequence[int]]:
    """What `convolution` takes."""
    batch, feature, *lhs = value.data.lhs_order()
    output, input_, *rhs = value.data.rhs_order()
    result_batch, result_feature, *result = value.data.result_order()
    return [batch, feature, lhs, input_, output, rhs, result_batch, result_feature, result]


STABLEHLO_ATTRIBUTES: Mapping[int, Encoding] = {
    1: only_read(ChannelHandleAttr.of, SIGNED, SIGNED),
    2: DIRECTIONS,
    3: COMPARISON_TYPES,
    4: only_read(convolution, *(SIGNED, SIGNED, SIGNEDS) * 3),
    5: structure(DotNumbers),
    6: FFT_TYPES,
    7: structure(GatherNumbers),
    8: PRECISIONS,
    9: RNG_ALGORITHMS,
    10: RNG_DISTRIBUTIONS,
    11: structure(ScatterNumbers),
    12: TRANSPOSES,
    13: BOUNDS,
    14: OUTPUT_ALIAS,
    15: structure(DotAlgorithm),
    16: ACCURACY_MODES,
    17: ACCURACY,
    18: by_text(mesh_groups_text, ATTRIBUTE, ATTRIBUTES),
    19: SUB_AXIS,
    20: by_text(axis_text, STRING, optional(ATTRIBUTE, EntryCursor.byte)),
    21: by_text(mesh_axis_text, STRING, SIGNED),
    22: by_text(mesh_text, ATTRIBUTE, optional(ATTRIBUTE, EntryCursor.byte)),
}
"""Those of `stablehlo`."""


def _future(types: Sequence[Attribute]) -> Attribute:
    return FutureType.new([ArrayAttr(types)])


STABLEHLO_TYPES: Mapping[int, Encoding] = {
    0: constant(TokenType()),
    1: encoding(_future, lambda value: [value.types.data], TYPES),
}
"""Those of `stablehlo`."""


# Shardy


def _axis(name: str, sub_axis: Attribute | None) -> str:
    return quoted(name) if sub_axis is None else f"{quoted(name)}:{joined([sub_axis])}"


def _mesh(axes: Iterable[Attribute], ids: Sequence[int]) -> str:
    order = f", device_ids={list(ids)}" if ids else ""
    return f"#sdy.mesh<[{joined(axes)}]{order}>"


def _dimension(axes: Sequence[Attribute], is_closed: bool, priority: int) -> str:
    open_ = () if is_closed else (StringAttr("?"),)
    return f"{{{joined((*axes, *open_))}}}{f'p{priority >> 1}' if priority else ''}"


def _sharding(
    mesh: Attribute,
    dimensions: Iterable[Attribute],
    replicated: Sequence[Attribute],
    unreduced: Sequence[Attribute] = (),
) -> str:
    name = str(mesh) if isinstance(mesh, SymbolRefAttr) else str(mesh).removeprefix("#sdy.")
    rest = f", replicated={{{joined(replicated)}}}" if replicated else ""
    rest += f", unreduced={{{joined(unreduced)}}}" if unreduced else ""
    return f"#sdy.sharding<{name}, [{joined(dimensions)}]{rest}>"


def _shardings(shardings: Iterable[Attribute]) -> str:
    listed = (str(each).removeprefix("#sdy.sharding") for each in shardings)
    return f"#sdy.sharding_per_value<[{', '.join(listed)}]>"


def _factors(numbers: Iterable[int]) -> str:
    return "".join(map(factor_name, numbers))


def _rule(
    sizes: Sequence[int],
    operands: Iterable[Attribute],
    results: Iterable[Attribute],
    *rest: Sequence[int] | bool,
) -> str:
    *kinds, is_custom = rest
    named = ", ".join(f"{factor_name(i)}={size}" for i, size in enumerate(sizes))
    text = f"({joined(operands)})->({joined(results)}) {{{named}}}"
    for name, numbers in zip(SECTIONS, kinds, strict=True):
        if numbers and not isinstance(numbers, bool):
            text += f" {name}={{{', '.join(map(factor_name, numbers))}}}"
    return f"#sdy.op_sharding_rule<{text}{', custom' if is_custom else ''}>"


def _lists_of_axes(lists: Iterable[Attribute]) -> str:
    found = (str(each).removeprefix("#sdy<axis_ref_list").removesuffix(">") for each in lists)
    return f"#sdy<list_of_axis_ref_lists[{', '.join(found)}]>"


SHARDY_ATTRIBUTES: Mapping[int, Encoding] = {
    0: by_text("#sdy<manual_axes{{{}}}>".format, QUOTED_LIST),
    1: part("{}={}".format, QUOTED, SIGNED),
    2: by_text(_mesh, ATTRIBUTES, SIGNEDS),
    3: SUB_AXIS,
    4: part(_axis, STRING, OPTIONAL_ATTRIBUTE),
    5: part(_dimension, ATTRIBUTES, FLAG, VARINT),
    6: by_text(_sharding, ATTRIBUTE, ATTRIBUTES, ATTRIBUTES),
    7: by_text(_shardings, ATTRIBUTES),
    8: part(_factors, SIGNEDS),
    9: part("[{}]".format, JOINED),
    10: by_text(_rule, SIGNEDS, ATTRIBUTES, ATTRIBUTES, *(SIGNEDS,) * 4, FLAG),
    11: by_text("#sdy<axis_ref_list{{{}}}>".format, JOINED),
    12: by_text(_lists_of_axes, ATTRIBUTES),
    13: part("{{{}}}: {}->{}".format, JOINED, SIGNED, SIGNED),
    14: by_text("#sdy<all_to_all_param_list[{}]>".format, JOINED),
    15: by_text(_sharding, ATTRIBUTE, ATTRIBUTES, ATTRIBUTES, ATTRIBUTES),
    16: by_text(_shardings, ATTRIBUTES),
}
"""Those of `sdy`."""


# Quantized types


def _quantized(flags: int, storage: Attribute, expressed: Attribute, *rest: float) -> str:
    """`!quant.uniform<i8<-127:127>:f32, 0.1:3>`; `flags` says whether integers are signed."""
    scale, zero_point, low, high = rest
    return _spelled(flags, storage, expressed, (low, high), f"{scale!r}:{zero_point}")


def _quantized_per_axis(
    flags: int,
    storage: Attribute,
    expressed: Attribute,
    dimension: int,
    low: int,
    high: int,
    scales: Sequence[float],
    zero_points: Sequence[int],
) -> str:
    """`!quant.uniform<u8:f32:1, {0.1:0,0.2:4}>`"""
    pairs = ", ".join(f"{s!r}:{z}" for s, z in zip(scales, zero_points, strict=False))
    return _spelled(flags, storage, expressed, (low, high), f"{{{pairs}}}", f":{dimension}")


def _spelled(
    flags: int,
    storage: Attribute,
    expressed: Attribute,
    limits: tuple[float, float],
    pairs: str,
    axis: str = "",
) -> str:
    sign, width = "i" if flags & 1 else "u", str(storage).lstrip("sui")
    return f"!quant.uniform<{sign}{width}<{limits[0]}:{limits[1]}>:{expressed}{axis}, {pairs}>"


QUANTIZED = by_text(_quantized, VARINT, TYPE, TYPE, DOUBLE, SIGNED, SIGNED, SIGNED)
QUANTIZED_PER_AXIS = by_text(
    _quantized_per_axis,
    *(VARINT, TYPE, TYPE, VARINT, SIGNED, SIGNED, list_of(DOUBLE), SIGNEDS),
)

QUANTIZED_TYPES: Mapping[int, Encoding] = {4: QUANTIZED, 5: QUANTIZED_PER_AXIS}
"""Those of `quant`."""


# Attributes and types of VHLO, which are read as those of StableHLO
#
# Integers without a sign are VHLO's signed ones, strings are names of functions where StableHLO has
# symbols: what an attribute is follows from the property that it belongs to.


def _read_tensor(cursor: EntryCursor) -> Attribute:
    start = cursor.offset
    type_ = cursor.type()
    data = cursor.blob()
    if isinstance(type_, TensorType) and cast("TensorType[Any]", type_).element_type == i1:
        # Old files have a byte for each flag, all of them for a splat.
        count = prod(type_.get_shape())
        if len(data) == count and set(data) <= {0, 1} and count > 1:
            data = packed_flags(data)
    return dense_elements(cursor, cast(Attribute, type_), data, start)


@irdl_attr_definition
class ApiVersion(Data[int]):
    """The version of the interface of a custom call, which StableHLO has as a number of 32 bits."""

    name = "vhlo.api_version_v1"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        """Parses the name of the version."""
        position = parser.pos
        word = parser.parse_identifier()
        if word not in API_VERSIONS:
            parser.raise_error(f"{word} is none of {', '.join(API_VERSIONS)}", position)
        return API_VERSIONS.index(word)

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        printer.print_string(API_VERSIONS[self.data])


API_VERSIONS = tuple(
    f"API_VERSION_{name}"
    for name in (
        *("UNSPECIFIED", "ORIGINAL", "STATUS_RETURNING", "STATUS_RETURNING_UNIFIED", "TYPED_FFI"),
    )
)


def _read_api_version(cursor: EntryCursor) -> Attribute:
    start = cursor.offset
    number = cursor.varint()
    if number >= len(API_VERSIONS):
        cursor.fail(f"there is no interface {number} of custom calls", start)
    return ApiVersion(number)


NAME = only_read_field(lambda cursor: TEXT_ATTRIBUTE.read(cursor).data)


def _mesh_groups(mesh: Attribute, axes: Attribute) -> str:
    named = SymbolRefAttr(mesh) if isinstance(mesh, StringAttr) else mesh
    return f"#stablehlo.replica_group_mesh_axes<mesh = {named}, axes = {axes}>"


VHLO_ATTRIBUTES: Mapping[int, Encoding] = {
    1: BUILTIN_ATTRIBUTES[0],
    2: Encoding(
        lambda cursor: BoolAttr.from_bool(bool(cursor.varint())),
        lambda writer, value: writer.varint(int(bool(value.value.data))),
    ),
    3: DIRECTIONS,
    4: COMPARISON_TYPES,
    5: Encoding(_read_api_version, lambda writer, value: writer.varint(value.data)),
    6: BUILTIN_ATTRIBUTES[1],
    7: FFT_TYPES,
    8: BUILTIN_ATTRIBUTES[9],
    9: BUILTIN_ATTRIBUTES[8],
    10: OUTPUT_ALIAS,
    11: PRECISIONS,
    12: RNG_ALGORITHMS,
    13: RNG_DISTRIBUTIONS,
    14: TEXT,
    15: Encoding(_read_tensor, write_dense),
    16: TRANSPOSES,
    17: BUILTIN_ATTRIBUTES[6],
    18: BOUNDS,
    19: ACCURACY_MODES,
    20: ACCURACY,
    21: SUB_AXIS,
    22: by_text(
        axis_text,
        NAME,
        optional(ATTRIBUTE, EntryCursor.varint),
    ),
    23: by_text(_mesh_groups, ATTRIBUTE, ATTRIBUTE),
    24: by_text(mesh_axis_text, NAME, SIGNED),
    25: by_text(mesh_text, ATTRIBUTE, OPTIONAL_ATTRIBUTE),
}
"""Those of VHLO."""

_INTEGERS = {
    10: IntegerType(4),
    11: IntegerType(8),
    12: IntegerType(16),
    13: i32,
    14: i64,
    31: IntegerType(2),
}
_UNSIGNED = {15: 4, 16: 8, 17: 16, 18: 32, 19: 64, 32: 2}

CONSTANT_TYPES: Mapping[int, Attribute] = {
    0: i1,
    2: bf16,
    3: f16,
    4: f32,
    5: f64,
    6: f8E4M3FN,
    7: f8E5M2,
    9: IndexType(),
    **_INTEGERS,
    **{code: IntegerType(width, Signedness.UNSIGNED) for code, width in _UNSIGNED.items()},
    27: f8E4M3FNUZ,
    28: f8E5M2FNUZ,
    29: f8E4M3B11FNUZ,
    33: NoneType(),
    34: FloatTF32Type(),
    35: f8E4M3,
    36: f8E3M4,
    37: Float4E2M1FNType(),
    38: Float6E2M3FNType(),
    39: Float6E3M2FNType(),
    40: Float8E8M0FNUType(),
}

VHLO_TYPES: Mapping[int, Encoding] = {
    **{code: constant(type_) for code, type_ in CONSTANT_TYPES.items()},
    1: BUILTIN_TYPES[9],
    8: BUILTIN_TYPES[2],
    20: BUILTIN_TYPES[13],
    21: BUILTIN_TYPES[14],
    22: STABLEHLO_TYPES[0],
    23: BUILTIN_TYPES[15],
    24: QUANTIZED,
    25: BUILTIN_TYPES[18],
    30: QUANTIZED_PER_AXIS,
    42: STABLEHLO_TYPES[1],
}
"""Those of VHLO; not among them are buffers and witnesses."""
