"""Which dimension is which in a convolution: `#xla.dim_labels<bf01_oi01->bf01>`.

One character per dimension, as in `dim_labels=` of HLO text: `b` batch, `f` feature, `o` output
feature, `i` input feature, digits for the spatial dimensions, `?` for a dimension without a role.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.irdl import irdl_attr_definition

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.shapes.size_arithmetic import Sizes
from xla_dialect.spelling import SpellingError, shortened


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
