"""
The grammars of attribute values that are kept as they are written: metadata, sharding, aliases.

Nobody here asks what they mean, but XLA does not read a text in which they are misspelled. What
is spelled in several ways has one normal form, as XLA prints it: `{HIGH,default}` is
`{high,default}`, and what says the default is not printed at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from xdsl.ir import Attribute

from xla_dialect.shapes.window import ConvolutionLabelsAttr, WindowAttr
from xla_dialect.sharding.hlo_sharding import HloSharding
from xla_dialect.spelling import BRACES_AND_PARENTHESES, Excerpt, Scanner, Tokens
from xla_dialect.text.accuracy import Accuracy
from xla_dialect.text.grammars import (
    Grammar,
    boolean,
    braces,
    by_first,
    dictionary,
    field,
    int32,
    integer,
    listed,
    nothing,
    number,
    optional,
    record,
    rest,
    sequence,
    string,
    token,
    tree,
    word,
)
from xla_dialect.text.literals import parse_literal
from xla_dialect.text.shapes import TypeParser

# Shapes, literals and shardings


def shape(scanner: Scanner) -> Attribute:
    """`f32[2]{0}` or `(f32[2], s32[])`; the type"""
    parser = TypeParser(scanner.text, scanner.position)
    if parser.kind == "shape":
        # What follows need not be a token.
        end = parser.end
        type_ = parser.array(parser.token, parser.start)
    else:
        type_ = parser.type()
        end = parser.start
    scanner.position = end
    scanner.skip_blanks()
    return type_


_ONE_ELEMENT = token(r"[^\s,(){}]++(?:\(\w++\))?", "a literal")


def _array_literal(scanner: Scanner) -> Attribute:
    type_ = shape(scanner)
    start = scanner.position
    if scanner.at("{") or scanner.at("("):
        text = scanner.group(BRACES_AND_PARENTHESES)
    else:
        text = _ONE_ELEMENT(scanner)
    with Excerpt(start):
        return parse_literal(text, type_)


literal = tree(_array_literal)
"""`f32[2] {1, 2}`, or a tuple of such"""


def sharding_of(metadata: Grammar) -> Grammar:
    """`{replicated}`, or for a tuple `{{replicated}, {maximal device=0}}`, each with metadata"""

    def read(scanner: Scanner) -> HloSharding:
        tokens = Tokens(scanner.text, scanner.position)
        found = HloSharding.parse(tokens, metadata)
        scanner.position = tokens.position
        return found

    return read


# Attributes

_STRINGS = (
    *("op_type", "op_name", "source_file"),
    *("deduplicated_name", "scheduling_name", "metadata_payload"),
)
_NUMBERS = (
    *("source_line", "source_end_line", "source_column", "source_end_column"),
    "stack_frame_id",
)
_OLDER_FIELDS: Mapping[str, Grammar] = {
    "size_of_generated_code_in_bytes": integer,
    "size_of_memory_working_set_in_bytes": integer,
    "preserve_layout": boolean,
    "profile_info": braces,
}
"""What metadata had in older texts. XLA reads them no more, so they are not kept."""
metadata = record(
    {
        **dict.fromkeys(_STRINGS, string),
        **dict.fromkeys(_NUMBERS, int32),
        "profile_type": listed(token(r"[0-3](?![0-9.])", "a kind of profile from 0 to 3")),
        **_OLDER_FIELDS,
    }
)

_TWO_BRACES = re.compile(r"\{\s*+\{")


def sharding_metadata(scanner: Scanner) -> object:
    """`{op_name="a"}` or `{{op_name="a"}, {op_name="b"}}`"""
    several = _TWO_BRACES.match(scanner.text, scanner.position)
    return (listed(metadata) if several else metadata)(scanner)


sharding = sharding_of(sharding_metadata)
shape_index = listed(integer)

_ORIGINAL_ARRAY = sequence(
    "{",
    by_first({"}": nothing}, sequence(string, by_first({"{": shape_index}, nothing))),
    "}",
)


origin = sequence(
    "{",
    by_first(
        {"[": sequence("[", word("synthetic_call"), "]"), "}": nothing},
        sequence(tree(_ORIGINAL_ARRAY), optional(",", sequence("[", string, "]"))),
    ),
    "}",
)
"""`{[synthetic_call]}`, or a tree of arrays, `{({"a"}, {"b" {1}}), ["calls"]}`"""


def _recovery_table(scanner: Scanner) -> None:
    """`{{"a"} : {"b"}, "HloModule ..."}`"""
    scanner.expect("{")
    while not scanner.accept("}"):
        sequence(_ORIGINAL_ARRAY, ":", _ORIGINAL_ARRAY, optional(",", string))(scanner)


_DEBUGGED = listed(
    field(
        {
            "log_mode": word("default", "fusion_debugger"),
            "callback_id": integer,
            "partitioned": boolean,
            "op_id": integer,
        }
    ),
    may_be_empty=False,
)
_BY_X = token(r"[0-9]++(?:x[0-9]++)*+", "numbers, 1x4")
_SPARSE = record(
    {
        "sparsity": token(r"[0-9]++x[0-9]++(?!x)", "how many of how many, 1x4"),
        **dict.fromkeys(("dimension", "stride", "idx"), integer),
    },
    commas=False,
)
_SCALED = record(
    {
        **dict.fromkeys(("scale_idx", "zero_idx"), integer),
        **dict.fromkeys(("strides", "steps"), _BY_X),
    },
    commas=False,
)


def _of_operands(grammar: Grammar) -> Grammar:
    """`{lhs={...} rhs={...}}`, or one of them"""
    return record(dict.fromkeys(("lhs", "rhs"), grammar), commas=False)


_ALIAS = sequence(shape_index, ":", "(", integer, ",", shape_index)
PRECISION_ALGORITHMS = tuple(
    f"dot_{name}"
    for name in (
        *("any_f8_any_f8_f32", "any_f8_any_f8_f32_fast_accum", "f16_f16_f16", "f16_f16_f32"),
        *("bf16_bf16_bf16", "bf16_bf16_f32", "bf16_bf16_f32_x3", "bf16_bf16_f32_x6"),
        *("tf32_tf32_f32", "tf32_tf32_f32_x3", "f32_f32_f32", "f64_f64_f64", "bf16_bf16_f32_x9"),
        *("any_f8_any_f8_any", "any_f8_any_f8_any_fast_accum"),
    )
)
"""In the order of their numbers, from 1."""


def _line(*names: str) -> Grammar:
    """`{name=1 name=2}`, with all of the names"""
    return record(dict.fromkeys(names, int32), needs_all=True)


_SCHEDULE = word("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST", in_any_case=True)
_PROPAGATION = by_first({"{": listed(boolean)}, boolean)


_PLAIN_FIELD = (
    rf'(?:(?:{"|".join(_STRINGS)})="[^"\\]*+"'
    rf"|(?:{'|'.join(_NUMBERS)})=(?:0|[1-9][0-9]{{0,8}})(?![0-9]))"
)
PLAIN = {
    "metadata": re.compile(rf"\{{{_PLAIN_FIELD}(?: {_PLAIN_FIELD})*\}}"),
    "frontend_attributes": re.compile(
        r'\{[A-Za-z_][\w.\-]*+="[^"\\]*+"(?:,[A-Za-z_][\w.\-]*+="[^"\\]*+")*\}', re.ASCII
    ),
}
"""What nearly all values look like; to match takes a fraction of the time of reading."""

UNINTERPRETED: Mapping[str, Grammar] = {
    # Of any instruction.
    "backend_config": by_first({"{": braces}, string),
    "control-predecessors": listed(
        token(r"%?[\w.][\w.\-]*+", "an instruction"), may_be_empty=False
    ),
    "frontend_attributes": dictionary(by_first({"{": braces}, string)),
    "metadata": metadata,
    "origin": origin,
    # The name of `origin` in older texts.
    "original_value": origin,
    "parameter_replication": listed(boolean),
    "sharding": sharding,
    "statistics": dictionary(number),
    # Of some instructions.
    "algorithm": word("unset", *PRECISION_ALGORITHMS, in_any_case=True),
    "batch_group_count": integer,
    "block_scaling_config": _of_operands(_SCALED),
    "convolution_kind": word("fprop", "wgrad", "dgrad", "unset"),
    "custom_call_schedule": _SCHEDULE,
    "dim_labels": rest(ConvolutionLabelsAttr.read),
    "domain": record(
        {"kind": token('"sharding"', 'the kind "sharding"'), "entry": sharding, "exit": sharding},
        needs_all=True,
    ),
    "feature_group_count": integer,
    "inferred_dimension": integer,
    "is_stable": boolean,
    "literal": literal,
    "mode": word("cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"),
    "operand_layout_constraints": listed(shape),
    "operand_precision": listed(
        word("default", "high", "highest", "packed_nibble", in_any_case=True)
    ),
    "output_to_operand_aliasing": listed(sequence(_ALIAS, ")"), may_end_in_comma=True),
    "padding_type": word("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"),
    "result_accuracy": Accuracy.parse,
    "schedule": _SCHEDULE,
    "sparsity_config": _of_operands(_SPARSE),
    "slice_sizes": listed(listed(integer)),
    "window": rest(WindowAttr.read, "{", "}"),
    # Of computations and modules.
    "debug_attributes": listed(
        sequence(_ORIGINAL_ARRAY, ":", by_first({"(": listed(_DEBUGGED, "(", ")")}, _DEBUGGED))
    ),
    "execution_thread": string,
    "allow_spmd_sharding_propagation_to_output": _PROPAGATION,
    "allow_spmd_sharding_propagation_to_parameters": _PROPAGATION,
    "buffer_donor": listed(sequence("(", integer, ",", shape_index, ")"), may_end_in_comma=True),
    "input_output_alias": listed(
        sequence(_ALIAS, optional(",", word("may-alias", "must-alias")), ")"),
        may_end_in_comma=True,
    ),
    "origin_recovery_table": _recovery_table,
}
"""The values of all attributes that are kept as written, with a grammar."""


class StackFrameTable(NamedTuple):
    """A table between the head of a module and its computations; lines have numbers in front."""

    line: Grammar
    brackets: str
    """What a line is between."""
    attribute: str
    """Where the lines are kept, without quotes, braces and numbers."""


STACK_FRAME_TABLES: Mapping[str, StackFrameTable] = {
    "FileNames": StackFrameTable(string, '""', "xla.file_names"),
    "FunctionNames": StackFrameTable(string, '""', "xla.function_names"),
    "FileLocations": StackFrameTable(
        _line("file_name_id", "function_name_id", "line", "end_line", "column", "end_column"),
        *("{}", "xla.file_locations"),
    ),
    "StackFrames": StackFrameTable(
        _line("file_location_id", "parent_frame_id"), "{}", "xla.stack_frames"
    ),
}
"""The tables in the order XLA prints them."""


DEFAULT = ""
"""The normal form of a value that says the default: there is no attribute."""


def _unless(default: str) -> Callable[[str], str]:
    """The word, or nothing for the default."""
    return lambda found: DEFAULT if found == default else found


def _precisions(words: Sequence[str]) -> str:
    return DEFAULT if set(words) <= {"default"} else f"{{{','.join(words)}}}"


def _metadata(fields: Mapping[str, Any]) -> str | None:
    """The text of fields without those that XLA reads no more; None where none of these are."""
    if not any(name in fields for name in _OLDER_FIELDS):
        return None
    texts = (
        f"{name}={{{','.join(value)}}}" if name == "profile_type" else f"{name}={value}"
        for name, value in fields.items()
        if name not in _OLDER_FIELDS
    )
    return f"{{{' '.join(texts)}}}"


NORMAL_FORMS: Mapping[str, Callable[[Any], str | None]] = {
    "algorithm": _unless("unset"),
    "metadata": _metadata,
    "operand_precision": _precisions,
    "result_accuracy": str,
    "schedule": _unless("SCHEDULE_NONE"),
}
"""The normal forms of values, or DEFAULT; None where that is how it is written."""
