"""The pass `xla-outline-equal-parts`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate, chain, count

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from lowerings.ir.equality import StructuralKeys
from lowerings.ir.functions import INLINED_CALL, NO_INLINE, SymbolNames, defined_functions
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from lowerings.simplify.purity import is_pure
from xla_dialect.sharding.attributes import (
    set_function_shardings,
    set_result_shardings,
    value_sharding,
)
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import ancestors, block_of, free_values, operands_in, operands_of

FEWEST = 8
"""Shorter parts stay where they are."""

MOST_CALLS = 4
"""What is used more calls later, as by a gradient, fusion computes again instead of keeping it: a
part with such results stays, too."""


@dataclass(frozen=True)
class XlaOutlineEqualPartsPass(ReportingPass):
    """
    Makes a function of what is computed between two calls of the process, where others do the same.

    The layers of a model that is split over devices are cut by their collectives into such parts;
    nothing is fused across these anyway. Everything that follows takes its time for each operation,
    and so for a function once. What is computed of constants only is computed in the function.

    ```
    %1, %2 = xla.custom_call %0 {custom_call_target = "xla.all_reduce", ...} ...
    %3 = xla.add %x, %b ...
    %4 = xla.tanh %3 ...
    // becomes, where that is done twice
    %4 = func.call @part_0(%x, %b) ...
    ```
    """

    name = "xla-outline-equal-parts"
    takes = UNLOWERED

    inlined_calls: bool = False
    """
    Makes functions again of what `xla-inline{everything=true}` has inlined of functions that are
    `no_inline`, where the arrays of others are split alike; of nothing else.
    """

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through the functions of a module that have one block."""
        names, keys = SymbolNames(op), StructuralKeys()
        alike: defaultdict[Hashable, list[_Part]] = defaultdict(list)
        for function in defined_functions(op):
            block, *others = function.body.blocks
            parts = _calls(block) if self.inlined_calls else _parts(block)
            for part in () if others else parts:
                alike[part.key(keys)].append(part)
        repeated = [parts for parts in alike.values() if len(parts) > 1]
        for parts in repeated:
            function = parts[0].function(names.take(f"part_{n}" for n in count()))
            op.body.block.add_op(function)
            for part in parts:
                part.call(function)
        return bool(repeated)


@dataclass(eq=False)
class _Part:
    """Operations behind each other that have no effects."""

    own: Sequence[Operation]
    operations: Sequence[Operation]
    """They, behind those that compute what they take of constants."""
    users: Mapping[OpResult, Set[Operation]] = field(init=False)
    """Others, by what they use."""

    def __post_init__(self) -> None:
        results = [result for op in self.own for result in op.results]
        users = {
            r: {_beside(use.operation, r) for use in r.uses}.difference(self.own) for r in results
        }
        self.users = {result: others for result, others in users.items() if others}

    @property
    def inputs(self) -> Sequence[SSAValue]:
        """What it takes; results of another part become those of its call."""
        return free_values(*self.operations)

    def key(self, keys: StructuralKeys) -> Hashable:
        """What equal parts have in common."""
        numbers = {
            value: (n, keys.identity(value.type), value_sharding(value))
            for n, value in enumerate(self.inputs)
        }
        results = {result: n for n, result in enumerate(r for op in self.own for r in op.results)}
        return keys.of(self.operations, numbers), tuple([results[r] for r in self.users])

    def function(self, name: str) -> FuncOp:
        """The function that computes it."""
        block = Block(arg_types=[value.type for value in self.inputs])
        mapped: dict[SSAValue, SSAValue] = dict(zip(self.inputs, block.args, strict=True))
        for op in self.operations:
            block.add_op(op.clone(mapped))
        block.add_op(ReturnOp(*(mapped[result] for result in self.users)))
        types = [v.type for v in self.inputs], [v.type for v in self.users]
        made = FuncOp(name, types, Region(block), "private")
        made.attributes[NO_INLINE] = UnitAttr()
        shardings = [list(map(value_sharding, side)) for side in (self.inputs, self.users)]
        set_function_shardings(made, *shardings)
        return made

    def call(self, function: FuncOp) -> None:
        """Calls the function in its place."""
        types = [result.type for result in self.users]
        call = insert_before(CallOp(function.sym_name.data, self.inputs, types), self.own[0])
        call.location = self.own[-1].location
        shardings = [sharding for each in self.users if (sharding := value_sharding(each))]
        if shardings and len(shardings) == len(types):
            set_result_shardings(call, shardings)
        for result, value in zip(self.users, call.results, strict=True):
            replace_uses(result, value)
        for op in reversed(self.own):
            erase(op)


def _beside(user: Operation, value: SSAValue) -> Operation:
    """The operation that a user of a value is, or is in, in the block of that."""
    block = block_of(value)
    return next(op for op in (user, *ancestors(user)) if op.parent is block)


def _calls(block: Block) -> Iterator[_Part]:
    """What is between the first and the last operation of each inlined call."""
    constant: dict[object, Operation] = {}
    last = {op.attributes.get(INLINED_CALL): op for op in block.ops}
    own: list[Operation] = []
    call: Attribute | None = None
    for op in tuple(block.ops):
        call = call or op.attributes.get(INLINED_CALL)
        if _is_constant(op, constant):
            constant[op] = op
        elif call is not None:
            own.append(op)
        op.attributes.pop(INLINED_CALL, None)
        if call is not None and op is last[call]:
            if own:
                yield _Part(own, [*_of_constants(own, constant), *own])
            own, call = [], None


def _is_constant(op: Operation, constant: Container[object]) -> bool:
    """Whether an operation computes something of such as do it of constants only."""
    return (
        is_pure(op) and not op.regions and all(value.owner in constant for value in operands_of(op))
    )


def _parts(block: Block) -> Iterator[_Part]:
    """The long parts of a block in front of operations with effects."""
    constant: dict[object, Operation] = {}
    own: list[Operation] = []
    effects = accumulate((not is_pure(op) for op in block.ops), initial=0)
    places = dict(zip(block.ops, effects, strict=False))
    for op, place in places.items():
        if not is_pure(op):
            if len(own) >= FEWEST:
                part = _Part(own, [*_of_constants(own, constant), *own])
                others = {*chain.from_iterable(part.users.values())} - {block.last_op}
                if all(places[each] <= place + MOST_CALLS for each in others):
                    yield part
            own = []
        elif _is_constant(op, constant):
            constant[op] = op
        else:
            own.append(op)


def _of_constants(
    operations: Sequence[Operation], constant: Mapping[object, Operation]
) -> Sequence[Operation]:
    """What computes the operands of operations, as far as it takes constants only, in order."""
    found: set[Operation] = set()
    waiting = list(operations)
    while waiting:
        for value in operands_in(waiting.pop()):
            maker = constant.get(value.owner)
            if maker is not None and maker not in found:
                found.add(maker)
                waiting.append(maker)
    return [op for op in constant.values() if op in found]
