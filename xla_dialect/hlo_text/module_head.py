"""The first line of a module: its attributes, and what they say of the entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xla_dialect.entry.names import ALIASING_OUTPUT, BUFFER_DONOR, ENTRY_LAYOUT, kept_name
from xla_dialect.hlo_text.attributes import LAYOUT_DEPENDENT, MODULE_ATTRIBUTES
from xla_dialect.hlo_text.instruction_forms import frontend_attributes
from xla_dialect.hlo_text.program_printing import ProgramPrinter
from xla_dialect.hlo_text.structure_printing import dictionaries, tuple_of
from xla_dialect.ops.process_groups import process_counts
from xla_dialect.sharding.attributes import MeshAttr, meshes_of
from xla_dialect.spelling import SpellingError
from xla_dialect.text.shapes import spell_entry_layout
from xla_dialect.text.type_parser import parse_type
from xla_dialect.types import compatible

SILENT = {
    "xla.is_scheduled": BoolAttr.from_bool(False),
    "xla.alias_passthrough_params": BoolAttr.from_bool(False),
    "xla.replica_count": IntegerAttr(1, i64),
    "xla.num_partitions": IntegerAttr(1, i64),
}
"""Values of attributes that are not printed, as they are the default."""


def head_attributes(module: ModuleOp, entry: FuncOp, program: ProgramPrinter) -> str:
    """The attributes after the name of the module: `, is_scheduled=true, ...`."""
    body = next(c.body for c in program.computations.values() if c.is_entry)
    parameters = [type_ for _, type_ in body.parameters]
    found = _of_stablehlo(module, entry) | dict(module.attributes)
    layout = found.get(ENTRY_LAYOUT)
    if isinstance(layout, StringAttr) and not _is_of(layout.data, parameters, body.result):
        for name in (ENTRY_LAYOUT, *LAYOUT_DEPENDENT):
            found.pop(name, None)
    text = spell_entry_layout(parameters, body.result)
    found.setdefault(ENTRY_LAYOUT, StringAttr(text))
    texts: list[str] = []
    for name, spelling in MODULE_ATTRIBUTES.items():
        (key,) = spelling.properties
        value = found.get(key)
        if value is not None and value != SILENT.get(key):
            texts.append(f", {name}={spelling.write(value)}")
    return "".join(texts)


def _is_of(layout: str, parameters: Sequence[Attribute], result: Attribute) -> bool:
    """Whether an `entry_computation_layout` is that of such a computation."""
    inputs, _, output = layout[1:-1].rpartition("->")
    try:
        return compatible(parse_type(inputs), tuple_of(parameters)) and compatible(
            parse_type(output), result
        )
    except SpellingError:
        return False


def _of_stablehlo(module: ModuleOp, entry: FuncOp) -> dict[str, Attribute]:
    """What attributes of StableHLO programs say of the module, as HLO has it."""
    replicas, partitions = process_counts(module)
    found: dict[str, Attribute] = {
        "xla.replica_count": IntegerAttr(replicas, i64),
        "xla.num_partitions": IntegerAttr(partitions, i64),
    }
    block = entry.body.block
    returned = block.last_op
    is_tuple = returned is None or len(returned.operands) != 1
    aliases: list[str] = []
    donors: list[str] = []
    for i, facts in enumerate(dictionaries(entry.arg_attrs, len(block.args))):
        output = facts.get(ALIASING_OUTPUT)
        if isinstance(output, IntegerAttr):
            number = cast("IntegerAttr[Any]", output).value.data
            path = f"{{{number}}}" if is_tuple else "{}"
            aliases.append(f"{path}: ({i}, {{}}, may-alias)")
        elif facts.get(BUFFER_DONOR) == BoolAttr.from_bool(True):
            donors.append(f"({i}, {{}})")
    for key, entries in (("input_output_alias", aliases), ("buffer_donor", donors)):
        if entries:
            found[kept_name(key)] = StringAttr(f"{{ {', '.join(entries)} }}")
    meshes = meshes_of(module)
    if meshes:
        text = "{" + ", ".join(f"{n} = {MeshAttr(mesh)}" for n, mesh in meshes.items()) + "}"
        found["xla.frontend_attributes"] = StringAttr(frontend_attributes({"xla.sdy.meshes": text}))
    return found
