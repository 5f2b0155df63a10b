"""Four products of bytes, and two of bf16, at a time: by the processor's instructions and without."""

import itertools
import random
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from einsums import Einsum
from loops_level import context, parse
from machine_code import MachineCode, lower
from random_schedules import random_schedule
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.dialects.llvm import CallIntrinsicOp
from xdsl.utils.exceptions import PassFailedException

from lowerings import compile
from lowerings.compilation import Program
from lowerings.dialects.schedule import Factor, set_schedule
from lowerings.ir.dot_products import DotProduct
from lowerings.ir.target import XlaAttachTargetPass
from lowerings.loops.convert_linalg_to_vector_loops import ConvertLinalgToVectorLoopsPass
from lowerings.scheduling.xla_plan_schedules import XlaPlanSchedulesPass
from lowerings.targets.llvm.machine import host
from xla_dialect.mlir_text import print_mlir

CASES = [
    Einsum("mk,kn->mn", (20, 33, 70)),
    Einsum("mk,nk->mn", (20, 33, 70), fill=False),
    Einsum("km,nk->nm", (21, 33, 70)),
    Einsum("mk,kn->mn", (22, 33, 129), fill=False),
    Einsum("mk,kn->mn", (8, 8, 20), fill=False),
    Einsum("bmk,bkn->bmn", (3, 23, 17, 40)),
    Einsum("mkl,kln->mn", (5, 9, 20, 33)),
    # Terms in several blocks, of which the last one may hold one number of four.
    Einsum("mk,kn->mn", (2052, 9, 140)),
    Einsum("mk,kn->mn", (4 * 521, 9, 140), fill=False),
]


@pytest.fixture(params=["by instruction", "without"])
def instructions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time, as on a processor that has none."""
    if request.param == "without":
        monkeypatch.setattr(DotProduct, "is_of", lambda *_: False)


@pytest.mark.parametrize(("element", "total"), [("i8", "i32"), ("bf16", "f32")])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_contraction(case: Einsum, element: str, total: str) -> None:
    check(case, element, total, 512)


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize(("element", "total"), [("i8", "i32"), ("bf16", "f32")])
def test_narrow_vectors(element: str, total: str) -> None:
    check(CASES[0], element, total, 256)


def check(case: Einsum, element: str, total: str, vector_bits: int) -> None:
    """Compares a contraction with numpy."""
    case = Einsum(case.subscripts, case.extents, element, total, case.fill)
    has_all = XlaAttachTargetPass(vector_bits, True, True, True, flushes_subnormals=True)
    module = lower(case.text(), [has_all, XlaPlanSchedulesPass(), ConvertLinalgToVectorLoopsPass()])
    assert CallIntrinsicOp.name in print_mlir(module)
    arrays = case.arrays()
    found = arrays[-1].copy()
    MachineCode(module).run("main", [*arrays[:-1], found])
    case.assert_result(arrays, found)


def product(
    lhs: str,
    rhs: str,
    total: str,
    shape: tuple[int, int, int],
    flush_subnormals: bool = False,
    precision: str = "",
) -> Program:
    m, k, n = shape
    said = f'attributes {{xla.operand_precision = "{precision}"}}' if precision else ""
    text = f"""
    func.func @main(%a: tensor<{m}x{k}x{lhs}>, %b: tensor<{k}x{n}x{rhs}>) -> tensor<{m}x{n}x{total}> {{
      %0 = xla.dot %a, %b {{lhs_contracting_dims = [1], rhs_contracting_dims = [0]}} {said}
          : (tensor<{m}x{k}x{lhs}>, tensor<{k}x{n}x{rhs}>) -> tensor<{m}x{n}x{total}>
      func.return %0 : tensor<{m}x{n}x{total}>
    }}
    """
    return compile(text, flush_subnormals=flush_subnormals)


BYTES = {"i8": (np.int8, -128, 127), "ui8": (np.uint8, 0, 255)}


@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize(("lhs", "rhs"), list(itertools.product(BYTES, repeat=2)))
def test_signs(lhs: str, rhs: str) -> None:
    """All combinations of signs, with the least and the greatest numbers among the factors."""
    source = np.random.default_rng(0)
    a, b = (
        source.integers(low, high, shape, dtype, endpoint=True)
        for (dtype, low, high), shape in zip(
            (BYTES[lhs], BYTES[rhs]), ((19, 70), (70, 37)), strict=True
        )
    )
    a[3], a[4] = BYTES[lhs][1:]
    b[:, 5], b[:, 6] = BYTES[rhs][1:]
    (found,) = product(lhs, rhs, "i32", (19, 70, 37))(a, b)
    np.testing.assert_array_equal(found, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.usefixtures("instructions")
def test_flushed_subnormals() -> None:
    """Machine code does what the interpreter says of the instruction, bit by bit."""
    source = np.random.default_rng(0)
    a, b = (
        (source.standard_normal(shape) * 2.0 ** source.integers(-90, -40, shape)).astype(
            ml_dtypes.bfloat16
        )
        for shape in ((19, 70), (70, 37))
    )
    a.flat[::7], b.flat[::5] = 1e-39, 1e30
    a.flat[1::50], b.flat[1::60] = -0.0, np.inf
    attach = XlaAttachTargetPass(
        host().vector_bits, multiplies_bfloats=True, flushes_subnormals=True
    )
    case = Einsum("mk,kn->mn", (70, 19, 37), "bf16", "f32")
    module = lower(case.text(), [attach, XlaPlanSchedulesPass(), ConvertLinalgToVectorLoopsPass()])
    found = np.zeros((19, 37), np.float32)
    (expected,) = compile(print_mlir(module), backend="interpreter")(a, b)
    MachineCode(module).run("main", [a, b, found])
    np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))


def test_precision_keeps_subnormals() -> None:
    """In default precision products of bf16 may lose them, in a higher one where that is allowed."""
    a, b = (np.zeros(shape, ml_dtypes.bfloat16) for shape in ((16, 64), (64, 32)))
    a[2, 3], b[3, 4] = 2.0**-130, 2.0**100
    shape = (16, 64, 32)
    flushed = 0 if host().multiplies_bfloats else 2.0**-30
    for precision, flush_subnormals, expected in (
        ("", False, flushed),
        ("{default,default}", False, flushed),
        ("{highest,highest}", False, 2.0**-30),
        ("{default,high}", False, 2.0**-30),
        ("{highest,highest}", True, flushed),
    ):
        (found,) = product("bf16", "bf16", "f32", shape, flush_subnormals, precision)(a, b)
        assert found[2, 4] == expected


@pytest.mark.parametrize("element", ["i8", "bf16"])
def test_random_schedules(element: str) -> None:
    """Each is refused by a rule, or computes what numpy does."""
    total, terms = {"i8": ("i32", 4), "bf16": ("f32", 2)}[element]
    case = Einsum("mk,kn->mn", (24, 9, 37), element, total, fill=False)
    factors = {Factor.LHS: [1, 0], Factor.RHS: [0, 2]}
    admitted = 0
    for seed in range(150):
        module = parse(case.text())
        (op,) = (op for op in module.walk() if isinstance(op, GenericOp))
        schedule = random_schedule(random.Random(seed), (24 // terms, 9, 37), factors)
        set_schedule(op, replace(schedule, paired=0, at_once=terms))
        try:
            ConvertLinalgToVectorLoopsPass().apply(context(), module)
        except PassFailedException as error:
            if "schedule: (SR" not in str(error):
                raise
            continue
        arrays = case.arrays(seed)
        found = arrays[-1].copy()
        MachineCode(module).run("main", [*arrays[:-1], found])
        case.assert_result(arrays, found)
        admitted += 1
    assert admitted > 3
