"""Modules of the dialect as HLO text: head, tables, and the texts of their computations.

Functions become computations, the entry last among those that the text did not order. Regions
become computations of their own; where the module comes from HLO text they have the names they had,
and one that is the same in several places is printed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR
from xla_dialect.entry import ENTRY_LAYOUT, ENTRY_SYMBOL, kept_name
from xla_dialect.hlo_text.attributes import (
    LAYOUT_DEPENDENT,
    MODULE_ATTRIBUTES,
)
from xla_dialect.hlo_text.computation_text import (
    ComputationText,
    ComputationTexts,
    dictionaries,
    fail,
    name_list,
    valid_name,
)
from xla_dialect.hlo_text.grammars import STACK_FRAME_TABLES
from xla_dialect.hlo_text.instruction_text import (
    HloPrintOptions,
    InstructionTexts,
)
from xla_dialect.ops.collectives import process_counts
from xla_dialect.sharding.attributes import MeshAttr, meshes_of
from xla_dialect.spelling import NoHloSpelling, SpellingError
from xla_dialect.text.shapes import parse_type, spell_entry_layout
from xla_dialect.text.strings import dictionary_text
from xla_dialect.types import compatible, tuple_of


def print_hlo(module: ModuleOp, options: HloPrintOptions | None = None) -> str:
    """
    Prints a verified module of functions with operations of the dialect as HLO text.

    What was read by `read_hlo` is printed as the same module: names, attributes, order, schedule,
    metadata and layouts are kept. Raises HloPrintError, a `LocatedError`, for what HLO text cannot
    express, for example operations of other dialects.

    >>> from xla_dialect.hlo_text import print_hlo, read_hlo
    >>> module = read_hlo("ENTRY main { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }")
    >>> print(print_hlo(module).splitlines()[-2])
      ROOT %y = f32[2]{0} add(%x, %x)
    """
    options = options or HloPrintOptions()
    functions = _functions(module)
    entry = _entry(module, functions)
    order = name_list(module.attributes.get("xla.computation_order"))
    computations = ComputationTexts(InstructionTexts(options), order)
    wanted = {function: _name_of(function) for function in functions}
    for function, name in wanted.items():
        computations.declare(function.sym_name.data, name)
    for function, name in wanted.items():
        computations.add_function(function, name)
    main = computations.functions[entry.sym_name.data]
    name = valid_name("module" if module.sym_name is None else module.sym_name.data)
    try:
        text = f"HloModule {name}{_head_attributes(module, entry, computations.by_name[main])}\n\n"
    except NoHloSpelling as error:
        fail(module, str(error))
    if options.print_metadata:
        text += _tables(module)
    for name in _in_order(computations.by_name, order, main):
        computation = computations.by_name[name]
        marker = "ENTRY " if name == main else ""
        text += f"{marker}{computation.head(name)} {{\n{computation.text}\n\n"
    return text[:-1]


def _functions(module: ModuleOp) -> list[FuncOp]:
    """The functions that have a body; raises HloPrintError for anything else."""
    found: list[FuncOp] = []
    for op in module.ops:
        if not isinstance(op, FuncOp):
            fail(op, f"HLO text has no {op.name} beside computations")
        if op.body.first_block is not None:
            found.append(op)
    return found


def _entry(module: ModuleOp, functions: Sequence[FuncOp]) -> FuncOp:
    """The function that a run of the module starts with."""
    public = [
        f for f in functions if f.sym_visibility is None or f.sym_visibility.data != "private"
    ]
    named = [f for f in public if f.sym_name.data == ENTRY_SYMBOL]
    for candidates in (named, public, functions):
        if len(candidates) == 1:
            return candidates[0]
    found = ", ".join(f"@{f.sym_name.data}" for f in public or functions) or "none"
    fail(module, f"HLO text needs one entry: @{ENTRY_SYMBOL}, or one function; found {found}")


def _name_of(function: FuncOp) -> str:
    kept = function.attributes.get("xla.computation")
    return valid_name(kept.data if isinstance(kept, StringAttr) else function.sym_name.data)


def _tables(module: ModuleOp) -> str:
    """The stack frame tables; a blank line follows each, and one more the last."""
    text = ""
    for name, table in STACK_FRAME_TABLES.items():
        value = module.attributes.get(table.attribute)
        if isinstance(value, ArrayAttr):
            opening, closing = table.brackets
            lines = name_list(cast("ArrayAttr[StringAttr]", value))
            rows = (f"{i} {opening}{line}{closing}\n" for i, line in enumerate(lines, 1))
            text += f"{name}\n{''.join(rows)}\n"
    return text and f"{text}\n"


def _in_order(
    computations: Mapping[str, ComputationText], order: Sequence[str], entry: str
) -> Iterable[str]:
    """
    The computations in the order of the text that the module comes from, the entry last otherwise.

    A computation that is called always comes first.
    """
    found: dict[str, None] = {}
    for root in (*order, *(name for name in computations if name != entry), entry):
        pending = [root] if root in computations else []
        while pending:
            name = pending[-1]
            missing = [c for c in computations[name].callees if c not in found]
            if name in found or not missing:
                found[name] = None
                pending.pop()
            else:
                pending.extend(reversed(missing))
    return found


# The head of the module

SILENT = {
    "xla.is_scheduled": BoolAttr.from_bool(False),
    "xla.alias_passthrough_params": BoolAttr.from_bool(False),
    "xla.replica_count": IntegerAttr(1, i64),
    "xla.num_partitions": IntegerAttr(1, i64),
}
"""Values of attributes that are not printed, as they are the default."""


def _head_attributes(module: ModuleOp, entry: FuncOp, computation: ComputationText) -> str:
    """The attributes after the name of the module: `, is_scheduled=true, ...`."""
    parameters = [parameter.type for parameter in computation.parameters]
    found = _of_stablehlo(module, entry) | dict(module.attributes)
    layout = found.get(ENTRY_LAYOUT)
    if isinstance(layout, StringAttr) and not _is_of(layout.data, parameters, computation.result):
        for name in (ENTRY_LAYOUT, *LAYOUT_DEPENDENT):
            found.pop(name, None)
    text = spell_entry_layout(parameters, computation.result)
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
    for i, kept in enumerate(dictionaries(entry.arg_attrs, len(block.args))):
        output = kept.get(ALIASING_OUTPUT)
        if isinstance(output, IntegerAttr):
            number = cast("IntegerAttr[Any]", output).value.data
            path = f"{{{number}}}" if is_tuple else "{}"
            aliases.append(f"{path}: ({i}, {{}}, may-alias)")
        elif kept.get(BUFFER_DONOR) == BoolAttr.from_bool(True):
            donors.append(f"({i}, {{}})")
    for key, entries in (("input_output_alias", aliases), ("buffer_donor", donors)):
        if entries:
            found[kept_name(key)] = StringAttr(f"{{ {', '.join(entries)} }}")
    meshes = meshes_of(module)
    if meshes:
        text = "{" + ", ".join(f"{n} = {MeshAttr(mesh)}" for n, mesh in meshes.items()) + "}"
        found["xla.frontend_attributes"] = StringAttr(dictionary_text({"xla.sdy.meshes": text}))
    return found
