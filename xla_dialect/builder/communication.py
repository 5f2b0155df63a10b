"""Data that moves between processes, to the host and to other programs; and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from operator import add
from typing import Any, TypeAlias, cast

from xdsl.ir import Attribute, Block, Region

from xla_dialect.builder.arguments import (
    TypeLike,
    as_array_type,
    as_type,
    build_error,
    encoded,
    normalized,
)
from xla_dialect.builder.array_methods import Results, Values, scalars
from xla_dialect.builder.operation_methods import appends
from xla_dialect.builder.recorder import Computation, Computations, XlaValue, as_list
from xla_dialect.devices.replica_groups import Groups, Pairs, ReplicaGroupsAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops import asynchronous
from xla_dialect.ops.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    ReduceScatterOp,
)
from xla_dialect.ops.data_movement import ReshapeOp, TransposeOp
from xla_dialect.ops.transfers import (
    TOKEN,
    AfterAllOp,
    InfeedOp,
    OutfeedOp,
    RecvDoneOp,
    RecvOp,
    SendDoneOp,
    SendOp,
)
from xla_dialect.ops.tuples import TupleOp
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.types import PRED, U32, array, flatten, is_array, tuple_elements

Context: TypeAlias = Sequence[XlaValue]
"""What a start gives: operands, results, and what the implementation adds."""


_NUMBERS = count(1)


@dataclass(frozen=True)
class ChannelHandle:
    """What a `send` and a `recv`, in the same program or in two, have in common."""

    number: int

    @classmethod
    def new(cls) -> ChannelHandle:
        """A handle that this process has not had before."""
        return cls(next(_NUMBERS))


Channel: TypeAlias = ChannelHandle | int
"""A handle, or the number of the channel, for those who keep count themselves."""


class CommunicationMethods(Computations):
    """
    Methods that move data between processes and programs, and that order effects.

    Where several arrays may be given, they are a sequence, and so are the results; or a tuple, and
    so is the result. A start gives a context, a done waits and gives the result.

    Transfers that take no token follow each other, within one computation, in the order of the
    calls: each takes the token of the one before. Those named `.._with_token` are ordered by the
    token that they take, and by nothing else.
    """

    def _arrays(self, operand: Values) -> list[XlaValue]:
        """The arrays that are given: one, the elements of a tuple, or a sequence."""
        is_tuple = isinstance(operand, XlaValue) and tuple_elements(operand.type) is not None
        return list(operand) if is_tuple else as_list(operand)

    def _collective(
        self, op_class: type[XlaOp], operand: Values, arrays: Sequence[XlaValue], **keywords: Any
    ) -> Any:
        """The results in the form in which the operand was given."""
        results = self._append(op_class, arrays, **keywords)
        if not isinstance(operand, XlaValue):
            return results
        if tuple_elements(operand.type) is None:
            return results[0]
        return self._append(TupleOp, results)

    def _reducer(self, arrays: Sequence[XlaValue], computation: Computation) -> Region:
        """The computation on scalars of the element type of the first array."""
        return self._region(computation, (scalars(arrays[:1]) or [array(PRED, ())]) * 2)

    @appends(AllGatherOp)
    def all_gather(
        self,
        operand: Values,
        all_gather_dim: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> Results:
        """
        The operands of all members of a group, concatenated along a dimension in group order.

        (C3) `shard_count` is at least 1. Example: `b.all_gather(x, 0, 2, [[0, 2], [1, 3]])`.
        """
        arrays = self._arrays(operand)
        dimension = normalized(all_gather_dim, arrays[0].rank if arrays else 0)
        return self._collective(
            AllGatherOp,
            operand,
            arrays,
            dimension=dimension,
            replica_groups=replica_groups,
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            result_types=_with_shards("all_gather", arrays, dimension, shard_count),
        )

    @appends(AllReduceOp)
    def all_reduce(
        self,
        operand: Values,
        computation: Computation,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> Results:
        """
        The operands of all members of a group, folded element by element.

        Example: `b.all_reduce(x, b.max, [[0, 1]])`.
        """
        arrays = self._arrays(operand)
        return self._collective(
            AllReduceOp,
            operand,
            arrays,
            replica_groups=replica_groups,
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            regions=[self._reducer(arrays, computation)],
        )

    @appends(AllReduceOp)
    def cross_replica_sum(self, operand: XlaValue, replica_groups: Groups = None) -> XlaValue:
        """
        The sum over all members of a group. (C1) the elements are not pred.

        Example: `b.cross_replica_sum(x)`.
        """
        if any(is_array(t) and t.element_type == PRED for t in flatten((operand.type,))):
            raise build_error("cross_replica_sum: (C1) pred values have no sum")
        return cast(XlaValue, self.all_reduce(operand, add, replica_groups))

    @appends(AllToAllOp)
    def all_to_all(
        self,
        operand: XlaValue,
        split_dimension: int,
        concat_dimension: int,
        split_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
    ) -> XlaValue:
        """
        Block i of `split_count` goes to member i; what comes is concatenated in group order.

        (C2) both dimensions are those of the operand. (C3) `split_count` is at least 1 and divides
        the size of the first. (C4) groups, where they are given, have as many members.

        Example: `b.all_to_all(x, 1, 0, 4)`.
        """
        groups = cast(
            "ReplicaGroupsAttr", encoded(AllToAllOp, "replica_groups", replica_groups or ())
        )
        split = normalized(split_dimension, operand.rank)
        concat = normalized(concat_dimension, operand.rank)
        for number in (split, concat):
            if not 0 <= number < operand.rank:
                raise build_error(f"all_to_all: (C2) dimension {number} of rank {operand.rank}")
        if split_count < 1 or operand.shape[split] % split_count:
            raise build_error(
                f"all_to_all: (C3) size {operand.shape[split]} for {split_count} blocks"
            )
        if groups.data.size not in (None, split_count):
            raise build_error(
                f"all_to_all: (C4) split_count is {split_count}, groups have {groups.data.size}"
            )
        received = self._append(
            AllToAllOp, operand, dimension=split, replica_groups=groups, channel_id=channel_id
        )
        return received if split == concat else self._rejoined(received, split, concat, split_count)

    def _rejoined(self, received: XlaValue, split: int, concat: int, count: int) -> XlaValue:
        """Blocks that lie one after the other along `split`, put along `concat` instead."""
        element_type = received.element_type
        apart, order, joined = shapes.rejoined(received.shape, split, concat, count)
        blocks = self._append(ReshapeOp, received, result_types=[array(element_type, apart)])
        moved = self._append(TransposeOp, blocks, dimensions=order)
        return self._append(ReshapeOp, moved, result_types=[array(element_type, joined)])

    @appends(AllToAllOp)
    def all_to_all_tuple(
        self,
        operands: Sequence[XlaValue],
        replica_groups: Groups = None,
        channel_id: int | None = None,
    ) -> tuple[XlaValue, ...]:
        """
        Operand i goes to member i; gives what comes from every member, in group order.

        Example: `b.all_to_all_tuple([x, y], [[0, 1]])`.
        """
        return self._append(
            AllToAllOp, operands, replica_groups=replica_groups, channel_id=channel_id
        )

    @appends(CollectivePermuteOp)
    def collective_permute(
        self, operand: Values, source_target_pairs: Pairs, channel_id: int | None = None
    ) -> Results:
        """
        What the source paired with this process has; zeros if there is none.

        Example: `b.collective_permute(x, [(0, 1), (1, 2)])`.
        """
        return self._collective(
            CollectivePermuteOp,
            operand,
            self._arrays(operand),
            source_target_pairs=source_target_pairs,
            channel_id=channel_id,
        )

    @appends(CollectiveBroadcastOp)
    def collective_broadcast(
        self, operand: XlaValue, replica_groups: Groups = None, channel_id: int | None = None
    ) -> XlaValue:
        """
        What the first member of the group has; zeros outside of all groups.

        Example: `b.collective_broadcast(x, [[1, 0]])`.
        """
        return self._collective(
            CollectiveBroadcastOp,
            operand,
            self._arrays(operand),
            replica_groups=replica_groups,
            channel_id=channel_id,
        )

    @appends(ReduceScatterOp)
    def reduce_scatter(
        self,
        operand: Values,
        computation: Computation,
        scatter_dimension: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> Results:
        """
        Block i of what `all_reduce` gives, for member i of a group of `shard_count`.

        (C3) that is at least 1. (C5) it divides the size of the dimension.

        Example: `b.reduce_scatter(x, b.add, 0, 2, [[0, 1]])`.
        """
        arrays = self._arrays(operand)
        dimension = normalized(scatter_dimension, arrays[0].rank if arrays else 0)
        return self._collective(
            ReduceScatterOp,
            operand,
            arrays,
            dimension=dimension,
            replica_groups=replica_groups,
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            regions=[self._reducer(arrays, computation)],
            result_types=_with_shards("reduce_scatter", arrays, dimension, shard_count, cut=True),
        )

    def _done(self, op_class: type[XlaOp], context: Context) -> XlaValue:
        """The result of what was begun: element 1 of the context."""
        if isinstance(context, XlaValue) or len(context) < 2:
            raise build_error(f"{op_class.name}: (C1) this is not what a start gives")
        return self._append(op_class, context, result_types=[context[1].type])[0]

    @appends(asynchronous.AsyncStartOp)
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
            asynchronous.AsyncStartOp,
            args,
            async_execution_thread=async_execution_thread,
            regions=[self._region(computation, [value.type for value in args])],
        )

    @appends(asynchronous.AsyncDoneOp)
    def async_done(self, context: Context) -> XlaValue:
        """The result of the computation. Example: `b.async_done(b.async_start(b.neg, [x]))`."""
        return self._done(asynchronous.AsyncDoneOp, context)

    @appends(asynchronous.CopyDoneOp)
    def copy_done(self, context: Context) -> XlaValue:
        """The copy. Example: `b.copy_done(b.copy_start(x))`."""
        return self._done(asynchronous.CopyDoneOp, context)

    @appends(asynchronous.AllGatherStartOp)
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
        results = _with_shards("all_gather_start", [operand], dimension, shard_count)
        return self._append(
            asynchronous.AllGatherStartOp,
            [operand],
            dimension=dimension,
            replica_groups=replica_groups,
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            result_types=[operand.type, *results],
        )

    @appends(asynchronous.AllGatherDoneOp)
    def all_gather_done(self, context: Context) -> XlaValue:
        """
        What was gathered.

        Example: `b.all_gather_done(b.all_gather_start(x, 0, 2, [[0, 1]]))`.
        """
        return self._done(asynchronous.AllGatherDoneOp, context)

    @appends(asynchronous.AllReduceStartOp)
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
        return self._append(
            asynchronous.AllReduceStartOp,
            operand,
            replica_groups=replica_groups,
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            regions=[self._reducer([operand], computation)],
        )

    @appends(asynchronous.AllReduceDoneOp)
    def all_reduce_done(self, context: XlaValue) -> XlaValue:
        """What was reduced. Example: `b.all_reduce_done(b.all_reduce_start(x, b.add))`."""
        return self._append(asynchronous.AllReduceDoneOp, context, result_types=[context.type])

    @appends(asynchronous.CollectivePermuteStartOp)
    def collective_permute_start(
        self, operand: XlaValue, source_target_pairs: Pairs, channel_id: int | None = None
    ) -> tuple[XlaValue, ...]:
        """Begins a `collective_permute`. Example: `b.collective_permute_start(x, [(0, 1)])`."""
        return self._append(
            asynchronous.CollectivePermuteStartOp,
            [operand],
            source_target_pairs=source_target_pairs,
            channel_id=channel_id,
        )

    @appends(asynchronous.CollectivePermuteDoneOp)
    def collective_permute_done(self, context: Context) -> XlaValue:
        """
        What the source has sent.

        Example: `b.collective_permute_done(b.collective_permute_start(x, [(0, 1)]))`.
        """
        return self._done(asynchronous.CollectivePermuteDoneOp, context)

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[Block, XlaValue] = {}
        """For each computation the token after all calls so far."""

    def _token(self) -> XlaValue:
        """The token after what has been called so far in this computation."""
        token = self._tokens.get(self._open_blocks[-1])
        return self.after_all() if token is None else token

    def _proceed(self, token: XlaValue) -> XlaValue:
        """What is called from now on comes after this token."""
        self._tokens[self._open_blocks[-1]] = token
        return token

    @appends(AfterAllOp)
    def after_all(self, operands: Sequence[XlaValue] = ()) -> XlaValue:
        """A token after all these tokens. Example: `b.after_all([b.outfeed(x), b.send(y, 1)])`."""
        return self._append(AfterAllOp, operands)

    @appends(InfeedOp)
    def infeed(self, shape: TypeLike, infeed_config: str | None = None) -> XlaValue:
        """The next item of the infeed. Example: `b.infeed("(f32[2], s32[])")`."""
        item, token = self.infeed_with_token(self._token(), shape, infeed_config)
        self._proceed(token)
        return item

    @appends(InfeedOp)
    def infeed_with_token(
        self, token: XlaValue, shape: TypeLike, infeed_config: str | None = None
    ) -> tuple[XlaValue, ...]:
        """
        The next item of the infeed, read after the token, and a token after that.

        Example: `b.infeed_with_token(b.after_all(), "f32[2]")`.
        """
        return self._append(
            InfeedOp,
            token,
            infeed_config=infeed_config,
            result_types=[as_type(shape), TOKEN],
        )

    @appends(OutfeedOp)
    def outfeed(
        self,
        operand: XlaValue,
        shape: TypeLike | None = None,
        outfeed_config: str | None = None,
    ) -> XlaValue:
        """
        A token after the operand, of this type, has been written to the outfeed.

        Example: `b.outfeed(x)`.
        """
        token = self._token()
        return self._proceed(self.outfeed_with_token(operand, token, shape, outfeed_config))

    @appends(OutfeedOp)
    def outfeed_with_token(
        self,
        operand: XlaValue,
        token: XlaValue,
        shape: TypeLike | None = None,
        outfeed_config: str | None = None,
    ) -> XlaValue:
        """
        As `outfeed`, after the token.

        Example: `b.outfeed_with_token(b.tuple([x, i]), b.after_all(), "(f32[4,8], s32[])")`.
        """
        return self._append(
            OutfeedOp,
            [operand],
            token,
            outfeed_shape=None if shape is None else as_type(shape),
            outfeed_config=outfeed_config,
        )

    @appends(SendOp)
    def send(
        self, operand: XlaValue, channel_handle: Channel, *, is_host_transfer: bool = False
    ) -> XlaValue:
        """
        A token after the operand has been sent to the `recv` with this handle, or to the host.

        Example: `b.send(x, ChannelHandle.new())`.
        """
        return self._proceed(
            self.send_with_token(
                operand, self._token(), channel_handle, is_host_transfer=is_host_transfer
            )
        )

    @appends(SendOp)
    def send_with_token(
        self,
        operand: XlaValue,
        token: XlaValue,
        channel_handle: Channel,
        *,
        is_host_transfer: bool = False,
    ) -> XlaValue:
        """As `send`, after the token. Example: `b.send_with_token(x, b.after_all(), 1)`."""
        _ = operand.array_type
        return self._transfer(
            SendOp, SendDoneOp, ([operand], token), channel_handle, is_host_transfer
        )

    @appends(RecvOp)
    def recv(
        self, shape: TypeLike, channel_handle: Channel, *, is_host_transfer: bool = False
    ) -> XlaValue:
        """
        What the `send` with this handle sends, or the host.

        Example: `b.recv("f32[2]", ChannelHandle.new())`.
        """
        data, after = self.recv_with_token(
            self._token(), shape, channel_handle, is_host_transfer=is_host_transfer
        )
        self._proceed(after)
        return data

    @appends(RecvOp)
    def recv_with_token(
        self,
        token: XlaValue,
        shape: TypeLike,
        channel_handle: Channel,
        *,
        is_host_transfer: bool = False,
    ) -> tuple[XlaValue, ...]:
        """
        What is received after the token, and a token after that.

        Example: `b.recv_with_token(b.after_all(), "f32[2]", 1)`.
        """
        return self._transfer(
            RecvOp,
            RecvDoneOp,
            (token,),
            channel_handle,
            is_host_transfer,
            result_types=[as_array_type(shape), array(U32, ()), TOKEN],
        )

    def _transfer(
        self,
        start: type[XlaOp],
        done: type[XlaOp],
        operands: Sequence[Any],
        channel_handle: Channel,
        is_host_transfer: bool,
        **keywords: Any,
    ) -> Any:
        """Begins a transfer and waits for its end, as the client's operation does."""
        is_handle = isinstance(channel_handle, ChannelHandle)
        both: dict[str, Any] = {
            "channel_id": channel_handle.number if is_handle else channel_handle,
            "is_host_transfer": is_host_transfer,
        }
        context = self._append(start, *operands, **both, **keywords)
        return self._append(done, context, **both)


def _with_shards(
    method: str, values: Sequence[XlaValue], dimension: int, count: int, *, cut: bool = False
) -> list[Attribute]:
    """
    The types of the values with `count` shards together along a dimension; if `cut`, of one shard.

    A dimension out of range is left to the constraints of the operation.
    """
    if count < 1:
        raise build_error(f"{method}: (C3) shard_count is {count}")
    found: list[Attribute] = []
    for value in values:
        sizes = list(value.shape)
        for d in range(len(sizes))[dimension : dimension + 1]:
            if cut and sizes[d] % count:
                raise build_error(f"{method}: (C5) size {sizes[d]} for {count} shards")
            sizes[d] = sizes[d] // count if cut else sizes[d] * count
        found.append(array(value.element_type, sizes))
    return found
