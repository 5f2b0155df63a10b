"""Sums of floats that keep what rounding takes from them, over any builder of arithmetic."""

from __future__ import annotations

from typing import Any, TypeVar

from lowerings.ir.formulas import Choice, Formula

SummandT = TypeVar("SummandT", bound="Formula[Choice[Any]]")


def compensated(total: SummandT, excess: SummandT, term: SummandT) -> tuple[SummandT, SummandT]:
    """
    A sum with a term added, and by how much rounding has made it too large, which the next term is
    to be diminished by (W. Kahan: "Further remarks on reducing truncation errors", 1965).
    """
    less = term - excess
    added = total + less
    found = added - total - less
    # Of an infinite sum it is nothing.
    return added, (found - found).is_equal(0.0).choose(found, 0.0)


def with_rest(total: SummandT, rest: SummandT, term: SummandT) -> tuple[SummandT, SummandT]:
    """
    A sum with a term added, and all that rounding has taken from it so far; not a number if the sum
    is infinite. Unlike an excess, it does not make the next sum wait.

    What is taken is exact unless the term is larger than the sum, and off by what rounds the term
    then (T. Dekker: "A floating-point technique for extending the available precision", 1971).
    """
    added = total + term
    return added, rest + (term - (added - total))
