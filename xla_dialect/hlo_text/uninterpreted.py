"""
The grammar of attribute values that are kept as they are written: metadata, sharding, aliases.

Nobody here asks what they mean, but XLA does not read a text in which they are misspelled. What is
spelled in several ways has one normal form, as XLA prints it: `{HIGH,default}` is `{high,default}`,
and what says the default is not printed at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.ir import Attribute

from xla_dialect.shapes.window import ConvolutionLabelsAttr, WindowAttr
from xla_dialect.sharding.hlo_sharding import HloSharding
from xla_dialect.spelling import (
    BRACES_AND_PARENTHESES,
    FIELD,
    Excerpt,
    Scanner,
    SpellingError,
    Tokens,
)
from xla_dialect.text.lexer import STRING, Lexer
from xla_dialect.text.literals import parse_literal
from xla_dialect.text.shapes import MAX_NESTING, TypeParser

# Grammars of values in HLO text: functions that step over a value, made of one another.
#
# A grammar reads; nothing is made of the value. It raises SpellingError at the place that is wrong.

Grammar: TypeAlias = Callable[[Scanner], object]
"""Steps over a value; raises SpellingError."""


def check(grammar: Grammar, text: str) -> None:
    reader = Scanner(text)
    grammar(reader)
    reader.finish("the end of the value")


# ---- Values of one token


def token(pattern: str, expected: str) -> Grammar:
    compiled = re.compile(pattern, re.DOTALL | re.ASCII)
    return lambda reader: reader.match(compiled, expected).group()


integer = token(r"-?[0-9]{1,19}(?![0-9.])", "an integer")
number = token(r"-?(?:[0-9]++(?:\.[0-9]*+)?(?:[eE][-+]?[0-9]++)?|inf)|nan", "a number")
_ANY_STRING = token(STRING, "a string in quotes")
_UNKNOWN_ESCAPE = re.compile(
    r"\\(?![abfnrtv\\?'\"0-7]|x[0-9a-fA-F]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
)
_ESCAPE = re.compile(r"\\.", re.DOTALL)


def string(reader: Scanner) -> None:
    """`"text"`, with the escapes of C"""
    start = reader.position
    text = str(_ANY_STRING(reader))
    if "\\" in text:
        for escape in _ESCAPE.finditer(text):
            if _UNKNOWN_ESCAPE.match(text, escape.start()):
                message = f"unknown escape {escape.group()} in a string"
                raise SpellingError(message, start + escape.start())


def int32(reader: Scanner) -> None:
    """A number of 32 bits"""
    start = reader.position
    number = int(str(integer(reader)))
    if not -(2**31) <= number < 2**31:
        raise SpellingError(f"'{number}' does not fit 32 bits", start)


def word(*words: str, in_any_case: bool = False) -> Grammar:
    """One of some words"""
    return lambda reader: reader.one_of(words, in_any_case=in_any_case)


boolean = word("true", "false")


def braces(reader: Scanner) -> None:
    """`{...}`, where only braces and strings count: JSON, or what looks like it"""
    if not reader.at("{"):
        reader.fail("'{'")
    reader.group()


def shape(reader: Scanner) -> Attribute:
    """`f32[2]{0}` or `(f32[2], s32[])`; the type"""
    lexer = Lexer(reader.text, reader.position)
    parser = TypeParser(lexer)
    if lexer.kind == "shape":
        # What follows need not be a token.
        end = lexer.end
        type_ = parser.array(lexer.token, lexer.start)
    else:
        type_ = parser.type()
        end = lexer.start
    reader.position = end
    reader.skip_blanks()
    return type_


def rest(read: Callable[[str], object], opening: str = "", closing: str = "") -> Grammar:
    """All that is left, between two characters, as somebody else reads it."""

    def grammar(reader: Scanner) -> None:
        start = reader.position
        text = reader.text[start:]
        if not (text.startswith(opening) and text.endswith(closing)):
            reader.fail(f"'{opening}' and '{closing}'")
        with Excerpt(start + len(opening)):
            read(text[len(opening) : len(text) - len(closing)])
        reader.position = len(reader.text)

    return grammar


# ---- Values made of values


def listed(
    item: Grammar,
    opening: str = "{",
    closing: str = "}",
    *,
    may_be_empty: bool = True,
    may_end_in_comma: bool = False,
) -> Grammar:
    """`{item, item}`"""

    def read(reader: Scanner) -> None:
        reader.expect(opening)
        if may_be_empty and reader.accept(closing):
            return
        item(reader)
        while reader.accept(",") and not (may_end_in_comma and reader.at(closing)):
            item(reader)
        reader.expect(closing)

    return read


def sequence(*parts: Grammar | str) -> Grammar:
    """One after the other; strings stand for themselves."""

    def read(reader: Scanner) -> None:
        for part in parts:
            if isinstance(part, str):
                reader.expect(part)
            else:
                part(reader)

    return read


def optional(opening: str, rest: Grammar) -> Grammar:
    """Nothing, or these characters and what follows them."""

    def read(reader: Scanner) -> None:
        if reader.accept(opening):
            rest(reader)

    return read


def by_first(cases: Mapping[str, Grammar], otherwise: Grammar) -> Grammar:
    """The grammar of the first character of the value."""

    def read(reader: Scanner) -> None:
        cases.get(reader.text[reader.position : reader.position + 1], otherwise)(reader)

    return read


def record(
    fields: Mapping[str, Grammar], *, needs_all: bool = False, commas: bool = True
) -> Grammar:
    """`{name=value name=value}`, with or without commas between if there may be some"""

    def read(reader: Scanner) -> None:
        start = reader.position
        reader.expect("{")
        seen: dict[str, object] = {}
        while not reader.accept("}"):
            if commas:
                reader.accept(",")
            reader.field(fields, seen)
        missing = [name for name in fields if name not in seen]
        if needs_all and missing:
            raise SpellingError(f"field '{missing[0]}' is missing", start)

    return read


def choice(fields: Mapping[str, Grammar]) -> Grammar:
    """`{name=value}`, one of several"""
    return lambda reader: sequence("{", lambda r: r.field(fields, {}), "}")(reader)


def dictionary(value: Grammar) -> Grammar:
    """`{name=value,name=value}`, with any names"""
    item = sequence(lambda reader: reader.match(FIELD, "a name with '='"), value)
    return listed(item)


def check_uninterpreted(attribute: str, text: str) -> None:
    """Raises SpellingError where the value of an attribute is not spelled as XLA has it."""
    grammar = UNINTERPRETED.get(attribute)
    if grammar is not None:
        check(grammar, text)


_TWO_BRACES = re.compile(r"\{\s*+\{")

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
_STRING_OR_OLDER_FIELD = re.compile(
    rf"{STRING}|[\s,]*+(?:{'|'.join(_OLDER_FIELDS)})=(?:\w++|\{{[^{{}}]*+(?:\{{[^{{}}]*+\}}[^{{}}]*+)*\}})"
)


def without_older_fields(text: str) -> str:
    """Well-spelled metadata without the fields that XLA does not read any more."""
    if not any(name in text for name in _OLDER_FIELDS):
        return text
    kept = _STRING_OR_OLDER_FIELD.sub(lambda m: m[0] if m[0][0] == '"' else "", text)
    return f"{{{kept[1:].lstrip(' ,')}"


def sharding_metadata(reader: Scanner) -> None:
    """`{op_name="a"}` or `{{op_name="a"}, {op_name="b"}}`"""
    (listed(metadata) if _TWO_BRACES.match(reader.text, reader.position) else metadata)(reader)


def sharding(reader: Scanner) -> None:
    """`{replicated}`, or for a tuple `{{replicated}, {maximal device=0}}`"""
    tokens = Tokens(reader.text, reader.position)
    HloSharding.parse(tokens, sharding_metadata)
    reader.position = tokens.position


shape_index = listed(integer)


def _nothing(reader: Scanner) -> None:
    """No characters"""


_ORIGINAL_ARRAY = sequence(
    "{",
    by_first({"}": _nothing}, sequence(string, by_first({"{": shape_index}, _nothing))),
    "}",
)


def origin(reader: Scanner) -> None:
    """`{[synthetic_call]}`, or a tree of arrays, `{({"a"}, {"b" {1}}), ["calls"]}`"""
    reader.expect("{")
    if reader.accept("["):
        sequence(word("synthetic_call"), "]", "}")(reader)
        return
    if reader.accept("}"):
        return
    depth = 0
    while True:
        while reader.accept("("):
            depth += 1
            if depth > MAX_NESTING:
                raise SpellingError(
                    f"tuples are nested deeper than {MAX_NESTING}", reader.position - 1
                )
        if not reader.at(")"):
            _ORIGINAL_ARRAY(reader)
        while depth and reader.accept(")"):
            depth -= 1
        if not depth:
            break
        reader.expect(",")
    optional(",", sequence("[", string, "]"))(reader)
    reader.expect("}")


def literal(reader: Scanner, depth: int = 0) -> None:
    """`f32[2] {1, 2}`, or a tuple of such"""
    if reader.at("("):
        if depth == MAX_NESTING:
            reader.fail(f"tuples nested at most {MAX_NESTING} deep")
        listed(lambda inner: literal(inner, depth + 1), "(", ")")(reader)
        return
    type_ = shape(reader)
    start = reader.position
    if reader.at("{") or reader.at("("):
        text = reader.group(BRACES_AND_PARENTHESES)
    else:
        text = reader.match(_NUMBER, "a literal").group()
    with Excerpt(start):
        parse_literal(text, type_)


_NUMBER = re.compile(r"[^\s,(){}]++(?:\(\w++\))?")


def _recovery_table(reader: Scanner) -> None:
    """`{{"a"} : {"b"}, "HloModule ..."}`"""
    reader.expect("{")
    while not reader.accept("}"):
        sequence(_ORIGINAL_ARRAY, ":", _ORIGINAL_ARRAY, optional(",", string))(reader)


_DEBUGGED = listed(
    lambda reader: reader.field(_DEBUG_FIELDS, {}),
    may_be_empty=False,
)
_DEBUG_FIELDS: Mapping[str, Grammar] = {
    "log_mode": word("default", "fusion_debugger"),
    "callback_id": integer,
    "partitioned": boolean,
    "op_id": integer,
}
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


# ---- All attributes

_ALIAS = sequence(shape_index, ":", "(", integer, ",", shape_index)
_PRECISION_ALGORITHMS = tuple(
    f"dot_{name}"
    for name in (
        *("any_f8_any_f8_f32", "any_f8_any_f8_f32_fast_accum", "any_f8_any_f8_any"),
        *("any_f8_any_f8_any_fast_accum", "f16_f16_f16", "f16_f16_f32", "bf16_bf16_bf16"),
        *("bf16_bf16_f32", "bf16_bf16_f32_x3", "bf16_bf16_f32_x6", "bf16_bf16_f32_x9"),
        *("tf32_tf32_f32", "tf32_tf32_f32_x3", "f32_f32_f32", "f64_f64_f64"),
    )
)


def _line(*names: str) -> Grammar:
    """`{name=1 name=2}`, with all of the names"""
    return record(dict.fromkeys(names, int32), needs_all=True)


_SCHEDULE = word("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST", in_any_case=True)
_PROPAGATION = by_first({"{": listed(boolean)}, boolean)
_TOLERANCE = listed(
    lambda reader: reader.field(dict.fromkeys(("atol", "rtol", "ulps"), number), {})
)

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
    "algorithm": word("unset", *_PRECISION_ALGORITHMS, in_any_case=True),
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
    "result_accuracy": choice(
        {"mode": word("default", "highest", in_any_case=True), "tolerance": _TOLERANCE}
    ),
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

TABLE_LINES: Mapping[str, Grammar] = {
    "FileNames": string,
    "FunctionNames": string,
    "FileLocations": _line(
        *("file_name_id", "function_name_id", "line", "end_line", "column", "end_column")
    ),
    "StackFrames": _line("file_location_id", "parent_frame_id"),
}
"""The lines of the stack frame tables, after their numbers."""


DEFAULT = ""
"""The normal form of a value that says the default: there is no attribute."""


def _precisions(text: str) -> str:
    words = [word.strip().lower() for word in text.strip().strip("{}").split(",")]
    return DEFAULT if set(words) <= {"default", ""} else f"{{{','.join(words)}}}"


def _unless(default: str, change: Callable[[str], str]) -> Callable[[str], str]:
    """The word in one case, or nothing for the default."""
    return lambda text: DEFAULT if change(text) == default else change(text)


def _accuracy(text: str) -> str:
    mode = re.search(r"mode=\s*(\w+)", text)
    if mode is not None:
        word = mode.group(1).lower()
        return DEFAULT if word == "default" else f"{{mode={word}}}"
    given = {field.group(1): field for field in _TOLERANCE_FIELD.finditer(text)}
    values: dict[str, str] = {}
    for name in ("atol", "rtol", "ulps"):
        number = float(given[name].group(2)) if name in given else 0.0
        if not number >= 0:
            raise SpellingError(
                f"{name} is {number:g}, tolerances are not negative", given[name].start()
            )
        values[name] = str(int(number)) if name == "ulps" and number < _INFINITY else f"{number:g}"
    return f"{{tolerance={{{','.join(f'{name}={value}' for name, value in values.items())}}}}}"


_INFINITY = float("inf")
_TOLERANCE_FIELD = re.compile(r"(atol|rtol|ulps)=\s*([^\s,}]+)")

NORMAL_FORMS: Mapping[str, Callable[[str], str]] = {
    "algorithm": _unless("unset", str.lower),
    "operand_precision": _precisions,
    "result_accuracy": _accuracy,
    "schedule": _unless("SCHEDULE_NONE", str.upper),
}
"""
The normal forms of well-spelled values, or DEFAULT; they raise SpellingError for a value that is
well spelled and means nothing.
"""
