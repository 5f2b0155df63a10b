"""What is said where the code of a pass raises an exception: whose code, and at which operation."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from lowerings.rewriting.conversion import ConversionBuilder, ConversionPass, conversion_table
from lowerings.universe import toolkit_universe
from tools.pass_instrumentation import Reproducer
from tools.xla_opt import main
from xla_dialect.constraints import with_elements
from xla_dialect.ops.data_movement import TransposeOp
from xla_dialect.ops.elementwise import AddOp, NegateOp

LENGTH = 150
"""How many operations the program has: all of them are more than a screen."""

PROGRAM = "\n".join(
    [
        "func.func @main(%v: tensor<2x3xf32>) -> tensor<2x3xf32> {",
        *(
            f"  %v{n} = xla.sine {f'%v{n - 1}' if n else '%v'} : tensor<2x3xf32>"
            for n in range(LENGTH)
        ),
        f"  %negated = xla.negate %v{LENGTH - 1} : tensor<2x3xf32>",
        "  func.return %negated : tensor<2x3xf32>",
        "}",
    ]
)


class RaisesItself(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, NegateOp):
            raise KeyError("itself")  # here


def look_up(op: Operation) -> None:
    raise LookupError(op.name)  # here


class RaisesInAFunction(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NegateOp, rewriter: PatternRewriter) -> None:
        look_up(op)


class RaisesInALibrary(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NegateOp, rewriter: PatternRewriter) -> None:
        with_elements(op.operand, None, "operand")  # pyright: ignore  # here


class BuildsWhatIsNotValid(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NegateOp, rewriter: PatternRewriter) -> None:
        rewriter.insert(TransposeOp(op.operand, dimensions=(0, 0)))  # here


class BuildsOfWrongOperands(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NegateOp, rewriter: PatternRewriter) -> None:
        rewriter.insert(AddOp(op.operand))  # here


class LeavesWhatDoesNotPrint(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NegateOp, rewriter: PatternRewriter) -> None:
        op.properties["broken"] = 3  # pyright: ignore
        raise ValueError("after a change")  # here


class Innermost(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: NegateOp, rewriter: PatternRewriter) -> None:
        raise IndexError("inside")  # here


class WalksInItsTurn(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op.parent_op(), ModuleOp):
            PatternRewriteWalker(Innermost()).rewrite_region(op.regions[0])


class Nothing(RewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        return


def convert_negate(op: NegateOp, builder: ConversionBuilder) -> None:
    builder.replace([])  # here


class FailingConversion(ConversionPass):
    name = "test-failing-pass"
    conversions = conversion_table(convert_negate)


def applied(pattern: RewritePattern) -> type[ModulePass]:
    class FailingPass(ModulePass):
        name = "test-failing-pass"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            PatternRewriteWalker(GreedyRewritePatternApplier([Nothing(), pattern])).rewrite_module(
                op
            )

    return FailingPass


class FailingPass(ModulePass):
    name = "test-failing-pass"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        assert isinstance(op, NegateOp), "a module"  # here


PATTERNS = [
    RaisesItself,
    RaisesInAFunction,
    RaisesInALibrary,
    BuildsWhatIsNotValid,
    BuildsOfWrongOperands,
    LeavesWhatDoesNotPrint,
]


def line_of(code: Callable[..., object]) -> str:
    """File and line of the statement that is marked as the one that fails."""
    lines, first = inspect.getsourcelines(code)
    (number,) = (n for n, line in enumerate(lines, first) if line.endswith("# here\n"))
    return f"{__file__}:{number}"


def said_by(
    module_pass: type[ModulePass],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """What xla-opt says; the reproducer that it names is one."""
    monkeypatch.setitem(toolkit_universe().all_passes, "test-failing-pass", lambda: module_pass)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAM)
    assert main([str(program), "-p", "xla-inline,test-failing-pass"]) == 1
    said = capsys.readouterr().err
    assert len(said.splitlines()) <= 12, said
    assert max(map(len, said.splitlines())) <= 300, said
    (path,) = re.findall(r"to reproduce: xla-opt (\S+) --run-reproducer", said)
    reproducer = Reproducer.parse(Path(path).read_text())
    assert reproducer is not None
    assert reproducer.pipeline == "test-failing-pass"
    assert "note: pass test-failing-pass" in said
    return said


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(
    pattern: type[RewritePattern],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = said_by(applied(pattern()), tmp_path, monkeypatch, capsys)
    assert f"failed in pattern {pattern.__name__}, " in said
    code = look_up if pattern is RaisesInAFunction else pattern
    assert line_of(code) in said
    assert f"xla.negate at {tmp_path / 'program.mlir'}:{LENGTH + 2}:" in said


def test_patterns_of_patterns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = said_by(applied(WalksInItsTurn()), tmp_path, monkeypatch, capsys)
    assert "failed in pattern Innermost, " in said
    assert line_of(Innermost) in said
    assert "rewriting xla.negate" in said


def test_conversions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = said_by(FailingConversion, tmp_path, monkeypatch, capsys)
    assert f"failed in convert_negate, {line_of(convert_negate)}" in said
    assert f"xla.negate at {tmp_path / 'program.mlir'}:{LENGTH + 2}:" in said


def test_passes_without_patterns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = said_by(FailingPass, tmp_path, monkeypatch, capsys)
    assert line_of(FailingPass) in said
    assert "rewriting" not in said


def test_our_own_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def rule(op: Operation, builder: object) -> None:
        if isinstance(op, NegateOp):
            raise ZeroDivisionError  # here

    monkeypatch.setattr("lowerings.simplify.xla_simplify._rules_of", lambda op_class: [rule])
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAM)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main([str(program), "-p", "xla-simplify"]) == 1
    said = capsys.readouterr().err
    assert line_of(rule) in said
    assert f"xla.negate at {program}:{LENGTH + 2}:" in said
