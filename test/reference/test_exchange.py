"""Exchanges of pieces: what large reductions consist of, and what passes between processes."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hlo_programs import hlo, on_grid
from hypothesis import given
from hypothesis import strategies as st
from small_programs import same

from xla_dialect.devices import process_grid
from xla_dialect.devices.process_grid import Process, ProcessGrid, piece_length, pieces
from xla_dialect.diagnostics import XlaError


@pytest.fixture
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces from 64 bytes on, in steps of 4 elements: small programs are cut like large ones."""
    monkeypatch.setattr(process_grid, "PIECES_FROM", 64)
    monkeypatch.setattr(process_grid, "_PIECE_MULTIPLE", 4)


def values(dtype: Any, seed: int, shape: tuple[int, ...]) -> np.ndarray:
    numbers = np.random.default_rng(seed).integers(-40, 40, shape)
    return (numbers / 3).astype(dtype) if np.dtype(dtype).kind != "i" else numbers.astype(dtype)


def left_fold(arrays: list[np.ndarray]) -> np.ndarray:
    total = arrays[0]
    for each in arrays[1:]:
        total = total - each
    return total


@pytest.mark.usefixtures("short_pieces")
@pytest.mark.parametrize(
    ("type_", "dtype"),
    [("f32", np.float32), ("bf16", ml_dtypes.bfloat16), ("s8", np.int8), ("c64", np.complex64)],
)
@pytest.mark.parametrize("shape", [(17, 5), (86,)])
def test_pieces_are_folded_in_the_order_of_the_group(
    type_: str, dtype: Any, shape: tuple[int, ...]
):
    spelled = f"{type_}[{','.join(map(str, shape))}]"
    computation = (
        f"minus {{\n  a = {type_}[] parameter(0)\n  b = {type_}[] parameter(1)\n"
        f"  ROOT c = {type_}[] subtract(a, b)\n}}\n"
    )
    text = hlo(
        f"  x = {spelled} parameter(0)\n"
        f"  ROOT r = {spelled} all-reduce(x), replica_groups={{{{2,0,1}}}}, to_apply=minus",
        computation,
    )
    arguments = [values(dtype, seed, shape) for seed in range(3)]
    expected = left_fold([arguments[2], arguments[0], arguments[1]])
    found = on_grid(text, [[array] for array in arguments], 3)
    same(tuple(result for (result,) in found), (expected,) * 3)


@pytest.mark.usefixtures("short_pieces")
def test_pieces_of_groups_of_two_sizes_beside_what_is_small():
    text = hlo(
        "  x = f32[50] parameter(0)\n  n = f32[] parameter(1)\n"
        "  r = (f32[50], f32[]) all-reduce(x, n), replica_groups={{0,1},{4,2,3}},"
        " to_apply=subtract\n"
        "  s = f32[50] get-tuple-element(r), index=0\n  t = f32[] get-tuple-element(r), index=1\n"
        "  ROOT q = (f32[50], f32[]) tuple(s, t)"
    )
    arguments = [[values(np.float32, n, (50,)), values(np.float32, n, ())] for n in range(5)]
    found = on_grid(text, arguments, 5)
    for group in ([0, 1], [4, 2, 3]):
        for position in range(2):
            expected = left_fold([arguments[number][position] for number in group])
            same(tuple(found[n][position] for n in group), (expected,) * len(group))


@pytest.mark.usefixtures("short_pieces")
def test_pieces_of_reductions_under_way_at_once():
    """The second exchange of each is its own, whichever ends first."""
    text = hlo(
        "  x = f32[50] parameter(0)\n  y = f32[50] negate(x)\n"
        "  a = f32[50] all-reduce-start(x), replica_groups={}, to_apply=subtract\n"
        "  b = f32[50] all-reduce-start(y), replica_groups={}, to_apply=add\n"
        "  c = f32[50] all-reduce-done(b)\n  d = f32[50] all-reduce-done(a)\n"
        "  ROOT r = (f32[50], f32[50]) tuple(c, d)"
    )
    arguments = [values(np.float32, seed, (50,)) for seed in range(2)]
    found = on_grid(text, [[array] for array in arguments], 2)
    expected = (-arguments[0] + -arguments[1], arguments[0] - arguments[1])
    for results in found:
        same(results, expected)


@given(st.integers(0, 1 << 20), st.integers(1, 9), st.integers(1, 70))
def test_pieces_cover_an_array(elements: int, item: int, members: int):
    length = piece_length(elements, item, members)
    if length is None:
        assert members == 1 or elements * item < process_grid.PIECES_FROM
        return
    found = pieces(np.broadcast_to(np.zeros((), np.int8), (elements,)), length, members)
    sizes = [piece.size for piece in found]
    assert sum(sizes) == elements
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] - sizes[-1] <= max(length, 0)


PAIR = ((0, 0), (1, 0))


def run_pair(*programs: Any) -> list[Any]:
    grid = ProcessGrid(2)
    return grid.run(
        {
            place: lambda p=p, q=place: p(Process(grid, q))
            for place, p in zip(PAIR, programs, strict=True)
        }
    )


def test_other_types_than_expected():
    def sends(array: np.ndarray) -> Any:
        return lambda process: process.exchange("key", PAIR, [[array]] * 2, "it").take(
            [[np.empty(3, np.float32)]] * 2
        )

    with pytest.raises(XlaError, match=r"member 1 sends int32\[3\], and float32\[3\] is expected"):
        run_pair(sends(np.zeros(3, np.float32)), sends(np.zeros(3, np.int32)))
