"""The attributes of HLO text: how each kind of value is spelled, and which attributes exist.

A spelling turns the text of a value into properties of an operation, and back: mostly one property
of the same name, sometimes several (`slice={[0:4:2]}` is three lists).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f32,
    i64,
)
from xdsl.ir import Attribute

from xla_dialect.attributes import CustomCallApiVersion, CustomCallApiVersionAttr, SpelledAttribute
from xla_dialect.entry import kept_name
from xla_dialect.hlo_text.grammars import (
    DEFAULT,
    NORMAL_FORMS,
    PLAIN,
    UNINTERPRETED,
    sharding_metadata,
)
from xla_dialect.sharding.hlo_sharding import HloSharding, HloShardingAttr
from xla_dialect.spelling import (
    NoHloSpelling,
    Scanner,
    SpellingError,
    quoted,
)
from xla_dialect.text import grammars
from xla_dialect.text.grammars import Grammar, by_first, listed, numbers, parsed, rest
from xla_dialect.text.lexer import without_comments
from xla_dialect.text.literals import spell_float
from xla_dialect.text.shapes import count_list, parse_type, spell_type

Properties: TypeAlias = dict[str, Attribute]


@dataclass(frozen=True)
class Spelling:
    """How the value of one attribute is written, in both directions."""

    properties: tuple[str, ...]
    """The properties that it gives."""
    read: Callable[[str], Properties]
    """From the text of a value to the properties; raises SpellingError."""
    write: Callable[..., str]
    """From the values of `properties`, in order, to the text as XLA prints it."""
    is_kept: bool = False
    """Whether these are discardable attributes: the operation does not know them."""


def of_one(
    property_name: str, read: Callable[[str], Attribute], write: Callable[[Any], str]
) -> Spelling:
    """The spelling of a single property."""
    return Spelling((property_name,), lambda text: {property_name: read(text)}, write)


def kept_value(attribute: str, text: str) -> Attribute:
    """
    What is kept of an attribute that is not interpreted.

    Metadata and frontend attributes become dictionaries (of the strings as escaped in the text,
    and of integers) if that says exactly the same; everything else is a string, as written.
    Raises SpellingError where XLA would not read the text.
    """
    plain = _dictionary(PLAIN.get(attribute), text)
    if plain is not None:
        return plain
    value = without_comments(text)
    if attribute == "sharding":
        return _sharding(value)
    if attribute not in UNINTERPRETED:
        return StringAttr(text)
    found = parsed(UNINTERPRETED[attribute], value)
    change = NORMAL_FORMS.get(attribute)
    normal = None if change is None else change(found)
    if normal is None:
        return _dictionary(_DICTIONARIES.get(attribute), value) or StringAttr(text)
    return _dictionary(_DICTIONARIES.get(attribute), normal) or StringAttr(normal)


@lru_cache(1 << 12)
def _sharding(text: str) -> Attribute:
    return HloShardingAttr(HloSharding.read(text, sharding_metadata))


def _dictionary(pattern: re.Pattern[str] | None, text: str) -> DictionaryAttr | None:
    """The fields of a text that a pattern matches; None if they are not, or one is there twice."""
    if pattern is None or pattern.fullmatch(text) is None:
        return None
    fields = _FIELD.findall(text)
    found: Properties = {
        name: _number_of_field(number) if number else _string_of_field(string)
        for name, number, string in fields
    }
    return DictionaryAttr(found) if len(found) == len(fields) else None


@lru_cache(1 << 12)
def _number_of_field(digits: str) -> IntegerAttr:
    return IntegerAttr(int(digits), i64)


@lru_cache(1 << 12)
def _string_of_field(text: str) -> StringAttr:
    return StringAttr(text)


def kept_text(attribute: str, value: Attribute) -> str:
    """The text of an attribute that is not interpreted; the inverse of `kept_value`."""
    if isinstance(value, DictionaryAttr) and attribute in _FIELD_SEPARATORS:
        fields = [
            f'{name}="{field.data}"' if type(field) is StringAttr else f"{name}={_int(field)}"
            for name, field in value.data.items()
        ]
        return "{" + _FIELD_SEPARATORS[attribute].join(fields) + "}"
    if isinstance(value, HloShardingAttr):
        return sharding_text(value)
    if not isinstance(value, StringAttr):
        raise NoHloSpelling(f"{attribute} = {value} is no text of HLO")
    return value.data


def sharding_text(value: HloShardingAttr) -> str:
    """The text of a sharding; that of a tuple counts its elements, `/*index=5*/`, as XLA does."""
    elements = value.data.elements
    return f"{{{count_list([each.text for each in elements])}}}" if elements else value.data.text


_FIELD_SEPARATORS = {"metadata": " ", "frontend_attributes": ","}
_ONE_FIELD = r'([A-Za-z_][\w.\-]*+)=(?:(0|[1-9][0-9]{0,17})(?![0-9])|"([^"\\]*+(?:\\.[^"\\]*+)*)")'
_FIELD = re.compile(_ONE_FIELD)
_DICTIONARIES = {
    attribute: re.compile(rf"\{{{_ONE_FIELD}(?:{separator}{_ONE_FIELD})*\}}")
    for attribute, separator in _FIELD_SEPARATORS.items()
}
"""What is printed as it was read."""


_DEFAULT = StringAttr(DEFAULT)

_FLOAT_OVERFLOW = 2.0**128 - 2.0**103
"""The least number that rounds to the infinity of f32."""
_NAME = re.compile(r"%?([A-Za-z0-9_.][\w.\-]*+)", re.ASCII)


def _number(value: int) -> Attribute:
    return IntegerAttr(value, i64)


def _dense(numbers: Sequence[int]) -> Attribute:
    return DenseArrayBase.from_list(i64, numbers)


def _int(value: Attribute) -> int:
    return cast("IntegerAttr[Any]", _of_kind(value, IntegerAttr)).value.data


def _ints(value: Attribute) -> Sequence[int]:
    return cast("DenseArrayBase[Any]", _of_kind(value, DenseArrayBase)).get_values()


def _str(value: Attribute) -> str:
    return cast(StringAttr, _of_kind(value, StringAttr)).data


def _of_kind(value: Attribute, kind: type[Attribute]) -> Attribute:
    """Attributes that are only kept may be anything in hand-written MLIR."""
    if not isinstance(value, kind):
        raise NoHloSpelling(f"HLO text cannot spell {value} as {kind.name}")
    return value


def braces(numbers: Sequence[int | str]) -> str:
    """`{0,1}`"""
    return "{" + ",".join(map(str, numbers)) + "}"


def of_value(
    property_name: str,
    grammar: Grammar,
    make: Callable[[Any], Attribute],
    write: Callable[[Any], str],
) -> Spelling:
    """The spelling of a single property, made of what a grammar reads."""
    return of_one(property_name, lambda text: make(parsed(grammar, text)), write)


def integer(property_name: str) -> Spelling:
    """`3`"""
    return of_value(property_name, grammars.integer, _number, lambda value: str(_int(value)))


def boolean(property_name: str) -> Spelling:
    """`true` or `false`"""
    return of_value(
        property_name,
        grammars.boolean,
        BoolAttr.from_bool,
        lambda value: "true" if _int(value) else "false",
    )


def word(property_name: str, cases: Mapping[str, Attribute]) -> Spelling:
    """One of the words of an enumeration, `LT`; what XLA prints in lower case it reads in any"""
    words = {case: text for text, case in cases.items()}
    grammar = grammars.word(*cases, in_any_case=all(map(str.islower, cases)))
    return of_value(property_name, grammar, cases.__getitem__, words.__getitem__)


def api_version(property_name: str) -> Spelling:
    """The words of `CustomCallApiVersion` in any case; the first is none, the second the default"""
    unspecified, original, *others = CustomCallApiVersion
    grammar = grammars.word(original.value, *(each.value for each in others), in_any_case=True)

    def read(text: str) -> Properties:
        version = CustomCallApiVersion(parsed(grammar, text))
        return {} if version is original else {property_name: CustomCallApiVersionAttr(version)}

    def write(version: CustomCallApiVersionAttr) -> str:
        if version.data is unspecified:
            raise NoHloSpelling(f"XLA does not read custom calls of {unspecified}")
        return version.data

    return Spelling((property_name,), read, write)


def string(property_name: str) -> Spelling:
    """`"text"`, escapes as they are written"""
    return of_value(
        property_name,
        grammars.any_string,
        lambda text: StringAttr(text[1:-1]),
        lambda value: f'"{_str(value)}"',
    )


def verbatim(property_name: str) -> Spelling:
    """As it is written, by its grammar in `UNINTERPRETED`"""

    def read(text: str) -> Attribute:
        parsed(UNINTERPRETED[property_name], text)
        return StringAttr(text)

    return of_one(property_name, read, _str)


def shape(property_name: str) -> Spelling:
    """`(f32[2]{0}, s32[])`"""
    return of_one(property_name, parse_type, spell_type)


@cache
def uninterpreted(attribute: str) -> Spelling:
    """As it is written, see `kept_value`; kept under `kept_name`"""
    key = kept_name(attribute)

    def read(text: str) -> Properties:
        value = kept_value(attribute, text)
        return {} if value == _DEFAULT else {key: value}

    return Spelling((key,), read, partial(kept_text, attribute), is_kept=True)


def _all_uninterpreted(*attributes: str) -> dict[str, Spelling]:
    return {attribute: uninterpreted(attribute) for attribute in attributes}


def integers(property_name: str) -> Spelling:
    """`{0,1}`"""
    grammar = listed(grammars.integer)
    return of_value(property_name, grammar, _dense, lambda value: braces(_ints(value)))


def number(property_name: str) -> Spelling:
    """`0.001` or `nan`, a 32-bit float"""

    def make(text: str) -> Attribute:
        value = float(text)
        if abs(value) >= _FLOAT_OVERFLOW:
            raise SpellingError(f"{quoted(text)} does not fit a 32-bit float")
        return FloatAttr(value, f32)

    return of_value(
        property_name, grammars.number, make, lambda value: spell_float(value.value.data)
    )


def spelled(attribute_class: type[SpelledAttribute[Any]]) -> Callable[[str], Spelling]:
    """The text of such an attribute, `bf01_oi01->bf01`, or the same in braces, `{size=2x3}`"""
    opening, closing = ("{", "}") if attribute_class.in_braces else ("", "")
    grammar = rest(attribute_class.read, opening, closing)
    return lambda property_name: of_value(
        property_name, grammar, attribute_class, lambda value: f"{opening}{value.data}{closing}"
    )


def single_dimension(property_name: str) -> Spelling:
    """`{0}`: a list of exactly one"""

    def make(numbers: Sequence[int]) -> Attribute:
        if len(numbers) != 1:
            raise SpellingError(f"expected one dimension, found {len(numbers)}")
        return _number(numbers[0])

    grammar = listed(grammars.integer)
    return of_value(property_name, grammar, make, lambda value: f"{{{_int(value)}}}")


def of_columns(
    property_names: tuple[str, str, str],
    rows: Grammar,
    default: int,
    write: Callable[[Sequence[Sequence[int]]], str],
) -> Spelling:
    """Three lists, of which each row has an entry; the default is one that is left out"""

    def read(text: str) -> Properties:
        found: Sequence[Sequence[int | None]] = parsed(rows, text)
        columns = zip(*found, strict=True) if found else ((),) * len(property_names)
        return {
            name: _dense([default if n is None else n for n in column])
            for name, column in zip(property_names, columns, strict=True)
        }

    return Spelling(
        property_names, read, lambda *columns: write(list(zip(*map(_ints, columns), strict=True)))
    )


RANGES = listed(
    numbers(
        r"\[\s*+([0-9]++)\s*+:\s*+([0-9]++)\s*+(?::\s*+([0-9]++)\s*+)?\]",
        "a range [start:limit:stride]",
    )
)
"""`{[0:4:2], [1:3]}`: start, limit and stride of every dimension"""


def spell_ranges(rows: Sequence[Sequence[int]]) -> str:
    """As `RANGES` reads it."""
    ranges = (
        f"[{first}:{last}]" if stride == 1 else f"[{first}:{last}:{stride}]"
        for first, last, stride in rows
    )
    return "{" + ", ".join(ranges) + "}"


def slice_ranges(start: str, limit: str, strides: str) -> Spelling:
    """`{[0:4:2], [1:3]}`: a stride that is left out is 1"""
    return of_columns((start, limit, strides), RANGES, 1, spell_ranges)


PADDINGS = grammars.separated(
    numbers(
        r"(-?[0-9]++)_(-?[0-9]++)(?:_(-?[0-9]++))?(?=x|$)",
        "padding low_high or low_high_interior",
    ),
    "x",
)
"""`1_2x0_0_1`: low, high and interior padding of every dimension"""


def spell_paddings(rows: Sequence[Sequence[int]]) -> str:
    """As `PADDINGS` reads it."""
    is_interior = any(interior for _, _, interior in rows)
    return "x".join("_".join(map(str, row if is_interior else row[:2])) for row in rows)


def padding(low: str, high: str, interior: str) -> Spelling:
    """`1_2x0_0_1`: interior padding that is left out is 0"""
    return of_columns((low, high, interior), PADDINGS, 0, spell_paddings)


def _name(scanner: Scanner) -> tuple[str, int]:
    match = scanner.match(_NAME, "a name")
    return match.group(1), match.start()


_NAMES = by_first({"{": listed(_name)}, lambda scanner: [_name(scanner)])


def names(text: str) -> list[tuple[str, int]]:
    """The names of `{%a, %b}` or `%a` without `%`, each with its position in the text."""
    return parsed(_NAMES, without_comments(text))


COMMON_ATTRIBUTES = _all_uninterpreted(
    "parameter_replication",
    "sharding",
    "frontend_attributes",
    "control-predecessors",
    "statistics",
    "original_value",
    "origin",
    "metadata",
    "backend_config",
)
"""What any instruction may carry, in the order of printing."""

COMPUTATION_ATTRIBUTES = _all_uninterpreted("execution_thread", "frontend_attributes")
"""What may follow the closing brace of a computation."""

MODULE_ATTRIBUTES: dict[str, Spelling] = {
    "is_scheduled": boolean("xla.is_scheduled"),
    **_all_uninterpreted("input_output_alias", "buffer_donor"),
    "alias_passthrough_params": boolean("xla.alias_passthrough_params"),
    **_all_uninterpreted(
        "entry_computation_layout",
        "allow_spmd_sharding_propagation_to_parameters",
        "allow_spmd_sharding_propagation_to_output",
    ),
    "replica_count": integer("xla.replica_count"),
    "num_partitions": integer("xla.num_partitions"),
    **_all_uninterpreted("frontend_attributes", "origin_recovery_table", "debug_attributes"),
}
"""What the head of a module may say, in the order of printing."""

LAYOUT_DEPENDENT = tuple(
    map(
        kept_name,
        (
            "input_output_alias",
            "buffer_donor",
            "allow_spmd_sharding_propagation_to_parameters",
            "allow_spmd_sharding_propagation_to_output",
        ),
    )
)
"""The attributes about parameters and results of the entry; they are valid as long as its types
are those of `ENTRY_LAYOUT`."""
