"""Operations in two parts: a start gives a context, a done waits and gives the result."""

from __future__ import annotations

from collections.abc import Sequence

from xla_dialect.builder.caller import build_error
from xla_dialect.builder.collectives import (
    CollectiveMethods,
    Groups,
    as_groups,
    as_pairs,
    with_shards,
)
from xla_dialect.builder.computations import Computation
from xla_dialect.builder.recorder import normalized
from xla_dialect.builder.value import XlaValue
from xla_dialect.op import XlaOp
from xla_dialect.ops.asynchronous import (
    AllGatherDoneOp,
    AllGatherStartOp,
    AllReduceDoneOp,
    AllReduceStartOp,
    AsyncDoneOp,
    AsyncStartOp,
    AsyncUpdateOp,
    CollectivePermuteDoneOp,
    CollectivePermuteStartOp,
    CopyDoneOp,
    CopyStartOp,
)

Context = Sequence[XlaValue]
"""What a start gives: operands, results, and what the implementation adds."""


class AsynchronousMethods(CollectiveMethods):
    """Methods that begin something, and methods that wait for it."""

    def _done(self, op_class: type[XlaOp], context: Context) -> XlaValue:
        """The result of what was begun: element 1 of the context."""
        if isinstance(context, XlaValue) or len(context) < 2:
            raise build_error(f"{op_class.name}: (C1) this is not what a start gives")
        return self._append_one(op_class, self._all_ssa(context), result_types=[context[1].type])

    def async_start(
        self,
        computation: Computation,
        args: Sequence[XlaValue],
        async_execution_thread: str | None = None,
    ) -> tuple[XlaValue, ...]:
        """
        Begins a computation that runs beside what follows.

        Example: `b.async_start(b.add, [x, y])`.
        """
        return self._append(
            AsyncStartOp,
            self._all_ssa(args),
            async_execution_thread=async_execution_thread,
            regions=[self._region(computation, [value.type for value in args])],
        )

    def async_update(self, context: Context) -> tuple[XlaValue, ...]:
        """The context again. Example: `b.async_update(b.async_start(b.neg, [x]))`."""
        return self._append(AsyncUpdateOp, self._all_ssa(context))

    def async_done(self, context: Context) -> XlaValue:
        """The result of the computation. Example: `b.async_done(b.async_start(b.neg, [x]))`."""
        return self._done(AsyncDoneOp, context)

    def copy_start(self, operand: XlaValue) -> tuple[XlaValue, ...]:
        """Begins a copy. Example: `b.copy_start(x)`."""
        return self._append(CopyStartOp, self._checked_array(operand))

    def copy_done(self, context: Context) -> XlaValue:
        """The copy. Example: `b.copy_done(b.copy_start(x))`."""
        return self._done(CopyDoneOp, context)

    def all_gather_start(
        self,
        operand: XlaValue,
        all_gather_dim: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> tuple[XlaValue, ...]:
        """Begins an `all_gather`. Example: `b.all_gather_start(x, 0, 2, [[0, 1]])`."""
        dimension = normalized(all_gather_dim, operand.rank)
        return self._append(
            AllGatherStartOp,
            [self._checked_array(operand)],
            dimension=dimension,
            replica_groups=as_groups(replica_groups),
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            result_types=[
                operand.type,
                *with_shards("all_gather_start", [operand], dimension, shard_count),
            ],
        )

    def all_gather_done(self, context: Context) -> XlaValue:
        """
        What was gathered.

        Example: `b.all_gather_done(b.all_gather_start(x, 0, 2, [[0, 1]]))`.
        """
        return self._done(AllGatherDoneOp, context)

    def all_reduce_start(
        self,
        operand: XlaValue,
        computation: Computation,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue:
        """Begins an `all_reduce`. Example: `b.all_reduce_start(x, b.add)`."""
        return self._append_one(
            AllReduceStartOp,
            [self._checked_array(operand)],
            replica_groups=as_groups(replica_groups),
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            regions=[self._reducer([operand], computation)],
        )

    def all_reduce_done(self, context: XlaValue) -> XlaValue:
        """What was reduced. Example: `b.all_reduce_done(b.all_reduce_start(x, b.add))`."""
        return self._append_one(AllReduceDoneOp, [self._ssa(context)], result_types=[context.type])

    def collective_permute_start(
        self,
        operand: XlaValue,
        source_target_pairs: Sequence[tuple[int, int]],
        channel_id: int | None = None,
    ) -> tuple[XlaValue, ...]:
        """Begins a `collective_permute`. Example: `b.collective_permute_start(x, [(0, 1)])`."""
        return self._append(
            CollectivePermuteStartOp,
            [self._checked_array(operand)],
            source_target_pairs=as_pairs(source_target_pairs),
            channel_id=channel_id,
        )

    def collective_permute_done(self, context: Context) -> XlaValue:
        """
        What the source has sent.

        Example: `b.collective_permute_done(b.collective_permute_start(x, [(0, 1)]))`.
        """
        return self._done(CollectivePermuteDoneOp, context)
