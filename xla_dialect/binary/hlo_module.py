"""
HloModuleProto, HloProto and HloSnapshot: read as the HLO text of the module, and written from it.

The importer and the printer of texts give everything its meaning: fields of instructions have the
names of attributes in text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from xla_dialect.attributes import CustomCallApiVersion
from xla_dialect.binary.cursor import BinaryError, Cursor
from xla_dialect.binary.hlo_forms import (
    FORMS,
    attribute_texts,
    attribute_values,
    braces,
    bytes_of_string,
    literal_of_message,
    literal_value,
    quoted_bytes,
    shape_text,
    shape_value,
)
from xla_dialect.binary.proto import DEFINITIONS, WORDS, Message, encoded
from xla_dialect.hlo_text import HloPrintOptions, print_hlo, syntax
from xla_dialect.hlo_text.attributes import names
from xla_dialect.hlo_text.grammars import STACK_FRAME_TABLES, UNINTERPRETED
from xla_dialect.hlo_text.opcodes import OPCODES
from xla_dialect.hlo_text.parser import parse_module
from xla_dialect.literals.arrays import flatten_results, literal_of
from xla_dialect.spelling import FreeNames
from xla_dialect.text.grammars import parsed
from xla_dialect.text.literals import parse_literal, spell_literal
from xla_dialect.text.shapes import count_list, spell_type

# From a proto to text

_REPLICA_GROUPS = {"groups": "{", "devices": "none", "iota_groups": "[", "mesh_groups": "m"}
"""
The fields in which versions of XLA have the groups of a collective, and how the text of those that
are written begins.
"""


def _kinds(message: str) -> Iterator[tuple[str, str]]:
    """The attributes that a message has, also in messages inside, with their kinds."""
    for kind, name, _ in DEFINITIONS[message].values():
        if kind in DEFINITIONS and kind not in FORMS:
            yield from _kinds(kind)
        else:
            yield name, kind


_KIND_OF = dict(_kinds("Attributes"))
_ZEROS = {
    "float": "0",
    "int": "0",
    "int*": "{}",
    "bytes": '""',
    "Pair*": "{}",
    "Slice*": "{}",
    **{kind: words[0] for kind, words in WORDS.items()},
}
"""What text has for a field that is left out, by its kind."""


def _left_out(opcode: str) -> dict[str, str]:
    """The attributes that text always has, as they are where a proto leaves them out."""
    form = OPCODES.get(opcode)
    if form is None:
        return {}
    kinds = {name: _KIND_OF.get(name) for name in form.required | form.difference.always}
    return {name: _ZEROS[kind] for name, kind in kinds.items() if kind in _ZEROS}


def _callees(opcode: str, names: Sequence[str], selects_by_flag: bool) -> dict[str, str]:
    """The attributes that name computations."""
    form = OPCODES.get(opcode)
    if not names:
        return {}
    keys: Sequence[str] = ("calls" if opcode.startswith("async-") else "to_apply",)
    if form is not None and form.computations:
        keys = form.computations[opcode == "conditional" and selects_by_flag]
    if keys[0] in syntax.COMPUTATION_LISTS:
        return {keys[0]: f"{{{', '.join(names)}}}"}
    # The body of a loop stands before its condition.
    return dict(zip(keys, reversed(names) if opcode == "while" else names, strict=False))


def _of_instruction(instruction: Message, opcode: str) -> dict[str, str]:
    """The attributes of an instruction, but for those that name computations or instructions."""
    found = _left_out(opcode) | dict(attribute_texts(instruction.viewed_as("Attributes")))
    groups = next((name for name in _REPLICA_GROUPS if name in found), None)
    if groups is not None:
        found["replica_groups"] = found.pop(groups)
    if opcode in _ONE_DIMENSION and "dimensions" in found:
        found[_ONE_DIMENSION[opcode]] = found.pop("dimensions").strip("{}")
    if opcode == "domain":
        sides = (f"{side}={FORMS['Sharding'].text(instruction[side])}" for side in _SIDES)
        found["domain"] = f'{{kind="sharding", {", ".join(sides)}}}'
    if opcode.startswith("collective-permute") and "dynamic_slice_sizes" in found:
        sizes = found.pop("dynamic_slice_sizes").strip("{}").split(",")
        # Those of moved parts of buffers: a list for each of these.
        shape = instruction["shape"]
        part = shape["elements"][0] if "elements" in shape else shape
        rank = max(1, len(part["sizes"]))
        found["slice_sizes"] = braces(
            [braces(sizes[i : i + rank]) for i in range(0, len(sizes), rank)]
        )
    if opcode == "custom-call":
        if found.pop("constrain_layout", None) is None:
            found.pop("operand_layout_constraints", None)
        else:
            found.setdefault("operand_layout_constraints", "{}")
        if "literal" in instruction:
            found["literal"] = _literal_text(instruction["literal"])
    return found


_SIDES = ("entry", "exit")
_ONE_DIMENSION = {"iota": "iota_dimension", "reshape": "inferred_dimension"}
"""Attributes that are the only one of `dimensions` in a proto."""


def _literal_text(literal: Message) -> str:
    """`f32[2]{0} {1, 2}`, or a tuple of such."""
    value = literal_of_message(literal)
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal_text, literal['elements']))})"
    return f"{shape_text(literal['shape'])} {spell_literal(literal_of(value))}"


# The module


def _named(names: Mapping[int, str], id_: int, message: Message) -> str:
    """What has an id, by whose low half instructions and computations are named."""
    name = names.get(id_ & _LOCAL)
    if name is None:
        message.cursor.fail(f"there is nothing with the id {id_} here", message.start)
    return name


_LOCAL = (1 << 32) - 1


def module_text(module: Message) -> str:
    """The HLO text of an HloModuleProto; raises BinaryError."""
    computations = module["computations"]
    ids = {each["id"] & _LOCAL: _name(each["name"]) for each in computations}
    entry = _named(ids, module["entry_id"], module)
    head = f"HloModule {_name(module['name']) or 'module'}"
    if module["schedule"]["sequences"]:
        head += ", is_scheduled=true"
    if "program_shape" in module:
        head += f", entry_computation_layout={{{_program_shape(module['program_shape'])}}}"
    head += _listed(attribute_texts(module.viewed_as("ModuleAttributes")))
    texts = [head, *_tables(module["stack_frames"])]
    schedule = {
        each["computation"] & _LOCAL: [id_ & _LOCAL for id_ in each["order"]["ids"]]
        for each in module["schedule"]["sequences"]
    }
    for computation in computations:
        name = _name(computation["name"])
        prefix = "ENTRY " if name == entry else ""
        end = _listed(attribute_texts(computation.viewed_as("ComputationAttributes")))
        texts.append(f"{prefix}%{name} {{\n{_body(computation, ids, schedule)}\n}}{end}")
    return "\n\n".join(texts) + "\n"


def _listed(attributes: Iterable[tuple[str, str]]) -> str:
    return "".join(f", {name}={text}" for name, text in attributes)


def _name(name: bytes) -> str:
    """A name without what no name in text has."""
    return _NO_NAME.sub("_", name.decode("utf-8", "replace"))


_NO_NAME = re.compile(r"[^\w.\-]", re.ASCII)


def _program_shape(shape: Message) -> str:
    parameters = count_list(list(map(shape_text, shape["parameters"])))
    return f"({parameters})->{shape_text(shape['result'])}"


def _tables(index: Message) -> list[str]:
    """The tables of stack frames, in the order of their lines."""
    texts: list[str] = []
    for _, table, entries in index.given():
        lines = (f"{i} {_line(each)}" for i, each in enumerate(entries, 1))
        texts.append("\n".join([table, *lines]))
    return texts


def _line(entry: Message | bytes) -> str:
    if isinstance(entry, bytes):
        return quoted_bytes(entry)
    # In text, no parent is 1.
    values = {name: entry[name] + (name == "parent_frame_id") for name in DEFINITIONS[entry.kind]}
    return f"{{{' '.join(f'{name}={value}' for name, value in values.items())}}}"


def _body(
    computation: Message, computations: Mapping[int, str], schedule: Mapping[int, Sequence[int]]
) -> str:
    instructions: list[Message] = computation["instructions"]
    order = schedule.get(computation["id"] & _LOCAL)
    if order is not None:
        places = {id_: place for place, id_ in enumerate(order)}
        instructions.sort(key=lambda each: places.get(each["id"] & _LOCAL, len(places)))
    names = {each["id"] & _LOCAL: _name(each["name"]) for each in instructions}
    shapes = {each["id"] & _LOCAL: each["shape"] for each in instructions}
    root = computation["root_id"] & _LOCAL
    lines: list[str] = []
    for each in instructions:
        opcode, id_ = each["opcode"], each["id"] & _LOCAL
        operands = [f"%{_named(names, id_, each)}" for id_ in each["operands"]]
        callees = [f"%{_named(computations, id_, each)}" for id_ in each["computations"]]
        first = shapes.get(each["operands"][0] & _LOCAL) if operands else None
        attributes = _of_instruction(each, opcode)
        attributes |= _callees(opcode, callees, first is not None and first["element_type"] == 1)
        before = [f"%{_named(names, id_, each)}" for id_ in each["predecessors"]]
        if before:
            attributes["control-predecessors"] = f"{{{', '.join(before)}}}"
        match opcode:
            case "constant":
                argument = spell_literal(literal_of(literal_of_message(each["literal"])))
            case "parameter":
                argument = str(each["parameter_number"])
            case _:
                argument = ", ".join(operands)
        head = f"{'ROOT ' * (id_ == root)}%{names[id_]} = {shape_text(shapes[id_])}"
        lines.append(f"  {head} {opcode}({argument}){_listed(attributes.items())}")
    return "\n".join(lines)


# From text to a proto


def write_hlo_module(module: ModuleOp, *, with_config: bool = False) -> bytes:
    """
    A verified module of functions with operations of the dialect as an HloModuleProto.

    `with_config`: as an HloModuleProtoWithConfig, which says how many devices there are, too.
    It has what the HLO text of the module has, but for origins, statistics and metadata of
    shardings. Raises HloPrintError for what HLO cannot express, XlaError for a literal without its
    elements.
    """
    text = print_hlo(module, HloPrintOptions(syntax_sugar_async_ops=False))
    return _ProtoWriter(parse_module(text, "<module>")).module(with_config)


_CONFIG = {
    **dict.fromkeys(("replica_count", "num_partitions"), "1"),
    "allow_spmd_sharding_propagation_to_output": "{false}",
    "allow_spmd_sharding_propagation_to_parameters": "{false}",
}
"""What text leaves out, and a configuration says."""


class _ProtoWriter:
    """Writes a module of HLO text, as it was parsed, as a proto."""

    def __init__(self, module: syntax.Module):
        self.source = module
        self.numbers = {name: number for number, name in enumerate(module.computations, 1)}
        self.names = FreeNames()
        """Of instructions: two of a module have different ones in a proto."""
        self.types: Mapping[str, Attribute] = {}
        """Of the instructions of a computation."""

    def module(self, with_config: bool) -> bytes:
        source, numbers = self.source, self.numbers
        fused = {
            use.name
            for computation in source.computations.values()
            for each in computation.instructions
            if each.opcode == "fusion"
            for use in _uses(each)
        }
        computations: list[bytes] = []
        sequences: list[tuple[int, Sequence[object]]] = []
        for name, computation in source.computations.items():
            first = numbers[name] << 32
            ids = {each.name: id_ for id_, each in enumerate(computation.instructions, first)}
            computations.append(self.computation(computation, ids))
            if name not in fused:
                sequences.append((numbers[name], (list(ids.values()),)))
        texts, entry, layout = self.texts(source.attributes), source.entry, source.entry_layout
        assert layout is not None  # The printer writes it.
        fields = {
            "name": source.name,
            "entry_name": entry.name,
            "entry_id": numbers[entry.name],
            "computations": computations,
            "program_shape": _shape_of_program(layout.parameters, layout.result, entry),
            "stack_frames": {
                table: [_table_line(table, line) for line in lines]
                for table, lines in source.tables.items()
            },
        }
        if texts.get("is_scheduled") == "true":
            fields["schedule"] = (sequences,)
        attributes = encoded("ModuleAttributes", attribute_values("ModuleAttributes", texts))
        data = encoded("Module", fields) + attributes
        if not with_config:
            return data
        config = attribute_values("Config", _CONFIG | texts)
        config["entry_layout"] = fields["program_shape"]
        return encoded("ModuleWithConfig", (data, config))

    def texts(self, attributes: Mapping[str, syntax.AttributeText]) -> dict[str, str]:
        """The texts of attributes, but for those that name computations."""
        return {
            name: self.source.text[slice(*each.value)]
            for name, each in attributes.items()
            if not each.computations
        }

    def computation(self, computation: syntax.Computation, ids: Mapping[str, int]) -> bytes:
        root = computation.root
        assert root is not None
        self.types = {each.name: _type_of(each) for each in computation.instructions}
        types = [self.types[each.name] for each in computation.parameters]
        texts = self.texts(computation.attributes)
        fields = {
            "name": computation.name,
            "instructions": [self.instruction(each, ids) for each in computation.instructions],
            "program_shape": _shape_of_program(types, self.types[root.name], computation),
            "id": self.numbers[computation.name],
            "root_id": ids[root.name],
        }
        attributes = attribute_values("ComputationAttributes", texts)
        return encoded("Computation", fields) + encoded("ComputationAttributes", attributes)

    def instruction(self, instruction: syntax.Instruction, ids: Mapping[str, int]) -> bytes:
        opcode, type_ = instruction.opcode, self.types[instruction.name]
        texts = {"frontend_attributes": "{}", **self.texts(instruction.attributes)}
        called = [self.numbers[use.name] for use in _uses(instruction)]
        before = names(texts.get("control-predecessors", "{}"))
        fields: dict[str, Any] = {
            "name": self.names.take(instruction.name),
            "opcode": opcode,
            "shape": shape_value(type_),
            "id": ids[instruction.name],
            "operands": [ids[operand.name] for operand in instruction.operands],
            "predecessors": [ids[name] for name, _ in before],
            # The body of a loop stands before its condition.
            "computations": called[::-1] if opcode == "while" else called,
        }
        match opcode:
            case "constant":
                argument = self.source.text[slice(*instruction.argument)]
                fields["literal"] = literal_value(parse_literal(argument, type_))
            case "parameter":
                fields["parameter_number"] = instruction.number
            case "convolution":
                texts.setdefault("window", "{}")
            case "custom-call":
                texts.setdefault("api_version", CustomCallApiVersion.ORIGINAL)
                if "operand_layout_constraints" in texts:
                    texts["constrain_layout"] = "true"
                if "literal" in texts:
                    literal = parsed(UNINTERPRETED["literal"], texts["literal"])
                    fields["literal"] = literal_value(literal)
            case "domain":
                sides = parsed(UNINTERPRETED["domain"], texts["domain"])
                fields |= {side: FORMS["Sharding"].value(str(sides[side])) for side in _SIDES}
            case "iota" | "reshape" if _ONE_DIMENSION[opcode] in texts:
                texts["dimensions"] = f"{{{texts[_ONE_DIMENSION[opcode]]}}}"
            case "outfeed":
                item = self.types[instruction.operands[0].name]
                texts.setdefault("outfeed_shape", spell_type(item))
            case "collective-permute" | "collective-permute-start" if "slice_sizes" in texts:
                sizes = parsed(UNINTERPRETED["slice_sizes"], texts.pop("slice_sizes"))
                texts["dynamic_slice_sizes"] = braces([size for each in sizes for size in each])
            case _:
                pass
        groups = texts.get("replica_groups", "")
        texts |= {name: groups for name, start in _REPLICA_GROUPS.items() if groups[:1] == start}
        attributes = attribute_values("Attributes", texts, opcode)
        return encoded("Instruction", fields) + encoded("Attributes", attributes)


def _uses(instruction: syntax.Instruction) -> list[syntax.ComputationUse]:
    """The computations that an instruction names."""
    return [use for each in instruction.attributes.values() for use in each.computations]


def _type_of(instruction: syntax.Instruction) -> Attribute:
    assert instruction.type is not None  # The printer writes it.
    return instruction.type


def _shape_of_program(
    parameters: Sequence[Attribute], result: Attribute, computation: syntax.Computation
) -> Sequence[Any]:
    names = [parameter.name for parameter in computation.parameters]
    return [shape_value(each) for each in parameters], shape_value(result), names


def _table_line(table: str, line: str) -> Any:
    opening, closing = STACK_FRAME_TABLES[table].brackets
    values = parsed(STACK_FRAME_TABLES[table].line, f"{opening}{line}{closing}")
    if isinstance(values, str):
        return bytes_of_string(values)
    # In a proto, no parent is 0.
    return {name: value - (name == "parent_frame_id") for name, value in values.items()}


# Files


@dataclass(frozen=True)
class Snapshot:
    """A module with the arguments of one run."""

    text: str
    """The HLO text of the module."""
    arguments: Sequence[np.ndarray[Any, Any]]
    """One array for each part of each argument; none where a file has only a module."""


def read_snapshot(data: bytes, file_name: str = "<bytes>") -> Snapshot:
    """
    The module of an HloModuleProto, an HloProto or an HloSnapshot, with the arguments of the last.

    Raises BinaryError.
    """
    message = Message("Wrapper", Cursor(data, file_name))
    module, arguments = _unwrapped(message)
    return Snapshot(module_text(module), flatten_results(list(map(literal_of_message, arguments))))


def _unwrapped(message: Message) -> tuple[Message, Sequence[Message]]:
    """The module within a message, and the literals beside it."""
    around: list[Message] = []
    while len(around) < _DEEPEST:
        try:
            inner = message["inner"]
        except BinaryError:
            break  # The name of a module.
        if "inner" not in inner:
            break
        around.append(message)
        message = inner
    arguments = around[0]["arguments"] if len(around) == _DEEPEST else ()
    return message.viewed_as("Module"), arguments


_DEEPEST = 2
"""A snapshot has a proto that has the module."""


def is_module(data: bytes) -> bool:
    """Whether data may be a module: protos have no mark at their start, but a name or a message."""
    try:
        return (
            data[:1] == b"\n"
            and "computations" in _unwrapped(Message("Wrapper", Cursor(data, "")))[0]
        )
    except BinaryError:
        return False
