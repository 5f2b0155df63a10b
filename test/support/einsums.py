"""Contractions for the tests of loops: the text of a linalg.generic, and what it computes, in numpy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

AnyArray = np.ndarray[Any, np.dtype[Any]]

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
}


@dataclass(frozen=True)
class Einsum:
    """`left,right->out` with a letter for each dimension, and their extents."""

    subscripts: str
    extents: tuple[int, ...]
    """In alphabetical order of the letters."""
    element: str = "f32"
    accumulator: str = "f32"
    fill: bool = True
    """Whether the output is filled with zeros before, rather than added to."""

    @property
    def letters(self) -> str:
        return "".join(sorted({c for c in self.subscripts if c.isalpha()}))

    @property
    def operands(self) -> list[str]:
        inputs, out = self.subscripts.split("->")
        return [*inputs.split(","), out]

    def shape(self, operand: str) -> tuple[int, ...]:
        return tuple(self.extents[self.letters.index(c)] for c in operand)

    def types(self) -> list[str]:
        elements = [self.element, self.element, self.accumulator]
        return [
            f"memref<{''.join(f'{n}x' for n in self.shape(o))}{e}>"
            for o, e in zip(self.operands, elements, strict=True)
        ]

    def text(self) -> str:
        left, right, out = self.operands
        a, b, c = self.types()
        dims = ", ".join(self.letters)
        maps = ", ".join(f"affine_map<({dims}) -> ({', '.join(o)})>" for o in (left, right, out))
        kinds = ", ".join('"parallel"' if d in out else '"reduction"' for d in self.letters)
        e, w = self.element, self.accumulator
        is_float = "f" in w
        widen = "" if e == w else f" = arith.{'extf' if is_float else 'extsi'} %{{0}} : {e} to {w}"
        x, y = ("%x", "%y") if e == w else ("%wx", "%wy")
        casts = "" if e == w else f"%wx{widen.format('x')}\n%wy{widen.format('y')}"
        mul, add, zero = ("mulf", "addf", "0.0") if is_float else ("muli", "addi", "0")
        fill = f"linalg.fill ins(%zero : {w}) outs(%c : {c})" if self.fill else ""
        return f"""
        func.func @main(%a: {a}, %b: {b}, %c: {c}) attributes {{xla.entry}} {{
          %zero = arith.constant {zero} : {w}
          {fill}
          linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
              ins(%a, %b : {a}, {b}) outs(%c : {c}) {{
          ^bb0(%x: {e}, %y: {e}, %sum: {w}):
            {casts}
            %p = arith.{mul} {x}, {y} : {w}
            %r = arith.{add} %sum, %p : {w}
            linalg.yield %r : {w}
          }}
          func.return
        }}
        """

    def arrays(self, seed: int = 0) -> list[AnyArray]:
        """Both factors and what the output holds before."""
        source = np.random.default_rng(seed)
        elements = (self.element, self.element, self.accumulator)
        return [
            random_array(source, self.shape(operand), element)
            for operand, element in zip(self.operands, elements, strict=True)
        ]

    def assert_result(self, arrays: list[AnyArray], found: AnyArray) -> None:
        """Compares what was computed of `arrays` with numpy: integers exactly."""
        a, b, c = arrays
        wide = np.int64 if self.accumulator.startswith("i") else np.float64
        expected = np.einsum(self.subscripts, a.astype(wide), b.astype(wide))
        if not self.fill:
            expected = expected + c.astype(wide)
        if wide is np.int64:
            np.testing.assert_array_equal(found, expected.astype(found.dtype))
        else:
            terms = math.prod(self.extents) / max(1, math.prod(self.shape(self.operands[-1])))
            unit = {"f64": 2.0**-53, "f32": 2.0**-24}[self.accumulator]
            np.testing.assert_allclose(found, expected, rtol=0, atol=4 * unit * (terms + 4))


def random_array(source: np.random.Generator, shape: tuple[int, ...], element: str) -> AnyArray:
    if element.startswith("i"):
        return source.integers(-100, 100, shape).astype(DTYPES[element])
    return source.normal(size=shape).astype(DTYPES[element])
