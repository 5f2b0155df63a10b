"""One elementwise producer fused into one operation that uses it."""

from __future__ import annotations

from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation, OpResult
from xdsl.utils.exceptions import PassFailedException

from lowerings.tensors.fusion_decisions import (
    INLINE,
    FusionDecision,
    FusionError,
    named,
    remove_decision,
    set_decision,
)
from lowerings.tensors.fusion_emission import GroupEmission, emit_generic
from lowerings.tensors.fusion_graph import node_of
from lowerings.tensors.fusion_plan import FusionPlan
from xla_dialect.xdsl.linking import erase, insert_before


def fuse_into_consumer(producer: Operation, consumer: Operation) -> GenericOp:
    """
    Computes an elementwise operation in the body of one that uses it, in the same block; returns
    what that has become, in the same loops and with the same attributes. Other users of the
    producer keep it.

    Raises PassFailedException, and leaves the block as it was, where the producer is not
    elementwise, is not used, or is needed as a tensor.
    """
    for op in (producer, consumer):
        if not isinstance(op, GenericOp):
            raise FusionError(op, "only linalg.generic is fused")
        if node_of(op, 0) is None:
            raise FusionError(op, "it has a body or operands that fusion cannot take apart")
    assert isinstance(producer, GenericOp) and isinstance(consumer, GenericOp)
    block = consumer.parent
    if block is None or producer.parent is not block:
        raise FusionError(producer, f"it is not in the block of {named(consumer)}")
    own = _copy_for(producer, consumer)
    try:
        set_decision(own, FusionDecision(INLINE))
        plan = FusionPlan(block, (own, consumer))
        group = next((g for g in plan.groups if any(n.op is consumer for n, _ in g.roots)), None)
        if group is None or all(node.op is not own for node, _ in group.members):
            raise FusionError(producer, f"{named(consumer)} does not use it")
    except PassFailedException:
        remove_decision(own)
        _give_back(own, producer)
        raise
    emit_generic(GroupEmission(plan, group))
    plan.forget_places()
    new = plan.stored[consumer.results[0]].owner
    if not isinstance(new, GenericOp):
        raise FusionError(consumer, "fused, it is a copy or a constant, without loops")
    new.attributes.update(consumer.attributes)
    new.location = consumer.location
    for op in (consumer, own):
        erase(op)
    return new


def _copy_for(producer: GenericOp, consumer: GenericOp) -> GenericOp:
    """The producer, or a copy of it that only the consumer uses, where others do as well."""
    uses = [use.operation for result in producer.results for use in result.uses]
    if consumer not in uses or all(user is consumer for user in uses):
        return producer
    copy = producer.clone()
    insert_before(copy, consumer)
    for index, operand in enumerate(consumer.operands):
        if isinstance(operand, OpResult) and operand.owner is producer:
            consumer.operands[index] = copy.results[operand.index]
    return copy


def _give_back(own: GenericOp, producer: GenericOp) -> None:
    """Has users of a copy use what it was made from."""
    if own is producer:
        return
    for old, new in zip(own.results, producer.results, strict=True):
        old.replace_all_uses_with(new)
    erase(own)
