"""
The values of messages as HLO text has them, in both directions: shapes, literals and attributes.

`FORMS` has a pair of functions for each kind of field. A message becomes text; text becomes what
`encoded` makes a message of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    StringAttr,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute

from xla_dialect.binary.proto import DEFINITIONS, WORDS, Message
from xla_dialect.binary.stablehlo_encodings import convolution, convolution_numbers
from xla_dialect.devices.replica_groups import (
    IotaGroups,
    MeshGroups,
    ReplicaGroups,
    mesh_text,
)
from xla_dialect.element_types import NUMPY_TYPES
from xla_dialect.hlo_text.attributes import (
    PADDINGS,
    RANGES,
    braces,
    spell_paddings,
    spell_ranges,
)
from xla_dialect.hlo_text.grammars import UNINTERPRETED, metadata, shape, sharding_metadata
from xla_dialect.layout import COMBINE, Layout
from xla_dialect.layouts.type_layouts import layout_of
from xla_dialect.literals.arrays import Value, to_numpy
from xla_dialect.ops import BY_OPCODE
from xla_dialect.shapes.size_arithmetic import DynamicSize
from xla_dialect.shapes.window import ConvolutionLabels, Window, WindowDimension
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding
from xla_dialect.sharding.hlo_sharding import HloSharding, HloShardingKind
from xla_dialect.sharding.mesh import AxisReference, Iota, Mesh, spell_axes
from xla_dialect.stablehlo.attributes import ConvolutionNumbers
from xla_dialect.text.accuracy import Accuracy, AccuracyMode
from xla_dialect.text.grammars import by_first, integer, listed, parsed, word
from xla_dialect.text.literals import spell_float
from xla_dialect.text.shapes import parse_type
from xla_dialect.text.strings import frontend_attributes, quoted_text, unescaped
from xla_dialect.types import Array, BufferType, OpaqueType, element_name, extents

_TUPLE, _OPAQUE, _TOKEN, _BUFFER = 13, 14, 17, 34
ELEMENT_TYPES = {
    1: "pred",
    **dict(enumerate(("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"), 2)),
    **dict(enumerate(("f16", "f32", "f64", "tuple", "opaque", "c64", "bf16", "token", "c128"), 10)),
    **dict(enumerate(("f8e5m2", "f8e4m3fn", "s4", "u4", "f8e4m3b11fnuz", "f8e5m2fnuz"), 19)),
    **dict(enumerate(("f8e4m3fnuz", "s2", "u2", "f8e4m3", "f8e3m4", "s1", "u1"), 25)),
    **dict(enumerate(("f4e2m1fn", "f8e8m0fnu", "b", "f6e3m2fn", "f6e2m3fn"), 32)),
}
"""By number, as HLO text names them."""
_NUMBERS = {name: number for number, name in ELEMENT_TYPES.items()}
_LEAST = -1 << 63
"""The size of an unbounded dimension, and the entry `*` of a tile."""

# Shapes


def shape_text(shape: Message) -> str:
    """`f32[2,<=3]{1,0}`, or a tuple of shapes."""
    number = shape["element_type"]
    elements = ", ".join(map(shape_text, shape["elements"]))
    if number in (_TUPLE, _BUFFER):
        return f"({elements})" if number == _TUPLE else f"b({elements})"
    name = ELEMENT_TYPES.get(number)
    if name is None:
        shape.cursor.fail(f"element type {number} is not known", shape.start)
    dynamic = [*shape["is_dynamic"], *[0] * len(shape["sizes"])]
    sizes = (
        "?" if size == _LEAST else "<=" * bool(is_dynamic) + str(size)
        for size, is_dynamic in zip(shape["sizes"], dynamic, strict=False)
    )
    return f"{name}[{','.join(sizes)}]{_layout_text(shape['layout'])}"


def _layout_text(layout: Message) -> str:
    found = dict(zip(DEFINITIONS["Layout"], layout.row(), strict=True))
    found["tiles"] = tuple(
        tuple(COMBINE if size == _LEAST else size for size in sizes) for (sizes,) in found["tiles"]
    )
    found[_TAIL_PADDING] = max(1, found[_TAIL_PADDING])
    return str(Layout(**found)).replace("{}", "")


_TAIL_PADDING = "tail_padding_alignment_in_elements"


def shape_value(type_: Attribute) -> Mapping[str, Any]:
    """The shape that a type is."""
    if isinstance(type_, TupleType):
        return {"element_type": _TUPLE, "elements": [shape_value(each) for each in type_.types]}
    if isinstance(type_, BufferType):
        return {"element_type": _BUFFER, "elements": [shape_value(type_.content)]}
    if not isinstance(type_, TensorType):
        return {"element_type": _OPAQUE if isinstance(type_, OpaqueType) else _TOKEN}
    array = cast(Array, type_)
    sizes, layout = extents(array), layout_of(array)
    fields = {name: getattr(layout, name) for name in DEFINITIONS["Layout"]}
    fields["tiles"] = [
        ([_LEAST if size is COMBINE else size for size in tile],) for tile in layout.tiles
    ]
    return {
        "element_type": _NUMBERS[element_name(array.element_type)],
        "sizes": [_LEAST if size == DYNAMIC_INDEX else size for size in sizes],
        "layout": fields,
        "is_dynamic": [size == DYNAMIC_INDEX or isinstance(size, DynamicSize) for size in sizes],
    }


# Literals


def literal_of_message(literal: Message) -> Value:
    """The array that a literal is, or a tuple of values."""
    shape = literal["shape"]
    if shape["element_type"] == _TUPLE:
        return tuple(map(literal_of_message, literal["elements"]))
    number, sizes = shape["element_type"], shape["sizes"]
    name = ELEMENT_TYPES.get(number, "")
    literal.cursor.check(
        name in NUMPY_TYPES and all(size >= 0 for size in sizes),
        "a literal has element type {}, sizes {}",
        number,
        sizes,
        at=literal.start,
    )
    dtype, content = NUMPY_TYPES[name], literal[name]
    if DEFINITIONS["Literal"][name][0] == "int*":
        # What is above the signed numbers stands in two's complement.
        elements = np.array(content, np.int64).astype(dtype)
    else:
        data = b"".join(content)
        literal.cursor.check(
            not len(data) % dtype.itemsize,
            "a literal of {} has {} bytes",
            name,
            len(data),
            at=literal.start,
        )
        elements = np.frombuffer(data, dtype)
    literal.cursor.check(
        elements.size == prod(sizes),
        "a literal of {}{} has {} elements",
        name,
        sizes,
        elements.size,
        at=literal.start,
    )
    # The elements stand in the order of the layout.
    order = shape["layout"]["minor_to_major"][::-1]
    if sorted(order) != list(range(len(sizes))):
        return elements.reshape(sizes)
    return elements.reshape([sizes[d] for d in order]).transpose(np.argsort(order))


def literal_value(literal: Attribute | Sequence[Attribute]) -> Mapping[str, Any]:
    """What a literal is, or a tuple of literals; raises XlaError for one that is left out."""
    if isinstance(literal, ArrayAttr | list):
        elements = list(map(literal_value, cast("Iterable[Attribute]", literal)))
        shape = {"element_type": _TUPLE, "elements": [each["shape"] for each in elements]}
        return {"shape": shape, "elements": elements}
    array = cast("NDArray[Any]", to_numpy(cast(Attribute, literal)))
    shape = shape_value(cast("DenseIntOrFPElementsAttr[Any]", literal).type)
    array = array.transpose(shape["layout"]["minor_to_major"][::-1])
    name = ELEMENT_TYPES[shape["element_type"]]
    if DEFINITIONS["Literal"][name][0] == "int*":
        return {"shape": shape, name: array.astype(np.int64).flatten().tolist()}
    if name in ("s1", "u1", "s2", "u2", "s4", "u4"):
        array = array.astype(np.int8).view(np.uint8) & (1 << int(name[1])) - 1
    return {"shape": shape, name: [array.tobytes()]}


# Shardings, and groups of devices

_SHARDINGS = ("replicated", "maximal", "tuple", "devices", "manual", "unknown", "unreduced")
"""The kinds by their numbers."""
_SHARD_GROUPS = ("shard_as", "shard_like")
_LISTS = ("replicated", "unreduced", "manual")
"""The axes of a sharding over a mesh that do not split the array."""


def _sharding_text(sharding: Message) -> str:
    """`{devices=[2,1]<=[2]}`, `{replicated}`, or a tuple of these."""
    if "named" in sharding:
        return _named_text(sharding["named"])
    kind: int = sharding["kind"]
    last_kinds: list[int] = sharding["last_kinds"]
    sharding.cursor.check(
        all(0 <= each < len(_SHARDINGS) for each in (kind, *last_kinds)),
        "there is no such kind of sharding",
        at=sharding.start,
    )
    found = _SHARDINGS[kind]
    if found == "tuple":
        return braces(list(map(_sharding_text, sharding["elements"])))
    if found == "maximal":
        found += f" device={(sharding['devices'] or [0])[0]}"
    if found == "devices":
        iota = Iota(tuple(sharding["iota"]), tuple(sharding["permutation"]))
        listed = f"<={iota}" if iota.dimensions else ",".join(map(str, sharding["devices"]))
        found += f"=[{','.join(map(str, sharding['sizes']))}]{listed}"
    if sharding["replicates_last"]:
        found += " last_tile_dim_replicate"
    if last_kinds:
        found += f" last_tile_dims={braces([_SHARDINGS[each] for each in last_kinds])}"
    if sharding["is_grouped"]:
        found += f" {_SHARD_GROUPS[bool(sharding['group_kind'])]} {sharding['group']}"
    return f"{{{found}}}"


def _sharding_value(sharding: HloSharding) -> Mapping[str, Any]:
    if sharding.named is not None:
        return {"named": _named_value(sharding.named, sharding.manual)}
    if sharding.kind is HloShardingKind.NAMED_MAXIMAL:
        return {"named": {"mesh": {"devices": [sharding.device]}}}
    found: dict[str, Any] = {
        "kind": _SHARDINGS.index(sharding.kind.value),
        "elements": list(map(_sharding_value, sharding.elements)),
        "last_kinds": list(map(_SHARDINGS.index, sharding.subgroups)),
    }
    if sharding.device is not None:
        found |= {"sizes": [1], "devices": [sharding.device]}
    if sharding.group is not None:
        word, group = sharding.group
        found |= {"is_grouped": 1, "group": group, "group_kind": _SHARD_GROUPS.index(word)}
    if sharding.tiles is not None:
        order = sharding.tiles.order
        found["sizes"] = sharding.tiles.sizes
        if isinstance(order, Iota):
            found |= {"iota": order.dimensions, "permutation": order.permutation}
        else:
            found["devices"] = order
    return found


def _named_text(sharding: Message) -> str:
    """`{mesh['a'=2,'b'=2], [{'a'}, {?}], replicated={'b'}}`"""
    mesh, iota = _mesh(sharding["mesh"])
    if mesh.is_maximal:
        return f"{{maximal_mesh[device_id={mesh.device_ids[0]}]}}"
    dimensions = (
        str(DimensionSharding(_axes(mesh, axes), bool(is_closed)))
        for axes, is_closed in sharding.row()[1]
    )
    lists = (
        f", {name}={spell_axes(_axes(mesh, axes))}"
        for name, axes in zip(_LISTS, sharding.row()[2:], strict=True)
        if axes
    )
    # Names of axes are in single quotes in HLO text.
    rest = f"[{', '.join(dimensions)}]{''.join(lists)}".replace('"', "'")
    return f"{{{mesh_text(mesh, iota)}, {rest}}}"


def _named_value(sharding: Sharding, manual: Sequence[AxisReference]) -> Sequence[Any]:
    mesh = cast(Mesh, sharding.mesh)
    lists = (sharding.replicated, sharding.unreduced, manual)
    return (
        _mesh_value(mesh),
        [(_axes_value(mesh, each.axes), each.is_closed) for each in sharding.dimensions],
        *(_axes_value(mesh, axes) for axes in lists),
    )


def _mesh(mesh: Message) -> tuple[Mesh, Iota | None]:
    """A mesh, and the order of its devices where it is given by one."""
    axes, ids, iota = mesh.row()
    return Mesh(axes, ids), Iota(*iota) if any(iota) else None


def _mesh_value(mesh: Mesh, iota: Iota | None = None) -> Mapping[str, Any]:
    order = {"devices": mesh.device_ids} if iota is None else {"iota": astuple(iota)}
    return {"axes": mesh.axes, **order}


def _axes(mesh: Mesh, axes: Iterable[tuple[int, Sequence[int]]]) -> tuple[AxisReference, ...]:
    """Axes by their numbers in a mesh; the importer refuses those that are not there."""
    names = dict(enumerate(mesh.sizes))
    return tuple(
        AxisReference(names.get(number, str(number)), *(part if any(part) else ()))
        for number, part in axes
    )


def _axes_value(mesh: Mesh, axes: Sequence[AxisReference]) -> Sequence[Mapping[str, Any]]:
    order = list(mesh.sizes)
    return [
        {"number": order.index(axis.name)}
        | ({"part": (axis.pre_size, axis.size)} if axis.size else {})
        for axis in axes
    ]


def _iota_groups(groups: Message) -> str:
    """`[2,4]<=[4,2]T(1,0)`"""
    count, size, *iota = groups.row()
    return str(IotaGroups(count, size, Iota(*iota))) if any(iota) else ""


def _iota_groups_value(text: str) -> Sequence[Any]:
    groups = cast(IotaGroups, ReplicaGroups.parse(text))
    return groups.count, groups.group_size, *astuple(groups.iota)


def _mesh_groups(groups: Message) -> str:
    """`mesh['a'=2,'b'=2] {'a'}`"""
    mesh, iota = _mesh(groups["mesh"])
    return str(MeshGroups(mesh, _axes(mesh, groups.row()[1]), iota))


def _mesh_groups_value(text: str) -> Sequence[Any]:
    groups = cast(MeshGroups, ReplicaGroups.parse(text))
    return _mesh_value(groups.mesh, groups.iota), _axes_value(groups.mesh, groups.chosen)


def _groups(groups: Sequence[Message]) -> str:
    return braces([braces(each["ids"]) for each in groups])


def _devices(devices: Message) -> str:
    return _groups(devices["groups"]) if "groups" in devices else _iota_groups(devices["iota"])


# Other attributes


def quoted_bytes(value: bytes) -> str:
    """A string in quotes; bytes that are no text stay what they are."""
    return quoted_text(value.decode("utf-8", "surrogateescape"))


def bytes_of_string(text: str) -> bytes:
    """The bytes that a string in quotes stands for, where an escape is one of them."""
    escaped = text[1:-1].encode("utf-8", "surrogateescape").decode("latin-1")
    return unescaped(escaped).encode("latin-1")


def _window(window: Message) -> str:
    """`{size=2x3 stride=2x1}`"""
    rows = (row for (rows,) in [window.row()] for row in rows)
    found = Window(tuple(WindowDimension(*row) for row in rows))
    return f"{{{found}}}" if found.dimensions else ""


def _entries(map_: Message) -> str:
    """The entries of a map of texts: `{a="b"}`."""
    found = [f"{each['key']}={quoted_bytes(each['value'])}" for each in map_["entries"]]
    return f"{{{','.join(found)}}}" if found else ""


def _aliases(aliases: Message) -> str:
    """`{{1}: (0, {}, may-alias)}`"""
    parts = [
        f"{braces(output)}: ({operand}, {braces(index)}, {WORDS['AliasKind'][kind] or 'may-alias'})"
        for output, operand, index, kind in aliases.row()[0]
    ]
    return f"{{{', '.join(parts)}}}" if parts else ""


def _donors(donors: Sequence[tuple[int, Sequence[int]]]) -> str:
    """`{(0, {}), (1, {2})}`"""
    return braces([f"({operand}, {braces(i)})" for operand, i in donors]) if donors else ""


def _accuracy(accuracy: Message) -> str:
    if "tolerance" not in accuracy:
        return "{mode=highest}" if accuracy["mode"] == 1 else ""
    return str(Accuracy(*accuracy["tolerance"].row(), mode=AccuracyMode.TOLERANCE))


def _accuracy_value(text: str) -> Mapping[str, Any]:
    found = parsed(Accuracy.parse, text)
    is_tolerance = found.mode is AccuracyMode.TOLERANCE
    return {"tolerance": found[:3]} if is_tolerance else {"mode": 1}


def _metadata(message: Message) -> str:
    parts = [f"{name}={text}" for name, text in attribute_texts(message)]
    return f"{{{' '.join(parts)}}}" if parts else ""


def _metadata_value(text: str) -> Mapping[str, Any]:
    found = parsed(metadata, text)
    return attribute_values(
        "Metadata",
        {
            name: braces(each) if name == "profile_type" else str(each)
            for name, each in found.items()
        },
    )


def _filled(rows: Sequence[Sequence[int | None]], default: int) -> list[Sequence[int]]:
    return [[default if each is None else each for each in row] for row in rows]


@dataclass(frozen=True)
class FieldForm:
    """How a value of a kind is written in HLO text."""

    text: Callable[[Any], str]
    """Of the value as messages have it; empty where it is left out."""
    value: Callable[[str], Any]
    """Of such a text, as messages are made of it."""


def _words(kind: str) -> FieldForm:
    """Of a list of words of an enumeration; one that is not known is its number."""
    words: Mapping[int, str | int] = dict(enumerate(WORDS[kind]))
    one = word(*WORDS[kind])
    grammar = by_first({"{": listed(one)}, lambda scanner: [one(scanner)])
    return FieldForm(
        lambda numbers: braces([words.get(int(number), int(number)) for number in numbers]),
        lambda text: list(map(WORDS[kind].index, parsed(grammar, text))),
    )


_ALIASES = UNINTERPRETED["input_output_alias"]
_INTEGERS = listed(integer)
FORMS: Mapping[str, FieldForm] = {
    "Accuracy": FieldForm(_accuracy, _accuracy_value),
    "Alias*": FieldForm(
        lambda aliases: braces(
            [f"{braces(o)}: ({n}, {braces(i)})" for o, n, i in (each.row() for each in aliases)]
        ),
        lambda text: [alias for alias, _ in parsed(_ALIASES, text)],
    ),
    "Aliases": FieldForm(
        _aliases,
        lambda text: (
            [
                (*alias, WORDS["AliasKind"].index(kind or "may-alias"))
                for alias, kind in parsed(_ALIASES, text)
            ],
        ),
    ),
    "ConvolutionNumbers": FieldForm(
        lambda numbers: str(convolution(*numbers.row()).data),
        lambda text: convolution_numbers(ConvolutionNumbers(ConvolutionLabels.parse(text))),
    ),
    "Devices": FieldForm(_devices, str),
    "Donors": FieldForm(
        lambda donors: _donors(donors.row()[0]),
        lambda text: (parsed(UNINTERPRETED["buffer_donor"], text),),
    ),
    "Group*": FieldForm(_groups, lambda text: [(ids,) for ids in parsed(listed(_INTEGERS), text)]),
    "IotaGroups": FieldForm(_iota_groups, _iota_groups_value),
    "Map": FieldForm(_entries, lambda text: (list(frontend_attributes(StringAttr(text)).items()),)),
    "MeshGroups": FieldForm(_mesh_groups, _mesh_groups_value),
    "Metadata": FieldForm(_metadata, _metadata_value),
    "Padding": FieldForm(
        lambda padding: spell_paddings(padding.row()[0]),
        lambda text: (_filled(parsed(PADDINGS, text), 0),),
    ),
    "Pair*": FieldForm(
        lambda pairs: braces([braces(pair.row()) for pair in pairs]),
        lambda text: parsed(listed(_INTEGERS), text),
    ),
    "Precision*": _words("Precision"),
    "Shape": FieldForm(shape_text, lambda text: shape_value(parse_type(text))),
    "Shape*": FieldForm(
        lambda shapes: braces(list(map(shape_text, shapes))),
        lambda text: list(map(shape_value, parsed(listed(shape), text))),
    ),
    "Sharding": FieldForm(
        _sharding_text, lambda text: _sharding_value(HloSharding.read(text, sharding_metadata))
    ),
    "Slice*": FieldForm(
        lambda slices: spell_ranges([each.row() for each in slices]),
        lambda text: _filled(parsed(RANGES, text), 1),
    ),
    "Window": FieldForm(
        _window,
        lambda text: (list(map(astuple, Window.parse(text[1:-1]).dimensions)),),
    ),
    "bool*": _words("bool"),
    "bytes": FieldForm(quoted_bytes, bytes_of_string),
    "count": FieldForm(lambda value: str(value) if value > 1 else "", int),
    "float": FieldForm(spell_float, float),
    "int": FieldForm(str, int),
    "int*": FieldForm(braces, lambda text: parsed(_INTEGERS, text)),
    "json": FieldForm(
        lambda value: (
            value.decode("utf-8", "surrogateescape")
            if value.startswith(b"{")
            else quoted_bytes(value)
        ),
        lambda text: text if text.startswith("{") else bytes_of_string(text),
    ),
    "string": FieldForm(str, str),
    "thread": FieldForm(
        lambda value: quoted_text(value) if value not in ("", "main") else "", bytes_of_string
    ),
}
"""By the kinds of fields; enumerations have their `WORDS`."""


def attribute_texts(message: Message) -> Iterator[tuple[str, str]]:
    """The attributes that a message has in text; those of messages inside are its own."""
    value: Any
    for kind, name, value in message.given():
        if kind in FORMS:
            text = FORMS[kind].text(value)
        elif kind in WORDS:
            words = WORDS[kind]
            message.cursor.check(
                0 <= value < len(words),
                "field {} is {}, of {} words",
                name,
                value,
                len(words),
                at=message.start,
            )
            text = words[int(value)]
        else:
            yield from attribute_texts(value)
            continue
        if text:
            yield name, text


def attribute_values(kind: str, texts: Mapping[str, str], opcode: str = "") -> dict[str, Any]:
    """
    What a message of a kind is made of for attributes; those that it does not have stay out.

    A message inside that is called like an opcode is of instructions with that opcode.
    """
    found: dict[str, Any] = {}
    for field_kind, name, _ in DEFINITIONS[kind].values():
        text = texts.get(name)
        if text is not None and field_kind in FORMS:
            found[name] = FORMS[field_kind].value(text)
        elif text is not None and text in WORDS.get(field_kind, ()):
            found[name] = WORDS[field_kind].index(text)
        elif field_kind in DEFINITIONS and field_kind not in FORMS:
            spelled = name.replace("_", "-")
            inner = attribute_values(field_kind, texts, opcode)
            if inner and (spelled not in BY_OPCODE or opcode.endswith(spelled)):
                found[name] = inner
    return found
