"""Asynchronous operations: a start, whose result is a context, and a done, which waits for it.

HLO has the context as one tuple `(operands, results, ...)`; here its
leaves may also be operands and results one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import StringAttr, TupleType
from xdsl.ir import Attribute, Region, SSAValue, TypeAttribute
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

from xla_dialect.devices.replica_groups import (
    ReplicaGroups,
    SourceTargetPairs,
    SourceTargetPairsAttr,
)
from xla_dialect.diagnostics import Violation, require
from xla_dialect.op import Types, XlaOp
from xla_dialect.ops.collectives import AllGatherOp, AllReduceOp, CollectivePermuteOp
from xla_dialect.ops.control_flow import CallOp, ConditionalOp, OptBarrierOp, WhileOp
from xla_dialect.ops.process_groups import INTEGER, CollectiveOp, GlobalGroupedOp
from xla_dialect.ops.tuples import GetTupleElementOp
from xla_dialect.rules.constraints import flat_results, signature, with_elements
from xla_dialect.types import (
    BY_NAME,
    S32,
    ElementClass,
    all_compatible,
    array,
    flatten,
    spell_all,
    tuple_elements,
    without_layout,
)

U32: Attribute = BY_NAME["u32"].type

_HANDS_ON = (CallOp, ConditionalOp, GetTupleElementOp, OptBarrierOp, WhileOp)
"""Operations that forward a context to its done, for example in a pipelined loop."""


def as_one(types: Sequence[Attribute]) -> Attribute:
    """The only type, or the tuple of them."""
    return (
        types[0] if len(types) == 1 else TupleType(cast("tuple[TypeAttribute, ...]", tuple(types)))
    )


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


class DoneOp(XlaOp):
    """
    Waits for what a start began, and returns its results.

    (C1) the operand is the context of a start; it may come through a loop or a tuple.
    """

    STARTS: ClassVar[tuple[type[XlaOp], ...]]
    """The operations whose context it takes."""

    UNRELATED: ClassVar[str | None] = "the other half has the values"

    context = var_operand_def()
    outputs = var_result_def()

    @staticmethod
    def infer(context: tuple[Attribute, ...], *, declared: Types) -> Types:
        """Element 1 of the context."""
        return finished(context, declared)

    def verify_context(self) -> None:
        """Checks the context, and that it is one of the right kind."""
        verify_start(self, self.context, self.STARTS, "C1")


@irdl_op_definition
class AsyncStartOp(XlaOp):
    """
    Begins to run the computation `calls` on the operands, beside what follows.

    The context is `((operands), result, ...)`; the rest of it belongs to the implementation.

    (C1) as many operands as parameters. (C2) their types are those of the parameters.
    """

    name = "xla.async_start"
    UNRELATED: ClassVar[str | None] = "the other half has the values"
    inputs = var_operand_def()
    async_execution_thread = opt_prop_def(StringAttr)
    outputs = var_result_def()
    calls = region_def()

    @staticmethod
    def infer(inputs: tuple[Attribute, ...], *, calls: Region, declared: Types) -> Types:
        """Operand types in a tuple, the result of the computation, and what is declared beyond."""
        parameters, results = signature(calls, "calls", "C1")
        found = len(inputs)
        require(
            found == len(parameters), "C1", "{} operands, {} parameters", found, len(parameters)
        )
        require(
            all_compatible(inputs, parameters),
            "C2",
            "operands {} for parameters {}",
            spell_all(inputs),
            spell_all(parameters),
        )
        operands = TupleType(cast("tuple[TypeAttribute, ...]", inputs))
        parts = flat_results(declared)
        rest: Types = (array(S32, ()),)
        if parts and isinstance(parts[0], TupleType):
            rest = parts[2:]
        elif parts:
            rest = parts[len(flatten(inputs)) + len(flatten(results)) :]
        return (operands, as_one(results), *rest)


@irdl_op_definition
class AsyncUpdateOp(XlaOp):
    """
    The context of an asynchronous computation, which may make progress.

    (C1) the operand is the context of an `async_start` or `async_update`.
    """

    name = "xla.async_update"
    UNRELATED: ClassVar[str | None] = "the other half has the values"
    context = var_operand_def()
    outputs = var_result_def()

    @staticmethod
    def infer(context: tuple[Attribute, ...]) -> Types:
        """The type of the context."""
        require(bool(context), "C1", "there is no context")
        elements = tuple_elements(context[0]) if len(context) == 1 else context
        require(
            elements is not None and len(elements) >= 2,
            "C1",
            "the operand is {}, no context",
            spell_all(context),
        )
        return context

    def verify_context(self) -> None:
        """Checks the context, and that it is one of an asynchronous computation."""
        verify_start(self, self.context, (AsyncStartOp, AsyncUpdateOp), "C1")


@irdl_op_definition
class AsyncDoneOp(DoneOp):
    """
    Waits for an asynchronous computation, and returns its result.

    (C1) the operand is the context of an `async_start` or `async_update`; it may come through a
    loop or a tuple.
    """

    name = "xla.async_done"
    STARTS: ClassVar = (AsyncStartOp, AsyncUpdateOp)


@irdl_op_definition
class CopyStartOp(XlaOp):
    """
    Begins to copy the operand, possibly to another layout or memory space.

    The context is `(destination, source, u32[])`. (C1) the operand is an array.
    """

    name = "xla.copy_start"
    UNRELATED: ClassVar[str | None] = "the other half has the values"
    operand = operand_def()
    cross_program_prefetch_index = opt_prop_def(INTEGER)
    outputs = var_result_def()

    @staticmethod
    def infer(operand: Attribute) -> Types:
        """The type of the operand twice, and `u32[]`."""
        type_ = without_layout(with_elements(operand, ElementClass.ANY, "operand"))
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
class AllGatherStartOp(GlobalGroupedOp):
    """
    Begins an `all_gather`, whose rules hold; the context is `(operands, results, ...)`.

    Several operands, and several results, are a tuple each.
    """

    name = "xla.all_gather_start"
    UNRELATED: ClassVar[str | None] = "the other half has the values"
    inputs = var_operand_def()
    dimension = prop_def(INTEGER)
    outputs = var_result_def()

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
class AllReduceStartOp(GlobalGroupedOp):
    """Begins an `all_reduce`, whose rules hold; the context has the types of the results."""

    name = "xla.all_reduce_start"
    UNRELATED: ClassVar[str | None] = "the other half has the values"
    inputs = var_operand_def()
    outputs = var_result_def()
    to_apply = region_def()

    @staticmethod
    def infer(
        inputs: tuple[Attribute, ...],
        *,
        replica_groups: ReplicaGroups,
        channel_id: int | None,
        use_global_device_ids: bool,
        to_apply: Region,
    ) -> Types:
        """What all-reduce gives."""
        return AllReduceOp.infer(
            inputs,
            replica_groups=replica_groups,
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            to_apply=to_apply,
        )


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
class CollectivePermuteStartOp(CollectiveOp):
    """
    Begins a `collective_permute`, whose rules hold; the context is `(operands, results, ...)`.

    Several operands, and several results, are a tuple each.
    """

    name = "xla.collective_permute_start"
    UNRELATED: ClassVar[str | None] = "the other half has the values"
    inputs = var_operand_def()
    source_target_pairs = prop_def(SourceTargetPairsAttr)
    slice_sizes = opt_prop_def(StringAttr)
    outputs = var_result_def()

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
        if slice_sizes is not None and len(inputs) == 4:
            return (inputs[0], as_one(results), *parts[2:])
        nested = len(inputs) == 1 or (bool(parts) and isinstance(parts[0], TupleType))
        rest = parts[2:] if nested else parts[len(inputs) + len(results) :]
        return (as_one(inputs), as_one(results), *rest)


@irdl_op_definition
class CollectivePermuteDoneOp(DoneOp):
    """
    Waits for a `collective_permute`, and returns its results.

    (C1) the operand is the context of a `collective_permute_start`; it may come through a loop or a
    tuple.
    """

    name = "xla.collective_permute_done"
    STARTS: ClassVar = (CollectivePermuteStartOp,)
