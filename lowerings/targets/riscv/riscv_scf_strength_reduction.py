"""The pass `riscv-scf-strength-reduction`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import riscv_func, riscv_scf, rv32, rv64
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr
from xdsl.dialects.riscv import ops as riscv
from xdsl.dialects.riscv.attrs import si12
from xdsl.dialects.riscv.registers import Registers
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.canonicalization_patterns.riscv import get_constant_value

from lowerings.ir.scalar_attributes import number_of_iterations
from lowerings.rewriting.passes import require_at_least
from xla_dialect.xdsl.traversal import block_of, operations_in

LOADS = (riscv.FLdOp, riscv.FLwOp, riscv.LwOp, rv64.LdOp)
STORES = (riscv.FSdOp, riscv.FSwOp, riscv.SwOp, rv64.SdOp)


@dataclass(frozen=True)
class Sum:
    """A sum of registers times constants, and a constant."""

    terms: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    constant: int = 0

    def __add__(self, other: Sum) -> Sum:
        terms = dict(self.terms)
        for value, factor in other.terms.items():
            terms[value] = terms.get(value, 0) + factor
        return Sum(
            {value: factor for value, factor in terms.items() if factor},
            self.constant + other.constant,
        )

    def __mul__(self, factor: int) -> Sum:
        terms = {value: each * factor for value, each in self.terms.items() if factor}
        return Sum(terms, self.constant * factor)

    @property
    def key(self) -> frozenset[tuple[SSAValue, int]]:
        """The terms, to be compared."""
        return frozenset(self.terms.items())

    def without(self, value: SSAValue) -> Sum:
        """The other terms, without the constant."""
        return Sum({each: factor for each, factor in self.terms.items() if each is not value})


def sum_of(value: SSAValue) -> Sum:
    """What a register holds, as far back as additions and multiplications by constants go."""
    constant = get_constant_value(value)
    if constant is not None:
        return Sum(constant=constant.value.data)
    match value.owner:
        case riscv.AddOp() as op:
            return sum_of(op.rs1) + sum_of(op.rs2)
        case riscv.SubOp() as op:
            return sum_of(op.rs1) + sum_of(op.rs2) * -1
        case riscv.LuiOp() as op if isinstance(op.immediate, IntegerAttr):
            return Sum(constant=cast("IntegerAttr[Any]", op.immediate).value.data << 12)
        case riscv.AddiOp() as op if isinstance(op.immediate, IntegerAttr):
            return sum_of(op.rs1) + Sum(constant=cast("IntegerAttr[Any]", op.immediate).value.data)
        case riscv.MulOp() as op:
            left, right = sum_of(op.rs1), sum_of(op.rs2)
            if not left.terms:
                return right * left.constant
            if not right.terms:
                return left * right.constant
        case riscv.MVOp() as op if not op.rd.type.is_allocated and _is_computed(op.rs):
            return sum_of(op.rs)
        case _:
            pass
    return Sum({value: 1})


def _is_computed(value: SSAValue) -> bool:
    """Whether a register is no argument of a function, whose register others may take."""
    return isinstance(value.owner, Operation) or not value.type.is_allocated  # pyright: ignore


def address_of(op: Operation) -> Sum:
    """The address that a load or store accesses."""
    immediate = cast("IntegerAttr[Any]", op.attributes["immediate"]).value.data
    return sum_of(op.operands[0]) + Sum(constant=immediate)


def base_of(address: Sum) -> SSAValue | None:
    """The pointer that an address begins at: its only term that is no index of a loop."""
    bases = [value for value in address.terms if not is_loop_index(value)]
    return bases[0] if len(bases) == 1 and address.terms[bases[0]] == 1 else None


def is_loop_index(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, Block) and isinstance(owner.parent_op(), riscv_scf.ForOp)


EXECUTES = "executes"
"""The unit attribute of a loop that has one iteration at least."""

_REACH = 1 << 11
"""Immediate operands are from -_REACH to _REACH - 1."""


def fits(number: int) -> bool:
    """Whether an instruction can hold a number as its immediate operand."""
    return -_REACH <= number < _REACH


@dataclass(frozen=True)
class RiscvScfStrengthReductionPass(ModulePass):
    """
    Loads and stores in loops go through pointers that the loops move.

    An address is the sum of a pointer, of indices of loops times constants, and of a constant. The
    constant becomes the immediate operand; of the rest, accesses with the same one share a
    pointer, which each loop whose index is in it carries and adds to. A loop whose index has no
    other use counts by one of its pointers. Loads of the same address are one load, and one that
    a loop does not change is done before it.

    Arguments are taken not to overlap.

    ```mlir
    riscv_scf.for %i : !riscv.reg = %zero to %sixteen step 1 {
      %1 = riscv.mul %i, %eight : (!riscv.reg, !riscv.reg) -> !riscv.reg
      %2 = riscv.add %a, %1 : (!riscv.reg, !riscv.reg) -> !riscv.reg
      riscv.fsd %2, %x, 0 : (!riscv.reg, !riscv.freg) -> ()
    }
    ```
    ->
    ```mlir
    %end = riscv.addi %a, 128 : (!riscv.reg) -> !riscv.reg
    riscv_scf.for %p : !riscv.reg = %a to %end step 8 {
      riscv.fsd %p, %x, 0 : (!riscv.reg, !riscv.freg) -> ()
    }
    ```
    """

    name = "riscv-scf-strength-reduction"

    hoisted_loads: int = 10
    """How many loads are moved before a loop at most: each takes a register all along it."""

    def __post_init__(self) -> None:
        require_at_least(0, hoisted_loads=self.hoisted_loads)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, riscv_func.FuncOp) and function.body.blocks:
                _Function(function.body.block, self.hoisted_loads).reduce()


def trip_count(loop: riscv_scf.ForOp) -> int | None:
    """How many iterations a loop has; None if it is not known."""
    return number_of_iterations(_constant(loop.start), _constant(loop.stop), step_of(loop))


def step_of(loop: riscv_scf.ForOp) -> int | None:
    """What a loop adds to its index; None if it is not known."""
    if loop.step_attr is not None:
        return loop.step_attr.value.data
    assert loop.step_val is not None
    return _constant(loop.step_val)


def _constant(value: SSAValue) -> int | None:
    found = get_constant_value(value)
    return None if found is None else found.value.data


@dataclass
class _Carried:
    """A pointer that a loop carries."""

    argument: BlockArgument
    initial: SSAValue
    step: int


@dataclass
class _Function:
    block: Block
    hoisted_loads: int
    nest: Operation = field(init=False)
    """The operation of the block whose accesses are given pointers."""
    pointers: dict[tuple[Operation, frozenset[tuple[SSAValue, int]], int], SSAValue] = field(
        default_factory=dict[tuple[Operation, frozenset[tuple[SSAValue, int]], int], SSAValue]
    )
    steps: dict[tuple[Operation, int], SSAValue] = field(
        default_factory=dict[tuple[Operation, int], SSAValue]
    )
    carried: defaultdict[riscv_scf.ForOp, list[_Carried]] = field(
        default_factory=lambda: defaultdict[riscv_scf.ForOp, list[_Carried]](list)
    )

    def reduce(self) -> None:
        loops = [op for op in operations_in(self.block) if isinstance(op, riscv_scf.ForOp)]
        for loop in reversed(loops):
            self._hoist_loads(loop)
        self._merge_loads(self.block, {})
        for nest in list(self.block.ops):
            self.nest = nest
            for op in operations_in(nest):
                if isinstance(op, LOADS + STORES):
                    self._use_pointer(op)
        initial = {each.initial for carried in self.carried.values() for each in carried}
        _remove_dead(self.block, initial)
        for loop in loops:
            self._rebuild(loop)

    # Loads

    def _hoist_loads(self, loop: riscv_scf.ForOp) -> None:
        """Moves loads before a loop that executes, if nothing in it changes what they load."""
        if not trip_count(loop):
            return
        inside = set(operations_in(loop))
        stored = _stored_bases(loop)
        found: dict[object, list[Operation]] = defaultdict(list)
        for op in loop.body.block.ops:
            if not isinstance(op, LOADS):
                continue
            address = address_of(op)
            base = base_of(address)
            if base is None or base in stored or None in stored:
                continue
            if not any(_is_inside(value, inside) for value in address.terms):
                found[type(op), address.key, address.constant].append(op)
        if len(found) > self.hoisted_loads:
            return
        for ops in found.values():
            address = address_of(ops[0])
            builder = Builder(InsertPoint.before(loop))
            pointer = self._materialized(builder, Sum(address.terms, 0))
            if not fits(address.constant):
                pointer = _plus(builder, pointer, address.constant)
            first = ops[0]
            first.detach()
            first.operands[0] = pointer
            offset = address.constant if fits(address.constant) else 0
            _set_immediate(first, offset)
            builder.insert(first)
            for other in ops[1:]:
                other.results[0].replace_all_uses_with(first.results[0])
                Rewriter.erase_op(other)

    def _merge_loads(self, block: Block, known: dict[object, Operation]) -> None:
        """Replaces loads by earlier ones of the same address, unless a store is in between."""
        for op in list(block.ops):
            if isinstance(op, LOADS):
                address = address_of(op)
                key = type(op), address.key, address.constant
                earlier = known.setdefault(key, op)
                if earlier is not op:
                    op.results[0].replace_all_uses_with(earlier.results[0])
                    Rewriter.erase_op(op)
            elif isinstance(op, riscv_scf.ForOp):
                if block is self.block:
                    # Across nests it would keep a register for long.
                    known.clear()
                _forget(known, _stored_bases(op))
                self._merge_loads(op.body.block, dict(known))
            elif isinstance(op, STORES):
                _forget(known, {base_of(address_of(op))})

    # Pointers

    def _use_pointer(self, op: Operation) -> None:
        address = address_of(op)
        if any(
            not is_loop_index(each) and block_of(each) is not self.block for each in address.terms
        ):
            return
        # So that the constants of a group reach from one pointer.
        window = (address.constant + _REACH) // (2 * _REACH) * (2 * _REACH)
        block = op.parent_block()
        assert block is not None
        op.operands[0] = self._pointer(Sum(address.terms, window), block)
        _set_immediate(op, address.constant - window)

    def _pointer(self, address: Sum, block: Block) -> SSAValue:
        """A register that holds a sum wherever a block uses it."""
        loop = block.parent_op()
        if not isinstance(loop, riscv_scf.ForOp):
            return self._at_top(address)
        key = (loop, address.key, address.constant)
        if key not in self.pointers:
            self.pointers[key] = self._new_pointer(address, block, loop)
        return self.pointers[key]

    def _new_pointer(self, address: Sum, block: Block, loop: riscv_scf.ForOp) -> SSAValue:
        outer = loop.parent_block()
        assert outer is not None
        index = loop.body.block.args[0]
        factor = address.terms.get(index, 0)
        rest = Sum(address.without(index).terms, address.constant)
        if not factor:
            return self._pointer(rest, outer)
        start, step = _constant(loop.start), step_of(loop)
        if start is None or step is None:
            return self._materialized(Builder(InsertPoint.at_start(block)), address)
        before = Builder(InsertPoint.before(loop))
        initial = self._pointer(rest, outer)
        if start * factor:
            initial = _plus(before, initial, start * factor)
        argument = block.insert_arg(Registers.UNALLOCATED_INT, len(block.args))
        self.carried[loop].append(_Carried(argument, initial, step * factor))
        return argument

    def _at_top(self, address: Sum) -> SSAValue:
        """A sum of registers of the function's block, computed before what uses it."""
        key = (self.nest, address.key, address.constant)
        if key not in self.pointers:
            self.pointers[key] = self._materialized(Builder(InsertPoint.before(self.nest)), address)
        return self.pointers[key]

    def _materialized(self, builder: Builder, address: Sum) -> SSAValue:
        """Operations that compute a sum."""
        total: SSAValue | None = None
        for value, factor in address.terms.items():
            term = value
            if factor != 1:
                number = builder.insert(rv64.LiOp(factor)).rd
                term = builder.insert(riscv.MulOp(value, number)).rd
            total = term if total is None else builder.insert(riscv.AddOp(total, term)).rd
        if total is None:
            return builder.insert(rv64.LiOp(address.constant)).rd
        return _plus(builder, total, address.constant) if address.constant else total

    # Loops

    def _rebuild(self, loop: riscv_scf.ForOp) -> None:
        """Gives a loop its pointers, and lets it count by one of them."""
        count = trip_count(loop)
        carried = self.carried[loop]
        body = loop.body.block
        before = Builder(InsertPoint.before(loop))
        start, stop, step = loop.start, loop.stop, loop.step
        counter = None if body.args[0].uses or not count else _counter(carried)
        if counter is not None and count is not None:
            carried = [each for each in carried if each is not counter]
            start, step = counter.initial, IntegerAttr(counter.step, si12)
            stop = self._end(loop, counter, count)
            self._replace(counter.argument, body.args[0])
            body.erase_arg(counter.argument)
        terminator = body.last_op
        assert terminator is not None
        end = Builder(InsertPoint.before(terminator))
        moved = [self._moved(end, self._at_top_of(loop), each) for each in carried]
        yielded = [*terminator.operands, *moved]
        end.insert(riscv_scf.YieldOp(*yielded))
        Rewriter.erase_op(terminator)
        initial = [before.insert(riscv.MVOp(each.initial)).rd for each in carried]
        region = loop.detach_region(loop.body)
        new = riscv_scf.ForOp(start, stop, step, [*loop.iter_args, *initial], region)
        if count:
            new.attributes[EXECUTES] = UnitAttr()
        PatternRewriter(loop).replace(loop, new, new.results[: len(loop.results)])

    def _replace(self, old: SSAValue, new: SSAValue) -> None:
        old.replace_all_uses_with(new)
        for carried in self.carried.values():
            for each in carried:
                if each.initial is old:
                    each.initial = new

    def _end(self, loop: riscv_scf.ForOp, counter: _Carried, count: int) -> SSAValue:
        """Where a pointer is after the last iteration; as far outside as where it begins."""
        around = block_of(counter.initial).find_ancestor_op_in_block(loop)
        assert around is not None
        builder = Builder(InsertPoint.before(around))
        return _plus(builder, counter.initial, count * counter.step)

    def _moved(self, builder: Builder, top: Operation, pointer: _Carried) -> SSAValue:
        """A pointer of the next iteration; the constant of a large step is before the nest."""
        step = pointer.step
        if fits(step):
            return builder.insert(riscv.AddiOp(pointer.argument, step)).rd
        if (top, step) not in self.steps:
            self.steps[top, step] = _number(Builder(InsertPoint.before(top)), step)
        return builder.insert(riscv.AddOp(pointer.argument, self.steps[top, step])).rd

    def _at_top_of(self, op: Operation) -> Operation:
        """The operation of the function's block that an operation is in."""
        found = self.block.find_ancestor_op_in_block(op)
        assert found is not None
        return found


def _counter(carried: list[_Carried]) -> _Carried | None:
    """The pointer that a loop counts by: the one that is known furthest outside."""
    usable = [each for each in carried if 0 < each.step < _REACH]
    return min(usable, key=lambda each: _depth(each.initial), default=None)


def _depth(value: SSAValue) -> int:
    depth, block = 0, block_of(value)
    while block is not None and isinstance(op := block.parent_op(), riscv_scf.ForOp):
        depth, block = depth + 1, op.parent_block()
    return depth


def _plus(builder: Builder, value: SSAValue, number: int) -> SSAValue:
    if fits(number):
        return builder.insert(riscv.AddiOp(value, number)).rd
    return builder.insert(riscv.AddOp(value, _number(builder, number))).rd


def _number(builder: Builder, number: int) -> SSAValue:
    """
    A constant that is no immediate operand. Not as `li`: xDSL folds that into an `addi` that
    cannot hold it.
    """
    upper, lower = (number + _REACH) >> 12, (number + _REACH) % (2 * _REACH) - _REACH
    high = builder.insert(riscv.LuiOp(upper)).rd
    return builder.insert(riscv.AddiOp(high, lower)).rd if lower else high


def _set_immediate(op: Operation, number: int) -> None:
    old = cast("IntegerAttr[Any]", op.attributes["immediate"])
    op.attributes["immediate"] = IntegerAttr(number, old.type)


def _stored_bases(loop: riscv_scf.ForOp) -> set[SSAValue | None]:
    """The buffers that a loop stores to; None among them for one that is not known."""
    return {base_of(address_of(op)) for op in operations_in(loop) if isinstance(op, STORES)}


def _forget(known: dict[object, Operation], stored: set[SSAValue | None]) -> None:
    """Leaves out loads of what has been stored to."""
    for key, op in list(known.items()):
        base = base_of(address_of(op))
        if stored and (None in stored or base is None or base in stored):
            del known[key]


def _is_inside(value: SSAValue, inside: set[Operation]) -> bool:
    owner = value.owner
    return (owner.parent_op() if isinstance(owner, Block) else owner) in inside


_ADDRESS_OPERATIONS = (
    *(riscv.AddOp, riscv.AddiOp, riscv.SubOp, riscv.MulOp, riscv.MVOp),
    *(rv32.LiOp, rv64.LiOp, rv64.SlliOp),
)


def _remove_dead(block: Block, kept: set[SSAValue]) -> None:
    """Removes what computed addresses before."""
    for op in reversed(operations_in(block)):
        result = op.results[0] if isinstance(op, _ADDRESS_OPERATIONS) else None
        if result is not None and not result.uses and result not in kept:
            Rewriter.erase_op(op)
