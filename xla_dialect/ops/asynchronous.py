"""Asynchronous operations: a start, whose result is a context, and a done, which waits for it.

HLO has the context as one tuple `(operands, results, ...)`; here its
leaves may also be operands and results one by one.

An `async_start` may leave operands and the results open, `((operand), (), ...)`. The operations
after it bind them: their last `bound` operands are the next operands of the computation, and then
buffers for its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TupleType, i64
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import INTEGER
from xla_dialect.constraints import ArrayOf, flat_results, signature
from xla_dialect.devices.replica_groups import (
    ReplicaGroups,
    SourceTargetPairs,
    SourceTargetPairsAttr,
)
from xla_dialect.op import Types, XlaOp
from xla_dialect.ops.collectives import (
    AllGatherOp,
    AllReduceOp,
    CollectiveOp,
    CollectivePermuteOp,
    GlobalGroupedOp,
    PermutedSlices,
)
from xla_dialect.ops.control_flow import CallOp, ConditionalOp, OptBarrierOp, WhileOp
from xla_dialect.ops.tuples import GetTupleElementOp
from xla_dialect.types import (
    S32,
    U32,
    Array,
    all_compatible,
    array,
    compatible,
    flatten,
    spell,
    spell_all,
    tuple_elements,
    tuple_of,
    without_layout,
)
from xla_dialect.violations import Violation, require

OPEN: Attribute = TupleType(())
"""The results in a context as long as they are not bound."""


def as_one(types: Sequence[Attribute]) -> Attribute:
    """The only type, or the tuple of them."""
    return types[0] if len(types) == 1 else tuple_of(types)


def split_bound(context: Types, bound: int) -> tuple[Types, Types]:
    """The context among the operands of an `async_update` or `async_done`, and what it binds."""
    require(0 <= bound <= len(context), "C3", "binds {} of {} operands", bound, len(context))
    held = context[: len(context) - bound]
    require(bool(held), "C1", "there is no context")
    return held, context[len(held) :]


def continued(before: Types, now: Types, late: Types) -> Types:
    """
    A context after operands of these types were bound, of which `now` says how many were operands.

    Raises Violation.
    """
    bound, growing = tuple_elements(before[0]), tuple_elements(now[0])
    if bound is None or growing is None:
        require(not late, "C3", "operands are bound to a context without a tuple of operands")
        return before
    operands = late[: max(len(growing) - len(bound), 0)]
    opened = before[1] == OPEN != now[1]
    results = now[1] if opened else before[1]
    buffers = late[len(operands) :]
    require(
        not buffers or (opened and all_compatible(flatten(buffers), flatten((results,)))),
        "C3",
        "operands {} are bound, but the operands of the context become {} and its results {}",
        spell_all(late),
        spell(now[0]),
        spell(results),
    )
    require(len(before) == len(now), "C2", "{} elements become {}", len(before), len(now))
    return (tuple_of((*bound, *operands)), results, *before[2:])


_HANDS_ON = (CallOp, ConditionalOp, GetTupleElementOp, OptBarrierOp, WhileOp)
"""Operations that forward a context to its done, for example in a pipelined loop."""


def split_context(declared: Types, count: int) -> tuple[Types, Types]:
    """
    The result types in the declared context of a start with `count` operands, and those after them.

    Both are empty where no type is declared.
    """
    parts = flat_results(declared)
    if count == 1 or not parts or not isinstance(parts[0], TupleType):
        return parts[count : 2 * count], parts[2 * count :]
    return (() if len(parts) < 2 else flat_results(parts[1:2])), parts[2:]


def finished(context: Sequence[Attribute], declared: Types) -> Types:
    """
    What a done returns: element 1 of the context, if that is a tuple (C1).

    Of a context given leaf by leaf, the declared results, which have to be a contiguous part of it.
    """
    elements = tuple_elements(context[0]) if len(context) == 1 else None
    if elements is not None:
        require(len(elements) >= 2, "C1", "the operand is {}, no context", spell_all(context))
        return elements[1:2]
    leaves, wanted = flatten(context), flatten(declared)
    places = range(len(leaves) - len(wanted) + 1)
    if (
        len(context) < 2
        or not wanted
        or not any(all_compatible(leaves[i : i + len(wanted)], wanted) for i in places)
    ):
        raise Violation("C1", f"the operand is {spell_all(context)}, no context")
    return wanted


def producer(context: Sequence[SSAValue]) -> XlaOp | None:
    """The operation that made the context; None for block arguments and what forwards a context."""
    owner = context[0].owner if context else None
    return owner if isinstance(owner, XlaOp) and not isinstance(owner, _HANDS_ON) else None


def verify_start(
    op: XlaOp, context: Sequence[SSAValue], starts: tuple[type[XlaOp], ...], label: str
) -> None:
    """
    The context of `op` comes from one of these operations, if the operation that made it is known.

    Raises VerifyException.
    """
    start = producer(context)
    if start is not None and not isinstance(start, starts):
        raise VerifyException(f"{op.name}: ({label}) the operand is the result of {start.name}")


_NOTHING_OPEN = "binds operands, but no async_start or async_update before it has left any open"


class HalfOp(XlaOp):
    """The beginning of an operation, whose result is a context, or what goes on with that."""

    UNRELATED: ClassVar[str | None] = "the other half has the values"

    outputs = var_result_def()


class DoneOp(HalfOp):
    """
    Waits for what a start began, and returns its results.

    (C1) the operand is the context of a start; it may come through a loop or a tuple.
    """

    STARTS: ClassVar[tuple[type[XlaOp], ...]]
    """The operations whose context it takes."""

    context = var_operand_def()

    @staticmethod
    def infer(context: tuple[Attribute, ...], *, declared: Types) -> Types:
        """Element 1 of the context."""
        return finished(context, declared)

    def verify_context(self) -> None:
        """Checks the context, and that it is one of the right kind."""
        verify_start(self, self.context, self.STARTS, "C1")


@irdl_op_definition
class AsyncStartOp(HalfOp):
    """
    Begins to run the computation `calls` on the operands, beside what follows.

    The context is `((operands), result, ...)`; the rest of it belongs to the implementation. The
    last operands may be missing, and the result be `()`: then an `async_update` or `async_done`
    binds them, and the computation runs when it has all operands.

    (C1) no more operands than parameters. (C2) their types are those of the parameters. (C3) an
    open context has one use, an `async_update` or `async_done`.
    """

    name = "xla.async_start"
    inputs = var_operand_def()
    async_execution_thread = opt_prop_def(StringAttr)
    calls = region_def()

    @staticmethod
    def infer(inputs: tuple[Attribute, ...], *, calls: Region, declared: Types) -> Types:
        """Operand types in a tuple, the result of the computation, and what is declared beyond."""
        parameters, results = signature(calls, "calls", "C1")
        found = len(inputs)
        parts = flat_results(declared)
        nested = not parts or isinstance(parts[0], TupleType)
        require(
            found == len(parameters) or (nested and found < len(parameters)),
            "C1",
            "{} operands, {} parameters",
            found,
            len(parameters),
        )
        require(
            all_compatible(inputs, parameters[:found]),
            "C2",
            "operands {} for parameters {}",
            spell_all(inputs),
            spell_all(parameters[:found]),
        )
        operands = tuple_of(inputs)
        result = as_one(results)
        rest: Types = (array(S32, ()),)
        if parts and nested:
            result = OPEN if parts[1:2] == (OPEN,) else result
            rest = parts[2:]
        elif parts:
            rest = parts[len(flatten(inputs)) + len(flatten(results)) :]
        elif found < len(parameters):
            result = OPEN
        return (operands, result, *rest)

    @property
    def is_open(self) -> bool:
        """Whether operands of the computation or its results are to be bound later."""
        parts = flat_results(self.result_types)
        if len(self.inputs) < len(self.calls.block.args):
            return True
        return len(parts) > 1 and isinstance(parts[0], TupleType) and self.leaves_open(parts[1])

    def leaves_open(self, result: Attribute) -> bool:
        """Whether results of this type in its context are not the computation's, but open."""
        last = self.calls.block.last_op
        return result == OPEN and last is not None and as_one(last.operand_types) != OPEN

    def verify_context(self) -> None:
        """Checks that what is open is bound."""
        if self.is_open:
            verify_used_by_next(self, "C3")


@irdl_op_definition
class AsyncUpdateOp(HalfOp):
    """
    The context of an asynchronous computation, which may make progress.

    It may bind operands, which its own context has after those of before, and results.

    (C1) the operand is the context of an `async_start` or `async_update`. (C2) all else of the
    context stays as it is. (C3) operands that are bound have the types of the next parameters, then
    those of the results. (C4) an open context has one use, an `async_update` or `async_done`.
    """

    name = "xla.async_update"
    context = var_operand_def()
    bound = prop_def(INTEGER, default_value=IntegerAttr(0, i64))

    @staticmethod
    def infer(context: tuple[Attribute, ...], *, bound: int, declared: Types) -> Types:
        """The type of the context, with what is bound."""
        held, late = split_bound(context, bound)
        elements = tuple_elements(held[0]) if len(held) == 1 else held
        require(
            elements is not None and len(elements) >= 2,
            "C1",
            "the operand is {}, no context",
            spell_all(held),
        )
        if len(held) > 1:
            require(not late, "C3", "operands are bound to a context that is no tuple")
            return held
        now = tuple_elements(declared[0]) if len(declared) == 1 else None
        if now is None or len(now) < 2:
            return held
        return (tuple_of(continued(cast("Types", elements), now, late)),)

    def verify_context(self) -> None:
        """Checks the context, and that it is one of an asynchronous computation."""
        verify_start(self, self.operands[:1], (AsyncStartOp, AsyncUpdateOp), "C1")
        start = open_start(self)
        if start is None:
            if self.bound.value.data:
                raise VerifyException(f"{self.name}: (C3) {_NOTHING_OPEN}")
            return
        verify_bound(self, start)
        if has_open_parts(self.result_types[0], start):
            verify_used_by_next(self, "C4")


@irdl_op_definition
class AsyncDoneOp(DoneOp):
    """
    Waits for an asynchronous computation, and returns its result.

    It may bind operands and results, as `async_update` does.

    (C1) the operand is the context of an `async_start` or `async_update`; it may come through a
    loop or a tuple. (C2) all operands of the computation are bound. (C3) operands that are bound
    here have the types of the next parameters, then those of the results.
    """

    name = "xla.async_done"
    STARTS: ClassVar = (AsyncStartOp, AsyncUpdateOp)
    bound = prop_def(INTEGER, default_value=IntegerAttr(0, i64))

    @staticmethod
    def infer(context: tuple[Attribute, ...], *, bound: int = 0, declared: Types) -> Types:
        """Element 1 of the context, or what is declared if that is open."""
        held, late = split_bound(context, bound)
        found = finished(held, declared)
        require(
            not late or len(held) == 1, "C3", "operands are bound to a context that is no tuple"
        )
        return declared if found == (OPEN,) and declared else found

    def verify_context(self) -> None:
        """Checks the context, and that nothing of it stays open."""
        verify_start(self, self.operands[:1], self.STARTS, "C1")
        start = open_start(self)
        if start is not None:
            verify_bound(self, start)
        elif self.bound.value.data:
            raise VerifyException(f"{self.name}: (C3) {_NOTHING_OPEN}")


def start_of(op: AsyncUpdateOp | AsyncDoneOp) -> AsyncStartOp | None:
    """The `async_start` of an operation's context, if it comes from there directly."""
    return context_start(op.operands[0])


def context_start(context: SSAValue) -> AsyncStartOp | None:
    """The `async_start` of a context that comes from there directly."""
    owner = context.owner
    while isinstance(owner, AsyncUpdateOp):
        owner = owner.operands[0].owner
    return owner if isinstance(owner, AsyncStartOp) else None


def open_start(op: AsyncUpdateOp | AsyncDoneOp) -> AsyncStartOp | None:
    """The start of an operation's context, if that start left something open."""
    start = start_of(op)
    return start if start is not None and start.is_open else None


def operands_bound(op: AsyncStartOp | AsyncUpdateOp | AsyncDoneOp) -> list[SSAValue]:
    """The operands of the computation that are bound once an operation of an open context ran."""
    if isinstance(op, AsyncStartOp):
        return list(op.inputs)
    owner, start = op.operands[0].owner, start_of(op)
    assert start is not None and isinstance(owner, AsyncStartOp | AsyncUpdateOp)
    before = operands_bound(owner)
    late = list(op.operands[len(op.operands) - op.bound.value.data :])
    return [*before, *late[: len(start.calls.block.args) - len(before)]]


def has_open_parts(context: Attribute, start: AsyncStartOp) -> bool:
    """Whether a context of this type, which came from this start, has something left to bind."""
    operands, result = (tuple_elements(context) or (OPEN, OPEN))[:2]
    missing = len(tuple_elements(operands) or ()) < len(start.calls.block.args)
    return missing or start.leaves_open(result)


def verify_used_by_next(op: AsyncStartOp | AsyncUpdateOp, label: str) -> None:
    """An open context has one use, which goes on with it; raises VerifyException."""
    uses = [use.operation for use in op.results[0].uses]
    if len(uses) != 1 or not isinstance(uses[0], AsyncUpdateOp | AsyncDoneOp):
        found = ", ".join(use.name for use in uses) or "none"
        raise VerifyException(f"{op.name}: ({label}) the context is open and its uses are {found}")


def verify_bound(op: AsyncUpdateOp | AsyncDoneOp, start: AsyncStartOp) -> None:
    """What an operation has bound is what the computation takes and gives; VerifyException."""
    block = start.calls.block
    last = block.last_op
    assert last is not None
    parameters, results = [argument.type for argument in block.args], as_one(last.operand_types)
    operands = operands_bound(op)
    given = [operand.type for operand in operands]
    if not all_compatible(given, parameters[: len(given)]):
        message = f"operands {spell_all(given)} for parameters {spell_all(parameters)}"
        raise VerifyException(f"{op.name}: (C3) {message}")
    if isinstance(op, AsyncDoneOp):
        found: Attribute = as_one(op.result_types)
        if len(given) < len(parameters):
            message = f"{len(given)} of {len(parameters)} operands are bound"
            raise VerifyException(f"{op.name}: (C2) {message}")
    else:
        shown, found = (tuple_elements(op.result_types[0]) or (OPEN, OPEN))[:2]
        if len(tuple_elements(shown) or ()) != len(given):
            raise VerifyException(
                f"{op.name}: (C3) the context has operands {spell_all((shown,))}, "
                f"bound are {spell_all(given)}"
            )
    if found != OPEN and not compatible(found, results):
        raise VerifyException(
            f"{op.name}: (C3) results {spell(found)}, the computation gives {spell(results)}"
        )


@irdl_op_definition
class CopyStartOp(HalfOp):
    """
    Begins to copy the operand, possibly to another layout or memory space.

    The context is `(destination, source, u32[])`. (C1) the operand is an array.
    """

    name = "xla.copy_start"
    operand = operand_def(ArrayOf())
    cross_program_prefetch_index = opt_prop_def(INTEGER)

    @staticmethod
    def infer(operand: Array) -> Types:
        """The type of the operand twice, and `u32[]`."""
        type_ = without_layout(operand)
        return (type_, type_, array(U32, ()))


@irdl_op_definition
class CopyDoneOp(DoneOp):
    """
    Waits for a copy, and returns it.

    (C1) the operand is the context of a `copy_start`; it may come through a loop or a tuple.
    """

    name = "xla.copy_done"
    STARTS: ClassVar = (CopyStartOp,)


@irdl_op_definition
class AllGatherStartOp(GlobalGroupedOp, HalfOp):
    """
    Begins an `all_gather`, whose rules hold; the context is `(operands, results, ...)`.

    Several operands, and several results, are a tuple each.
    """

    name = "xla.all_gather_start"
    inputs = var_operand_def()
    dimension = prop_def(INTEGER)

    @staticmethod
    def infer(
        inputs: tuple[Attribute, ...],
        *,
        replica_groups: ReplicaGroups,
        channel_id: int | None,
        use_global_device_ids: bool,
        dimension: int,
        declared: Types,
    ) -> Types:
        """Operands, what all-gather gives, and what is declared beyond."""
        wanted, rest = split_context(declared, len(inputs))
        results = AllGatherOp.infer(
            inputs,
            replica_groups=replica_groups,
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            dimension=dimension,
            declared=wanted,
        )
        return (as_one(inputs), as_one(results), *rest)


@irdl_op_definition
class AllGatherDoneOp(DoneOp):
    """
    Waits for an `all_gather`, and returns its results.

    (C1) the operand is the context of an `all_gather_start`; it may come through a loop or a tuple.
    """

    name = "xla.all_gather_done"
    STARTS: ClassVar = (AllGatherStartOp,)


@irdl_op_definition
class AllReduceStartOp(GlobalGroupedOp, HalfOp):
    """Begins an `all_reduce`, whose rules hold; the context has the types of the results."""

    name = "xla.all_reduce_start"
    inputs = var_operand_def()
    to_apply = region_def()

    infer = staticmethod(AllReduceOp.infer)


@irdl_op_definition
class AllReduceDoneOp(DoneOp):
    """
    Waits for an `all_reduce`, and returns its results.

    (C1) the operand is the context of an `all_reduce_start`; it may come through a loop or a tuple.
    """

    name = "xla.all_reduce_done"
    STARTS: ClassVar = (AllReduceStartOp,)

    @staticmethod
    def infer(context: tuple[Attribute, ...], *, declared: Types) -> Types:
        """The types of the context."""
        require(bool(context), "C1", "there is no context")
        return context


@irdl_op_definition
class CollectivePermuteStartOp(CollectiveOp, HalfOp):
    """
    Begins a `collective_permute`, whose rules hold; the context is `(operands, results, ...)`.

    Several operands, and several results, are a tuple each. With `slice_sizes` the operands in the
    context are the inputs, and the results the outputs.
    """

    name = "xla.collective_permute_start"
    inputs = var_operand_def()
    source_target_pairs = prop_def(SourceTargetPairsAttr)
    slice_sizes = opt_prop_def(StringAttr)

    @staticmethod
    def infer(
        inputs: tuple[Attribute, ...],
        *,
        channel_id: int | None,
        source_target_pairs: SourceTargetPairs,
        slice_sizes: str | None,
        declared: Types,
    ) -> Types:
        """Operands, what collective-permute gives, and what is declared beyond."""
        results = CollectivePermuteOp.infer(
            inputs,
            channel_id=channel_id,
            source_target_pairs=source_target_pairs,
            slice_sizes=slice_sizes,
        )
        parts = flat_results(declared)
        held = inputs if slice_sizes is None else inputs[: _buffers(inputs)]
        nested = len(held) == 1 or (bool(parts) and isinstance(parts[0], TupleType))
        rest = parts[2:] if nested else parts[len(held) + len(results) :]
        return (as_one(held), as_one(results), *rest)

    @property
    def held(self) -> int:
        """How many operands the context has: with `slice_sizes` the inputs alone."""
        types = self.operand_types
        return len(types) if self.slice_sizes is None else _buffers(types)


def _buffers(operands: Sequence[Attribute]) -> int:
    """How many operands are inputs of a permute in place."""
    return 1 if isinstance(operands[0], TupleType) else PermutedSlices.of(operands).count


@irdl_op_definition
class CollectivePermuteDoneOp(DoneOp):
    """
    Waits for a `collective_permute`, and returns its results.

    (C1) the operand is the context of a `collective_permute_start`; it may come through a loop or a
    tuple.
    """

    name = "xla.collective_permute_done"
    STARTS: ClassVar = (CollectivePermuteStartOp,)
