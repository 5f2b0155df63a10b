"""
How the passes of this package write IR: operations appended in order, loops opened and closed,
index arithmetic folded and shared as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from xdsl.dialects import arith, func, memref, scf, vector
from xdsl.dialects.builtin import UNKNOWN_LOC, DenseArrayBase, LocationAttr, MemRefType, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from lowerings.loops.constants import INDEX, FunctionConstants, scratch_memory, vector_of
from xla_dialect.xdsl.creation import create

_ONE_DIMENSION = DenseArrayBase.from_list(i32, (1, 1, 1, 0))
"""The segments of a parallel loop: a lower and an upper bound, a step, and no reduction."""

OperationT = TypeVar("OperationT", bound=Operation)


@dataclass(frozen=True)
class Index:
    """A number known while loops are written: an SSA value of type `index`, plus a constant."""

    value: SSAValue | None = None
    constant: int = 0


ZERO = Index()


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

    def broadcast(self, value: SSAValue, lanes: int) -> SSAValue:
        """A vector with a value in all lanes."""
        return self.write(vector.BroadcastOp, [value], vector_of(value.type, lanes))

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
        block.insert_ops_before(self.ops, op)
        self.ops = []
        self._known = [{}]

    def loop(
        self,
        bounds: Sequence[SSAValue],
        initial: Sequence[SSAValue],
        write: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
        name_hint: str,
        *,
        is_parallel: bool = False,
    ) -> Sequence[SSAValue]:
        """
        A loop with a lower and an upper bound and a step: `write` gets where it is, and the values
        that it carries, `initial` at first, and returns those for the next iteration. Returns the
        last ones.

        Iterations of a loop `is_parallel`, which carries nothing, may run at the same time; inside
        of such a loop no other is.
        """
        is_parallel = is_parallel and self._private is None
        body = Block(arg_types=[INDEX, *(value.type for value in initial)])
        body.args[0].name_hint = name_hint
        if is_parallel:
            self._private = {}
        carried = self._inside(body, lambda: write(body.args[0], body.args[1:]))
        if is_parallel:
            assert self._private is not None
            assert not initial
            body.add_op(create(scf.ReduceOp))
            assert body.first_op is not None
            body.insert_ops_before(tuple(self._private.values()), body.first_op)
            self._private = None
        else:
            body.add_op(create(scf.YieldOp, operands=carried))
        op = create(
            scf.ParallelOp if is_parallel else scf.ForOp,
            operands=[*bounds, *initial],
            result_types=[value.type for value in initial],
            properties={"operandSegmentSizes": _ONE_DIMENSION} if is_parallel else {},
            regions=[Region(body)],
        )
        return self.add(op).results

    def _inside(self, block: Block, write: Callable[[], Sequence[SSAValue]]) -> Sequence[SSAValue]:
        """What `write` returns, which writes into a block."""
        outside, self.ops = self.ops, []
        self._known.append({})
        result = write()
        block.add_ops(self.ops)
        self._known.pop()
        self.ops = outside
        return result

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
        taken = Block()
        results = self._inside(taken, then)
        taken.add_op(create(scf.YieldOp, operands=results))
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

        def write() -> SSAValue:
            return self.write(op_class, [lhs, rhs], lhs.type)

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

    def indices(
        self, expressions: Iterable[AffineExpr], dimensions: Sequence[Index]
    ) -> list[SSAValue]:
        """The SSA values of affine expressions of `dimensions`."""
        return [self.materialize(self.affine(each, dimensions)) for each in expressions]

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
