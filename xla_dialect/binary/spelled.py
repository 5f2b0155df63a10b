"""
Attributes of StableHLO by their text, which is the same whatever class has them.

Bytecode has them in parts, and MLIR spells them: `#stablehlo<precision HIGH>`,
`#stablehlo.gather<offset_dims = [1], index_vector_dim = 1>`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Attribute

FieldValue: TypeAlias = "int | float | str | bool | Sequence[int]"
"""The value of a field: text stands for itself."""


def word(name: str, value: str, dialect: str = "stablehlo") -> str:
    """`#stablehlo<precision HIGH>`"""
    return f"#{dialect}<{name} {value}>"


def fields(name: str, values: Mapping[str, FieldValue]) -> str:
    """`#stablehlo.gather<offset_dims = [1], index_vector_dim = 1>`"""
    listed = ", ".join(f"{field} = {_spelled(value)}" for field, value in values.items())
    return f"#{name}<{listed}>"


def _spelled(value: FieldValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    return f"[{', '.join(map(str, value))}]"


def word_of(value: Attribute) -> tuple[str, str] | None:
    """The enumeration and the word of `#stablehlo<precision HIGH>`; None for anything else."""
    found = _WORD.fullmatch(str(value))
    return None if found is None else (found.group(1), found.group(2))


_WORD = re.compile(r"#stablehlo<(\w+) (\w+)>")


def fields_of(value: Attribute) -> Mapping[str, str | Sequence[int]]:
    """The fields of an attribute: lists of integers, and the text of others."""
    return {
        name: [int(number) for number in listed.split(",")] if listed else text if text else []
        for name, listed, text in _FIELD.findall(str(value))
    }


_FIELD = re.compile(r"(\w+) = (?:\[([-\d, ]*)\]|([^\s,\[\]<>]+(?:<[^<>]*>)?))")

CONVOLUTION = (
    *("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"),
    *("kernel_input_feature_dimension", "kernel_output_feature_dimension"),
    *("kernel_spatial_dimensions", "output_batch_dimension", "output_feature_dimension"),
    "output_spatial_dimensions",
)
"""The dimension numbers of a convolution: two numbers and a list for each array."""

_LETTERS = ("bf", "io", "bf")


def convolution(values: Sequence[int | Sequence[int]]) -> str:
    """`#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`, of what `CONVOLUTION` names."""
    sides: list[str] = []
    for side in range(len(_LETTERS)):
        first, second, spatial = values[3 * side : 3 * side + 3]
        assert isinstance(first, int) and isinstance(second, int) and not isinstance(spatial, int)
        sides.append(", ".join(labels(side, first, second, spatial)))
    return f"#stablehlo.conv<[{sides[0]}]x[{sides[1]}]->[{sides[2]}]>"


def labels(side: int, first: int, second: int, spatial: Sequence[int]) -> list[str]:
    """What the dimensions of an array of a convolution are called; `?` where nothing says it."""
    letters = _LETTERS[side]
    found = {first: letters[0], second: letters[1]}
    found |= {dimension: str(d) for d, dimension in enumerate(spatial)}
    return [found.get(d, "?") for d in range(len(spatial) + 2)]


def convolution_numbers(value: Attribute) -> Sequence[int | Sequence[int]]:
    """What `convolution` spells."""
    found: list[int | Sequence[int]] = []
    for side, letters in zip(_SIDE.findall(str(value)), _LETTERS, strict=True):
        names = side.split(", ")
        found += [names.index(letter) for letter in letters]
        found.append([names.index(str(d)) for d in range(len(names) - 2)])
    return found


_SIDE = re.compile(r"\[([^\]]*)\]")
