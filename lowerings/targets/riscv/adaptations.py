"""
Small passes that xDSL's own passes to RISC-V need around them; and the dialect `rv_pseudo`: what is
one instruction to register allocation, and to no processor.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.backend.register_allocatable import RegisterConstraints
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import riscv_cf, riscv_func, riscv_scf, rv32, rv64
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.memref_stream import GenericOp
from xdsl.dialects.riscv import ops as riscv
from xdsl.dialects.riscv.abstract_ops import RISCVRegallocOperation
from xdsl.dialects.riscv.attrs import LabelAttr
from xdsl.dialects.riscv.registers import FloatRegisterType, IntRegisterType, Registers
from xdsl.ir import Block, Dialect, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import BlockInsertPoint, InsertPoint, Rewriter
from xdsl.transforms.canonicalization_patterns.riscv import (
    RemoveRedundantFMv,
    RemoveRedundantFMvD,
    RemoveRedundantMv,
)
from xdsl.utils.exceptions import VerifyException

from lowerings.targets.riscv.riscv_scf_strength_reduction import EXECUTES
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class MemrefStreamDropUnusedInputsPass(ModulePass):
    """
    Takes inputs away that the body does not read.

    In `linalg.generic` the sizes of a window come from an operand that nothing reads; a
    `memref_stream.generic` has the sizes of its loops itself, and would stream the operand:
    `ins(%x, %window : memref<18x18xf64>, memref<3x3xi1>)` becomes `ins(%x : memref<18x18xf64>)`.
    """

    name = "memref-stream-drop-unused-inputs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in operations_in(op):
            if isinstance(generic, GenericOp):
                _drop_unused_inputs(generic)


def _drop_unused_inputs(generic: GenericOp) -> None:
    arguments = generic.body.block.args
    count = len(generic.inputs)
    unused = [number for number in range(count) if not arguments[number].uses]
    if not unused:
        return
    for number in reversed(unused):
        generic.body.block.erase_arg(arguments[number])
    maps = [each for number, each in enumerate(generic.indexing_maps.data) if number not in unused]
    inputs = [value for number, value in enumerate(generic.inputs) if number not in unused]
    Rewriter.replace_op(
        generic,
        GenericOp(
            inputs,
            generic.outputs,
            generic.inits,
            generic.detach_region(generic.body),
            ArrayAttr(maps),
            generic.iterator_types,
            generic.bounds,
            generic.init_indices,
            generic.doc,
            generic.library_call,
        ),
    )


@dataclass(frozen=True)
class RiscvRepeatConstantsPass(ModulePass):
    """
    Integer constants of a function where they are used, each as often as there are nests of loops
    that use it, or with `inside` uses: else it takes a register from the beginning of the function
    on, or all along a nest.

    ```mlir
    %step = rv32.li 136 : !riscv.reg
    riscv_scf.for ... { ... %step ... }
    riscv_scf.for ... { ... %step ... }
    ```
    ->
    ```mlir
    %0 = rv32.li 136 : !riscv.reg
    riscv_scf.for ... { ... %0 ... }
    %1 = rv32.li 136 : !riscv.reg
    riscv_scf.for ... { ... %1 ... }
    ```
    """

    name = "riscv-repeat-constants"

    inside: bool = False
    """Whether constants are repeated in loops too, in front of each use."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, riscv_func.FuncOp) and function.body.blocks:
                _repeat_constants(function.body.block, self.inside)


def _repeat_constants(block: Block, inside: bool) -> None:
    for op in list(block.ops):
        if not isinstance(op, rv32.LiOp | rv64.LiOp):
            continue
        copies: dict[Operation, SSAValue] = {}
        for use in list(op.rd.uses):
            user = use.operation
            place = user if inside else block.find_ancestor_op_in_block(user)
            assert place is not None
            if place not in copies:
                copies[place] = Builder(InsertPoint.before(place)).insert(op.clone()).results[0]
            user.operands[use.index] = copies[place]
        Rewriter.erase_op(op)


@dataclass(frozen=True)
class RiscvScfLegalizeYieldsPass(ModulePass):
    """
    Copies of what loops yield where register allocation needs them.

    xDSL's allocator gives a value that a loop carries, the one it begins with and the one that the
    loop yields the same register, and does not ask whether they live at the same time. Here the
    three are made to live one after the other: a value is copied before the loop unless the loop is
    its only use, and at the end of the loop if it is yielded before the carried one is used last.

    ```mlir
    riscv_scf.for ... iter_args(%x = %p) -> (!riscv.reg) {
      %sum = riscv.addi %x, 8 : (!riscv.reg) -> !riscv.reg
      riscv.fsd %x, %v, 0 : (!riscv.reg, !riscv.freg) -> ()
      riscv_scf.yield %sum : !riscv.reg
    }
    ```
    becomes
    ```mlir
    %first = riscv.mv %p : (!riscv.reg) -> !riscv.reg
    riscv_scf.for ... iter_args(%x = %first) -> (!riscv.reg) {
      %sum = riscv.addi %x, 8 : (!riscv.reg) -> !riscv.reg
      riscv.fsd %x, %v, 0 : (!riscv.reg, !riscv.freg) -> ()
      %0 = riscv.mv %sum : (!riscv.reg) -> !riscv.reg
      %next = riscv.mv %0 : (!riscv.reg) -> !riscv.reg
      riscv_scf.yield %next : !riscv.reg
    }
    ```
    """

    name = "riscv-scf-legalize-yields"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in operations_in(op):
            if isinstance(loop, riscv_scf.ForOp):
                _copy_initial_values(loop)
                _copy_yielded_values(loop)


def _copy(builder: Builder, value: SSAValue) -> SSAValue:
    """A copy in another register: of a float, all 64 bits of it, whatever its type."""
    kind = riscv.FMvDOp if isinstance(value.type, FloatRegisterType) else riscv.MVOp
    return builder.insert(kind(value)).rd


def _copy_initial_values(loop: riscv_scf.ForOp) -> None:
    before = Builder(InsertPoint.before(loop))
    first = len(loop.operands) - len(loop.iter_args)
    for number, value in enumerate(loop.iter_args, first):
        owner = value.owner
        is_fresh = (
            isinstance(owner, Operation)
            and owner.parent is loop.parent
            and not isinstance(owner, riscv_scf.ForOp)
            and value.has_one_use()
        )
        if not is_fresh:
            loop.operands[number] = _copy(before, value)


def _copy_yielded_values(loop: riscv_scf.ForOp) -> None:
    block = loop.body.block
    terminator = block.last_op
    assert terminator is not None
    carried = block.args[1:]
    wrong = [
        number
        for number, value in enumerate(terminator.operands)
        if not _replaces(value, carried[number], block)
    ]
    end = Builder(InsertPoint.before(terminator))
    # All are read before one is written: they may be each other's.
    copies = [_copy(end, terminator.operands[number]) for number in wrong]
    for number, copied in zip(wrong, copies, strict=True):
        terminator.operands[number] = _copy(end, copied)


def _replaces(value: SSAValue, carried: SSAValue, block: Block) -> bool:
    """Whether a value of a block can take the register of a carried one when it is computed."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.parent is not block:
        return False
    if sum(operand is value for operand in block.last_op.operands) > 1:  # pyright: ignore
        return False
    if isinstance(owner, riscv_scf.ForOp):
        # Its register is written while the loop runs.
        return not any(_within(use.operation, block) is owner for use in carried.uses) and (
            _last_use(carried, block) < block.get_operation_index(owner)
        )
    return _last_use(carried, block) <= block.get_operation_index(owner)


def _last_use(value: SSAValue, block: Block) -> int:
    places = [block.get_operation_index(_within(use.operation, block)) for use in value.uses]
    return max(places, default=-1)


def _within(op: Operation, block: Block) -> Operation:
    """The operation of a block that an operation is, or is inside of."""
    found = block.find_ancestor_op_in_block(op)
    assert found is not None
    return found


class _LowerLoop(RewritePattern):
    """A loop with its condition at the end only."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: riscv_scf.ForOp, rewriter: PatternRewriter) -> None:
        if EXECUTES not in op.attributes or op.step_attr is None:
            return
        before = op.parent_block()
        assert before is not None
        body, last = op.body.blocks[0], op.body.blocks[-1]
        after = before.split_before(op, arg_types=body.arg_types)
        terminator = last.last_op
        assert isinstance(terminator, riscv_scf.YieldOp)
        index = body.args[0]
        next_index = riscv.AddiOp(index, op.step_attr.value.data, rd=index.type)  # pyright: ignore
        values = (next_index.rd, *terminator.operands)
        again = riscv_cf.BneOp(next_index.rd, op.stop, values, values, body, after)
        rewriter.replace(terminator, (next_index, again))
        rewriter.inline_region(op.body, BlockInsertPoint.before(after))
        first = riscv.MVOp(op.start, rd=index.type)  # pyright: ignore
        enter = riscv_cf.BranchOp((first.rd, *op.iter_args), body)
        rewriter.insert((first, enter), InsertPoint.at_end(before))
        rewriter.insert(riscv.LabelOp(f"loop_{self.number}"), InsertPoint.at_start(body))
        self.number += 1
        rewriter.replace(op, (), after.args[1:])


@dataclass(frozen=True)
class ConvertExecutedLoopsToRiscvCfPass(ModulePass):
    """
    Loops that are known to have an iteration, in allocated registers, to branches.

    xDSL's own conversion, which takes the others, asks before each loop whether it has one.

    ```mlir
    riscv_scf.for %i : !riscv.reg<t0> = %a : !riscv.reg<t1> to %b : !riscv.reg<t2> step 8 : si12 {
      ...
    } {executes}
    ```
    becomes
    ```
        mv t0, t1
    loop_0:
        ...
        addi t0, t0, 8
        bne t0, t2, loop_0
    ```
    """

    name = "convert-executed-loops-to-riscv-cf"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(_LowerLoop(), walk_regions_first=True).rewrite_module(op)


@dataclass(frozen=True)
class RiscvRemoveRedundantMovesPass(ModulePass):
    """
    Removes moves from a register to itself.

    They are xDSL's patterns of canonicalization, without those that fold constants into operands
    too small for them. In `mv t0, t1; mv t1, t1` the second becomes nothing.
    """

    name = "riscv-remove-redundant-moves"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns: list[RewritePattern] = [
            RemoveRedundantMv(),
            RemoveRedundantFMv(),
            RemoveRedundantFMvD(),
        ]
        PatternRewriteWalker(GreedyRewritePatternApplier(patterns)).rewrite_module(op)


@irdl_op_definition
class MoveIfZeroOp(RISCVRegallocOperation):
    """
    A conditional move: `old` where `condition` is not zero, else `new`.

    The result takes the register of `old`, which nothing reads afterwards. After allocation
    `rv-expand-pseudo` makes a move of it and a branch around it.
    """

    name = "rv_pseudo.move_if_zero"

    condition = operand_def(IntRegisterType)
    old = operand_def(IntRegisterType | FloatRegisterType)
    new = operand_def(IntRegisterType | FloatRegisterType)
    rd = result_def(IntRegisterType | FloatRegisterType)

    assembly_format = (
        "$condition `,` $old `,` $new attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        condition: SSAValue | Operation,
        old: SSAValue | Operation,
        new: SSAValue | Operation,
    ):
        old = SSAValue.get(old)
        super().__init__(operands=[condition, old, new], result_types=[old.type])

    def verify_(self) -> None:
        if self.old.type != self.rd.type:
            raise VerifyException("the result takes the register of the first value")
        if not self.old.has_one_use() or self.old.owner.parent is not self.parent:
            raise VerifyException("nothing else may read the register that it overwrites")

    def get_register_constraints(self) -> RegisterConstraints:
        return RegisterConstraints((self.condition, self.new), (), ((self.old, self.results[0]),))


RV_PSEUDO = Dialect("rv_pseudo", [MoveIfZeroOp])


@dataclass(frozen=True)
class RvExpandPseudoPass(ModulePass):
    """
    Conditional moves in allocated registers to branches around moves.

    The last pass: what comes out is right as text, where the move writes the register of another
    value, and no longer as a data flow graph.

    `rv_pseudo.move_if_zero`, its condition in `t0`, the old value in `ft0`, the new one in `ft1`,
    becomes
    ```
        bne t0, zero, kept_0
        fmv.d ft0, ft1
    kept_0:
    ```
    """

    name = "rv-expand-pseudo"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        moves = [each for each in operations_in(op) if isinstance(each, MoveIfZeroOp)]
        for number, move in enumerate(moves):
            builder = Builder(InsertPoint.before(move))
            zero = builder.insert(rv64.GetRegisterOp(Registers.ZERO))
            label = LabelAttr(f"kept_{number}")
            builder.insert(riscv.BneOp(move.condition, zero, label))
            is_float = isinstance(move.rd.type, FloatRegisterType)
            kind = riscv.FMvDOp if is_float else riscv.MVOp
            moved = builder.insert(kind(move.new, rd=move.rd.type))  # pyright: ignore
            builder.insert(riscv.LabelOp(label))
            move.rd.replace_all_uses_with(moved.rd)
            Rewriter.erase_op(move)
