"""What the printers of all computations of a module share: texts made once, names, computations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr
from xdsl.ir import Attribute

from xla_dialect.entry.names import kept_name
from xla_dialect.hlo_text.attributes import COMMON_ATTRIBUTES, COMPUTATION_ATTRIBUTES
from xla_dialect.hlo_text.instruction_forms import (
    AttributeForm,
    common_attributes,
    kept_form,
    own_attributes,
)
from xla_dialect.hlo_text.naming import KEYWORDS, FreeNames
from xla_dialect.hlo_text.opcodes import Opcode
from xla_dialect.hlo_text.print_options import LARGE, HloPrintOptions
from xla_dialect.text.literals import spell_literal
from xla_dialect.text.shapes import spell_type
from xla_dialect.types import Array, element_count

_MEMORIZED_BYTES = 64
"""The largest literal that is looked up among those printed before."""


@dataclass
class ComputationText:
    """The inside of a computation as text."""

    lines: Sequence[str]
    parameters: Sequence[tuple[str, Attribute]]
    """Names, as they are printed, and types."""
    result: Attribute
    callees: Sequence[str]
    """The names of the computations that it calls."""


@dataclass
class PrintedComputation:
    """A computation that is printed already."""

    name: str
    body: ComputationText
    trailing: str
    """What follows its closing brace."""
    is_entry: bool


class ProgramPrinter:
    """The state of printing one module."""

    def __init__(self, options: HloPrintOptions, avoided: Sequence[str]):
        self.options = options
        self.computations: dict[str, PrintedComputation] = {}
        """By name, called ones before those that call them (but functions, which may be called
        before they are printed)."""
        self.common_attributes = common_attributes(options)
        """By the name under which they are kept."""
        self.predecessors_place = COMMON_ATTRIBUTES.index("control-predecessors")
        self.names_predecessors = (
            options.print_control_dependencies and not options.canonicalize_instruction_names
        )
        """Whether `control-predecessors` are printed: they name instructions as the text did."""
        self.keywords = () if options.print_percent else KEYWORDS
        """Words that cannot be names in this form."""
        self.regions: dict[tuple[object, ...], str] = {}
        """Printed computations of regions, by a key of everything that their text depends on."""
        self._avoided = frozenset(avoided)
        """The names of computations of the text that the module comes from."""
        self._names = FreeNames(self.keywords)
        self._count = 0
        self._functions: dict[str, str] = {}
        self._by_content: dict[tuple[str | None, str], str] = {}
        self._types: dict[int, tuple[Attribute, str]] = {}
        """Texts by the id of a type, which is held so that the id stays unique."""
        self._shapes: dict[int, tuple[Attribute, str]] = {}
        self._literals: dict[tuple[str, bytes], str] = {}
        """Texts of literals by type and elements."""
        self._own: dict[str, tuple[tuple[bool, AttributeForm], ...]] = {}
        self._trailing = {
            kept_name(name): kept_form(name, kept_name(name)) for name in COMPUTATION_ATTRIBUTES
        }

    # Texts that are made once

    def type_text(self, type_: Attribute) -> str:
        """A type as instructions have it; raises Inexpressible."""
        known = self._types.get(id(type_))
        if known is None:
            text = spell_type(type_, self.options.include_layout_in_shapes)
            known = self._types[id(type_)] = type_, text
        return known[1]

    def literal_text(self, value: Attribute) -> str:
        """A literal, or `{...}` where it is large and these are not printed."""
        if not self.options.print_large_constants and _elements(value) > LARGE:
            return "{...}"
        if isinstance(value, ArrayAttr) or not isinstance(value, DenseIntOrFPElementsAttr):
            return spell_literal(cast(Attribute, value))
        dense = cast("DenseIntOrFPElementsAttr[Any]", value)
        data = dense.data.data
        if len(data) > _MEMORIZED_BYTES:
            return spell_literal(dense)
        key = self.type_text(dense.type), data
        known = self._literals.get(key)
        if known is None:
            known = self._literals[key] = spell_literal(dense)
        return known

    def own_attributes(self, opcode: Opcode) -> tuple[tuple[bool, AttributeForm], ...]:
        """See `instruction_forms`."""
        forms = self._own.get(opcode.name)
        if forms is None:
            forms = self._own[opcode.name] = own_attributes(opcode)
        return forms

    # Computations

    def declare_function(self, symbol: str, name: str) -> None:
        """Names the computation of a function, before any of them is printed."""
        self._functions[symbol] = self._take(name)

    def function_name(self, symbol: str) -> str | None:
        """The name of the computation of a function; None where there is none."""
        return self._functions.get(symbol)

    def add_function(
        self,
        symbol: str,
        name: str,
        body: ComputationText,
        kept: Mapping[str, Attribute],
        is_entry: bool,
    ) -> None:
        """Adds the computation of a function; a region that says the same will share it."""
        taken = self._functions[symbol]
        computation = PrintedComputation(taken, body, self._trailing_text(kept), is_entry)
        self.computations[taken] = computation
        self._by_content.setdefault((name, _content(computation)), taken)

    def add_region(
        self,
        name: str | None,
        body: ComputationText,
        kept: Mapping[str, Attribute],
        make_name: Callable[[], str],
        may_share: bool,
    ) -> str:
        """
        Adds the computation of a region, unless it is there already; returns its name.

        `name` is that of the text that the module comes from. What has none shares the computation
        of another region that has none either, where HLO allows that (`may_share`).
        """
        computation = PrintedComputation("", body, self._trailing_text(kept), is_entry=False)
        key = name, _content(computation)
        known = self._by_content.get(key) if name is not None or may_share else None
        if known is not None:
            return known
        computation.name = self._take(name) if name is not None else self._take_new(make_name())
        self.computations[computation.name] = computation
        self._by_content.setdefault(key, computation.name)
        return computation.name

    def _take(self, name: str) -> str:
        if self.options.canonicalize_computations:
            name = f"computation_{self._count}"
            self._count += 1
        return self._names.take(name)

    def _take_new(self, name: str) -> str:
        if self.options.canonicalize_computations:
            return self._take(name)
        return self._names.take(name, self._avoided)

    def reference(self, name: str) -> str:
        """How a computation is named by instructions."""
        return f"%{name}" if self.options.print_percent else name

    def _trailing_text(self, kept: Mapping[str, Attribute]) -> str:
        return "".join(form.text(kept) for form in self._trailing.values())

    def text_of(self, computation: PrintedComputation) -> str:
        """A computation with its head."""
        body = computation.body
        signature = ""
        if self.options.print_program_shape:
            parameters = (f"{name.lstrip('%')}: {self._shape(t)}" for name, t in body.parameters)
            signature = f" ({', '.join(parameters)}) -> {self._shape(body.result)}"
        mark = "ENTRY " if computation.is_entry else ""
        lines = "\n".join(body.lines)
        name = self.reference(computation.name)
        return f"{mark}{name}{signature} {{\n{lines}\n}}{computation.trailing}\n"

    def _shape(self, type_: Attribute) -> str:
        """A type without layouts."""
        known = self._shapes.get(id(type_))
        if known is None:
            known = self._shapes[id(type_)] = type_, spell_type(type_, with_layouts=False)
        return known[1]


def _content(computation: PrintedComputation) -> str:
    """All that a computation says but its name."""
    return "\n".join((*computation.body.lines, computation.trailing))


def _elements(value: Attribute) -> int:
    """The number of elements of a literal."""
    if isinstance(value, ArrayAttr):
        return sum(map(_elements, cast("ArrayAttr[Attribute]", value).data))
    if isinstance(value, DenseIntOrFPElementsAttr):
        type_ = cast(Array, cast("DenseIntOrFPElementsAttr[Any]", value).type)
        return element_count(type_.get_shape())
    return 0
