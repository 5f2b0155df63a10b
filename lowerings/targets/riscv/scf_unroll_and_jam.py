"""The pass `scf-unroll-and-jam`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.transforms.scf_for_loop_unroll import UnrollLoopPattern

from lowerings.ir.functions import ENTRY, KERNEL
from lowerings.ir.memref_views import viewed_by
from lowerings.ir.scalar_attributes import constant_integer, number_of_iterations
from lowerings.rewriting.passes import require_at_least
from xla_dialect.xdsl.traversal import operations_in

_SHORT = 64
"""Operations in straight-line code that are still cheaper than a loop."""


@dataclass(frozen=True)
class ScfUnrollAndJamPass(ModulePass):
    """
    Register tiles: the two innermost parallel loops of a nest are unrolled, and the copies of what
    is inside are merged, loops too. Reductions of few iterations become straight-line code.

    ```mlir
    scf.for %j = %c0 to %c16 step %c1 {
      %sum = scf.for %k = %c0 to %c200 step %c1 iter_args(%s = %zero) -> (f64) { ... }
      memref.store %sum, %c[%j] : memref<16xf64>
    }
    ```
    ->
    ```mlir
    scf.for %j = %c0 to %c16 step %c2 {
      %0, %1 = scf.for %k = %c0 to %c200 step %c1 iter_args(%s = %zero, %t = %zero) -> (f64, f64) {
        ...
      }
      memref.store %0, %c[%j] : memref<16xf64>
      %2 = arith.addi %j, %c1 : index
      memref.store %1, %c[%2] : memref<16xf64>
    }
    ```

    Only in functions whose arguments are promised not to overlap, and only where what a loop
    stores to is stored to in one place and loaded nowhere in it.
    """

    name = "scf-unroll-and-jam"

    columns: int = 4
    """Iterations of the innermost parallel loop that run together; 1 leaves it as it is."""
    rows: int = 1
    """Iterations of the loop around it."""
    whole: int = 32
    """Reductions of at most so many iterations are unrolled wholly."""
    steps: int = 4
    """Iterations of longer reductions that follow each other in one; 1 leaves them as they are."""

    def __post_init__(self) -> None:
        require_at_least(1, columns=self.columns, rows=self.rows, steps=self.steps)
        require_at_least(0, whole=self.whole)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and (function.attributes.keys() & {ENTRY, KERNEL}):
                self._schedule(function)

    def _schedule(self, function: func.FuncOp) -> None:
        for loop in list(operations_in(function)):
            if not isinstance(loop, scf.ForOp) or not _is_parallel(loop):
                continue
            if _is_short(loop):
                UnrollLoopPattern().match_and_rewrite(loop, PatternRewriter(loop))
            elif not any(map(_is_parallel, _loops_of(loop))):
                around = loop.parent_op()
                is_in_rows = isinstance(around, scf.ForOp) and _is_parallel(around)
                unroll(loop, self.columns)
                if isinstance(around, scf.ForOp) and is_in_rows and len(_loops_of(around)) == 1:
                    unroll(around, self.rows)
        # The innermost first: what is around them can follow then.
        for loop in reversed(list(operations_in(function))):
            if isinstance(loop, scf.ForOp) and loop.iter_args and not _loops_of(loop):
                count = trip_count(loop)
                if count is None:
                    continue
                if count <= self.whole:
                    UnrollLoopPattern().match_and_rewrite(loop, PatternRewriter(loop))
                else:
                    unroll(loop, self.steps)


def trip_count(loop: scf.ForOp) -> int | None:
    """How many iterations a loop has; None if it is not known."""
    return number_of_iterations(*map(constant_integer, (loop.lb, loop.ub, loop.step)))


def _is_short(loop: scf.ForOp) -> bool:
    """Whether straight-line code without a loop is not much longer than what it is unrolled to."""
    count = trip_count(loop)
    if count is None or _loops_of(loop):
        return False
    return count * (len(operations_in(loop)) - 2) <= _SHORT


def _loops_of(loop: scf.ForOp) -> list[scf.ForOp]:
    """The loops in the body of a loop, without those inside of them."""
    return [op for op in loop.body.block.ops if isinstance(op, scf.ForOp)]


def _is_parallel(loop: scf.ForOp) -> bool:
    """Whether iterations can run together, step by step."""
    if loop.iter_args:
        return False
    loaded: set[SSAValue] = set()
    stored: list[SSAValue] = []
    for op in operations_in(loop):
        match op:
            case memref.LoadOp():
                loaded.add(viewed_by(op.memref))
            case memref.StoreOp():
                stored.append(viewed_by(op.memref))
            case scf.ForOp():
                if trip_count(op) is None:
                    return False
            case scf.YieldOp():
                pass
            case _ if op.name.partition(".")[0] not in ("arith", "math"):
                return False
            case _:
                pass
    return len(stored) == len(set(stored)) and not loaded & set(stored)


def unroll(loop: scf.ForOp, factor: int) -> None:
    """
    Runs `factor` iterations of a loop as one. Those of a parallel loop run together, step by step;
    those of a reduction one after the other. What is left over stays a loop.
    """
    count = trip_count(loop)
    if count is None or min(count, factor) < 2:
        return
    factor = min(count, factor)
    lower, step = constant_integer(loop.lb), constant_integer(loop.step)
    assert lower is not None and step is not None
    before = Builder(InsertPoint.before(loop))
    end = lower + count // factor * factor * step
    start, middle, stride = (_index(before, n) for n in (lower, end, factor * step))
    offsets = [_index(before, number * step) for number in range(1, factor)]
    body = Block(arg_types=loop.body.block.arg_types)
    many = before.insert(scf.ForOp(start, middle, stride, loop.iter_args, Region(body)))
    inside = Builder(InsertPoint.at_end(body))
    index, *carried = body.args
    indices = [index, *(inside.insert(arith.AddiOp(index, each)).result for each in offsets)]
    if carried:
        values: Sequence[SSAValue] = carried
        for each in indices:
            old = loop.body.block.args
            mapping: dict[SSAValue, SSAValue] = dict(zip(old, (each, *values), strict=True))
            values = _jam(loop.body.block, [mapping], inside)
    else:
        old_index = loop.body.block.args[0]
        values = _jam(loop.body.block, [{old_index: each} for each in indices], inside)
    inside.insert(scf.YieldOp(*values))
    rewriter = PatternRewriter(loop)
    if count % factor:
        loop.operands[0] = middle
        for number, result in enumerate(many.results):
            loop.operands[3 + number] = result
    else:
        rewriter.replace(loop, (), many.results)


def _index(builder: Builder, number: int) -> SSAValue:
    return builder.insert(arith.ConstantOp(IntegerAttr(number, IndexType()))).result


def _jam(block: Block, mappings: Sequence[dict[SSAValue, SSAValue]], to: Builder) -> list[SSAValue]:
    """Copies of a block, merged operation by operation; what they yield, copy by copy."""
    for op in block.ops:
        if isinstance(op, scf.YieldOp):
            return [mapping.get(v, v) for mapping in mappings for v in op.operands]
        if isinstance(op, scf.ForOp) and len(mappings) > 1:
            _jam_loop(op, mappings, to)
        else:
            for mapping in mappings:
                to.insert(op.clone(mapping))
    raise AssertionError("a loop ends with a yield")


def _jam_loop(loop: scf.ForOp, mappings: Sequence[dict[SSAValue, SSAValue]], to: Builder) -> None:
    """One loop that does what the copies of a loop do; its bounds are the same for all."""
    initial = [mapping.get(value, value) for mapping in mappings for value in loop.iter_args]
    old = loop.body.block.args
    body = Block(arg_types=(old[0].type, *(value.type for value in initial)))
    inner = [dict(mapping) for mapping in mappings]
    width = len(old) - 1
    for number, mapping in enumerate(inner):
        carried = body.args[1 + number * width : 1 + (number + 1) * width]
        mapping.update(zip(old, (body.args[0], *carried), strict=True))
    inside = Builder(InsertPoint.at_end(body))
    inside.insert(scf.YieldOp(*_jam(loop.body.block, inner, inside)))
    lower, upper, step = (mappings[0].get(each, each) for each in (loop.lb, loop.ub, loop.step))
    jammed = to.insert(scf.ForOp(lower, upper, step, initial, Region(body)))
    for number, mapping in enumerate(mappings):
        results = jammed.results[number * width : (number + 1) * width]
        mapping.update(zip(loop.results, results, strict=True))
