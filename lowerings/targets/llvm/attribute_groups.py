"""Which attributes the functions of a module have, in groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PLAIN = "#0"
APART = "#1"
"""The attribute group of functions with `noinline`."""
INLINED = "#2"
GLUE = "#3"
"""
Of a function that does little more than call others. What the optimiser and the careful code
generator of LLVM would find there is not worth the millisecond that they take.
"""

_WORDS = {PLAIN: "", APART: "noinline ", INLINED: "alwaysinline ", GLUE: "noinline optnone "}


@dataclass(frozen=True)
class FunctionAttributes:
    """For which processor code is generated; nothing means LLVM's default for the triple."""

    cpu: str = ""
    features: str = ""
    vector_width: int = 0
    """The widest vectors to prefer, in bits."""

    def spell(self) -> str:
        """The attributes as LLVM writes them."""
        pairs = {
            "target-cpu": self.cpu,
            "target-features": self.features,
            "prefer-vector-width": str(self.vector_width) if self.vector_width else "",
        }
        return " ".join(["nounwind", *(f'"{k}"="{v}"' for k, v in pairs.items() if v)])


def definitions(common: str, *, inlines: bool) -> Iterable[str]:
    """
    The lines that define the groups, from the attributes that all functions have; `INLINED` only if
    it is used, which tells whether passes have to run.
    """
    return (
        f"attributes {group} = {{ {words}{common} }}"
        for group, words in _WORDS.items()
        if inlines or group != INLINED
    )
