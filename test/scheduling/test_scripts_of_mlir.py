"""Scripts that MLIR's own interpreter runs on the same linalg: both programs compute the same."""

from collections.abc import Sequence

import numpy as np
import pytest
from loops_level import context, parse, run, spec
from mlir_pipeline import MlirProgram
from peers import mlir_opt
from scripts_on_tensors import BODY, OURS, SCRIPT, THEIRS

import lowerings
from lowerings.dialects.schedule import schedule_of
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.execution.signature import Signature
from xla_dialect.mlir_text import print_mlir

PROGRAM = """
module attributes {{transform.with_named_sequence}} {{
  func.func @main(%a: memref<{m}x{k}xf32>, %b: memref<{k}x{n}xf32>, %c: memref<{m}x{n}xf32>) attributes {{xla.entry}} {{
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%c : memref<{m}x{n}xf32>)
    linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%a, %b : memref<{m}x{k}xf32>, memref<{k}x{n}xf32>) outs(%c : memref<{m}x{n}xf32>) {{
    ^bb0(%x: f32, %y: f32, %z: f32):
      %0 = arith.mulf %x, %y : f32
      %1 = arith.addf %z, %0 : f32
      linalg.yield %1 : f32
    }}
    func.return
  }}
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
    %0 = transform.structured.match ops{{["linalg.generic"]}} in %root : (!transform.any_op) -> !transform.any_op
    {steps}
    transform.yield
  }}
}}
"""
FIRST = (
    "transform-interpreter",
    "test-transform-dialect-erase-schedule",
    "func.func(scf-forall-to-for)",
    "func.func(lower-vector-multi-reduction)",
    "func.func(convert-vector-to-scf)",
    "func.func(convert-linalg-to-loops)",
    "expand-strided-metadata",
    "lower-affine",
    "convert-scf-to-cf",
    "convert-vector-to-llvm",
    "convert-ub-to-llvm",
)
REST = (
    "transform-interpreter,test-transform-dialect-erase-schedule,xla-plan-schedules,"
    "convert-linalg-to-vector-loops,expand-small-floats,expand-math"
)


def tiled(source: str, sizes: str, result: str, loops: int, more: str = "") -> str:
    types = ", ".join(["!transform.any_op"] * (loops + 1))
    return (
        f"%{result}, %l{result}:{loops} = transform.structured.tile_using_for %{source} "
        f"tile_sizes {sizes}{more} : (!transform.any_op) -> ({types})"
    )


INTERCHANGE = (
    "%i = transform.structured.interchange %0 iterator_interchange = [1, 2, 0] "
    ": (!transform.any_op) -> !transform.any_op"
)
FORALL = (
    "%f, %forall = transform.structured.tile_using_forall %0 {} "
    ": (!transform.any_op) -> (!transform.any_op, !transform.any_op)"
)
PROMOTE = (
    "%p = transform.structured.promote %1 {operands_to_promote = [1]} "
    ": (!transform.any_op) -> !transform.any_op"
)
VECTORIZE = "transform.structured.vectorize %{} vector_sizes {} : !transform.any_op"
UNROLL = "transform.loop.{} %{} {{factor = {}}} : !transform.any_op"
EVEN, ODD = (12, 20, 32), (13, 21, 37)


@pytest.mark.mlir_opt
@pytest.mark.parametrize(
    ("sizes", "steps"),
    [
        (ODD, [tiled("0", "[4, 16, 5]", "1", 3)]),
        (ODD, [tiled("0", "[8, 16, 8]", "1", 3), tiled("1", "[2, 0, 3]", "2", 2)]),
        (ODD, [tiled("0", "[4, 8]", "1", 2, " interchange = [1, 0]")]),
        (ODD, [INTERCHANGE, tiled("i", "[8, 0, 4]", "1", 2)]),
        (ODD, [FORALL.format("tile_sizes [4, 8]")]),
        (ODD, [FORALL.format("num_threads [3, 2]"), tiled("f", "[2, 0, 5]", "1", 2)]),
        (ODD, [tiled("0", "[1, 1, 1]", "1", 3), UNROLL.format("unroll", "l1#2", 4)]),
        (EVEN, [tiled("0", "[4, 16, 1]", "1", 3), VECTORIZE.format("1", "[4, 16, 1]")]),
        (EVEN, [tiled("0", "[1, 1, 4]", "1", 3), VECTORIZE.format("1", "[1, 1, 4]")]),
        (
            EVEN,
            [
                tiled("0", "[2, 16, 1]", "1", 3),
                VECTORIZE.format("1", "[2, 16, 1]"),
                UNROLL.format("unroll", "l1#2", 5),
            ],
        ),
        (
            EVEN,
            [
                tiled("0", "[0, 16, 10]", "1", 2),
                PROMOTE,
                tiled("p", "[4, 8, 1]", "2", 3),
                VECTORIZE.format("2", "[4, 8, 1]"),
            ],
        ),
    ],
    ids=range(11),
)
def test_both_compute_the_same(sizes: tuple[int, int, int], steps: Sequence[str]) -> None:
    m, k, n = sizes
    text = PROGRAM.format(m=m, k=k, n=n, steps="\n    ".join(steps))
    random = np.random.default_rng(5)
    # Small integers: sums are exact in every order.
    a, b = (random.integers(-8, 8, s).astype(np.float32) for s in ((m, k), (k, n)))
    signature = Signature((spec(f"f32[{m},{k}]"), spec(f"f32[{k},{n}]")), (spec(f"f32[{m},{n}]"),))
    tool = mlir_opt()
    assert tool is not None
    (theirs,) = MlirProgram(parse(text), signature, tool, FIRST)(a, b)
    module = parse(text)
    manager = PassManager(context())
    manager.run(module, parse_passes("transform-interpreter"))
    assert any(schedule_of(op) for op in module.walk())
    manager.run(module, parse_passes(REST.partition(",")[2]))
    (ours,) = run(print_mlir(module), (a, b), [f"f32[{m},{n}]"])
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(ours, a @ b)


FUSE = (
    "%f{0}, %c{0} = transform.structured.fuse_into_containing_op %{1} into %{2} "
    ": (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)"
)
SHARED = (
    "%t, %forall = transform.structured.tile_using_forall %{} {} "
    ": (!transform.any_op) -> (!transform.any_op, !transform.any_op)"
)
SCRIPTS_ON_TENSORS = [
    (ODD, [tiled("product", "[4, 16, 5]", "1", 3)]),
    (ODD, [tiled("product", "[8, 16]", "1", 2), tiled("1", "[2, 0, 3]", "2", 2)]),
    (ODD, [INTERCHANGE.replace("%0", "%product"), tiled("i", "[8, 0, 4]", "1", 2)]),
    (ODD, [SHARED.format("product", "num_threads [3, 2]"), tiled("t", "[2, 0, 5]", "1", 2)]),
    (ODD, [tiled("product", "[4, 8]", "1", 2), FUSE.format(1, "producer", "l1#1")]),
    (
        ODD,
        [
            SHARED.format("product", "tile_sizes [4, 8]"),
            FUSE.format(1, "fill", "forall"),
            FUSE.format(2, "producer", "c1"),
        ],
    ),
    (ODD, [SHARED.format("consumer", "tile_sizes [5]"), FUSE.format(1, "square", "forall")]),
    (
        EVEN,
        [
            tiled("consumer", "[4, 16]", "1", 2),
            FUSE.format(1, "square", "l1#1"),
            tiled("product", "[4, 16, 1]", "2", 3),
            VECTORIZE.format("2", "[4, 16, 1]"),
        ],
    ),
    (
        EVEN,
        [
            'transform.annotate %square "test.seen" : !transform.any_op',
            "%seen = transform.structured.match attributes {test.seen} in %root "
            ": (!transform.any_op) -> !transform.any_op",
            tiled("seen", "[2, 8]", "1", 2),
            VECTORIZE.format("1", "[2, 8]"),
        ],
    ),
]


@pytest.mark.mlir_opt
@pytest.mark.parametrize(("sizes", "steps"), SCRIPTS_ON_TENSORS, ids=range(9))
def test_both_compute_the_same_on_tensors(
    sizes: tuple[int, int, int], steps: Sequence[str]
) -> None:
    m, k, n = sizes
    script = SCRIPT.format(steps="\n    ".join(steps))
    parts = {"m": m, "k": k, "n": n, "body": BODY.format(m=m, k=k, n=n), "script": script}
    random = np.random.default_rng(5)
    a, b = (random.integers(-8, 8, s).astype(np.float32) for s in ((m, k), (k, n)))
    signature = Signature((spec(f"f32[{m},{k}]"), spec(f"f32[{k},{n}]")), (spec(f"f32[{m},{n}]"),))
    tool = mlir_opt()
    assert tool is not None
    first = (*FIRST[:2], "one-shot-bufferize", *FIRST[2:])
    (theirs,) = MlirProgram(parse(THEIRS.format(**parts)), signature, tool, first)(a, b)
    module = parse(OURS.format(**parts))
    PassManager(context()).run(module, parse_passes(",".join(FIRST[:2])))
    assert any(schedule_of(op) for op in module.walk())
    fused = [name for name in ("producer", "square") if f"into_containing_op %{name}" in script]
    assert not [op for op in module.walk() for name in fused if f"test.{name}" in op.attributes]
    text = print_mlir(module)
    (ours,) = lowerings.compile(text, pipeline="native{from=tensors}")(a, b)
    np.testing.assert_array_equal(ours, theirs)
    product = 2 * a @ b
    np.testing.assert_array_equal(ours, product * product - product)
