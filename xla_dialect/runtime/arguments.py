"""The arguments of a run, against the parameters of the entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from xla_dialect import types
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import TOKEN, Value, as_argument


def entry_function(module: ModuleOp, name: str) -> FuncOp:
    """The function of a module with this name; raises XlaError that lists what there is."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    if name not in functions:
        known = ", ".join(f"@{other}" for other in functions) or "none"
        raise XlaError(f"there is no function @{name}; the module has {known}")
    return functions[name]


def checked_arguments(function: FuncOp, arguments: Sequence[object]) -> tuple[Value, ...]:
    """
    The arguments as the values of the function's parameters.

    Raises XlaError, naming the parameter, where number, element type or sizes differ.
    """
    parameters = function.function_type.inputs.data
    name = function.sym_name.data
    if len(arguments) != len(parameters):
        raise XlaError(
            f"@{name} takes {len(parameters)} arguments {types.spell_all(parameters)}, "
            f"found {len(arguments)}"
        )
    names = [_parameter_name(argument) for argument in function.body.blocks[0].args]
    return tuple(
        as_argument(argument, type_, f"@{name}: parameter {i}{hint}")
        for i, (argument, type_, hint) in enumerate(zip(arguments, parameters, names, strict=True))
    )


def nest_arguments(
    module: ModuleOp, arguments: Sequence[object], entry: str = "main"
) -> tuple[object, ...]:
    """
    Arguments for `run` from one array per leaf: those of a tuple parameter become a tuple, and a
    parameter that is a token gets one.

    Raises XlaError if there are not as many as the parameters have leaves, or no such function.
    """
    parameters = entry_function(module, entry).function_type.inputs.data
    expected = sum(not isinstance(leaf, types.TokenType) for leaf in types.flatten(parameters))
    if len(arguments) != expected:
        raise XlaError(
            f"@{entry} takes {expected} arguments {types.spell_all(parameters)}, "
            f"found {len(arguments)}"
        )
    rest = iter(arguments)
    return tuple(_nested(type_, rest) for type_ in parameters)


def _nested(type_: Attribute, leaves: Iterator[object]) -> object:
    elements = types.tuple_elements(type_)
    if isinstance(type_, types.TokenType):
        return TOKEN
    if elements is None:
        return next(leaves)
    return tuple(_nested(element, leaves) for element in elements)


def _parameter_name(value: SSAValue) -> str:
    return f" (%{value.name_hint})" if value.name_hint else ""
