"""How near the results of an inexact function have to be, as HLO text says it."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.utils.str_enum import StrEnum

from xla_dialect.spelling import Scanner, SpellingError
from xla_dialect.text.grammars import field, listed, number, sequence, word


class AccuracyMode(StrEnum):
    """What limits the error of a function."""

    DEFAULT = "default"
    HIGHEST = "highest"
    TOLERANCE = "tolerance"


class Accuracy(NamedTuple):
    """The error that a function may have: absolute, relative, and in units of the last place."""

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0
    mode: AccuracyMode = AccuracyMode.DEFAULT

    @classmethod
    def parse(cls, scanner: Scanner) -> Accuracy:
        """Parses `{mode=highest}` or `{tolerance={rtol=0.5,ulps=2}}`; raises SpellingError."""
        ((kind, value),) = _ACCURACY(scanner)
        if kind == "mode":
            return cls(mode=AccuracyMode(value))
        return cls(**dict(value), mode=AccuracyMode.TOLERANCE)

    def __str__(self) -> str:
        """As `parse` reads it; empty for the default, which text leaves out."""
        if self.mode is not AccuracyMode.TOLERANCE:
            return "" if self.mode is AccuracyMode.DEFAULT else f"{{mode={self.mode}}}"
        numbers = zip(TOLERANCES, self, strict=False)
        listed = (f"{name}={repr(value).removesuffix('.0')}" for name, value in numbers)
        return f"{{tolerance={{{','.join(listed)}}}}}"


TOLERANCES = ("atol", "rtol", "ulps")
_MOST_ULPS = (1 << 63) - 1


def _tolerance(scanner: Scanner) -> tuple[str, float]:
    start = scanner.position
    name, text = _TOLERANCE(scanner)
    value = float(text)
    if not value >= 0:
        raise SpellingError(f"{name} is {value:g}, tolerances are not negative", start)
    return name, int(min(value, _MOST_ULPS)) if name == "ulps" else value


_TOLERANCE = field(dict.fromkeys(TOLERANCES, number))
_MODE = word("default", "highest", in_any_case=True)
_ACCURACY = sequence("{", field({"mode": _MODE, "tolerance": listed(_tolerance)}), "}")
