"""Why an operation is computed with another, or is not: what decisions and remarks share."""

from __future__ import annotations

from enum import Enum

MAX_DUPLICATED_COST = 12
"""Up to this cost an element is computed again rather than stored and read."""

MAX_GROUP_SIZE = 256
"""Scalar operations in a body; more would only spill registers."""

MAX_ROOTS = 8
"""Tensors that one operation writes."""

MIN_REUSE = 8
"""How often an expensive value must be used in inner loops to be worth computing in outer ones."""


class FusionReason(Enum):
    """A reason; its value is what remarks and errors say after `because`."""

    # To compute it in the bodies of its users.
    MOVES_DATA = "it moves data only"
    COMPUTED_ONCE = "that computes every element once, or once for all inner loops"
    CHEAP_FOR_ONE = f"it costs at most {MAX_DUPLICATED_COST} and one operation uses it"
    CHEAP_FOR_ALL = (
        f"to compute it again costs at most {MAX_DUPLICATED_COST} and reads at most one tensor"
    )
    # To store it beside the results of another operation.
    STORED_BY_USER = "that operation reads it and has the same loops"
    STORED_BY_SIBLING = "that operation reads the same tensor in the same loops"
    # For both.
    GIVEN = "it is so decided"

    # Against computing it in its users, whatever is decided.
    NOT_ELEMENTWISE = "its elements are complete only after its loops"
    NEEDED_IN_MEMORY = "an operation that is not fused needs it in memory"
    # Against computing it there, unless decided.
    CONTRACTION_TAKES_MOVES = "a contraction takes nothing but data movement"
    RECOMPUTATION = (
        f"to compute it again costs more than {MAX_DUPLICATED_COST}, or reads several tensors"
    )
    # Against storing it there, whatever is decided.
    IS_CONTRACTION = "a contraction has loops of its own"
    NO_LOOPS = "that reads a single element"
    USED_BEFORE = "another operation uses it before"
    SPACES_DIFFER = "the iteration spaces differ"
    SEVERAL_PLACES = "that reads several of its elements in an iteration"
    # Against storing it there, unless decided.
    TRANSPOSED = "it would be stored with strides"
    TOO_MANY_RESULTS = f"an operation writes at most {MAX_ROOTS} tensors"
    # Against either.
    ALONE = "one of them is to be alone"
    TOO_LARGE = f"a body has at most {MAX_GROUP_SIZE} operations"
