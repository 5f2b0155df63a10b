"""What operations with windows share: lists with an entry for each dimension of the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, TensorType, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import opt_prop_def
from xdsl.utils.exceptions import VerifyException

from xla_dialect.shapes.window import Window, WindowAttr
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.source import integers_of, rows_of


class WindowedOp(StableHloOp):
    """An operation with a window, said in lists."""

    LISTS: ClassVar[Mapping[str, str]]
    """From the arguments of `Window.of` to the properties that are lists of integers or flags."""

    window_strides = opt_prop_def(DenseArrayBase.constr(i64))

    def window(self, sizes: Sequence[int], padding: Attribute | None) -> WindowAttr:
        """The window of the lists; raises VerifyException."""
        lists: dict[str, Any] = {
            argument: tuple(map(_ENTRIES.get(argument, int), integers_of(value) or ()))
            for argument, name in self.LISTS.items()
            if (value := self.properties.get(name)) is not None
        }
        try:
            return WindowAttr(Window.of(sizes, padding=pairs_of("padding", padding), **lists))
        except SpellingError as error:
            raise VerifyException(str(error)) from None

    @classmethod
    def lists_of(cls, window: Window) -> dict[str, Attribute]:
        """The lists of a window, and its padding."""
        pads = [(each.padding_low, each.padding_high) for each in window.dimensions]
        found: dict[str, Attribute] = {"padding": matrix(pads)}
        for argument, name in cls.LISTS.items():
            entries = [int(getattr(each, argument)) for each in window.dimensions]
            type_ = i1 if _ENTRIES.get(argument) is bool else i64
            found[name] = DenseArrayBase.from_list(type_, entries)
        return found


_ENTRIES: Mapping[str, type[int]] = {"reversal": bool}
"""By list, what its entries are if not integers."""


def pairs_of(name: str, value: Attribute | None) -> list[tuple[int, int]]:
    """The rows of a matrix of two columns; raises VerifyException for anything else."""
    rows = () if value is None else rows_of(name, value)
    if any(len(row) != 2 for row in rows):
        raise VerifyException(f"{name} is {[list(row) for row in rows]}, not pairs")
    return [(low, high) for low, high in rows]


def matrix(rows: Sequence[Sequence[int]], width: int = 2) -> Attribute:
    """A matrix of rows of one width, `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`."""
    numbers = [number for row in rows for number in row]
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, (len(rows), width)), numbers)
