"""`input_output_alias` and `buffer_donor` of a module as attributes of the entry's parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, IntegerAttr, ModuleOp, i32
from xdsl.ir import Attribute

from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR
from xla_dialect.entry import ALIASES, ENTRY_SYMBOL, EntryAliases, entry_aliases, kept_name
from xla_dialect.types import TokenType

_DONATED = BoolAttr.from_bool(True)


def take_entry_aliases(module: ModuleOp) -> tuple[func.FuncOp, EntryAliases] | None:
    """
    The entry and what the head of its module says of its memory, which is taken from there; None
    where it says nothing.
    """
    names = [name for name in map(kept_name, ALIASES) if name in module.attributes]
    if not names:
        return None
    found = None
    for op in module.ops:
        if isinstance(op, func.FuncOp) and op.sym_name.data == ENTRY_SYMBOL:
            type_ = op.function_type
            found = op, entry_aliases(module, type_.inputs.data, type_.outputs.data)
    for name in names:
        del module.attributes[name]
    return found


def put_entry_aliases(entry: func.FuncOp, aliases: EntryAliases) -> None:
    """Says it at the parameters of the entry, when tuples have been taken apart."""
    attributes = _argument_attributes(entry)
    for parameter, result in aliases.results.items():
        attributes[parameter][ALIASING_OUTPUT] = IntegerAttr(result, i32)
    for parameter in aliases.donors:
        attributes[parameter][BUFFER_DONOR] = _DONATED
    _set_argument_attributes(entry, attributes)


def donate_only(module: ModuleOp, entry: func.FuncOp, parameters: Collection[int]) -> None:
    """
    Has the memory of these parameters used for results, and of no other: for the results that they
    name, or for any. Tuples have been taken apart if there are any parameters, and tokens do not
    count, as for those who pass arrays.
    """
    take_entry_aliases(module)
    attributes = _argument_attributes(entry)
    types = entry.function_type.inputs
    arrays = [own for own, t in zip(attributes, types, strict=True) if not isinstance(t, TokenType)]
    for number, own in enumerate(arrays):
        if number not in parameters:
            own.pop(ALIASING_OUTPUT, None)
            own.pop(BUFFER_DONOR, None)
        elif ALIASING_OUTPUT not in own:
            own[BUFFER_DONOR] = _DONATED
    _set_argument_attributes(entry, attributes)


def _argument_attributes(function: func.FuncOp) -> list[dict[str, Attribute]]:
    if function.arg_attrs is None:
        return [{} for _ in function.function_type.inputs]
    return [dict(each.data) for each in function.arg_attrs]


def _set_argument_attributes(
    function: func.FuncOp, attributes: Sequence[Mapping[str, Attribute]]
) -> None:
    function.arg_attrs = ArrayAttr(map(DictionaryAttr, attributes)) if any(attributes) else None
