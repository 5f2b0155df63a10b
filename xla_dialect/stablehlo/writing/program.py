"""Modules as StableHLO text: functions, what the module says of its entry, meshes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Region

from xla_dialect.entry.aliases import entry_aliases
from xla_dialect.entry.names import ALIASING_OUTPUT, BUFFER_DONOR, ENTRY_SYMBOL
from xla_dialect.layout import LayoutAttr
from xla_dialect.sharding.attributes import MESHES, meshes_of
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo.attribute_text import (
    dictionary_text,
    kept_texts,
    string_text,
    symbol_text,
)
from xla_dialect.stablehlo.inexpressible import Inexpressible, fail
from xla_dialect.stablehlo.writing.body import BodyWriter
from xla_dialect.stablehlo.writing.operations import WRITERS
from xla_dialect.stablehlo.writing.type_text import type_text
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import Array, all_compatible, flatten, is_array

_SIGNATURE = "xla.entry_computation_layout"


class ProgramWriter:
    """The state of writing one module."""

    def __init__(self, module: ModuleOp, debug_info: bool):
        self.module = module
        self.debug_info = debug_info
        self.outlined: list[str] = []
        """The functions that were regions: what custom calls call."""
        self._symbols = {op.sym_name.data for op in module.ops if isinstance(op, FuncOp)}
        self._types: dict[int, tuple[Attribute, str]] = {}
        """By the identity of the type, which is held to keep it unique."""

    def type_text(self, type_: Attribute) -> str:
        """A type; raises Inexpressible."""
        known = self._types.get(id(type_))
        if known is None:
            known = self._types[id(type_)] = type_, type_text(type_)
        return known[1]

    def text(self) -> str:
        """The module; raises StableHloPrintError."""
        module = self.module
        name = "" if module.sym_name is None else f" {symbol_text(module.sym_name.data)}"
        try:
            attributes = kept_texts(module.attributes)
        except Inexpressible as error:
            fail(module, str(error))
        attributes.pop(MESHES, None)
        shown = f" attributes {dictionary_text(attributes)}" if attributes else ""
        lines = [f"module{name}{shown} {{", *self._meshes()]
        for op in module.ops:
            if not isinstance(op, FuncOp):
                fail(op, "StableHLO has functions only in a module")
            lines.append(self._function(op))
        return "\n".join([*lines, *self.outlined, "}\n"])

    def _meshes(self) -> Iterable[str]:
        for name, mesh in meshes_of(self.module).items():
            yield f"  sdy.mesh {symbol_text(name)} = <{mesh}>"

    # Functions

    def _function(self, function: FuncOp) -> str:
        try:
            return self._function_text(function)
        except Inexpressible as error:
            fail(function, str(error))

    def _function_text(self, function: FuncOp) -> str:
        type_ = function.function_type
        block = function.body.first_block
        body = BodyWriter(self, WRITERS)
        facts = [_facts(function.arg_attrs, type_.inputs.data)]
        facts.append(_facts(function.res_attrs, type_.outputs.data))
        if function.sym_name.data == ENTRY_SYMBOL:
            _add_entry_facts(self.module, function, facts)
        types = body.types(type_.inputs.data)
        if block is None:
            parameters = types
        elif block.next_block is not None:
            fail(function, f"StableHLO has no functions of {len(function.body.blocks)} blocks")
        else:
            names = body.parameters(block)
            parameters = [f"{n}: {t}" for n, t in zip(names, types, strict=True)]
        inputs = ", ".join(map(_with_attributes, parameters, facts[0]))
        results = list(map(_with_attributes, body.types(type_.outputs.data), facts[1]))
        visibility = function.sym_visibility
        head = f"func.func {visibility.data + ' ' if visibility is not None else ''}"
        head += f"{symbol_text(function.sym_name.data)}({inputs})"
        if results:
            single = len(results) == 1 and not facts[1][0]
            head += f" -> {results[0]}" if single else f" -> ({', '.join(results)})"
        kept = kept_texts(function.attributes)
        if kept:
            head += f" attributes {dictionary_text(kept)}"
        location = f" {function.location}" if self.debug_info else ""
        if block is None:
            return f"  {head}{location}"
        _write_body(body, block, "return")
        return "\n".join([f"  {head} {{", *body.lines, f"  }}{location}"])

    def outline(self, region: Region, name: str) -> str:
        """Makes a private function of a region; returns its symbol."""
        symbol = name
        number = 0
        while symbol in self._symbols:
            symbol, number = f"{name}_{number}", number + 1
        self._symbols.add(symbol)
        body, block = BodyWriter(self, WRITERS), region.block
        types = body.types(argument.type for argument in block.args)
        names = body.parameters(block)
        inputs = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
        results = body.types(value.type for value in body.returned(block))
        after = results[0] if len(results) == 1 else f"({', '.join(results)})"
        _write_body(body, block, "return")
        head = f"  func.func private {symbol_text(symbol)}({inputs}) -> {after} {{"
        self.outlined.append("\n".join([head, *body.lines, "  }"]))
        return symbol


def _write_body(body: BodyWriter, block: Block, terminator: str) -> None:
    body.operations(block)
    values = body.returned(block)
    names = body.leaves(values)
    types = body.types(value.type for value in values)
    body.line(f"{terminator} {', '.join(names)} : {', '.join(types)}" if names else terminator)


Facts = list[dict[str, str]]
"""The attributes of every leaf of the parameters, or of the results."""


def _with_attributes(text: str, facts: Mapping[str, str]) -> str:
    return f"{text} {dictionary_text(facts)}" if facts else text


def _facts(attributes: ArrayAttr[DictionaryAttr] | None, types: Sequence[Attribute]) -> Facts:
    """The attributes of the leaves of values of these types; those of tuples are dropped."""
    if attributes is None:
        return [{} for _ in flatten(types)]
    found: Facts = []
    for entry, type_ in zip(attributes.data, types, strict=True):
        leaves = flatten([type_])
        found.extend([kept_texts(entry.data)] if leaves == (type_,) else ({} for _ in leaves))
    return found


def _add_entry_facts(module: ModuleOp, function: FuncOp, facts: list[Facts]) -> None:
    """
    Adds the layouts and aliases of an HLO module's entry, as the attributes that JAX uses.

    Layouts other than the default become `mhlo.layout_mode`, aliases `tf.aliasing_output`, donors
    `jax.buffer_donor`.
    """
    parameters, _ = facts
    own = function.function_type
    aliases = entry_aliases(module, own.inputs.data, own.outputs.data)
    for parameter, result in aliases.results.items():
        parameters[parameter].setdefault(ALIASING_OUTPUT, f"{result} : i32")
    for parameter in sorted(aliases.donors):
        parameters[parameter].setdefault(BUFFER_DONOR, "true")
    types = _declared_types(module, function)
    for of_values, entry_types in zip(facts, types, strict=True):
        for entry, type_ in zip(of_values, entry_types, strict=True):
            encoding = type_.encoding if is_array(type_) else None
            if isinstance(encoding, LayoutAttr) and encoding.data.minor_to_major != tuple(
                reversed(range(len(cast(Array, type_).shape)))
            ):
                order = ",".join(map(str, encoding.data.minor_to_major))
                entry.setdefault("mhlo.layout_mode", string_text(f"{{{order}}}"))


def _declared_types(module: ModuleOp, function: FuncOp) -> list[tuple[Attribute, ...]]:
    """The types of the leaves of parameters and results as the callers of the entry see them."""
    type_ = function.function_type
    found = [flatten(type_.inputs.data), flatten(type_.outputs.data)]
    written = module.attributes.get(_SIGNATURE)
    if isinstance(written, StringAttr):
        inputs, _, output = written.data[1:-1].rpartition("->")
        try:
            declared = [flatten([parse_type(text)]) for text in (inputs, output)]
        except SpellingError:
            return found
        if all(map(all_compatible, declared, found)):
            return declared
    return found
