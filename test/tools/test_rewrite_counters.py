"""Passes that plan memory, stopped after each of their rewrites: what is computed stays the same."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from lowerings.compilation import Options, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.rewriting.counting import RewriteCounter
from tools.pass_instrumentation import CountedPass
from tools.xla_opt import main

PROGRAM = """\
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x8xf32>, tensor<4x4xf32>) {
  %t = xla.tuple %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tuple<tensor<4x4xf32>, tensor<4x4xf32>>
  %0 = xla.get_tuple_element %t {index = 0} : (tuple<tensor<4x4xf32>, tensor<4x4xf32>>) -> tensor<4x4xf32>
  %1 = xla.dot %0, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = xla.dot %1, %x {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = xla.transpose %2 {dimensions = [1, 0]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = xla.dot %3, %1 {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = xla.concatenate %4, %1 {dimension = 1} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %6 = xla.dot %4, %2 {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %5, %6 : tensor<4x8xf32>, tensor<4x4xf32>
}
"""
BEFORE = {
    "xla-flatten-tuples": "xla-inline",
    "xla-assign-layouts": "xla-inline,xla-flatten-tuples",
    "xla-bufferize{in_place_bytes=0}": "native{to=tensors}",
    "xla-outline-kernels": "native{to=tensors},xla-bufferize",
    "xla-plan-buffers": "native{to=tensors},xla-bufferize,xla-outline-kernels",
}


def run_passes(module: ModuleOp, passes: str) -> None:
    PassManager(make_context()).run(module, parse_passes(passes))


@pytest.mark.parametrize("name", BEFORE)
def test_every_number_of_rewrites_computes_the_same(name: str) -> None:
    module = parse_program(PROGRAM, "program.mlir", verified=True)
    generator = np.random.default_rng(0)
    arrays = [generator.integers(-3, 4, (4, 4)).astype(np.float32) for _ in range(2)]
    wanted = compile_module(module.clone(), Options(backend="reference"))(*arrays)
    run_passes(module, BEFORE[name])
    (the_pass,) = parse_passes(name)
    counter = RewriteCounter()
    PassManager(make_context()).run(module.clone(), [CountedPass(the_pass, counter)])
    assert counter.done > 0
    texts: set[str] = set()
    for limit in range(counter.done + 1):
        limited = module.clone()
        counted = RewriteCounter(limit)
        PassManager(make_context()).run(limited, [CountedPass(the_pass, counted)])
        assert counted.done == limit
        texts.add(str(limited))
        found = compile_module(limited, Options(backend="interpreter"))(*arrays)
        for mine, theirs in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert len(texts) > 1


def test_a_pass_that_counts_nothing_is_one_rewrite() -> None:
    module = parse_program(PROGRAM, "program.mlir", verified=True)
    (flatten,) = parse_passes("xla-flatten-tuples")
    manager = PassManager(make_context())
    for limit, done in ((0, 0), (1, 1), (None, 1)):
        counter, changed = RewriteCounter(limit), module.clone()
        manager.run(changed, [CountedPass(flatten, counter)])
        assert counter.done == done
        assert ("xla.tuple" in str(changed)) == (done == 0)
        manager.run(changed, [CountedPass(flatten, RewriteCounter(limit))])
    manager.run(changed, [CountedPass(flatten, counter := RewriteCounter())])
    assert counter.done == 0, "it changes nothing"


PATTERNS = """\
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.data_movement import TransposeOp


class DropTranspose(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter):
        rewriter.replace(op, (), [op.operand])


class DropDot(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter):
        if op.rhs.name_hint != "x":
            return
        rewriter.replace(op, (), [op.lhs])


class DropPass(ModulePass):
    name = "drop"

    def apply(self, ctx, op):
        walk = GreedyRewritePatternApplier([DropTranspose(), DropDot()])
        PatternRewriteWalker(walk).rewrite_module(op)
"""


@pytest.mark.parametrize(
    ("pipeline", "counter", "command", "shown"),
    [
        # %1 is tried before, and is no match.
        ("python{file=FILE}", "drop-count=1", "op.name_hint, op.lhs.name_hint", "if op.rhs"),
        ("python{file=FILE}", "drop-count=2", "op.name", "rewriter.replace(op, (), [op.operand])"),
        ("native{to=tensors}", "convert-xla-to-linalg-count=2", "op.name", "convert()"),
    ],
)
def test_the_debugger_stops_in_the_last_rewrite(
    pipeline: str,
    counter: str,
    command: str,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "drop.py").write_text(PATTERNS)
    (tmp_path / "program.mlir").write_text(PROGRAM)
    passes = pipeline.replace("FILE", str(tmp_path / "drop.py"))
    run = [str(tmp_path / "program.mlir"), "-p", passes, f"--debug-counter={counter}"]
    monkeypatch.setattr("sys.stdin", StringIO(f"p {command}\nc\n"))
    assert main([*run, "--debug-counter-break-on-last"]) == 0
    stopped, _, rest = capsys.readouterr().out.partition("(Pdb) ")
    assert shown in stopped
    monkeypatch.setattr("sys.stdin", StringIO("q\n"))
    assert main([*run, "--debug-counter-break-on-last"]) == 1
    assert capsys.readouterr().err == "xla-opt: interrupted\n"
    assert rest.partition("(Pdb) ")[2].startswith("builtin.module")
