"""
How the passes of this package write IR: operations appended in order, loops opened and closed,
index arithmetic folded and shared as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import UNKNOWN_LOC, DenseArrayBase, LocationAttr, MemRefType, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from lowerings.loops.constants import INDEX, FunctionConstants, scratch_memory
from xla_dialect.xdsl.creation import create

NO_OVERFLOW_FLAGS = arith.IntegerOverflowAttr("none")
_ONE_DIMENSION = DenseArrayBase.from_list(i32, (1, 1, 1, 0))
"""The segments of a parallel loop: a lower and an upper bound, a step, and no reduction."""

OperationT = TypeVar("OperationT", bound=Operation)


@dataclass(frozen=True)
class Index:
    """A number known while loops are written: an SSA value of type `index`, plus a constant."""

    value: SSAValue | None = None
    constant: int = 0


ZERO = Index()


@dataclass
class OpenLoop:
    """A loop whose body is being written."""

    lower: SSAValue
    upper: SSAValue
    step: SSAValue
    initial: tuple[SSAValue, ...]
    body: Block
    is_parallel: bool = False
    """Whether iterations may run at the same time; it carries nothing then."""

    @property
    def induction_variable(self) -> SSAValue:
        return self.body.args[0]

    @property
    def carried(self) -> tuple[SSAValue, ...]:
        """The values that the loop carries from one iteration to the next, inside it."""
        return tuple(self.body.args[1:])


class LoopBuilder:
    """
    Appends operations to the innermost open loop.

    What is written outside all loops is collected in `ops` until `insert_before` puts it into
    the function.
    """

    def __init__(self, constants: FunctionConstants):
        self.constants = constants
        self.ops: list[Operation] = []
        self.called: set[str] = set()
        """The functions of the module that were called."""
        self.location: LocationAttr = UNKNOWN_LOC
        """That of the operation that others are written for."""
        self._outer: list[list[Operation]] = []
        self._private: dict[tuple[MemRefType[Attribute], int], memref.AllocaOp] | None = None
        self._known: list[dict[tuple[object, ...], SSAValue]] = [{}]
        self._made: dict[SSAValue, SSAValue] = {}

    def add(self, op: OperationT) -> OperationT:
        """Appends `op`."""
        if op.location is UNKNOWN_LOC:
            op.location = self.location
        self.ops.append(op)
        return op

    def write(
        self,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        location: LocationAttr | None = None,
    ) -> SSAValue:
        """The result of a new operation."""
        op = create(
            op_class,
            operands=operands,
            result_types=[type_],
            properties=properties,
            location=location,
        )
        return self.add(op).results[0]

    def at(self, location: LocationAttr) -> LocationAttr:
        """From now on writes for an operation at a location, if known; returns the one before."""
        before = self.location
        if location is not UNKNOWN_LOC:
            self.location = location
        return before

    def insert_before(self, op: Operation) -> None:
        """Puts all that was written before `op`."""
        block = op.parent
        assert block is not None
        assert not self._outer
        block.insert_ops_before(self.ops, op)
        self.ops = []
        self._known = [{}]

    def open_loop(
        self,
        lower: SSAValue,
        upper: SSAValue,
        step: SSAValue,
        initial: Sequence[SSAValue] = (),
        name_hint: str | None = None,
        is_parallel: bool = False,
    ) -> OpenLoop:
        """
        Starts a loop that carries `initial`; what follows is its body until `close_loop`.

        A loop `is_parallel` only outside of others that are.
        """
        assert not is_parallel or (self._private is None and not initial)
        if is_parallel:
            self._private = {}
        body = Block(arg_types=[INDEX, *(value.type for value in initial)])
        body.args[0].name_hint = name_hint
        self._outer.append(self.ops)
        self._known.append({})
        self.ops = []
        return OpenLoop(lower, upper, step, tuple(initial), body, is_parallel)

    def close_loop(self, loop: OpenLoop, carried: Sequence[SSAValue] = ()) -> Sequence[SSAValue]:
        """Ends the body, which hands `carried` to the next iteration; returns the last values."""
        if loop.is_parallel:
            return self._close_parallel_loop(loop)
        loop.body.add_ops(self.ops)
        loop.body.add_op(create(scf.YieldOp, operands=carried))
        self.ops = self._outer.pop()
        self._known.pop()
        op = create(
            scf.ForOp,
            operands=[loop.lower, loop.upper, loop.step, *loop.initial],
            result_types=[value.type for value in loop.initial],
            regions=[Region(loop.body)],
        )
        return self.add(op).results

    def _close_parallel_loop(self, loop: OpenLoop) -> Sequence[SSAValue]:
        assert self._private is not None
        loop.body.add_ops([*self._private.values(), *self.ops, create(scf.ReduceOp)])
        self._private = None
        self.ops = self._outer.pop()
        self._known.pop()
        op = create(
            scf.ParallelOp,
            operands=[loop.lower, loop.upper, loop.step],
            properties={"operandSegmentSizes": _ONE_DIMENSION},
            regions=[Region(loop.body)],
        )
        return self.add(op).results

    @property
    def is_in_parallel(self) -> bool:
        """Whether some open loop is parallel."""
        return self._private is not None

    def make(self, memory: SSAValue, number: int) -> None:
        """
        Makes the memory on the stack that a value stands for; each iteration of a parallel loop has
        its own. For the same type it is the same: its users take turns, but for those of another
        number.
        """
        memref_type = cast("MemRefType[Attribute]", memory.type)
        if self._private is None:
            made = self.constants.scratch(memref_type, number, self.location)
        else:
            key = memref_type, number
            made = self._private.setdefault(key, scratch_memory(memref_type)).memref
        self._made[memory] = made

    def made(self, memory: SSAValue) -> SSAValue:
        """The memory that a value stands for; the value itself where it is no such."""
        return self._made.get(memory, memory)

    def branch(
        self,
        condition: SSAValue,
        then: Callable[[], Sequence[SSAValue]],
        otherwise: Sequence[SSAValue],
    ) -> Sequence[SSAValue]:
        """What `then` writes and returns if a condition holds, else `otherwise`."""
        self._outer.append(self.ops)
        self._known.append({})
        self.ops = []
        taken = Block()
        results = then()
        taken.add_ops(self.ops)
        taken.add_op(create(scf.YieldOp, operands=results))
        self.ops = self._outer.pop()
        self._known.pop()
        skipped = Block([create(scf.YieldOp, operands=otherwise)])
        op = create(
            scf.IfOp,
            operands=[condition],
            result_types=[value.type for value in otherwise],
            regions=[Region(taken), Region(skipped)],
        )
        return self.add(op).results

    def call(
        self, name: str, arguments: Sequence[SSAValue], result_types: Sequence[Attribute]
    ) -> Sequence[SSAValue]:
        """The results of a function of the module; its name is added to `called`."""
        self.called.add(name)
        return self.add(func.CallOp(name, arguments, result_types)).results

    def binary(
        self, op_class: type[Operation], lhs: SSAValue, rhs: SSAValue, *, share: bool = False
    ) -> SSAValue:
        """
        An operation on two values of one type, which is the result's.

        With `share` an earlier equal operation that is in scope is used instead.
        """
        properties = (
            {"overflowFlags": NO_OVERFLOW_FLAGS} if op_class in _WITH_OVERFLOW_FLAGS else {}
        )

        def write() -> SSAValue:
            return self.write(op_class, [lhs, rhs], lhs.type, properties)

        return self.shared((op_class, lhs, rhs), write) if share else write()

    def shared(self, key: tuple[object, ...], write: Callable[[], SSAValue]) -> SSAValue:
        """The values that `write` emits, or those it emitted for an equal key if they dominate."""
        for known in reversed(self._known):
            if key in known:
                return known[key]
        result = self._known[-1][key] = write()
        return result

    def materialize(self, index: Index) -> SSAValue:
        """The SSA value of an index."""
        if index.value is None:
            return self.constants.index(index.constant)
        if index.constant == 0:
            return index.value
        constant = self.constants.index(index.constant)
        return self.binary(arith.AddiOp, index.value, constant, share=True)

    def add_index(self, lhs: Index, rhs: Index) -> Index:
        """`lhs + rhs`."""
        constant = lhs.constant + rhs.constant
        if lhs.value is None or rhs.value is None:
            return Index(lhs.value or rhs.value, constant)
        return Index(self.binary(arith.AddiOp, lhs.value, rhs.value, share=True), constant)

    def scale_index(self, index: Index, factor: int) -> Index:
        """`index * factor`."""
        if index.value is None or factor == 0:
            return Index(None, index.constant * factor)
        if factor == 1:
            return index
        scale = self.constants.index(factor)
        value = self.binary(arith.MuliOp, index.value, scale, share=True)
        return Index(value, index.constant * factor)

    def affine(self, expression: AffineExpr, dimensions: Sequence[Index]) -> Index:
        """The value of an affine expression of `dimensions`; divisors and moduli are positive."""
        # By class: matching patterns of abstract classes takes longer than all else here.
        if type(expression) is AffineDimExpr:
            return dimensions[expression.position]
        if type(expression) is AffineBinaryOpExpr:
            lhs = self.affine(expression.lhs, dimensions)
            return self._affine_binary(
                expression.kind, lhs, self.affine(expression.rhs, dimensions)
            )
        if type(expression) is AffineConstantExpr:
            return Index(None, expression.value)
        raise ValueError(f"a map without symbols cannot hold {expression}")

    def _affine_binary(self, kind: AffineBinaryOpKind, lhs: Index, rhs: Index) -> Index:
        if kind is AffineBinaryOpKind.Add:
            return self.add_index(lhs, rhs)
        if kind is AffineBinaryOpKind.Mul:
            return (
                self.scale_index(rhs, lhs.constant)
                if lhs.value is None
                else self.scale_index(lhs, rhs.constant)
            )
        divisor = rhs.constant
        assert rhs.value is None
        assert divisor > 0
        if kind is AffineBinaryOpKind.CeilDiv:
            lhs = Index(lhs.value, lhs.constant + divisor - 1)
        if lhs.value is None:
            is_mod = kind is AffineBinaryOpKind.Mod
            return Index(None, lhs.constant % divisor if is_mod else lhs.constant // divisor)
        quotient = self._floor_division(self.materialize(lhs), divisor)
        if kind is not AffineBinaryOpKind.Mod:
            return Index(quotient)
        product = self.scale_index(Index(quotient), -divisor)
        return self.add_index(lhs, product)

    def _floor_division(self, value: SSAValue, divisor: int) -> SSAValue:
        """Rounded towards minus infinity: the quotient of `value - r` with `r` its residue."""
        constant = self.constants.index(divisor)
        remainder = self.binary(arith.RemSIOp, value, constant, share=True)
        wrapped = self.binary(arith.AddiOp, remainder, constant, share=True)
        residue = self.binary(arith.RemSIOp, wrapped, constant, share=True)
        difference = self.binary(arith.SubiOp, value, residue, share=True)
        return self.binary(arith.DivSIOp, difference, constant, share=True)


_WITH_OVERFLOW_FLAGS = {arith.AddiOp, arith.SubiOp, arith.MuliOp}
