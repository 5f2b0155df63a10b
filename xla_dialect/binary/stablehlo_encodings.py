"""Attributes and types of StableHLO, of VHLO and of what stands beside it, in bytecode.

They are by their codes. Written are only portable artifacts, which have VHLO's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
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
from xdsl.irdl import AllOf, BaseAttr, irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

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
    TYPE_LIST,
    VARINT,
    Encoding,
    Encodings,
    EntryCursor,
    EntryWriter,
    Field,
    attribute_of,
    constant,
    dense_elements,
    encoding,
    list_of,
    of_class,
    only_read,
    parameters,
    write_dense,
)
from xla_dialect.op import decode
from xla_dialect.quantized_types import Quantization, QuantizedType
from xla_dialect.shapes.window import ConvolutionLabels
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding, Shardings
from xla_dialect.sharding.attributes import (
    AxisListAttr,
    AxisListsAttr,
    AxisMoveAttr,
    AxisMovesAttr,
    AxisReferenceAttr,
    DimensionShardingAttr,
    ManualAxesAttr,
    MeshAttr,
    ShardingAttr,
    ShardingPerValueAttr,
    ShardingRuleAttr,
)
from xla_dialect.sharding.mesh import (
    AxisList,
    AxisLists,
    AxisMove,
    AxisMoves,
    AxisReference,
    ManualAxes,
    Mesh,
)
from xla_dialect.sharding.sharding_rule import ShardingRule
from xla_dialect.stablehlo.attributes import (
    FLAG as FLAG_CONSTRAINT,
)
from xla_dialect.stablehlo.attributes import (
    FLOAT,
    INTEGER,
    INTEGERS,
    AccuracyModeAttr,
    AxisRef,
    Bounds,
    ChannelHandleAttr,
    Chosen,
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    ConvolutionNumbers,
    DeviceMesh,
    DotAlgorithm,
    DotNumbers,
    FutureType,
    GatherNumbers,
    MeshAxes,
    MeshAxis,
    OutputAlias,
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
from xla_dialect.stablehlo.op import integers_of
from xla_dialect.violations import require
from xla_dialect.xdsl.dense_literals import packed_flags

_Value = TypeVar("_Value")


def holding(class_: type[Any], make: Callable[..., object], *fields: Field[Any]) -> Encoding:
    """The encoding of an attribute with a content that is made of fields."""
    return only_read(lambda *values: class_(make(*values)), *fields)


def contents(
    class_: type[Any], attributes: Field[Sequence[Any]] = ATTRIBUTES
) -> Field[tuple[Any, ...]]:
    """What the attributes of a list hold, all of one class."""

    def held(found: Sequence[Any]) -> tuple[Any, ...]:
        if not all(isinstance(each, class_) for each in found):
            raise VerifyException(f"{class_.name} is expected in a list")
        return tuple(each.data for each in found)

    return attributes.mapped(held)


def words(class_: type[Any], first: int = 0) -> Encoding:
    """The encoding of an enumeration, whose members have the numbers from `first` on."""
    members = list(class_.enum_type)

    def read(cursor: EntryCursor) -> Attribute:
        start = cursor.offset
        number = cursor.varint() - first
        cursor.check(number >= 0, "{} has no member {}", class_.name, number + first, at=start)
        return class_(cursor.among(members, number, class_.name, start))

    def write(writer: EntryWriter, value: Any) -> None:
        writer.varint(members.index(value.data) + first)

    return Encoding(read, write, writes=[class_])


def structure(class_: type[Struct]) -> Encoding:
    """The encoding of named values: numbers, lists of them, flags and types."""
    constraints = (parameter.constr for _, parameter in class_.get_irdl_definition().parameters)
    # xDSL combines what the annotation of a parameter says with the constraint that it is given.
    given = (each.attr_constrs[-1] if isinstance(each, AllOf) else each for each in constraints)
    return parameters(class_, *(_FIELDS.get(constraint, TYPE) for constraint in given))


DIRECTIONS = words(ComparisonDirectionAttr)
COMPARISON_TYPES = words(ComparisonTypeAttr)
FFT_TYPES = words(StableHloFftTypeAttr)
PRECISIONS = words(PrecisionAttr)
RNG_ALGORITHMS = words(RngAlgorithmAttr)
RNG_DISTRIBUTIONS = words(RngDistributionAttr, 1)
TRANSPOSES = words(StableHloTransposeAttr, 1)
ACCURACY_MODES = words(AccuracyModeAttr)


FLAG: Field[bool] = Field(
    lambda cursor: bool(cursor.byte()), lambda writer, value: writer.data.append(value)
)
_FIELDS: Mapping[Any, Field[Any]] = {
    INTEGER: SIGNED.mapped(lambda number: IntegerAttr(number, i64), decode),
    INTEGERS: SIGNEDS.mapped(integers, decode),
    FLAG_CONSTRAINT: FLAG.mapped(BoolAttr.from_bool, decode),
    FLOAT: DOUBLE.mapped(lambda number: FloatAttr(number, f64), decode),
    BaseAttr(AccuracyModeAttr): ATTRIBUTE,
}
"""By the constraints of the parameters of a `Struct`."""

OUTPUT_ALIAS = structure(OutputAlias)
ACCURACY = structure(ResultAccuracy)

ARRAY: Field[Sequence[Attribute]] = attribute_of(ArrayAttr).mapped(lambda value: value.data)
OPTIONAL_ATTRIBUTE = Field(EntryCursor.optional_attribute)


def _numbers(list_: Attribute | None) -> Sequence[int]:
    return () if list_ is None else integers_of(list_) or ()


def optional_numbers(given: Callable[[EntryCursor], int]) -> Field[Sequence[int]]:
    """A list of integers with a flag before it that says whether it is there."""
    found = Field(lambda cursor: cursor.attribute() if given(cursor) else None)
    return found.mapped(_numbers)


OPTIONAL_NUMBERS = OPTIONAL_ATTRIBUTE.mapped(_numbers)


def _axis(name: str, sub_axis: Sequence[int]) -> AxisReference:
    """An axis of a mesh, or a part of it."""
    return AxisReference(name, *sub_axis[:2])


def mesh_groups(mesh: Attribute, axes: tuple[AxisReference, ...]) -> Chosen:
    """The axes of a mesh, or of one that the module has, that groups vary in."""
    return Chosen(_mesh_or_name(mesh, DeviceMesh), axes)


def _mesh_or_name(mesh: Attribute, class_: type[DeviceMesh | MeshAttr]) -> Mesh | str:
    if isinstance(mesh, SymbolRefAttr | StringAttr):
        return mesh.string_value() if isinstance(mesh, SymbolRefAttr) else mesh.data
    if not isinstance(mesh, class_):
        raise VerifyException(f"{mesh} stands where a mesh is expected")
    return mesh.data


MESH_AXIS = holding(MeshAxis, lambda *pair: pair, STRING, SIGNED)
SUB_AXIS = only_read(lambda *numbers: integers(numbers), SIGNED, SIGNED)


def _bounds(bounds: Sequence[int]) -> Attribute:
    return Bounds(tuple(None if each == DYNAMIC_SIZE else each for each in bounds))


BOUNDS = encoding(
    _bounds,
    lambda value: [[DYNAMIC_SIZE if each is None else each for each in value.data]],
    SIGNEDS,
    writes=[Bounds],
)

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


STABLEHLO_ATTRIBUTES: Encodings = {
    1: structure(ChannelHandleAttr),
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
    18: holding(MeshAxes, mesh_groups, ATTRIBUTE, contents(AxisRef)),
    19: SUB_AXIS,
    20: holding(AxisRef, _axis, STRING, optional_numbers(EntryCursor.byte)),
    21: MESH_AXIS,
    22: holding(
        DeviceMesh, Mesh.checked, contents(MeshAxis, ARRAY), optional_numbers(EntryCursor.byte)
    ),
}
"""Those of `stablehlo`."""


STABLEHLO_TYPES: Encodings = {
    0: constant(TokenType()),
    1: parameters(FutureType, TYPE_LIST),
}
"""Those of `stablehlo`."""


# Shardy


def _dimension(
    axes: tuple[AxisReference, ...], is_closed: bool, priority: int
) -> DimensionSharding:
    """A dimension, whose priority has a flag in its lowest bit."""
    return DimensionSharding(axes, is_closed, priority >> 1 if priority else None)


def _sharding(
    mesh: Attribute,
    dimensions: tuple[DimensionSharding, ...],
    *lists: tuple[AxisReference, ...],
) -> Sharding:
    return Sharding(_mesh_or_name(mesh, MeshAttr), dimensions, *lists)


def _rule(
    sizes: Sequence[int],
    operands: tuple[tuple[tuple[int, ...], ...], ...],
    results: tuple[tuple[tuple[int, ...], ...], ...],
    *rest: Any,
) -> ShardingRule:
    *lists, is_custom = rest
    named = {n for side in (operands, results) for array in side for d in array for n in d}
    for factor in named.union(*lists):
        require(0 <= factor < len(sizes), "SH25", "factor {} has no size", factor)
    return ShardingRule(tuple(sizes), operands, results, *lists, is_custom=is_custom)


def _move(axes: tuple[AxisReference, ...], source: int, target: int) -> AxisMove:
    return AxisMove(AxisList(axes), source, target)


_AXES = contents(AxisReferenceAttr)
_FACTORS = contents(ArrayAttr).mapped(
    lambda arrays: tuple(tuple(tuple(_numbers(d)) for d in array) for array in arrays)
)

SHARDY_ATTRIBUTES: Encodings = {
    0: holding(ManualAxesAttr, ManualAxes, contents(StringAttr)),
    1: MESH_AXIS,
    2: holding(MeshAttr, Mesh.checked, contents(MeshAxis), SIGNEDS),
    3: SUB_AXIS,
    4: holding(AxisReferenceAttr, _axis, STRING, OPTIONAL_NUMBERS),
    5: holding(DimensionShardingAttr, _dimension, _AXES, FLAG, VARINT),
    6: holding(ShardingAttr, _sharding, ATTRIBUTE, contents(DimensionShardingAttr), _AXES),
    7: holding(ShardingPerValueAttr, Shardings, contents(ShardingAttr)),
    8: only_read(integers, SIGNEDS),
    9: only_read(ArrayAttr, ATTRIBUTES),
    10: holding(ShardingRuleAttr, _rule, SIGNEDS, _FACTORS, _FACTORS, *(SIGNEDS,) * 4, FLAG),
    11: holding(AxisListAttr, AxisList, _AXES),
    12: holding(AxisListsAttr, AxisLists, contents(AxisListAttr)),
    13: holding(AxisMoveAttr, _move, _AXES, SIGNED, SIGNED),
    14: holding(AxisMovesAttr, AxisMoves, contents(AxisMoveAttr)),
    15: holding(ShardingAttr, _sharding, ATTRIBUTE, contents(DimensionShardingAttr), _AXES, _AXES),
    16: holding(ShardingPerValueAttr, Shardings, contents(ShardingAttr)),
}
"""Those of `sdy`."""


# Quantized types


def _per_axis(
    flags: int,
    storage: IntegerType,
    expressed: Attribute,
    dimension: int | None,
    low: int,
    high: int,
    scales: Sequence[float],
    zero_points: Sequence[int],
) -> QuantizedType:
    """The type of integers that stand for numbers; `flags` says whether they are signed."""
    sign = Signedness.SIGNLESS if flags & 1 else Signedness.UNSIGNED
    stored = IntegerType(storage.width.data, sign), low, high
    pairs = tuple(scales), tuple(zero_points)
    return QuantizedType.checked(Quantization(*stored, expressed, *pairs, dimension))


def _per_array(flags: int, storage: IntegerType, expressed: Attribute, *rest: Any) -> QuantizedType:
    scale, zero_point, low, high = rest
    return _per_axis(flags, storage, expressed, None, low, high, (scale,), (zero_point,))


_STORED = VARINT, TYPE.mapped(of_class(IntegerType)), TYPE
QUANTIZED = only_read(_per_array, *_STORED, DOUBLE, SIGNED, SIGNED, SIGNED)
QUANTIZED_PER_AXIS = only_read(
    _per_axis, *_STORED, VARINT, SIGNED, SIGNED, list_of(DOUBLE), SIGNEDS
)

QUANTIZED_TYPES: Encodings = {4: QUANTIZED, 5: QUANTIZED_PER_AXIS}
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
    number = cursor.varint()
    cursor.among(API_VERSIONS, number, "interface of custom calls")
    return ApiVersion(number)


NAME: Field[str] = TEXT_ATTRIBUTE.mapped(lambda value: value.data)

VHLO_ATTRIBUTES: Encodings = {
    1: BUILTIN_ATTRIBUTES[0],
    2: Encoding(
        lambda cursor: BoolAttr.from_bool(bool(cursor.varint())),
        lambda writer, value: writer.varint(int(bool(value.value.data))),
        writes=[(IntegerAttr, i1)],
    ),
    3: DIRECTIONS,
    4: COMPARISON_TYPES,
    5: Encoding(
        _read_api_version, lambda writer, value: writer.varint(value.data), writes=[ApiVersion]
    ),
    6: BUILTIN_ATTRIBUTES[1],
    7: FFT_TYPES,
    8: BUILTIN_ATTRIBUTES[9],
    9: BUILTIN_ATTRIBUTES[8],
    10: OUTPUT_ALIAS,
    11: PRECISIONS,
    12: RNG_ALGORITHMS,
    13: RNG_DISTRIBUTIONS,
    14: TEXT,
    15: Encoding(_read_tensor, write_dense, writes=[DenseIntOrFPElementsAttr]),
    16: TRANSPOSES,
    17: BUILTIN_ATTRIBUTES[6],
    18: BOUNDS,
    19: ACCURACY_MODES,
    20: ACCURACY,
    21: SUB_AXIS,
    22: holding(AxisRef, _axis, NAME, optional_numbers(EntryCursor.varint)),
    23: holding(MeshAxes, mesh_groups, ATTRIBUTE, contents(AxisRef, ARRAY)),
    24: holding(MeshAxis, lambda *pair: pair, NAME, SIGNED),
    25: holding(DeviceMesh, Mesh.checked, contents(MeshAxis, ARRAY), OPTIONAL_NUMBERS),
}
"""Those of VHLO."""

VHLO_NAMES: Mapping[str, tuple[int, Sequence[str]]] = {
    "axis_ref": (22, ("name", "sub_axis_info")),
    "mesh": (25, ("axes", "device_ids")),
    "mesh_axis": (24, ("name", "size")),
    "output_operand_alias": (
        10,
        ("outputTupleIndices", "operandIndex", "operandTupleIndices"),
    ),
    "replica_group_mesh_axes": (23, ("mesh", "axes")),
    "result_accuracy": (20, ("atol", "rtol", "ulps", "mode")),
    "sub_axis_info": (21, ("pre_size", "size")),
}
"""Attributes of VHLO as its text names them: their codes and the names of their fields."""

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

VHLO_TYPES: Encodings = {
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
