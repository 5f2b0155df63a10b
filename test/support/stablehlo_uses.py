"""Uses of operations in parts that can be changed one at a time.

`Use.text` writes them in generic form, which spells every attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Literal:
    """An attribute that is changed as a whole only: its text."""

    text: str


@dataclass(frozen=True)
class Matrix:
    """`dense<[[...]]> : tensor<NxMxi64>`."""

    rows: tuple[tuple[int, ...], ...]
    width: int
    element_type: str = "i64"

    def __str__(self) -> str:
        rows = ", ".join(f"[{', '.join(map(str, row))}]" for row in self.rows)
        body = f"[{rows}]" if self.rows and self.width else ""
        return f"dense<{body}> : tensor<{len(self.rows)}x{self.width}x{self.element_type}>"


@dataclass(frozen=True)
class Numbers:
    """A structured attribute such as `#stablehlo.gather<...>`: named numbers and lists of them."""

    name: str
    fields: Mapping[str, int | tuple[int, ...]]

    def __str__(self) -> str:
        fields = ", ".join(
            f"{name} = {value if isinstance(value, int) else list(value)}"
            for name, value in self.fields.items()
        )
        return f"#{self.name}<{fields}>"


Value: TypeAlias = (
    "int | bool | float | tuple[int, ...] | tuple[bool, ...] | Matrix | Numbers | Literal"
)
"""An attribute: an integer is `i64`, a tuple `array<i64>` or `array<i1>`, a number `f32`."""


def spell(value: Value) -> str:
    """The attribute as MLIR writes it."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return f"{value} : i64"
        case float():
            return f"{value:e} : f32"
        case tuple():
            if value and isinstance(value[0], bool):
                return f"array<i1: {', '.join(str(v).lower() for v in value)}>"
            return f"array<i64: {', '.join(map(str, value))}>" if value else "array<i64>"
        case Literal():
            return value.text
        case _:
            return str(value)


@dataclass(frozen=True)
class Body:
    """A region: its parameters, its operations as text, and what it returns."""

    parameters: tuple[str, ...]
    operations: str
    returned: tuple[tuple[str, str], ...]
    """Name and type of each value."""

    def __str__(self) -> str:
        head = ", ".join(f"%{'abcdefgh'[i]}: {t}" for i, t in enumerate(self.parameters))
        names = ", ".join(name for name, _ in self.returned)
        types = ", ".join(type_ for _, type_ in self.returned)
        label = f"^bb0({head}):\n" if self.parameters else ""
        return (
            f'{{\n{label}  {self.operations}\n  "stablehlo.return"({names}) : ({types}) -> ()\n}}'
        )


@dataclass(frozen=True)
class Use:
    """One use of an operation."""

    name: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    attributes: Mapping[str, Value] = field(default_factory=dict[str, Value])
    regions: tuple[Body, ...] = ()
    before: str = ""
    """What the function that holds the operation does first."""
    beside: str = ""
    """What the module has beside the function."""
    made: Mapping[int, str] = field(default_factory=dict[int, str])
    """The operands, by position, that are no arguments of the function but come from `before`."""
    discardable: str = ""
    """What stands in the dictionary of attributes that are no properties."""

    def text(self) -> str:
        """A module with one function that holds the operation."""
        names = [self.made.get(i, f"%x{i}") for i in range(len(self.operands))]
        arguments = ", ".join(
            f"%x{i}: {t}" for i, t in enumerate(self.operands) if i not in self.made
        )
        entries = ", ".join(f"{name} = {spell(value)}" for name, value in self.attributes.items())
        properties = f" <{{{entries}}}>" if entries else ""
        regions = f" ({', '.join(map(str, self.regions))})" if self.regions else ""
        dictionary = f" {{{self.discardable}}}" if self.discardable else ""
        left = f"%r:{len(self.results)} = " if self.results else ""
        return (
            f"{self.beside}func.func @main({arguments}) {{\n{self.before}"
            f'{left}"{self.name}"({", ".join(names)}){properties}{regions}{dictionary} : '
            f"({', '.join(self.operands)}) -> ({', '.join(self.results)})\n"
            f"return\n}}\n"
        )


F = "tensor<2x3xf32>"
INT = "tensor<2x3xi32>"
U = "tensor<2x3xui8>"
P = "tensor<2x3xi1>"
C = "tensor<2x3xcomplex<f32>>"
S = "tensor<f32>"
SI = "tensor<i32>"
SP = "tensor<i1>"
TOKEN = "!stablehlo.token"


def plain(dialect: str, names: str, operands: Sequence[str], result: str) -> list[Use]:
    """Operations without attributes."""
    return [Use(f"{dialect}.{name}", tuple(operands), (result,)) for name in names.split()]


def binary_body(name: str, element: str = S) -> Body:
    """The computation that applies one operation to two scalars."""
    operation = f'%o = "stablehlo.{name}"(%a, %b) : ({element}, {element}) -> {element}'
    return Body((element, element), operation, (("%o", element),))


COMPARISON = '%o = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : '


def comparison_body(element: str = S, count: int = 1) -> Body:
    """A comparator of `count` pairs."""
    return Body(
        (element,) * (2 * count), f"{COMPARISON}({element}, {element}) -> {SP}", (("%o", SP),)
    )


def precision(*words: str) -> Literal:
    return Literal(f"[{', '.join(f'#stablehlo<precision {word}>' for word in words)}]")
