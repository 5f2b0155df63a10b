"""Elementwise operations that become one `linalg.generic`.

Fusion would fuse them anyway; one operation instead of many saves it, and the verifier, a
`tensor.empty`, a generic and a yield for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ComplexType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalar_functions.element_functions import NotLowered
from lowerings.xla_to_linalg.scalar_functions.scalar_operations import ELEMENTWISE
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder
from lowerings.xla_to_linalg.structured import (
    affine_map,
    array_type,
    identity,
    pointwise,
)
from xla_dialect.types import Array
from xla_dialect.xdsl.traversal import AttributeMemo, operations_in, tensor_shape

MAX_MEMBERS = 16
"""Small compared with `MAX_GROUP_SIZE` of fusion, so that the limits of fusion decide."""


@dataclass(eq=False)
class Cluster:
    """Operations of which only the last is used by others, in reverse order."""

    block: Block
    sizes: tuple[int, ...]
    members: list[Operation]

    @property
    def root(self) -> Operation:
        return self.members[0]


class ElementwiseClusters:
    """The elementwise operations of a module, each in one cluster."""

    def __init__(self, module: ModuleOp):
        self._of: dict[Operation, Cluster] = {}
        self._sizes = AttributeMemo(lambda type_: cast(Array, type_).get_shape())
        for op in reversed(operations_in(module)):
            if type(op) in ELEMENTWISE:
                self._place(op)

    def _place(self, op: Operation) -> None:
        """Puts an operation into the cluster of its users, if they have one, or a new one."""
        (result,) = op.results
        block = op.parent
        assert block is not None
        sizes = self._sizes(result.type)
        cluster = self._cluster_of_users(result)
        if (
            cluster is not None
            and cluster.block is block
            and cluster.sizes == sizes
            and len(cluster.members) < MAX_MEMBERS
            # A function of complex numbers is as large as dozens of real operations.
            and not isinstance(array_type(result).element_type, ComplexType)
        ):
            cluster.members.append(op)
        else:
            cluster = _alone(op)
        self._of[op] = cluster

    def _cluster_of_users(self, value: SSAValue) -> Cluster | None:
        """The cluster that all users of a value are in, if they are in one."""
        use = value.first_use
        if use is None:
            return None
        cluster = self._of.get(use.operation)
        if value.has_one_use() or all(self._of.get(u.operation) is cluster for u in value.uses):
            return cluster
        return None

    def convert(self, op: Operation, builder: ConversionBuilder) -> None:
        """
        A generic that computes the cluster of an operation, where the last member stands.

        Operands of rank 0 are broadcast. Raises NotLowered for a member that is not lowered.
        """
        cluster = self._of.get(op) or _alone(op)
        if op is not cluster.root:
            return
        members = cluster.members[::-1]
        own = {result for member in members for result in member.results}
        inputs = list(dict.fromkeys(v for member in members for v in member.operands))
        inputs = [value for value in inputs if value not in own]
        rank = len(cluster.sizes)
        operands = [
            (value, identity(rank) if tensor_shape(value) else affine_map(rank, ()))
            for value in inputs
        ]

        def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
            values = dict(zip(inputs, elements, strict=False))
            for member in members:
                s.location = member.location
                scalars = [values[operand] for operand in member.operands]
                try:
                    value = ELEMENTWISE[type(member)](s, member, *scalars)
                except NotLowered as reason:
                    raise NotLowered(f"{member.name}: {reason}") from None
                values[member.results[0]] = value
            return (values[op.results[0]],)

        builder.replace([pointwise(builder, operands, array_type(op.results[0]), body)])
        builder.absorb(members[:-1])


def _alone(op: Operation) -> Cluster:
    block = op.parent
    assert block is not None
    return Cluster(block, tensor_shape(op.results[0]), [op])
