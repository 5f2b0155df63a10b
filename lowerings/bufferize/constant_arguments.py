"""Kernels that differ in constants only, as one that takes these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import SymbolRefAttr, f32, f64, i32, i64
from xdsl.ir import Operation, SSAValue

from lowerings.ir.equality import StructuralKeys
from lowerings.ir.locations import fused
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import operations_in

FEWEST = 4
"""So many kernels have to be alike."""

_FLOATS, _INTEGERS = frozenset((f32, f64)), frozenset((i32, i64))

_USERS = frozenset(
    {
        *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.MaximumfOp, arith.MinimumfOp),
        *(arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp),
        *(arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp),
        *(arith.CmpfOp, arith.CmpiOp, arith.SelectOp),
    }
)
"""What takes as long for any number; to shift by one that is known takes less."""

_DIVISIONS = frozenset({arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp})
"""What LLVM multiplies instead, if it finds out that the divisor is a number."""


def alike_but_for_constants(
    kernels: Iterable[func.FuncOp], keys: StructuralKeys
) -> list[list[func.FuncOp]]:
    """The kernels that are equal but for constants, where they are enough."""
    alike: dict[Hashable, list[func.FuncOp]] = defaultdict(list)
    for function in kernels:
        key = keys.of([function.body], unnamed=_open_constants(function))
        alike[key].append(function)
    return [each for each in alike.values() if len(each) >= FEWEST]


def take_constants(
    alike: Sequence[func.FuncOp], calls: Mapping[func.FuncOp, Sequence[func.CallOp]]
) -> None:
    """Makes the first take the constants in which the others differ, and be called for all."""
    first = alike[0]
    columns = list(zip(*map(operations_in, alike), strict=True))
    for column in columns:
        column[0].location = fused(op.location for op in column)
    open_constants = _open_constants(first)
    columns = [
        column
        for column in columns
        if column[0] in open_constants
        and any(op.properties != column[0].properties for op in column)
    ]
    for function, *constants in zip(alike, *columns, strict=True):
        for call in calls[function]:
            made = [_copied_to(op, call) for op in constants]
            call.operands = (*call.operands, *made)
            call.properties["callee"] = SymbolRefAttr(first.sym_name)
    for op, *_ in columns:
        argument = first.body.block.insert_arg(op.results[0].type, len(first.body.block.args))
        replace_uses(op.results[0], argument)
        erase(op)
    first.update_function_type()
    for function in alike[1:]:
        erase(function)


def _copied_to(op: Operation, call: func.CallOp) -> SSAValue:
    types = [result.type for result in op.results]
    copy = create(type(op), result_types=types, properties=op.properties, location=op.location)
    insert_before(copy, call)
    return copy.results[0]


def _open_constants(function: func.FuncOp) -> Set[Operation]:
    """The constants whose numbers do not matter to those that use them."""
    ops = operations_in(function.body)
    types = _FLOATS if any(type(op) in _DIVISIONS for op in ops) else _FLOATS | _INTEGERS
    return {
        op
        for op in ops
        if type(op) is arith.ConstantOp
        and op.result.type in types
        and all(type(use.operation) in _USERS for use in op.result.uses)
    }
