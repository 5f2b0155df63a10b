"""What a process does for the program that it runs: see `xla_dialect.runtime.process_calls`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from xdsl.interpreter import PythonValues
from xdsl.ir import Attribute

from xla_dialect import types
from xla_dialect.devices.process_grid import Process
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.op import XlaOp
from xla_dialect.ops import asynchronous, collectives, random, transfers
from xla_dialect.ops.asynchronous import as_one
from xla_dialect.ops.process_groups import CollectiveOp
from xla_dialect.reference.collectives import (
    CollectiveFunctions,
    Combine,
    as_declared,
    blocks,
    group_of,
    zeros_like,
)
from xla_dialect.reference.random import RandomFunctions
from xla_dialect.reference.transfers import TransferFunctions, as_item, of_item, received
from xla_dialect.runtime.process_calls import ProcessCall

Types: TypeAlias = Sequence[Attribute]

_FOLDED = (
    collectives.AllReduceOp,
    collectives.ReduceScatterOp,
    asynchronous.AllReduceStartOp,
)
"""The reductions: a call only exchanges operands, and the program folds them."""


@dataclass(frozen=True)
class _Begun:
    """An operation under way."""

    results: Callable[[Types], PythonValues]
    """Waits for its results, which have to be of these types."""


class ProcessCalls:
    """One run of a program by a process."""

    def __init__(self, process: Process, seed: int = 0):
        """`seed`: of the numbers that `rng` draws."""
        self.process = process
        self.collectives = CollectiveFunctions(process)
        self.transfers = TransferFunctions(process)
        self.random = RandomFunctions(seed + process.number)
        self._begun: dict[int, _Begun] = {}
        self._count = 0

    def carry_out(self, call: ProcessCall, arguments: Sequence[Array]) -> PythonValues:
        """
        The results of a call; waits for other processes where the operation does.

        The arguments must not change afterwards. Raises XlaError where the operation does, and for
        a done without a start.
        """
        arguments = tuple(arguments)
        if call.waits:
            begun = self._begun.pop(int(arguments[0]), None)
            if begun is None:
                raise XlaError("what it waits for has ended already, or was never begun")
            return begun.results(call.result_types)
        operation = call.operation
        if isinstance(operation, CollectiveOp | transfers.RecvOp):
            begun = self._begin(operation, arguments)
            if not call.begins:
                return begun.results(call.result_types)
            self._count += 1
            self._begun[self._count] = begun
            return (np.array(self._count, np.uint64),)
        return self._at_once(operation, arguments, call.result_types)

    def _at_once(self, op: XlaOp, arguments: PythonValues, declared: Types) -> PythonValues:
        """The results of an operation that waits for no other process but to send."""
        match op:
            case transfers.InfeedOp():
                item = self.transfers.take(as_one(declared))
                return of_item(item, len(declared))
            case transfers.OutfeedOp():
                self.transfers.give(arguments)
                return ()
            case transfers.SendOp():
                self.transfers.send(op, as_item(arguments))
                return ()
            case random.RngOp():
                a, b, count = arguments
                return (self.random.draw_for(op, a, b, int(count)),)
            case random.RngGetAndUpdateStateOp():
                return (self.random.move_on(op.delta.value.data),)
            case _:
                place = self.process.place[isinstance(op, collectives.PartitionIdOp)]
                return (np.array(place, np.uint32),)

    def _begin(self, op: CollectiveOp | transfers.RecvOp, arguments: PythonValues) -> _Begun:
        if isinstance(op, transfers.RecvOp):
            value = self.transfers.receive(op)
            return _Begun(
                lambda types_: of_item(received(op, value.result(), as_one(types_)), len(types_))
            )
        if not isinstance(op, _FOLDED):
            found = self.collectives.begin(op, arguments)
            return _Begun(lambda types_: as_declared(found.result(), types_))
        scattered = op.dimension.value.data if isinstance(op, collectives.ReduceScatterOp) else None
        process = self.process
        if group_of(op, process.place, process.grid) is None:
            return _Begun(lambda types_: stack([zeros_like(arguments)], 0, types_))
        brought = self.collectives.grouped(op, arguments, parts_for(scattered))
        return _Begun(lambda types_: stack(brought.result(), len(brought.result()), types_))


def parts_for(dimension: int | None) -> Combine:
    """The operands of all members, or of each the block along a dimension that is for this one."""

    def combine(brought: Sequence[PythonValues], me: int) -> PythonValues:
        if dimension is None:
            return tuple(brought)
        return tuple(
            tuple(blocks(value, dimension, len(brought))[me] for value in values)
            for values in brought
        )

    return combine


def stack(brought: Sequence[PythonValues], count: int, declared: Types) -> PythonValues:
    """
    The operands of members stacked along dimension 0 in arrays of these types, and `count`.
    Raises XlaError where there are more members than the dimension is long, or sizes differ.
    """
    *arrays, _ = (cast("types.Array", type_) for type_ in declared)
    stacks: list[Array] = []
    for values, type_ in zip(zip(*brought, strict=True), arrays, strict=True):
        places, *sizes = types.sizes_of(type_)
        if len(values) > places:
            raise XlaError(
                f"the group has {len(values)} members, the program is compiled for {places}"
            )
        as_declared(values[:1], [types.array(type_.element_type, sizes)])
        whole = np.zeros((places, *sizes), values[0].dtype)
        whole[: len(values)] = values
        stacks.append(whole)
    return (*stacks, np.array(count, np.int32))
