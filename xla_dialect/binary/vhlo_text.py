"""
VHLO as text: a portable artifact as `stablehlo-opt` prints it.

Its types and attributes wrap those of StableHLO and are read as these, its operations as bytecode
has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    ComplexType,
    DictionaryAttr,
    FloatTF32Type,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
    UnrankedTensorType,
    i1,
)
from xdsl.dialects.utils.format import parse_func_op_like
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from xla_dialect.binary.encodings import DYNAMIC_SIZE
from xla_dialect.binary.operations import IllegalOperation
from xla_dialect.binary.stablehlo_encodings import bounds_text, future_text, sub_axis_text
from xla_dialect.binary.vhlo import Operations
from xla_dialect.binary.vhlo_encodings import CONSTANT_TYPES, ApiVersion
from xla_dialect.diagnostics import LocatedError
from xla_dialect.stablehlo.attributes import TokenType
from xla_dialect.xdsl.text import MlirParser
from xla_dialect.xdsl.traversal import deep_recursion


@deep_recursion()
def read_vhlo(text: str, context: Context, file_name: str) -> ModuleOp:
    """The module of VHLO in a text, with the operations of StableHLO; raises LocatedError."""
    parser = _VhloParser(context, text, file_name)
    try:
        return parser.parse_module()
    except ParseError as error:
        message, offset = error.msg.strip(), error.span.start
    except (IllegalOperation, VerifyException, ValueError) as error:
        message, offset = str(error), parser.pos
    except RecursionError:
        message, offset = "something is nested too deeply", parser.pos
    raise LocatedError.at_offset(message, file_name, text, offset)


class _VhloParser(MlirParser):
    """Reads what VHLO has in the place of what StableHLO has."""

    def __init__(self, context: Context, text: str, file_name: str):
        super().__init__(context, text, file_name)
        self.operations = Operations(context)

    def _get_op_by_name(self, name: str) -> type[Operation]:
        """A class that makes the operation of StableHLO, of an operation of VHLO."""
        if not name.startswith("vhlo."):
            return super()._get_op_by_name(name)

        def make(**parts: Any) -> Operation:
            op = self.operations(
                name,
                *(parts[part] for part in ("operands", "result_types", "properties")),
                *(parts[part] for part in ("attributes", "regions")),
            )
            op.location = parts["location"] or op.location
            return op

        def parse(parser: Parser) -> Operation:
            if not name.startswith("vhlo.func_"):
                parser.raise_error(f"{name} has only the generic form")
            return self.function(name)

        methods = {"name": name, "create": staticmethod(make), "parse": staticmethod(parse)}
        return type("VhloOp", (Operation,), methods)

    def function(self, name: str) -> Operation:
        """Parses what follows the name of a function."""
        symbol, inputs, outputs, body, extra, _, _ = parse_func_op_like(
            self, reserved_attr_names=("sym_name", "function_type")
        )
        attributes = {} if extra is None else dict(extra.data)
        attributes |= self.parse_optional_attr_dict()
        attributes["sym_name"] = StringAttr(symbol)
        attributes["function_type"] = FunctionType.from_lists(inputs, outputs)
        return self.operations(name, (), (), {}, attributes, [body])

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ) -> Any:
        if not attr_name.startswith("vhlo."):
            return super()._parse_dialect_type_or_attribute_body(
                attr_name, is_type, is_opaque, starting_opaque_pos
            )
        name = attr_name.removeprefix("vhlo.")
        if is_opaque:
            return self.word(name)
        if is_type and name in _TYPES:
            return _TYPES[name]
        parse = (_COMPOSED if is_type else _ATTRIBUTES).get(name)
        if parse is None:
            self.raise_error(f"{attr_name} is not known")
        with self.in_angle_brackets():
            return parse(self)

    def word(self, name: str) -> Attribute:
        """Parses the word of an enumeration."""
        if name == "api_version_v1":
            return ApiVersion(ApiVersion.parse_parameter(self))
        word = self.parse_identifier()
        return self.operations.attribute(f"#stablehlo<{name.removesuffix('_v1')} {word}>")

    def entry(self) -> tuple[str, Attribute]:
        """Parses `#vhlo.string_v1<"name"> = value`."""
        name = self.parse_attribute()
        if not isinstance(name, StringAttr):
            self.raise_error(f"{name} is the name of an attribute")
        self.parse_punctuation("=")
        return name.data, self.parse_attribute()

    def function_type(self) -> Attribute:
        """Parses `(types) -> types`."""
        inputs = self.parse_comma_separated_list(self.Delimiter.PAREN, self.parse_type)
        self.parse_punctuation("->")
        outputs = self.parse_optional_comma_separated_list(self.Delimiter.PAREN, self.parse_type)
        return FunctionType.from_lists(inputs, [self.parse_type()] if outputs is None else outputs)

    def array(self) -> Attribute:
        """Parses sizes and the type of elements; bounds may follow."""
        sizes, type_ = self.parse_shape()
        if sizes is None:
            return UnrankedTensorType(type_)
        if self.parse_optional_punctuation(",") is None:
            return TensorType(type_, sizes)
        return TensorType(type_, sizes, self.parse_attribute())

    def bounds(self) -> Attribute:
        """Parses `bounds = [6, ?]`."""
        self.parse_keyword("bounds")
        self.parse_punctuation("=")
        bounds = self.parse_comma_separated_list(
            self.Delimiter.SQUARE,
            lambda: DYNAMIC_SIZE if self.parse_optional_punctuation("?") else self.parse_integer(),
        )
        return self.operations.attribute(bounds_text(bounds))

    def sub_axis(self) -> Attribute:
        """Parses `pre_size = 1, size = 2`, as the text that StableHLO has for it."""
        numbers: list[int] = []
        for end, name in ((",", "pre_size"), ("", "size")):
            self.parse_keyword(name)
            self.parse_punctuation("=")
            numbers.append(self.parse_integer())
            if end:
                self.parse_punctuation(",")
        return StringAttr(sub_axis_text(*numbers))

    def types(self) -> Sequence[TypeAttribute]:
        """Parses types up to the end of the angle brackets."""
        if self.lexer.input.content[self.pos] == ">":
            return ()
        return self.parse_comma_separated_list(self.Delimiter.NONE, self.parse_type)

    def fields(self, name: str) -> Attribute:
        """Parses `name = value, ...`, the fields of an attribute of StableHLO."""

        def parse_field() -> str:
            field = self.parse_identifier()
            self.parse_punctuation("=")
            numbers = self.parse_optional_comma_separated_list(
                self.Delimiter.SQUARE, self.parse_integer
            )
            value: object = self.parse_optional_number() if numbers is None else numbers
            if value is None:
                value = self.parse_attribute()
            if isinstance(value, StringAttr) and field in ("mesh", "sub_axis_info"):
                value = f"@{value.data}" if field == "mesh" else value.data
            return f"{_FIELD_NAMES.get(field, field)} = {value}"

        found = self.parse_comma_separated_list(self.Delimiter.NONE, parse_field)
        return self.operations.attribute(f"#stablehlo.{name}<{', '.join(found)}>")


_TYPES: Mapping[str, Attribute] = {
    **{f"{type_}_v1": type_ for type_ in CONSTANT_TYPES.values()},
    "bool_v1": i1,
    "tf31_v1": FloatTF32Type(),
    "token_v1": TokenType(),
}
"""Those that are one word; VHLO prints tf32 as tf31."""

_COMPOSED: Mapping[str, Callable[[_VhloParser], Attribute]] = {
    "complex_v1": lambda parser: ComplexType(cast(Any, parser.parse_type())),
    "func_v1": _VhloParser.function_type,
    "future_v1": lambda parser: parser.operations.attribute(future_text(parser.types())),
    "tensor_v1": _VhloParser.array,
    "tuple_v1": lambda parser: TupleType(tuple(parser.types())),
    "unranked_tensor_v1": lambda parser: UnrankedTensorType(parser.parse_type()),
}
"""Types with something in angle brackets."""

_ATTRIBUTES: Mapping[str, Callable[[_VhloParser], Attribute]] = {
    "array_v1": lambda parser: ArrayAttr(
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
    ),
    "bool_v1": lambda parser: BoolAttr.from_bool(parser.parse_boolean()),
    "dict_v1": lambda parser: DictionaryAttr(
        dict(parser.parse_comma_separated_list(parser.Delimiter.BRACES, parser.entry))
    ),
    "sub_axis_info_v1": _VhloParser.sub_axis,
    "type_extensions_v1": _VhloParser.bounds,
    **{
        f"{name}_v1": partial(_VhloParser.fields, name=name)
        for name in (
            *("axis_ref", "mesh", "mesh_axis", "output_operand_alias", "replica_group_mesh_axes"),
            "result_accuracy",
        )
    },
    **dict.fromkeys(
        ("float_v1", "integer_v1", "string_v1", "tensor_v1", "type_v1"),
        _VhloParser.parse_attribute,
    ),
}
"""Attributes with something in angle brackets."""

_FIELD_NAMES = {
    "outputTupleIndices": "output_tuple_indices",
    "operandIndex": "operand_index",
    "operandTupleIndices": "operand_tuple_indices",
}
"""Of an `output_operand_alias`, in StableHLO."""
