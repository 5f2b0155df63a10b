"""Ragged dots, expanded and as machine code, against the reference; sums of small integers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import numbers, same, shape
from sweeps import each_or_full
from tensors_level import lower, module_of, natively

from lowerings.expand.xla_expand_compound import XlaExpandCompoundPass
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import RaggedDotOp
from xla_dialect.reference import run
from xla_dialect.types import BY_NAME

Ints = Sequence[int]
DIMENSIONS: dict[str, dict[str, Ints]] = {
    "free": {"lhs_contracting_dims": [2], "rhs_contracting_dims": [2], "rhs_group_dims": [0]},
    "free, batch": {
        "lhs_batch_dims": [0],
        "rhs_batch_dims": [1],
        "lhs_contracting_dims": [2],
        "rhs_contracting_dims": [2],
        "rhs_group_dims": [0],
    },
    "contracting": {"lhs_contracting_dims": [1], "rhs_contracting_dims": [1]},
    "contracting, batch": {
        "lhs_batch_dims": [0],
        "rhs_batch_dims": [0],
        "lhs_contracting_dims": [1],
        "rhs_contracting_dims": [1],
    },
    "contracting two": {"lhs_contracting_dims": [0, 1], "rhs_contracting_dims": [0, 1]},
    "batch": {
        "lhs_batch_dims": [1],
        "rhs_batch_dims": [1],
        "lhs_contracting_dims": [2],
        "rhs_contracting_dims": [2],
    },
}
"""lhs is `[b, m, k]` in all of them, and m is ragged."""

PER_LINE = {"free", "free, batch", "contracting, batch", "contracting two"}
"""Where each index of the first dimension may have groups of its own."""


def sizes_of(kind: str, b: int, m: int, k: int, n: int, groups: int) -> tuple[Ints, Ints]:
    """The sizes of rhs and of the result."""
    match kind:
        case "free":
            return (groups, n, k), (b, m, n)
        case "free, batch":
            return (groups, b, k, n), (b, m, n)
        case "contracting":
            return (n, m), (groups, b, k, n)
        case "contracting, batch":
            return (b, m, n), (groups, b, k, n)
        case "contracting two":
            return (b, m, n), (groups, k, n)
        case _:
            return (n, m, k), (m, b, n)


def check(kind: str, name: str, sizes: Ints, group_sizes: np.ndarray, result: str = "") -> None:
    b, m, k, n = sizes
    rhs, out = sizes_of(kind, b, m, k, n, group_sizes.shape[-1])
    random = np.random.default_rng(m)
    low = 0 if name.startswith("u") else -2
    arguments = [numbers(name, random.integers(low, 3, s)) for s in ((b, m, k), rhs)]
    type_ = shape(f"{result or name}[{','.join(map(str, out))}]")

    def build(*operands: Any) -> XlaOp:
        dimensions: Any = DIMENSIONS[kind]
        return RaggedDotOp(*operands, lhs_ragged_dims=[1], result_types=[type_], **dimensions)

    arguments.append(group_sizes)
    module = module_of(build, arguments)
    module.verify()
    expected = flatten_results(run(module, arguments))
    lower(module, (XlaExpandCompoundPass(),))
    assert not any(isinstance(op, RaggedDotOp) for op in module.walk())
    same(flatten_results(run(module, arguments)), expected)
    same(tuple(natively(build, *arguments)), expected)


@given(
    st.sampled_from(list(DIMENSIONS)),
    st.tuples(*(st.sampled_from(sizes) for sizes in ([0, 1, 2], [0, 1, 5, 40], [0, 3], [1, 4]))),
    st.sampled_from(["s32", "u8", "s64", "u64"]),
    st.booleans(),
    st.lists(st.integers(-3, 30), max_size=4),
)
def test_random_groups(
    kind: str, sizes: tuple[int, ...], name: str, per_line: bool, groups: list[int]
) -> None:
    """Empty groups, groups beyond the end, negative sizes, sizes that are 2^64 - 3 or so."""
    lines = [sizes[0]] if per_line and kind in PER_LINE else []
    found = [np.roll(groups, i) for i in range(sizes[0])] if lines else groups
    group_sizes = numbers("s64", found).reshape((*lines, len(groups)))
    check(kind, "f32", sizes, numbers(name, group_sizes))


@pytest.mark.parametrize("kind", DIMENSIONS)
@pytest.mark.parametrize(
    "name",
    each_or_full(
        (n for n in BY_NAME if n not in ("s1", "u1")), ("pred", "s8", "bf16", "f64", "c64")
    ),
)
def test_element_types(kind: str, name: str) -> None:
    groups = [[4, 0, 2], [1, 1, 9]] if kind in PER_LINE else [4, 0, 2]
    check(kind, name, (2, 9, 3, 4), numbers("s32", groups))


def test_wider_results() -> None:
    for kind in ("free", "contracting"):
        check(kind, "s8", (1, 300, 2, 3), numbers("s32", [200, 0, 90]), "s32")
        check(kind, "bf16", (1, 300, 2, 3), numbers("s32", [200, 0, 90]), "f32")


def test_groups_do_not_leak() -> None:
    """An infinity of one group is not multiplied by what is in another."""
    rhs = numbers("f32", [[[np.inf]], [[5]]])
    arguments = [numbers("f32", [[1], [2], [3]]), rhs, numbers("s32", [1, 1])]

    def build(*operands: Any) -> XlaOp:
        return RaggedDotOp(
            *operands,
            lhs_contracting_dims=[1],
            rhs_contracting_dims=[1],
            lhs_ragged_dims=[0],
            rhs_group_dims=[0],
        )

    same(tuple(natively(build, *arguments)), (numbers("f32", [[np.inf], [10], [0]]),))
