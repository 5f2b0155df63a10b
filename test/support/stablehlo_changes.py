"""Systematic changes of one part of a use of an operation, each with a name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from stablehlo_uses import Body, Literal, Matrix, Numbers, Use, Value

Item = TypeVar("Item")

_TENSOR = re.compile(r"tensor<((?:(?:[0-9]+|\?)x)*)([^,]*)>")
_ELEMENTS = ("f32", "f64", "i32", "i1", "ui8", "complex<f32>")


def changed_types(type_: str) -> Iterator[tuple[str, str]]:
    """Other types, near an array type; for any other type an array."""
    found = _TENSOR.fullmatch(type_)
    if found is None:
        yield "array", "tensor<2x3xf32>"
        return
    sizes, element = found.group(1).split("x")[:-1], found.group(2)

    def spell(sizes: Sequence[str], element: str = element) -> str:
        return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"

    yield "rank+1", spell([*sizes, "1"])
    if sizes:
        yield "rank-1", spell(sizes[:-1])
    if len(set(sizes)) > 1:
        yield "sizes reversed", spell(sizes[::-1])
    for d, size in enumerate(sizes):
        if size != "?":
            for other in {int(size) + 1, 1, 0} - {int(size)}:
                yield f"size {d} = {other}", spell([*sizes[:d], str(other), *sizes[d + 1 :]])
    for other in _ELEMENTS:
        if other != element:
            yield other, spell(sizes, other)
    yield "token", "!stablehlo.token"


def without(items: Sequence[Item], position: int) -> tuple[Item, ...]:
    return (*items[:position], *items[position + 1 :])


def put(items: Sequence[Item], position: int, item: Item) -> tuple[Item, ...]:
    return (*items[:position], item, *items[position + 1 :])


def changed_numbers(values: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Lists near a list of numbers."""
    yield "longer", (*values, values[-1] if values else 0)
    if not values:
        return
    yield "shorter", values[:-1]
    if len(set(values)) > 1:
        yield "reversed", values[::-1]
        yield "repeated", (values[0],) * len(values)
    for i, value in enumerate(values):
        for other in {value + 1, value - 1, -1, 0, 1000} - {value}:
            yield f"[{i}] = {other}", put(values, i, other)


def changed_values(value: Value) -> Iterator[tuple[str, Value]]:
    """Attributes near an attribute."""
    match value:
        case bool():
            yield "flipped", not value
        case int():
            for other in {value + 1, value - 1, -1, 0, 1000} - {value}:
                yield f"{other}", other
            yield "a list", (value,)
            yield "i32", Literal(f"{value} : i32")
        case float():
            yield "an integer", 1
            yield "negative", -value
            yield "f64", Literal(f"{value} : f64")
        case tuple():
            if value and isinstance(value[0], bool):
                yield "longer", (*value, True)
                yield "shorter", value[:-1]
            else:
                yield from changed_numbers(value)
                yield "a number", 1
                yield "i32", Literal(f"array<i32: {', '.join(map(str, value))}>")
        case Matrix():
            for label, flat in changed_numbers(tuple(n for row in value.rows for n in row)):
                if len(flat) % value.width == 0 and flat:
                    starts = range(0, len(flat), value.width)
                    rows = tuple(flat[i : i + value.width] for i in starts)
                    yield label, replace(value, rows=rows)
            yield "a row less", replace(value, rows=value.rows[:-1])
            yield "a row more", replace(value, rows=(*value.rows, value.rows[0]))
            yield (
                "narrower",
                replace(value, rows=tuple(r[:-1] for r in value.rows), width=value.width - 1),
            )
            yield "i32", replace(value, element_type="i32")
        case Numbers():
            for name, field in value.fields.items():
                rest = {n: f for n, f in value.fields.items() if n != name}
                yield f"no {name}", Numbers(value.name, rest)
                for label, other in changed_values(field):
                    if isinstance(other, int | tuple) and isinstance(other, tuple) == isinstance(
                        field, tuple
                    ):
                        yield f"{name} {label}", Numbers(value.name, {**value.fields, name: other})
        case _:
            pass


def changed_bodies(body: Body) -> Iterator[tuple[str, Body]]:
    """Computations near a computation."""
    for i, parameter in enumerate(body.parameters):
        for label, type_ in changed_types(parameter):
            yield f"parameter {i} {label}", replace(body, parameters=put(body.parameters, i, type_))
    yield "a parameter more", replace(body, parameters=(*body.parameters, "tensor<f32>"))
    if body.parameters:
        yield "a parameter less", replace(body, parameters=body.parameters[:-1])
        first = ("%a", body.parameters[0])
        yield "returns a parameter", replace(body, returned=(first,))
        yield "returns one more", replace(body, returned=(*body.returned, first))
    yield "returns one less", replace(body, returned=body.returned[:-1])


def changed_uses(use: Use) -> Iterator[tuple[str, Use]]:
    """Uses that differ from a use in one part."""
    for i, operand in enumerate(use.operands):
        if i in use.made:
            continue
        for label, type_ in changed_types(operand):
            yield f"operand {i}: {label}", replace(use, operands=put(use.operands, i, type_))
    for i, result in enumerate(use.results):
        for label, type_ in changed_types(result):
            yield f"result {i}: {label}", replace(use, results=put(use.results, i, type_))
        yield f"result {i} missing", replace(use, results=without(use.results, i))
        yield f"result {i} twice", replace(use, results=(*use.results, result))
    if use.operands and not use.made:
        yield "an operand less", replace(use, operands=use.operands[:-1])
        yield "an operand more", replace(use, operands=(*use.operands, use.operands[-1]))
    for name, value in use.attributes.items():
        rest = {n: v for n, v in use.attributes.items() if n != name}
        yield f"{name} missing", replace(use, attributes=rest)
        for label, other in changed_values(value):
            yield f"{name} {label}", replace(use, attributes={**use.attributes, name: other})
    for i, body in enumerate(use.regions):
        yield f"region {i} missing", replace(use, regions=without(use.regions, i))
        yield f"region {i} twice", replace(use, regions=(*use.regions, body))
        for label, other in changed_bodies(body):
            yield f"region {i}: {label}", replace(use, regions=put(use.regions, i, other))
    yield from _element_changes(use)


def _element_changes(use: Use) -> Iterator[tuple[str, Use]]:
    """Another element type in place of one, everywhere."""
    for before in ("f32", "i32"):
        pattern = re.compile(rf"(?<=[x<]){before}(?=>)")
        if not any(pattern.search(type_) for type_ in (*use.operands, *use.results)):
            continue
        for after in ("f64", "bf16", "f8E4M3FN", "i32", "i1", "ui8", "i4", "complex<f32>", "index"):
            if after == before:
                continue

            def swap(text: str, pattern: re.Pattern[str] = pattern, after: str = after) -> str:
                return pattern.sub(after, text)

            yield (
                f"{before} to {after}",
                replace(
                    use,
                    operands=tuple(map(swap, use.operands)),
                    results=tuple(map(swap, use.results)),
                    regions=tuple(
                        Body(
                            tuple(map(swap, body.parameters)),
                            swap(body.operations),
                            tuple((name, swap(type_)) for name, type_ in body.returned),
                        )
                        for body in use.regions
                    ),
                    before=swap(use.before),
                ),
            )
