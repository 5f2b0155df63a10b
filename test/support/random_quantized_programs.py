"""Random programs of StableHLO with quantized arrays."""

from __future__ import annotations

import random
from dataclasses import dataclass

SIZES = ((2, 3), (4, 4), (1, 5), (3, 8))
UNARY = ("abs", "negate", "tanh", "exponential", "floor", "logistic", "sqrt", "sign")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "divide")
STORAGES = ("i8", "i8", "i8", "i8<-127:127>", "u8", "i4", "i16", "i32", "i8<10:100>", "u16", "i2")
SCALES = (0.1, 0.2, 0.05, 0.3, 1.5, 0.0173, 0.5)
EXACT_SCALES = (0.25, 0.5, 1.0, 2.0)
KINDS = ("quantize", "dequantize", "unary", "transpose", "binary", "binary", "compare", "dot")
RANGES = {
    "i8<-127:127>": (-127, 127),
    "i8<10:100>": (10, 100),
    **{f"i{n}": (-(1 << (n - 1)), (1 << (n - 1)) - 1) for n in (2, 4, 8, 16, 32)},
    **{f"u{n}": (0, (1 << n) - 1) for n in (8, 16)},
}


@dataclass(frozen=True)
class _Value:
    name: str
    sizes: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        return _tensor(self.sizes, self.element)

    @property
    def is_quantized(self) -> bool:
        return self.element.startswith("!quant")


def _tensor(sizes: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


class _Program:
    """Operations one after the other, each on some of the values so far."""

    def __init__(self, seed: int):
        self.choose = random.Random(seed)
        self.is_exact = self.choose.random() < 0.3
        self.expressed = self.choose.choice(("f32", "f32", "f32", "bf16", "f16", "f64"))
        self.storage = self.choose.choice(STORAGES[:5] if self.is_exact else STORAGES)
        self.lines: list[str] = []
        sizes = self.choose.choice(SIZES)
        elements = (self.element(), self.element(), self.expressed)
        self.parameters = [
            _Value(f"p{number}", sizes, element) for number, element in enumerate(elements)
        ]
        self.values = list(self.parameters)

    def element(self, sizes: tuple[int, ...] = ()) -> str:
        """A quantized type; of arrays of these sizes perhaps with scales along a dimension."""
        start = f"!quant.uniform<{self.storage}:{self.expressed}"
        if not sizes or self.choose.random() < 0.6:
            return f"{start}, {self._pair()}>"
        along = self.choose.randrange(len(sizes))
        return f"{start}:{along}, {{{','.join(self._pair() for _ in range(sizes[along]))}}}>"

    def _pair(self) -> str:
        low, high = RANGES[self.storage]
        near = min(max(low, 0), high)
        zero = self.choose.choice((near, self.choose.randint(max(low, -300), min(high, 300))))
        scale = self.choose.choice(EXACT_SCALES if self.is_exact else SCALES)
        return f"{scale!r}:{zero}"

    def _emit(
        self,
        name: str,
        operands: list[_Value],
        sizes: tuple[int, ...],
        element: str,
        rest: str = "",
    ) -> None:
        found = _Value(f"v{len(self.lines)}", sizes, element)
        names = ", ".join(f"%{each.name}" for each in operands)
        types = ", ".join(each.type for each in operands)
        self.lines.append(
            f"  %{found.name} = stablehlo.{name} {names}{rest} : ({types}) -> {found.type}"
        )
        self.values.append(found)

    def step(self) -> None:
        """One more operation, or none where the drawn values have none."""
        x, y = (
            self.choose.choice([each for each in self.values if each.is_quantized])
            for _ in range(2)
        )
        kind = self.choose.choice(KINDS)
        whole = "{" not in x.element + y.element
        if kind == "quantize":
            of_floats = [each for each in self.values if each.element == self.expressed]
            x = self.choose.choice([x, *of_floats])
            self._emit("uniform_quantize", [x], x.sizes, self.element(x.sizes))
        elif kind == "dequantize":
            self._emit("uniform_dequantize", [x], x.sizes, self.expressed)
        elif kind == "unary" and whole:
            self._emit(self.choose.choice(UNARY), [x], x.sizes, self.element())
        elif kind == "transpose" and whole:
            self._emit("transpose", [x], x.sizes[::-1], x.element, ", dims = [1, 0]")
        elif not whole or x.sizes != y.sizes:
            return
        elif kind == "binary":
            self._emit(self.choose.choice(BINARY), [x, y], x.sizes, self.element())
        elif kind == "compare":
            self._emit("compare LT,", [x, y], x.sizes, "i1")
        elif kind == "dot" and y.element.endswith(":0>"):
            sizes = (x.sizes[0], y.sizes[0])
            rest = ", contracting_dims = [1] x [1]"
            self._emit("dot_general", [x, y], sizes, self.element(), rest)

    def text(self) -> str:
        """The program, which returns what it computed last."""
        results = self.values[-4:]
        parameters = ", ".join(f"%{each.name}: {each.type}" for each in self.parameters)
        types = ", ".join(each.type for each in results)
        names = ", ".join(f"%{each.name}" for each in results)
        return "\n".join(
            [
                f"func.func @main({parameters}) -> ({types}) {{",
                *self.lines,
                f"  return {names} : {types}",
                "}",
            ]
        )


def random_quantized_program(seed: int, steps: int = 6) -> str:
    """A program for this seed; no other depends on it."""
    program = _Program(seed)
    while len(program.lines) < steps:
        program.step()
    return program.text()
