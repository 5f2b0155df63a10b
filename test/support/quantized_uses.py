"""Uses of operations on quantized arrays, made from those on f32, and changes of their types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from stablehlo_changes import put
from stablehlo_operations import USES
from stablehlo_uses import Body, Use

from xla_dialect.stablehlo.quantization.rules import NUMBERS, STORED

SCALED = "!quant.uniform<i8:f32, 0.5>"
_FLOATS = re.compile(r"(?<=[x<])f32(?=>)")
_ELEMENT = re.compile(r"!quant\.uniform<(?:[^<>]|<[^<>]*>)*>")
_ARRAY = re.compile(rf"tensor<((?:\d+x)+){_ELEMENT.pattern}>")

OTHERS = {
    "another scale": "!quant.uniform<i8:f32, 0.25>",
    "a zero point": "!quant.uniform<i8:f32, 0.5:3>",
    "unsigned": "!quant.uniform<u8:f32, 0.5>",
    "wider storage": "!quant.uniform<i16:f32, 0.5>",
    "narrower storage": "!quant.uniform<i4:f32, 0.5>",
    "narrower range": "!quant.uniform<i8<-100:100>:f32, 0.5>",
    "another expressed type": "!quant.uniform<i8:bf16, 0.5>",
    "f32": "f32",
    "i8": "i8",
    "f64": "f64",
}
"""Element types near `SCALED`, by what differs."""


def per_axis(dimension: int, size: int, zero_point: int = 0) -> str:
    """An element type with a scale for each index of a dimension."""
    pair = "0.5" if not zero_point else f"0.5:{zero_point}"
    return f"!quant.uniform<i8:f32:{dimension}, {{{','.join([pair] * size)}}}>"


def _changed(use: Use, change: Callable[[str], str]) -> Use:
    """The use with every type in it changed."""
    bodies = tuple(
        Body(
            tuple(map(change, body.parameters)),
            change(body.operations),
            tuple((name, change(type_)) for name, type_ in body.returned),
        )
        for body in use.regions
    )
    return replace(
        use,
        operands=tuple(map(change, use.operands)),
        results=tuple(map(change, use.results)),
        regions=bodies,
    )


def quantized_uses() -> Iterator[Use]:
    """Every use of an operation on f32 that may be one on quantized arrays."""
    for use in USES:
        types = (*use.operands, *use.results)
        known = use.name in NUMBERS or use.name in STORED
        if known and any(map(_FLOATS.search, types)) and not use.before and not use.beside:
            yield _changed(use, lambda text: _FLOATS.sub(SCALED, text))


def element_changes(type_: str) -> Iterator[tuple[str, str]]:
    """Types near a quantized one."""
    if not _ELEMENT.search(type_):
        return
    for label, other in OTHERS.items():
        yield label, _ELEMENT.sub(other, type_)
    sizes = re.findall(r"(\d+)x", type_.split("!")[0])
    for dimension, size in enumerate(sizes):
        yield f"along {dimension}", _ELEMENT.sub(per_axis(dimension, int(size)), type_)
        wrong = per_axis(dimension, int(size) + 1)
        yield f"too many scales along {dimension}", _ELEMENT.sub(wrong, type_)
    yield "along no dimension", _ELEMENT.sub(per_axis(len(sizes), 2), type_)


def along(dimension: int, text: str) -> str:
    """The text with every array that has the dimension quantized along it."""

    def spell(found: re.Match[str]) -> str:
        sizes = found[1].split("x")[:-1]
        if dimension >= len(sizes):
            return found[0]
        return f"tensor<{found[1]}{per_axis(dimension, int(sizes[dimension]))}>"

    return _ARRAY.sub(spell, text)


def quantized_changes(use: Use) -> Iterator[tuple[str, Use]]:
    """The use with the element type changed in one place, or in all places alike."""
    for i, operand in enumerate(use.operands):
        for label, type_ in element_changes(operand):
            yield f"operand {i}: {label}", replace(use, operands=put(use.operands, i, type_))
    for i, result in enumerate(use.results):
        for label, type_ in element_changes(result):
            yield f"result {i}: {label}", replace(use, results=put(use.results, i, type_))
    for i, body in enumerate(use.regions):
        for j, parameter in enumerate(body.parameters):
            for label, type_ in element_changes(parameter):
                changed = replace(body, parameters=put(body.parameters, j, type_))
                yield (
                    f"region {i}: parameter {j}: {label}",
                    replace(use, regions=put(use.regions, i, changed)),
                )
    for label, other in OTHERS.items():
        if other.startswith("!"):
            yield f"everywhere: {label}", _changed(use, partial(_ELEMENT.sub, other))
    for dimension in range(3):
        yield f"everywhere: along {dimension}", _changed(use, partial(along, dimension))
