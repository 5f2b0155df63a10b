"""Modules of the dialect as HLO text: the normal form of their computations, printed.

Functions become computations, the entry last among those that the text did not order. Regions
become computations of their own; where the module comes from HLO text they have the names they had,
and one that is the same in several places is printed once.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
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
    COMMON_ATTRIBUTES,
    COMPUTATION_ATTRIBUTES,
    LAYOUT_DEPENDENT,
    MODULE_ATTRIBUTES,
    kept_text,
    names,
    sharding_text,
)
from xla_dialect.hlo_text.importer import TABLE_ATTRIBUTES
from xla_dialect.hlo_text.normal_form import (
    KEYWORDS,
    Attributes,
    FreeNames,
    NormalComputation,
    NormalComputations,
    NormalInstruction,
    dictionaries,
    fail,
    name_list,
    tuple_of,
    valid_name,
)
from xla_dialect.hlo_text.opcodes import Opcode
from xla_dialect.hlo_text.parser import STACK_FRAME_TABLES
from xla_dialect.hlo_text.syntax import COMPUTATION_LISTS
from xla_dialect.ops.collectives import process_counts
from xla_dialect.sharding.attributes import MeshAttr, meshes_of
from xla_dialect.sharding.hlo_sharding import HloShardingAttr
from xla_dialect.spelling import NoHloSpelling, SpellingError
from xla_dialect.text.literals import spell_literal
from xla_dialect.text.shapes import count_list, parse_type, spell_entry_layout, spell_type
from xla_dialect.types import Array, compatible, element_count


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


def print_hlo(module: ModuleOp, options: HloPrintOptions | None = None) -> str:
    """
    Prints a verified module of functions with operations of the dialect as HLO text.

    What was read by `read_hlo` is printed as the same module: names, attributes, order, schedule,
    metadata and layouts are kept. Raises HloPrintError, a `LocatedError`, for what HLO text cannot
    express, for example operations of other dialects.
    """
    options = options or HloPrintOptions()
    functions = _functions(module)
    entry = _entry(module, functions)
    order = name_list(module.attributes.get("xla.computation_order"))
    printer = _Printer(options)
    computations = NormalComputations(
        *(printer.text_of, FreeNames(printer.keywords), order),
        are_numbered=options.canonicalize_computations,
    )
    wanted = {function: _name_of(function) for function in functions}
    for function, name in wanted.items():
        computations.declare(function.sym_name.data, name)
    for function, name in wanted.items():
        computations.add_function(function, name)
    main = computations.functions[entry.sym_name.data]
    name = valid_name("module" if module.sym_name is None else module.sym_name.data)
    try:
        text = (
            f"HloModule {name}{_head_attributes(module, entry, computations.by_name[main][0])}\n\n"
        )
    except NoHloSpelling as error:
        fail(module, str(error))
    if options.print_metadata:
        text += _tables(module)
    for name in _in_order(computations.by_name, order, main):
        head = printer.head(name, computations.by_name[name][0])
        text += f"{'ENTRY ' if name == main else ''}{head} {{\n{computations.by_name[name][1]}\n\n"
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
    for table, token in STACK_FRAME_TABLES.items():
        value = module.attributes.get(TABLE_ATTRIBUTES[table])
        if isinstance(value, ArrayAttr):
            opening, closing = ('"', '"') if token == "string" else ("{", "}")
            lines = name_list(cast("ArrayAttr[StringAttr]", value))
            rows = (f"{i} {opening}{line}{closing}\n" for i, line in enumerate(lines, 1))
            text += f"{table}\n{''.join(rows)}\n"
    return text and f"{text}\n"


def _in_order(
    computations: Mapping[str, tuple[NormalComputation, str]], order: Sequence[str], entry: str
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
            missing = [c for c in computations[name][0].callees if c not in found]
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


def _head_attributes(module: ModuleOp, entry: FuncOp, computation: NormalComputation) -> str:
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
        found["xla.frontend_attributes"] = StringAttr(_dictionary({"xla.sdy.meshes": text}))
    return found


# Attributes


@dataclass(eq=False, slots=True)
class _AttributeForm:
    """How one attribute of one opcode is printed; texts are made once for every value."""

    name: str
    keys: Sequence[str]
    write: Callable[..., str]
    default: Sequence[Attribute | None] = ()
    implied: str = ""
    is_kept: bool = False
    """Whether it is kept with the operation, and not a property of it."""
    memo: dict[int | tuple[int, ...], tuple[Sequence[Attribute], str]] = field(
        default_factory=dict[int | tuple[int, ...], tuple[Sequence[Attribute], str]]
    )
    """By the identities of the values, which are held to keep these unique."""

    def text(self, found: Attributes) -> str:
        """`, name=value`, or nothing where the values are absent or the default."""
        keys = self.keys
        one = len(keys) == 1
        memo_key = id(found.get(keys[0])) if one else tuple([id(found.get(key)) for key in keys])
        known = self.memo.get(memo_key)
        if known is None:
            present = [found[key] for key in keys if key in found]
            value = self.implied
            if len(present) == len(keys):
                value = "" if present == self.default else self.write(*present)
            known = self.memo[memo_key] = present, f", {self.name}={value}" if value else ""
        return known[1]


def _kept_form(name: str) -> _AttributeForm:
    """The form of an attribute that is kept as it was written."""
    return _AttributeForm(name, [kept_name(name)], partial(kept_text, name), is_kept=True)


def _own_forms(opcode: Opcode) -> list[_AttributeForm]:
    """The forms of the attributes that are special to an opcode, in order."""
    forms: list[_AttributeForm] = []
    for name in opcode.order:
        spelling = opcode.spellings.get(name)
        if spelling is None:
            forms.append(_kept_form(name))
            continue
        keys, difference = spelling.properties, opcode.difference
        default = [opcode.defaults.get(key) for key in keys if name not in difference.always]
        implied = difference.implied.get(name, "")
        forms.append(_AttributeForm(name, keys, spelling.write, default, implied))
    return forms


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
    forms = {
        kept_name(name): (place, _kept_form(name))
        for place, name in enumerate(COMMON_ATTRIBUTES)
        if name not in left_out
    }
    for key, (name, write) in _OF_STABLEHLO.items():
        forms[key] = COMMON_ATTRIBUTES.index(name), _AttributeForm(name, [key], write)
    return forms


def quoted_text(text: str) -> str:
    """A string in quotes, as HLO text has it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _sharding(value: Attribute) -> str:
    if isinstance(value, HloShardingAttr):
        return sharding_text(value)
    text = _plain_text(value)
    return text if text.startswith("{") else f"{{{text}}}"


def _frontend_attributes(value: Attribute) -> str:
    if not isinstance(value, DictionaryAttr):
        return "{}"
    return _dictionary({name: _plain_text(entry) for name, entry in value.data.items()})


def _shardy(name: str, value: Attribute) -> str:
    return _dictionary({name: _plain_text(value)})


def _dictionary(entries: Mapping[str, str]) -> str:
    """`{name="text",...}`"""
    return "{" + ",".join(f"{name}={quoted_text(text)}" for name, text in entries.items()) + "}"


def _plain_text(value: Attribute) -> str:
    """A string, or the text of any other attribute."""
    return value.data if isinstance(value, StringAttr) else str(value)


_OF_STABLEHLO: Mapping[str, tuple[str, Callable[..., str]]] = {
    "mhlo.sharding": ("sharding", _sharding),
    "mhlo.frontend_attributes": ("frontend_attributes", _frontend_attributes),
    "sdy.sharding": ("frontend_attributes", partial(_shardy, "xla.sdy.sharding")),
    "sdy.sharding_rule": ("frontend_attributes", partial(_shardy, "xla.sdy.sharding_rule")),
}
"""What programs of StableHLO carry that HLO has attributes for: name there, and text of the value
here. Shardings of Shardy travel as frontend attributes, as XLA has them."""


# Computations


class _Printer:
    """Prints computations in their normal form; texts are made once."""

    def __init__(self, options: HloPrintOptions):
        self.options = options
        self.keywords = () if options.print_percent else KEYWORDS
        """Words that cannot be names in this form."""
        self._percent = "%" if options.print_percent else ""
        self._counts_names = options.canonicalize_instruction_names
        self._shows_types = options.print_operand_shape
        self._counted_operands = options.print_operand_index_annotation_interval
        self._names_predecessors = options.print_control_dependencies and not self._counts_names
        self._has_layouts = options.include_layout_in_shapes
        self._types: dict[tuple[int, bool], tuple[Attribute, str]] = {}
        """
        Texts by the id of a type, which is held so that the id stays unique, and by whether they
        have layouts.
        """
        self._literals: dict[tuple[str, bytes], str] = {}
        """Texts of literals by type and elements."""
        self._own: dict[str, list[_AttributeForm]] = {}
        self._common = _common_forms(options)
        self._trailing = [_kept_form(name) for name in COMPUTATION_ATTRIBUTES]
        self._names = FreeNames()
        """Those of the instructions of the computation that is printed."""

    def head(self, name: str, computation: NormalComputation) -> str:
        """The name of a computation, and its signature."""
        if not self.options.print_program_shape:
            return self._percent + name
        parameters = (f"{p.name}: {self._type(p.type, False)}" for p in computation.parameters)
        result = self._type(computation.result, False)
        return f"{self._percent}{name} ({', '.join(parameters)}) -> {result}"

    def text_of(self, computation: NormalComputation, kept: Attributes) -> str:
        """The lines of a computation, its closing brace and what follows that."""
        indices, root = self.options.print_tuple_indices, computation.root
        reserved = {i.name for i in computation.instructions if i.is_given and i.form is not None}
        self._names = FreeNames(self.keywords)
        for parameter in computation.parameters:
            self._name(parameter, reserved)
        lines: list[str] = []
        for instruction in computation.instructions:
            if indices and instruction is not root and _is_index(instruction):
                index = cast("IntegerAttr[Any]", instruction.properties["index"]).value.data
                instruction.reference = f"{instruction.operands[0].reference}#{index}"
                continue
            if instruction.form is not None:
                self._name(instruction, reserved)
            try:
                line = self._line(instruction)
            except NoHloSpelling as error:
                source = instruction.source
                if source is None:
                    raise
                fail(source, f"{source.name}: {error}")
            lines.append(f"  ROOT {line}" if instruction is root else f"  {line}")
        trailing = "".join(form.text(kept) for form in self._trailing) if kept else ""
        return "\n".join((*lines, f"}}{trailing}"))

    def _name(self, instruction: NormalInstruction, reserved: Container[str]) -> None:
        """Gives an instruction a name that is free."""
        names = self._names
        name = names.take(instruction.name, () if instruction.is_given else reserved)
        if self._counts_names:
            name = f"tmp_{len(names.taken) - len(self.keywords) - 1}"
        instruction.name = name
        instruction.reference = self._percent + name

    def _line(self, instruction: NormalInstruction) -> str:
        """`name = type opcode(operands), attributes`"""
        argument = instruction.argument
        if argument is None:
            operands = [operand.reference for operand in instruction.operands]
            if self._shows_types:
                types = [
                    self._type(operand.type, self._has_layouts) for operand in instruction.operands
                ]
                operands = [f"{type_} {name}" for type_, name in zip(types, operands, strict=True)]
            inside = count_list(operands, self._counted_operands)
        else:
            inside = str(argument) if isinstance(argument, int) else self._literal(argument)
        type_ = self._type(instruction.type, self._has_layouts)
        head = f"{instruction.reference} = {type_} {instruction.opcode}"
        return f"{head}({inside}){self._attributes(instruction)}"

    def _type(self, type_: Attribute, has_layout: bool) -> str:
        """A type as instructions have it, or without layouts; raises NoHloSpelling."""
        key = id(type_), has_layout
        known = self._types.get(key)
        if known is None:
            known = self._types[key] = type_, spell_type(type_, has_layout)
        return known[1]

    def _literal(self, value: Attribute) -> str:
        """A literal, or `{...}` where it is large and these are not printed."""
        if not self.options.print_large_constants and _elements(value) > LARGE:
            return "{...}"
        if isinstance(value, ArrayAttr) or not isinstance(value, DenseIntOrFPElementsAttr):
            return spell_literal(cast(Attribute, value))
        dense = cast("DenseIntOrFPElementsAttr[Any]", value)
        data = dense.data.data
        if len(data) > _MEMORIZED_BYTES:
            return spell_literal(dense)
        key = self._type(dense.type, self._has_layouts), data
        known = self._literals.get(key)
        if known is None:
            known = self._literals[key] = spell_literal(dense)
        return known

    def _attributes(self, instruction: NormalInstruction) -> str:
        """All attributes: the opcode's own, those that name computations, what any may carry."""
        text = "" if instruction.inner is None else self._attributes(instruction.inner)
        opcode, attributes = instruction.form, instruction.attributes
        if opcode is not None:
            forms = self._own.get(opcode.name)
            if forms is None:
                forms = self._own[opcode.name] = _own_forms(opcode)
            for form in forms:
                text += form.text(attributes if form.is_kept else instruction.properties)
        for name, called in instruction.called:
            references = ", ".join(f"{self._percent}{each}" for each in called)
            braces = f"{{{references}}}" if name in COMPUTATION_LISTS else references
            text += f", {name}={braces}"
        return text + self._common_attributes(attributes) if attributes else text

    def _common_attributes(self, attributes: Attributes) -> str:
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
            found.append(
                (COMMON_ATTRIBUTES.index("control-predecessors"), self._predecessors(predecessors))
            )
        if len(found) < 2:
            return found[0][1] if found else ""
        texts: dict[int, str] = {}
        for place, text in sorted(found):
            known = texts.get(place)
            texts[place] = text if known is None else _merged(known, text)
        return "".join(texts.values())

    def _predecessors(self, value: Attribute) -> str:
        """The instructions before which it must not run; those that are gone are left out."""
        text = value.data if isinstance(value, StringAttr) else "{}"
        known = self._names.taken
        found = [f"{self._percent}{name}" for name, _ in names(text) if name in known]
        return f", control-predecessors={{{', '.join(found)}}}" if found else ""


def _is_index(instruction: NormalInstruction) -> bool:
    """Whether it has no line of its own, for its uses say `%p#0` in its place."""
    if instruction.opcode != "get-tuple-element":
        return False
    op = instruction.source
    if op is None:
        return True
    last = None if op.parent is None else op.parent.last_op
    return set(op.attributes) <= {"xla.name"} and all(
        use.operation is not last for result in op.results for use in result.uses
    )


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
