"""What the text of each opcode may say: its class, its attributes, its computations, its arity.

Reader and printer share this table. Most of it follows from the definition of the operation class:
an attribute of HLO text has the name of a property, a called computation that of a region. Only
what differs is listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, f32, i1, i64
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import BaseAttr, OptPropertyDef, PropertyDef, VarOperandDef

from xla_dialect.attributes import ComparisonType, ComparisonTypeAttr
from xla_dialect.hlo_text import attributes
from xla_dialect.hlo_text.attributes import Properties, Spelling
from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE, elementwise, opcode

EMPTY = DenseArrayBase.from_list(i64, ())


@dataclass(frozen=True)
class Difference:
    """How the text of an opcode differs from the definition of its class."""

    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """HLO attribute to property, where the names differ but the spelling follows."""
    spelled: Mapping[str, Spelling] = field(default_factory=dict[str, Spelling])
    """HLO attribute to spelling, where that differs too; it may give several properties."""
    covered: tuple[str, ...] = ()
    """The properties that `spelled` gives."""
    otherwise: Mapping[str, tuple[str, Spelling]] = field(
        default_factory=dict[str, tuple[str, Spelling]]
    )
    """Attributes that are read, but printed as another one, with that one."""
    defaults: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    """Properties that may be left out in HLO text, though the class needs them."""
    kept: tuple[str, ...] = ()
    """Attributes that are not interpreted, but kept as written."""
    first: tuple[str, ...] = ()
    """The attributes that are printed first, where XLA has another order than the class."""
    always: frozenset[str] = frozenset()
    """Attributes that are printed even where they have their default value."""
    implied: Mapping[str, str] = field(default_factory=dict[str, str])
    """The text of attributes that XLA needs, where the operation says nothing."""
    packed: frozenset[str] = frozenset()
    """Variadic operands that are a single one in HLO, a tuple unless there is one value."""
    more_operands: bool = False
    """Whether further operands may follow, which a property `bound` counts."""
    computations: tuple[tuple[str, ...], ...] = ()
    """Alternative lists of attributes that name the computations, instead of the regions."""
    computations_required: bool = True
    """Whether one of the lists has to be there."""
    shape_follows: bool = False
    """Whether the result type may be left out, though the class takes a declared one."""


SLICE = ("start_indices", "limit_indices", "strides")
PADDING = ("edge_padding_low", "edge_padding_high", "interior_padding")
RESULT_ACCURACY = Difference(kept=("result_accuracy",))

SINGLE_DIMENSION = Difference(
    spelled={"dimensions": attributes.single_dimension("dimension")}, covered=("dimension",)
)
CONTRACTING = frozenset({"lhs_contracting_dims", "rhs_contracting_dims"})
DOT = Difference(
    kept=("operand_precision", "algorithm", "sparsity_config"),
    always=CONTRACTING,
    shape_follows=True,
)

ORDERS = {
    "PARTIAL": ComparisonTypeAttr(ComparisonType.FLOAT),
    "TOTAL": ComparisonTypeAttr(ComparisonType.TOTALORDER),
}
"""What newer texts say in the place of a type."""
MODE = ("mode",)
GROUPS = ("channel_id", "replica_groups", "use_global_device_ids", "constrain_layout")
COLLECTIVE = Difference(kept=MODE, first=GROUPS, always=frozenset({"replica_groups"}))
ALONG_DIMENSION = replace(SINGLE_DIMENSION, kept=MODE, first=GROUPS, always=COLLECTIVE.always)
DONE = Difference(packed=frozenset({"context"}))
PERMUTE = Difference(
    spelled={"slice_sizes": attributes.verbatim("slice_sizes")},
    covered=("slice_sizes",),
    kept=MODE,
    first=("channel_id", "source_target_pairs", "slice_sizes"),
)

CUSTOM_CONVOLUTION = (
    *("window", "dim_labels", "feature_group_count", "batch_group_count"),
    *("operand_precision", "padding_type"),
)
"""What custom calls say that stand for convolutions."""

DIFFERENCES: dict[str, Difference] = {
    "broadcast": Difference(always=frozenset({"dimensions"})),
    "gather": Difference(always=frozenset({"collapsed_slice_dims"})),
    "scatter": Difference(always=frozenset({"inserted_window_dims"})),
    **dict.fromkeys(("all-gather", "all-gather-start"), ALONG_DIMENSION),
    "all-to-all": replace(ALONG_DIMENSION, shape_follows=True),
    **dict.fromkeys(("all-reduce", "all-reduce-start"), COLLECTIVE),
    "async-start": Difference(kept=("output_to_operand_aliasing",)),
    "call": Difference(covered=("to_apply",), computations=(("to_apply",),)),
    "collective-broadcast": COLLECTIVE,
    "collective-permute": PERMUTE,
    "collective-permute-start": PERMUTE,
    "compare": Difference(
        renamed={"type": "comparison_type"},
        otherwise={"order": ("type", attributes.word("comparison_type", ORDERS))},
    ),
    "concatenate": SINGLE_DIMENSION,
    "conditional": Difference(
        computations=(("branch_computations",), ("true_computation", "false_computation"))
    ),
    "constant": Difference(covered=("value",)),
    "convolution": Difference(
        kept=(
            *("operand_precision", "algorithm", "convolution_kind", "sparsity_config"),
            "block_scaling_config",
        ),
        shape_follows=True,
    ),
    "custom-call": Difference(
        spelled={"api_version": attributes.api_version("api_version")},
        covered=("api_version",),
        kept=(
            *CUSTOM_CONVOLUTION,
            *("operand_layout_constraints", "literal", "output_to_operand_aliasing"),
            *("schedule", "custom_call_schedule"),
        ),
        first=(
            *CUSTOM_CONVOLUTION,
            *("custom_call_target", "operand_layout_constraints", "custom_call_has_side_effect"),
            *("literal", "output_to_operand_aliasing", "schedule"),
        ),
        computations=(("called_computations",), ("to_apply",)),
        computations_required=False,
    ),
    "domain": Difference(spelled={"domain": attributes.verbatim("domain")}, covered=("domain",)),
    "dot": DOT,
    "get-dimension-size": SINGLE_DIMENSION,
    "set-dimension-size": replace(SINGLE_DIMENSION, shape_follows=True),
    **dict.fromkeys(
        (
            *("all-gather-done", "all-reduce-done", "collective-permute-done", "copy-done"),
            *("recv-done", "send-done"),
        ),
        DONE,
    ),
    **dict.fromkeys(
        ("async-done", "async-update"), replace(DONE, covered=("bound",), more_operands=True)
    ),
    "outfeed": Difference(packed=frozenset({"item"})),
    "send": Difference(packed=frozenset({"operand"})),
    "fusion": Difference(kept=("output_to_operand_aliasing",), implied={"kind": "kLoop"}),
    "pad": Difference(
        spelled={"padding": attributes.padding(*PADDING)},
        covered=PADDING,
        defaults=dict.fromkeys(PADDING, EMPTY),
    ),
    "ragged-all-to-all": COLLECTIVE,
    "ragged-dot": DOT,
    "reduce-scatter": ALONG_DIMENSION,
    "reshape": Difference(kept=("inferred_dimension",)),
    "scaled-dot": DOT,
    "scan": replace(SINGLE_DIMENSION, always=frozenset({"is_associative"})),
    "slice": Difference(spelled={"slice": attributes.slice_ranges(*SLICE)}, covered=SLICE),
    "sort": SINGLE_DIMENSION,
    "topk": Difference(kept=("is_stable",), always=frozenset({"largest"})),
}


@dataclass(frozen=True)
class Opcode:
    """How one opcode is written in HLO text."""

    name: str
    operation: type[XlaOp]
    spellings: Mapping[str, Spelling]
    """Per HLO attribute."""
    required: frozenset[str]
    """Those of them that must be there."""
    difference: Difference
    order: tuple[str, ...]
    """The attributes of `spellings` in the order of printing, each under one name."""
    defaults: Properties
    """The values of properties that may be left out."""
    computations: tuple[tuple[str, ...], ...]
    """Alternative lists of attributes that name called computations; `()` for none."""
    fixed_operands: int
    variadic_operands: int
    """How many groups of operands are of any (the same) length."""
    takes_declared: bool
    """Whether the result type does not follow from the rest, and has to be written."""

    def takes_operands(self, count: int) -> bool:
        """Whether an instruction may have that many operands."""
        rest = count - self.fixed_operands
        if not self.variadic_operands:
            return rest == 0
        return rest >= 0 and rest % self.variadic_operands == 0

    def describe_operands(self) -> str:
        """How many operands it takes, in words."""
        plural = "" if self.fixed_operands == 1 else "s"
        if not self.variadic_operands:
            return f"{self.fixed_operands} operand{plural}"
        if self.variadic_operands > 1:
            return f"groups of {self.variadic_operands} operands"
        return f"at least {self.fixed_operands} operand{plural}"

    def describe_attributes(self) -> str:
        """The attributes that are special to it."""
        own = {*self.spellings, *(a for names in self.computations for a in names)}
        return ", ".join(sorted(own)) or "none of its own"


@cache
def _read_opcode(operation: type[XlaOp]) -> Opcode:
    """Reads off the class how the opcode is spelled, and adds what differs."""
    name = opcode(operation)
    definition = operation.get_irdl_definition()
    contract = operation.contract()
    is_inexact = issubclass(operation, elementwise.InexactOp)
    difference = DIFFERENCES.get(name, RESULT_ACCURACY if is_inexact else Difference())
    attribute_of = {prop: attribute for attribute, prop in difference.renamed.items()}
    spellings = dict(difference.spelled)
    optional = all(_is_optional(definition.properties[name]) for name in difference.covered)
    required = set[str]() if optional or difference.defaults else set(difference.spelled)
    defaults = dict(difference.defaults)
    for prop_name, prop in definition.properties.items():
        if prop.default_value is not None:
            defaults[prop_name] = prop.default_value
        if prop_name in difference.covered:
            continue
        attribute = attribute_of.get(prop_name, prop_name)
        enum: Any = contract.enums.get(prop_name)
        if enum is not None:
            cases = {case.value: enum(case) for case in enum.enum_type}
            spellings[attribute] = attributes.word(prop_name, cases)
        elif prop_name in contract.spelled:
            spellings[attribute] = attributes.spelled(contract.spelled[prop_name])(prop_name)
        else:
            spellings[attribute] = _SPELLING_OF_CONSTRAINT[prop.constr](prop_name)
        if not _is_optional(prop) and prop_name not in defaults:
            required.add(attribute)
    regions = tuple(region_name for region_name, _ in definition.regions)
    spellings |= {kept: attributes.uninterpreted(kept) for kept in difference.kept}
    own = (*(n for n in difference.first if n in spellings), *spellings)
    spellings |= {name: spelling for name, (_, spelling) in difference.otherwise.items()}
    variadic = sum(
        isinstance(operand, VarOperandDef) and name not in difference.packed
        for name, operand in definition.operands
    )
    return Opcode(
        name,
        operation,
        spellings,
        frozenset(required),
        difference,
        tuple(dict.fromkeys(own)),
        defaults,
        difference.computations or ((regions,) if regions else ()),
        len(definition.operands) - variadic,
        variadic + difference.more_operands,
        contract.takes_declared and not difference.shape_follows,
    )


def _is_optional(prop: PropertyDef) -> bool:
    return isinstance(prop, OptPropertyDef) or prop.default_value is not None


_SPELLING_OF_CONSTRAINT: dict[Any, Callable[[str], Spelling]] = {
    DenseArrayBase.constr(i64): attributes.integers,
    IntegerAttr.constr(type=i64): attributes.integer,
    IntegerAttr.constr(type=i1): attributes.boolean,
    FloatAttr.constr(f32): attributes.number,
    BaseAttr(StringAttr): attributes.string,
    BaseAttr(TypeAttribute): attributes.shape,
}

_Key = TypeVar("_Key")


class _Rows(Mapping[_Key, Opcode]):
    """Opcodes by a key; each is read off its class when it is asked for: programs have a few."""

    def __init__(self, operations: Mapping[_Key, type[XlaOp]]):
        self._operations = operations

    def __getitem__(self, key: _Key) -> Opcode:
        return _read_opcode(self._operations[key])

    def __contains__(self, key: object) -> bool:
        return key in self._operations

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._operations)

    def __len__(self) -> int:
        return len(self._operations)


OPCODES: Mapping[str, Opcode] = _Rows(BY_OPCODE)
"""Every opcode of the dialect. `parameter` is none: parameters are block arguments."""

OPCODE_OF: Mapping[type[XlaOp], Opcode] = _Rows({each: each for each in BY_OPCODE.values()})
"""From the class of an operation to its opcode."""

ASYNC_SUFFIXES = ("-start", "-update", "-done")


def asynchronous_opcode(name: str) -> tuple[str, Opcode] | None:
    """
    The opcode `async-start`, `async-update` or `async-done` and the one that runs asynchronously,
    for their joint name: `negate-start` is an `async-start` of a computation that negates.

    None where the name is an opcode of its own, or of no operation.
    """
    for suffix in ASYNC_SUFFIXES:
        base = OPCODES.get(name.removesuffix(suffix))
        if name.endswith(suffix) and name not in OPCODES and base is not None:
            return f"async{suffix}", base
    return None


def opcode_with_computations(name: str) -> Opcode | None:
    """The opcode whose computations an instruction of this name calls, if it is known."""
    outer, base = asynchronous_opcode(name) or ("", None)
    return base if outer == "async-start" else OPCODES.get(name)
