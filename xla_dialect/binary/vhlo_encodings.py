"""Attributes and types of VHLO in bytecode, by their codes; they are read as those of StableHLO.

Integers without a sign are VHLO's signed ones, strings are names of functions where StableHLO has
symbols: what an attribute is follows from the property that it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E8M0FNUType,
    FloatTF32Type,
    IndexType,
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
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xla_dialect.binary import builtin_encodings, stablehlo_encodings
from xla_dialect.binary.encodings import (
    ATTRIBUTE,
    SIGNED,
    TEXT_ATTRIBUTE,
    Encoding,
    EntryCursor,
    constant,
)
from xla_dialect.binary.stablehlo_encodings import OPTIONAL_ATTRIBUTE, by_text, only_read_field


def _read_tensor(cursor: EntryCursor) -> Attribute:
    start = cursor.offset
    type_ = cursor.type()
    data = cursor.blob()
    if isinstance(type_, TensorType) and cast("TensorType[Any]", type_).element_type == i1:
        # Old files have a byte for each flag, all of them for a splat.
        count = prod(type_.get_shape())
        if len(data) == count and set(data) <= {0, 1} and count > 1:
            data = builtin_encodings.packed_flags(data, is_one=False)
    return builtin_encodings.dense_elements(cursor, cast(Attribute, type_), data, start)


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


ATTRIBUTES_BY_CODE: Mapping[int, Encoding] = {
    1: builtin_encodings.ATTRIBUTES_BY_CODE[0],
    2: Encoding(
        lambda cursor: BoolAttr.from_bool(bool(cursor.varint())),
        lambda writer, value: writer.varint(int(bool(value.value.data))),
    ),
    3: stablehlo_encodings.DIRECTIONS,
    4: stablehlo_encodings.COMPARISON_TYPES,
    5: Encoding(_read_api_version, lambda writer, value: writer.varint(value.data)),
    6: builtin_encodings.ATTRIBUTES_BY_CODE[1],
    7: stablehlo_encodings.FFT_TYPES,
    8: builtin_encodings.ATTRIBUTES_BY_CODE[9],
    9: builtin_encodings.ATTRIBUTES_BY_CODE[8],
    10: stablehlo_encodings.OUTPUT_ALIAS,
    11: stablehlo_encodings.PRECISIONS,
    12: stablehlo_encodings.RNG_ALGORITHMS,
    13: stablehlo_encodings.RNG_DISTRIBUTIONS,
    14: builtin_encodings.TEXT,
    15: Encoding(_read_tensor, builtin_encodings.write_dense),
    16: stablehlo_encodings.TRANSPOSES,
    17: builtin_encodings.ATTRIBUTES_BY_CODE[6],
    18: stablehlo_encodings.BOUNDS,
    19: stablehlo_encodings.ACCURACY_MODES,
    20: stablehlo_encodings.ACCURACY,
    21: stablehlo_encodings.SUB_AXIS,
    22: by_text(
        stablehlo_encodings.axis_text,
        NAME,
        stablehlo_encodings.optional(ATTRIBUTE, EntryCursor.varint),
    ),
    23: by_text(_mesh_groups, ATTRIBUTE, ATTRIBUTE),
    24: by_text(stablehlo_encodings.mesh_axis_text, NAME, SIGNED),
    25: by_text(stablehlo_encodings.mesh_text, ATTRIBUTE, OPTIONAL_ATTRIBUTE),
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

TYPES_BY_CODE: Mapping[int, Encoding] = {
    **{code: constant(type_) for code, type_ in CONSTANT_TYPES.items()},
    1: builtin_encodings.TYPES_BY_CODE[9],
    8: builtin_encodings.TYPES_BY_CODE[2],
    20: builtin_encodings.TYPES_BY_CODE[13],
    21: builtin_encodings.TYPES_BY_CODE[14],
    22: stablehlo_encodings.TYPES_BY_CODE[0],
    23: builtin_encodings.TYPES_BY_CODE[15],
    24: stablehlo_encodings.QUANTIZED,
    25: builtin_encodings.TYPES_BY_CODE[18],
    30: stablehlo_encodings.QUANTIZED_PER_AXIS,
    42: stablehlo_encodings.TYPES_BY_CODE[1],
}
"""Those of VHLO; not among them are buffers and witnesses."""
