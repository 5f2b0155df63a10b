"""Windows that slide over arrays, and which dimension is which in a convolution.

Convolution, reduce-window and select-and-scatter share windows:
`#xla.window<size=2x3 stride=2x2 pad=0_1x0_0>` has what HLO has between the braces of
`window={...}`; what is not said has its default.

The labels `#xla.dim_labels<bf01_oi01->bf01>` have one character per dimension, as in `dim_labels=`
of HLO text: `b` batch, `f` feature, `o` output feature, `i` input feature, digits for the spatial
dimensions, `?` for a dimension without a role.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.irdl import irdl_attr_definition

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.shapes.size_arithmetic import Sizes, bounded, dilated, marked
from xla_dialect.spelling import SpellingError, shortened


@dataclass(frozen=True)
class WindowDimension:
    """
    One dimension of a window, and how it moves over one dimension of the base.

    The base is dilated first (holes between its elements), then padded; negative padding removes.
    """

    size: int
    stride: int = 1
    """How far apart neighbouring placements are."""
    padding_low: int = 0
    padding_high: int = 0
    base_dilation: int = 1
    """How far apart neighbouring elements of the base are."""
    window_dilation: int = 1
    """How far apart neighbouring elements of the window are."""
    reversal: bool = False
    """Whether element k of the window stands at place `size - 1 - k` (before dilation)."""

    @property
    def moves(self) -> bool:
        """False for the trivial window: size 1, without stride, padding, dilation and reversal."""
        return self != WindowDimension(1)

    def placements(self, size: int) -> int:
        """
        How often the window fits into a base of this size (docs/specification/windows.md#w2).

        A dynamic base has a dynamic number of placements.
        """
        padded = self.padding_low + dilated(size, self.base_dilation) + self.padding_high
        window = dilated(self.size, self.window_dilation)
        fits = bounded(1, padded) and bounded(window, padded)
        return marked((padded - window) // self.stride + 1 if fits else 0, size)


@dataclass(frozen=True)
class Window:
    """A window, dimension by dimension; `Window.of` and `Window.parse` make one from lists."""

    dimensions: tuple[WindowDimension, ...] = ()

    @staticmethod
    def of(
        size: Sequence[int],
        *,
        stride: Sequence[int] = (),
        padding: Sequence[tuple[int, int]] = (),
        base_dilation: Sequence[int] = (),
        window_dilation: Sequence[int] = (),
        reversal: Sequence[bool] = (),
    ) -> Window:
        """
        The window of these lists, one entry per dimension; an empty one means the default.

        `padding`: (low, high) pairs. Raises SpellingError for a list of another length.
        """
        columns: list[tuple[str, Sequence[Any], Any]] = [
            ("stride", stride, 1),
            ("padding", padding, (0, 0)),
            ("base dilation", base_dilation, 1),
            ("window dilation", window_dilation, 1),
            ("reversal", reversal, False),
        ]
        for name, values, _ in columns:
            if len(values) not in (0, len(size)):
                raise SpellingError(f"{name} has {len(values)} entries, size has {len(size)}")
        full = [values or (default,) * len(size) for _, values, default in columns]
        return Window(
            tuple(
                WindowDimension(extent, step, *pads, *dilations_and_reversal)
                for extent, step, pads, *dilations_and_reversal in zip(size, *full, strict=True)
            )
        )

    @staticmethod
    def parse(text: str) -> Window:
        """
        Reads `size=2x3 stride=1x2 pad=0_1x-1_0 lhs_dilate=.. rhs_dilate=.. rhs_reversal=0x1`.

        Raises SpellingError, with the position in the text, for anything else.
        """
        found: dict[str, list[Any]] = {}
        places: dict[str, int] = {}
        for field in re.finditer(r"([^\s=]+)(=\s*)?(\S*)", text):
            name, equals, value = field.groups()
            if not equals or name not in _FIELDS or name in found:
                raise SpellingError(
                    f"expected one of {', '.join(_FIELDS)}, each once, followed by '=', "
                    f"found '{shortened(field.group())}'",
                    field.start(),
                )
            places[name] = field.start()
            found[name] = _FIELDS[name].read(value, field.start(3))
        sizes = found.get("size", [])
        for name, values in found.items():
            if len(values) != len(sizes):
                raise SpellingError(
                    f"{name} has {len(values)} entries, size has {len(sizes)}", places[name]
                )
        return Window.of(sizes, **{_FIELDS[n].argument: v for n, v in found.items() if n != "size"})

    def __str__(self) -> str:
        if not self.dimensions:
            return ""
        sizes = "x".join(str(d.size) for d in self.dimensions)
        parts = [f"size={sizes}"]
        for name, field in _FIELDS.items():
            written = [field.spell(dimension) for dimension in self.dimensions]
            if name != "size" and any(w != field.default for w in written):
                parts.append(f"{name}={'x'.join(written)}")
        return " ".join(parts)

    @property
    def sizes(self) -> Sizes:
        """The number of elements of the window per dimension."""
        return tuple(d.size for d in self.dimensions)

    def placements(self, sizes: Sequence[int]) -> Sizes:
        """How often the window fits into a base of these sizes, per dimension."""
        return tuple(d.placements(size) for d, size in zip(self.dimensions, sizes, strict=True))


def _split(value: str, start: int, pattern: re.Pattern[str], expected: str) -> list[re.Match[str]]:
    """The parts of `axbxc`."""
    found: list[re.Match[str]] = []
    for part in value.split("x"):
        match = pattern.fullmatch(part)
        if match is None or any(not _fits(digits) for digits in match.groups()):
            raise SpellingError(f"expected {expected}, found '{shortened(part)}'", start)
        found.append(match)
        start += len(part) + 1
    return found


def _fits(digits: str) -> bool:
    return len(digits) <= 20 and -(2**63) <= int(digits) < 2**63


def _read_numbers(value: str, start: int) -> list[int]:
    found = _split(value, start, re.compile(r"(-?[0-9]+)"), "an integer of 64 bits")
    return [int(match.group()) for match in found]


def _read_padding(value: str, start: int) -> list[tuple[int, int]]:
    found = _split(value, start, re.compile(r"(-?[0-9]+)_(-?[0-9]+)"), "padding low_high")
    return [(int(match.group(1)), int(match.group(2))) for match in found]


def _read_flags(value: str, start: int) -> list[bool]:
    return [match.group() == "1" for match in _split(value, start, re.compile("([01])"), "0 or 1")]


@dataclass(frozen=True)
class _Field:
    """One `name=value` of the text of a window."""

    argument: str
    """The argument of `Window.of`."""
    read: Callable[[str, int], list[Any]]
    """From the value and its position in the text."""
    spell: Callable[[WindowDimension], str]
    default: str = "1"
    """What every dimension has where the field is left out."""


_FIELDS = {
    "size": _Field("size", _read_numbers, lambda d: str(d.size)),
    "stride": _Field("stride", _read_numbers, lambda d: str(d.stride)),
    "pad": _Field(
        "padding", _read_padding, lambda d: f"{d.padding_low}_{d.padding_high}", default="0_0"
    ),
    "lhs_dilate": _Field("base_dilation", _read_numbers, lambda d: str(d.base_dilation)),
    "rhs_dilate": _Field("window_dilation", _read_numbers, lambda d: str(d.window_dilation)),
    "rhs_reversal": _Field("reversal", _read_flags, lambda d: str(int(d.reversal)), default="0"),
}


@irdl_attr_definition
class WindowAttr(SpelledAttribute[Window]):
    """A `Window` as a property."""

    name = "xla.window"
    in_braces = True

    @classmethod
    def read(cls, text: str) -> Window:
        """The window that a text stands for."""
        return Window.parse(text)


@dataclass(frozen=True)
class ConvolutionLabels:
    """The labels of the dimensions of both operands and of the result."""

    lhs: str
    rhs: str
    result: str

    @staticmethod
    def parse(text: str) -> ConvolutionLabels:
        """Reads `bf01_oi01->bf01`; raises SpellingError for anything else."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise SpellingError(f"expected labels like bf01_oi01->bf01, found '{shortened(text)}'")
        return ConvolutionLabels(*match.groups())

    def __str__(self) -> str:
        return f"{self.lhs}_{self.rhs}->{self.result}"

    @property
    def spatial(self) -> str:
        """The labels of the spatial dimensions, in order: `01` for two of them."""
        return _DIGITS[: max(len(self.lhs) - 2, 0)]

    def faults(self) -> list[str]:
        """Those of the three lists that are no permutation of the labels they should have."""
        return [
            labels
            for labels, features in ((self.lhs, "bf"), (self.rhs, "io"), (self.result, "bf"))
            if sorted(labels) != sorted(features + self.spatial)
        ]

    def lhs_order(self) -> Sizes:
        """The dimensions of lhs in the order batch, feature, spatial."""
        return _positions(self.lhs, "bf" + self.spatial)

    def rhs_order(self) -> Sizes:
        """The dimensions of rhs in the order output feature, input feature, spatial."""
        return _positions(self.rhs, "oi" + self.spatial)

    def result_order(self) -> Sizes:
        """The dimensions of the result in the order batch, feature, spatial."""
        return _positions(self.result, "bf" + self.spatial)


_DIGITS = "0123456789"
_TEXT = re.compile(r"([bf0-9?]+)_([io0-9?]+)->([bf0-9?]+)")


def _positions(labels: str, wanted: Sequence[str]) -> Sizes:
    return tuple(labels.index(label) for label in wanted)


@irdl_attr_definition
class ConvolutionLabelsAttr(SpelledAttribute[ConvolutionLabels]):
    """`ConvolutionLabels` as a property."""

    name = "xla.dim_labels"

    @classmethod
    def read(cls, text: str) -> ConvolutionLabels:
        """The labels that a text stands for."""
        return ConvolutionLabels.parse(text)
