"""What a compiled function takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute

from xla_dialect.diagnostics import XlaError
from xla_dialect.types import Array, flatten, is_array, spell


class UnsupportedSignature(XlaError):
    """A function that takes or gives something other than arrays (or tuples of arrays)."""


@dataclass(frozen=True)
class ArrayDeclaration:
    """A parameter or a result: its name (empty if it has none) and its array type."""

    name: str
    type: Array

    def __str__(self) -> str:
        return f"{self.name}: {spell(self.type)}" if self.name else spell(self.type)


@dataclass(frozen=True)
class Signature:
    """Parameters and results of a function, tuples taken apart in order."""

    name: str
    parameters: tuple[ArrayDeclaration, ...]
    results: tuple[ArrayDeclaration, ...]

    def __str__(self) -> str:
        parameters = ", ".join(map(str, self.parameters))
        results = ", ".join(map(str, self.results))
        return f"{self.name}({parameters}) -> ({results})"


def signature_of(function: FuncOp) -> Signature:
    """
    The signature of a function at the xla level; names come from the text of the program.

    Raises UnsupportedSignature where a leaf is no array of XLA.
    """
    name = function.sym_name.data
    parameters: list[ArrayDeclaration] = []
    for argument in function.args:
        parameters.extend(_declarations(name, argument.name_hint or "", argument.type))
    results: list[ArrayDeclaration] = []
    for value in _returned(function):
        results.extend(_declarations(name, "", value))
    return Signature(name, tuple(parameters), tuple(results))


def _returned(function: FuncOp) -> list[Attribute]:
    last = function.body.blocks.last.last_op if function.body.blocks else None
    if isinstance(last, ReturnOp):
        return [operand.type for operand in last.operands]
    return list(function.function_type.outputs.data)


def _declarations(function: str, name: str, type_: Attribute) -> list[ArrayDeclaration]:
    """The leaves of a type, numbered behind the name where there are several."""
    leaves = flatten([type_])
    for leaf in leaves:
        if not is_array(leaf):
            raise UnsupportedSignature(f"@{function}: {name or 'a result'} is {spell(leaf)}")
    if len(leaves) == 1:
        return [ArrayDeclaration(name, cast(Array, leaves[0]))]
    return [
        ArrayDeclaration(f"{name}.{i}" if name else "", cast(Array, leaf))
        for i, leaf in enumerate(leaves)
    ]


