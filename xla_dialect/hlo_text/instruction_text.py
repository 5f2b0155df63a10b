"""The texts of instructions: `%name = type opcode(operands), attributes`, each part made once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    StringAttr,
)
from xdsl.ir import Attribute

from xla_dialect.hlo_text.attributes import (
    COMMON_ATTRIBUTES,
    COMPUTATION_ATTRIBUTES,
    Spelling,
    names,
    of_one,
    sharding_text,
)
from xla_dialect.hlo_text.opcodes import Opcode
from xla_dialect.hlo_text.syntax import COMPUTATION_LISTS
from xla_dialect.sharding.hlo_sharding import HloShardingAttr
from xla_dialect.text.literals import spell_literal
from xla_dialect.text.shapes import spell_type
from xla_dialect.text.strings import dictionary_text, plain_text
from xla_dialect.types import Array, element_count
from xla_dialect.xdsl.traversal import AttributeMemo

Attributes: TypeAlias = Mapping[str, Attribute]
"""Properties, or discardable attributes."""

NO_ATTRIBUTES: Attributes = {}


@dataclass(frozen=True)
class HloPrintOptions:
    """
    The choices of XLA's `HloPrintOptions`, under the same names; the default is XLA's default.

    The one exception: large constants are printed in full, as they cannot be read again otherwise.
    What is left out besides them is lost, but the text stays valid.
    """

    print_percent: bool = True
    """`%` before names."""
    print_program_shape: bool = True
    """The signature of every computation: `(x: f32[2]) -> f32[]`."""
    print_operand_shape: bool = False
    """The shape before every operand."""
    print_operand_index_annotation_interval: int = 5
    """Every how many operands a comment counts them, `/*index=5*/`; 0 for never."""
    include_layout_in_shapes: bool = True
    """Layouts of instructions; without them XLA reads default layouts."""
    print_tuple_indices: bool = False
    """`%p#0` for an element of a tuple, in the place of a `get-tuple-element`."""
    print_metadata: bool = True
    """`metadata={...}`, and the stack frame tables."""
    print_backend_config: bool = True
    """`backend_config={...}`"""
    print_control_dependencies: bool = True
    """`control-predecessors={...}`"""
    print_large_constants: bool = True
    """Constants of more than `LARGE` elements; otherwise `{...}` stands for them."""
    syntax_sugar_async_ops: bool = True
    """`negate-start` for an `async-start` of a computation that negates."""
    canonicalize_instruction_names: bool = False
    """Instructions are named `tmp_0`, `tmp_1`, ... in every computation."""
    canonicalize_computations: bool = False
    """Computations are named `computation_0`, `computation_1`, ..."""

    @staticmethod
    def short_parsable() -> HloPrintOptions:
        """The short form, XLA's `ShortParsable`: what JAX prints for a lowered function."""
        return HloPrintOptions(
            print_percent=False,
            print_program_shape=False,
            print_operand_index_annotation_interval=0,
            print_metadata=False,
            print_control_dependencies=False,
        )

    @staticmethod
    def canonical() -> HloPrintOptions:
        """
        The form for comparing modules: equal programs give equal text, whatever their names.

        As XLA's `Canonical`, but called computations stay outside of instructions and constants in
        full, so that it can be read.
        """
        return HloPrintOptions(
            print_percent=False,
            print_program_shape=False,
            print_operand_shape=True,
            print_operand_index_annotation_interval=0,
            print_metadata=False,
            print_backend_config=False,
            print_control_dependencies=False,
            canonicalize_instruction_names=True,
            canonicalize_computations=True,
        )


LARGE = 10
"""Literals of more elements are large."""

_MEMORIZED_BYTES = 64
"""The largest literal that is looked up among those printed before."""


class _AttributeForm:
    """How one attribute of one opcode is printed; texts are made once for every value."""

    def __init__(self, name: str, spelling: Spelling, opcode: Opcode | None = None):
        self.is_kept = spelling.is_kept
        self._name = name
        self._keys = spelling.properties
        self._write = spelling.write
        self._default: Sequence[Attribute | None] = ()
        self._absent = ""
        if opcode is not None:
            if name not in opcode.difference.always:
                self._default = [opcode.defaults.get(key) for key in self._keys]
            self._absent = self._shown(opcode.difference.implied.get(name, ""))
        self._of_one = AttributeMemo(lambda value: self._of([value]))

    def text(self, found: Attributes) -> str:
        """`, name=value`, or nothing where the values are absent or the default."""
        keys = self._keys
        if len(keys) == 1:
            value = found.get(keys[0])
            return self._absent if value is None else self._of_one(value)
        present = [found[key] for key in keys if key in found]
        return self._of(present) if len(present) == len(keys) else self._absent

    def _of(self, values: Sequence[Attribute]) -> str:
        return "" if values == self._default else self._shown(self._write(*values))

    def _shown(self, value: str) -> str:
        return f", {self._name}={value}" if value else ""


def _common_forms(options: HloPrintOptions) -> dict[str, tuple[int, _AttributeForm]]:
    """
    The forms of what any instruction may carry, by the name under which it is kept.

    With each stands its place in the order of printing. `control-predecessors` is not among them:
    its names are those of instructions.
    """
    left_out = {"control-predecessors"}
    if not options.print_metadata:
        left_out.add("metadata")
    if not options.print_backend_config:
        left_out.add("backend_config")
    spellings = [*COMMON_ATTRIBUTES.items(), *_OF_STABLEHLO]
    return {
        spelling.properties[0]: (_PLACES[name], _AttributeForm(name, spelling))
        for name, spelling in spellings
        if name not in left_out
    }


_PLACES = {name: place for place, name in enumerate(COMMON_ATTRIBUTES)}


def _sharding(value: Attribute) -> str:
    if isinstance(value, HloShardingAttr):
        return sharding_text(value)
    text = plain_text(value)
    return text if text.startswith("{") else f"{{{text}}}"


def _frontend_attributes(value: Attribute) -> str:
    if not isinstance(value, DictionaryAttr):
        return "{}"
    return dictionary_text({name: plain_text(entry) for name, entry in value.data.items()})


def _shardy(name: str, value: Attribute) -> str:
    return dictionary_text({name: plain_text(value)})


_OF_STABLEHLO = [
    (name, of_one(key, StringAttr, write))
    for key, name, write in (
        ("mhlo.sharding", "sharding", _sharding),
        ("mhlo.frontend_attributes", "frontend_attributes", _frontend_attributes),
        ("sdy.sharding", "frontend_attributes", partial(_shardy, "xla.sdy.sharding")),
        ("sdy.sharding_rule", "frontend_attributes", partial(_shardy, "xla.sdy.sharding_rule")),
    )
]
"""What programs of StableHLO carry that HLO has attributes for: name there, and text of the value
here. Shardings of Shardy travel as frontend attributes, as XLA has them."""


class InstructionTexts:
    """What instructions are made of, as text; what is the same in several is made once."""

    def __init__(self, options: HloPrintOptions):
        self.options = options
        self.percent = "%" if options.print_percent else ""
        self.counted = options.print_operand_index_annotation_interval
        """Every how many operands a comment counts them."""
        self._names_predecessors = (
            options.print_control_dependencies and not options.canonicalize_instruction_names
        )
        self._types = [
            AttributeMemo(partial(spell_type, with_layouts=each)) for each in (False, True)
        ]
        """Without layouts, and with them."""
        self._literals: dict[tuple[str, bytes], str] = {}
        """Texts of literals by type and elements."""
        self._own: dict[str, list[_AttributeForm]] = {}
        self._common = _common_forms(options)
        self._trailing = [_AttributeForm(*each) for each in COMPUTATION_ATTRIBUTES.items()]

    def trailing(self, kept: Attributes) -> str:
        """What follows the closing brace of a computation."""
        return "".join(form.text(kept) for form in self._trailing)

    def type(self, type_: Attribute, has_layout: bool | None = None) -> str:
        """A type as instructions have it, or without layouts; raises NoHloSpelling."""
        if has_layout is None:
            has_layout = self.options.include_layout_in_shapes
        return self._types[has_layout](type_)

    def literal(self, value: Attribute) -> str:
        """A literal, or `{...}` where it is large and these are not printed."""
        if not self.options.print_large_constants and _elements(value) > LARGE:
            return "{...}"
        if isinstance(value, ArrayAttr) or not isinstance(value, DenseIntOrFPElementsAttr):
            return spell_literal(cast(Attribute, value))
        dense = cast("DenseIntOrFPElementsAttr[Any]", value)
        data = dense.data.data
        if len(data) > _MEMORIZED_BYTES:
            return spell_literal(dense)
        key = self.type(dense.type), data
        known = self._literals.get(key)
        if known is None:
            known = self._literals[key] = spell_literal(dense)
        return known

    def attributes(
        self,
        opcode: Opcode,
        properties: Attributes,
        kept: Attributes,
        called: Sequence[tuple[str, Sequence[str]]],
        taken: Collection[str],
    ) -> str:
        """
        All attributes: the opcode's own, those that name computations, what any may carry.

        `taken`: the names of the instructions before this one.
        """
        forms = self._own.get(opcode.name)
        if forms is None:
            forms = self._own[opcode.name] = [
                _AttributeForm(name, opcode.spellings[name], opcode) for name in opcode.order
            ]
        text = ""
        for form in forms:
            text += form.text(kept if form.is_kept else properties)
        for name, computations in called:
            references = ", ".join(f"{self.percent}{each}" for each in computations)
            braces = f"{{{references}}}" if name in COMPUTATION_LISTS else references
            text += f", {name}={braces}"
        return text + self.common_attributes(kept, taken) if kept else text

    def common_attributes(self, attributes: Attributes, taken: Collection[str]) -> str:
        """What any instruction may carry."""
        forms = self._common
        found = [
            (place, form.text(attributes))
            for key in attributes
            if (entry := forms.get(key)) is not None
            for place, form in (entry,)
        ]
        predecessors = attributes.get("xla.control_predecessors")
        if predecessors is not None and self._names_predecessors:
            text = self._predecessors(predecessors, taken)
            found.append((_PLACES["control-predecessors"], text))
        if len(found) < 2:
            return found[0][1] if found else ""
        texts: dict[int, str] = {}
        for place, text in sorted(found):
            known = texts.get(place)
            texts[place] = text if known is None else _merged(known, text)
        return "".join(texts.values())

    def _predecessors(self, value: Attribute, taken: Collection[str]) -> str:
        """The instructions before which it must not run; those that are gone are left out."""
        text = value.data if isinstance(value, StringAttr) else "{}"
        found = [f"{self.percent}{name}" for name, _ in names(text) if name in taken]
        return f", control-predecessors={{{', '.join(found)}}}" if found else ""


def _merged(first: str, second: str) -> str:
    """Two attributes of one name as one: `, a={x}` and `, a={y}` are `, a={x,y}`."""
    return f"{first[:-1]},{second[second.index('{') + 1 :]}"


def _elements(value: Attribute) -> int:
    """The number of elements of a literal."""
    if isinstance(value, ArrayAttr):
        return sum(map(_elements, cast("ArrayAttr[Attribute]", value).data))
    if isinstance(value, DenseIntOrFPElementsAttr):
        type_ = cast(Array, cast("DenseIntOrFPElementsAttr[Any]", value).type)
        return element_count(type_.get_shape())
    return 0
