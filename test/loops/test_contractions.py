"""Contractions of all shapes and layouts, as machine code, against numpy's einsum."""

import numpy as np
import pytest
from einsums import Einsum
from machine_code import MachineCode, lower
from sweeps import combinations
from xdsl.dialects import memref

from lowerings.loops.convert_linalg_to_vector_loops import ConvertLinalgToVectorLoopsPass
from lowerings.scheduling.contractions import LARGE_OPERAND_BYTES
from lowerings.scheduling.xla_plan_schedules import XlaPlanSchedulesPass
from xla_dialect.mlir_text import print_mlir


def check(case: Einsum, vector_bits: int = 512) -> str:
    """Compares a contraction with numpy; returns the loops."""
    module = lower(
        case.text(), [XlaPlanSchedulesPass(vector_bits), ConvertLinalgToVectorLoopsPass()]
    )
    arrays = case.arrays()
    found = arrays[-1].copy()
    MachineCode(module).run("main", [*arrays[:-1], found])
    case.assert_result(arrays, found)
    return print_mlir(module)


CASES = [
    Einsum("mk,kn->mn", (7, 5, 3)),
    Einsum("mk,kn->mn", (64, 64, 64)),
    Einsum("mk,kn->mn", (33, 37, 45), fill=False),
    Einsum("mk,kn->mn", (1, 8, 300)),
    Einsum("mk,kn->mn", (50, 1, 1)),
    Einsum("mk,nk->mn", (40, 24, 33)),
    Einsum("mk,nk->mn", (40, 3, 50)),
    Einsum("km,kn->mn", (20, 30, 40)),
    Einsum("km,nk->mn", (20, 30, 40)),
    Einsum("km,nk->nm", (20, 30, 40)),
    Einsum("mk,kn->nm", (20, 30, 40)),
    Einsum("mk,k->m", (100, 37)),
    Einsum("k,kn->n", (100, 137)),
    Einsum("k,k->", (1000,)),
    Einsum("m,n->mn", (10, 20)),
    Einsum("bmk,bkn->bmn", (3, 20, 17, 40)),
    Einsum("bmk,bnk->bmn", (3, 20, 17, 40)),
    Einsum("bsht,bthd->bshd", (2, 16, 3, 20, 20)),
    Einsum("bshd,bthd->bhst", (2, 16, 3, 20, 20)),
    Einsum("mkl,kln->mn", (6, 5, 20, 33)),
    Einsum("mkl,nlk->mn", (16, 5, 20, 33)),
    Einsum("mkb,knb->mnb", (17, 5, 6, 7)),
    Einsum("xyk,kuv->xyuv", (4, 3, 5, 6, 7)),
    Einsum("mk,kn->mn", (64, 400, 64), fill=False),
    Einsum("kxm,kn->nmx", (300, 12, 20, 3)),
    Einsum("kxm,kn->nmx", (300, 12, 20, 3), fill=False),
    Einsum("xmk,nk->nmx", (40, 10, 20, 3)),
    Einsum("mk,kn->mn", (20, 33, 70), element="f64", accumulator="f64"),
    Einsum("mk,nk->mn", (20, 33, 70), element="f64", accumulator="f64"),
    Einsum("mk,kn->mn", (20, 33, 70), element="bf16"),
    Einsum("mk,nk->mn", (20, 33, 70), element="bf16"),
    Einsum("mk,kn->mn", (20, 33, 70), element="f16"),
    Einsum("mk,kn->mn", (20, 33, 70), element="i8", accumulator="i32"),
    Einsum("mk,nk->mn", (20, 33, 70), element="i8", accumulator="i32"),
    Einsum("mk,kn->mn", (20, 33, 70), element="i32", accumulator="i32"),
    Einsum("mk,kn->mn", (21, 33, 129), element="i8", accumulator="i32"),
    Einsum("km,nk->mn", (21, 33, 70), element="i8", accumulator="i32", fill=False),
    Einsum("mk,kn->mn", (1203, 9, 140), element="i16", accumulator="i32"),
    Einsum("mk,kn->mn", (1204, 9, 140), element="i16", accumulator="i32", fill=False),
    Einsum("mkl,kln->mn", (5, 3, 20, 33), element="i8", accumulator="i32"),
    Einsum("mk,kn->mn", (2, 33, 70), element="i8", accumulator="i32"),
    Einsum("mk,kn->mn", (3, 33, 70), element="i8", accumulator="i32"),
]


@pytest.mark.parametrize(
    ("case", "vector_bits"), combinations(CASES, (0, 256, 512), step=2), ids=str
)
def test_contraction(case: Einsum, vector_bits: int) -> None:
    check(case, vector_bits)


@pytest.mark.parametrize("fill", [True, False])
@pytest.mark.parametrize(
    "case",
    [
        # Columns in two groups of panels and a rest; terms in two blocks.
        Einsum("mk,kn->mn", (1100, 40, 400)),
        Einsum("mk,kn->mn", (1543, 33, 301)),
        Einsum("mk,nk->mn", (1543, 33, 301)),
        Einsum("mkl,kln->mn", (2, 700, 33, 300)),
        Einsum("bmk,bkn->bmn", (2, 1100, 40, 400)),
    ],
    ids=str,
)
def test_panels(case: Einsum, fill: bool) -> None:
    loops = check(Einsum(case.subscripts, case.extents, fill=fill))
    assert memref.AllocaOp.name in loops


@pytest.mark.parametrize("rows", [40, 400])
def test_large_rows_meet_all_panels_in_turn(rows: int) -> None:
    loops = check(Einsum("mk,nk->mn", (1100, rows, 512)))
    rows_outside = loops.index("scf.for %d1_1 ") < loops.index("scf.for %d3_1 ")
    assert rows_outside == (rows * 1100 * 4 > LARGE_OPERAND_BYTES)


@pytest.mark.parametrize("terms", [64, 65])
@pytest.mark.parametrize("vector_bits", [128, 256, 512])
def test_pairs_of_the_largest_products(terms: int, vector_bits: int) -> None:
    """Two products of the smallest 16-bit numbers are too large for 32 bits: sums wrap."""
    a = np.full((16, terms), -(1 << 15), np.int16)
    b = np.full((terms, 40), -(1 << 15), np.int16)
    a[3], b[:, 5], a[7, 1::2] = 7, (1 << 15) - 1, 0
    c = np.zeros((16, 40), np.int32)
    case = Einsum("mk,kn->mn", (terms, 16, 40), element="i16", accumulator="i32")
    module = lower(
        case.text(), [XlaPlanSchedulesPass(vector_bits), ConvertLinalgToVectorLoopsPass()]
    )
    assert "vector.bitcast" in print_mlir(module)
    MachineCode(module).run("main", [a, b, c])
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_narrow_columns() -> None:
    """Long sums are written apart rather than computed in vectors that are mostly empty."""
    assert "vector.extract" in check(Einsum("kxm,kn->nmx", (300, 12, 20, 3)))
    assert "vector.scatter" not in check(Einsum("kxm,kn->nmx", (30, 12, 20, 3)))
    assert "vector.scatter" not in check(Einsum("mk,kn->mn", (300, 64, 8)))


@pytest.mark.parametrize("fill", [True, False])
@pytest.mark.parametrize("channels", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("spelled", ["bkc,kn->bnc", "bkc,nk->bnc", "abkc,kn->banc"])
def test_narrow_outputs(spelled: str, channels: int, fill: bool) -> None:
    """
    Few numbers lie side by side in the output, as of a resized image: vectors lie along the columns
    between which they are, not along these few.
    """
    sizes = {"a": 3, "b": 20, "c": channels, "k": 40, "n": 37}
    case = Einsum(spelled, tuple(n for d, n in sizes.items() if d in spelled), fill=fill)
    loops = check(case)
    assert ("vector.extract" in loops) == (channels > 1)


def test_convolution() -> None:
    """Overlapping windows are rows whose steps are those of the sum as well."""
    text = """
    func.func @main(%x: memref<2x9x11x5xf32>, %w: memref<3x3x5x20xf32>, %y: memref<2x7x5x20xf32>)
        attributes {xla.entry} {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%y : memref<2x7x5x20xf32>)
      linalg.generic {
          indexing_maps = [
            affine_map<(n, h, w, f, i, j, c) -> (n, h + i, w * 2 + j, c)>,
            affine_map<(n, h, w, f, i, j, c) -> (i, j, c, f)>,
            affine_map<(n, h, w, f, i, j, c) -> (n, h, w, f)>],
          iterator_types = ["parallel", "parallel", "parallel", "parallel",
                            "reduction", "reduction", "reduction"]}
          ins(%x, %w : memref<2x9x11x5xf32>, memref<3x3x5x20xf32>)
          outs(%y : memref<2x7x5x20xf32>) {
      ^bb0(%a: f32, %b: f32, %sum: f32):
        %p = arith.mulf %a, %b : f32
        %r = arith.addf %sum, %p : f32
        linalg.yield %r : f32
      }
      func.return
    }
    """
    source = np.random.default_rng(0)
    x = source.normal(size=(2, 9, 11, 5)).astype(np.float32)
    w = source.normal(size=(3, 3, 5, 20)).astype(np.float32)
    y = np.full((2, 7, 5, 20), np.nan, np.float32)
    module = lower(text, [XlaPlanSchedulesPass(), ConvertLinalgToVectorLoopsPass()])
    assert "vector.fma" in print_mlir(module)
    MachineCode(module).run("main", [x, w, y])
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))[:, :, ::2]
    expected = np.einsum("nhwcij,ijcf->nhwf", windows.astype(np.float64), w.astype(np.float64))
    np.testing.assert_allclose(y, expected, atol=1e-4)


def test_not_a_number_and_infinity_take_part() -> None:
    """No term is left out: zeros times infinity are NaN, as for scalars."""
    a = np.zeros((16, 16), np.float32)
    b = np.ones((16, 16), np.float32)
    a[3, 4], b[7, 5] = np.nan, np.inf
    c = np.zeros((16, 16), np.float32)
    code = MachineCode(
        lower(
            Einsum("mk,kn->mn", (16, 16, 16)).text(),
            [XlaPlanSchedulesPass(), ConvertLinalgToVectorLoopsPass()],
        )
    )
    code.run("main", [a, b, c])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.isnan(c), np.isnan(a @ b))


@pytest.mark.parametrize("number", range(6))
def test_windows_with_weights(number: int) -> None:
    """Depthwise convolutions and their like, of small integers: in any order sums are exact."""
    random = np.random.default_rng(number)
    width, taps, stride = (int(random.integers(*ends)) for ends in ((4, 20), (1, 6), (1, 4)))
    channels = int(random.choice([1, 17, 32, 70, 300]))
    kind, bits = (np.float32, 512) if number % 2 else (np.float64, 256)
    read = (width - 1) * stride + taps
    element = "f32" if kind is np.float32 else "f64"
    types = [f"memref<{n}x{channels}x{element}>" for n in (read, taps, width)]
    maps = (f"d0 * {stride} + d2, d1", "d2, d1", "d0, d1")
    spelled = ", ".join(f"affine_map<(d0, d1, d2) -> ({each})>" for each in maps)
    module = lower(
        f"""func.func @main(%x: {types[0]}, %w: {types[1]}, %y: {types[2]}) attributes {{xla.entry}} {{
  linalg.generic {{indexing_maps = [{spelled}],
    iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%x, %w : {types[0]}, {types[1]}) outs(%y : {types[2]}) {{
  ^bb0(%a: {element}, %b: {element}, %sum: {element}):
    %product = arith.mulf %a, %b : {element}
    %next = arith.addf %sum, %product : {element}
    linalg.yield %next : {element}
  }}
  func.return
}}""",
        [XlaPlanSchedulesPass(bits), ConvertLinalgToVectorLoopsPass()],
    )
    x, w, y = (random.integers(-8, 9, (n, channels)).astype(kind) for n in (read, taps, width))
    expected = y + sum(x[tap::stride][:width] * w[tap] for tap in range(taps))
    MachineCode(module).run("main", [x, w, y])
    np.testing.assert_array_equal(y, expected)
