"""Tokens, and data that leaves or enters a program (docs/generated/ops.md#transfers)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

from xdsl.ir import Block

from xla_dialect.builder.computations import Computations
from xla_dialect.builder.operation_methods import appends
from xla_dialect.builder.type_spelling import TypeLike, as_array_type, as_type
from xla_dialect.builder.value import XlaValue
from xla_dialect.op import XlaOp
from xla_dialect.ops.transfers import (
    TOKEN,
    U32,
    AfterAllOp,
    InfeedOp,
    OutfeedOp,
    RecvDoneOp,
    RecvOp,
    SendDoneOp,
    SendOp,
)
from xla_dialect.types import array

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


class TransferMethods(Computations):
    """
    Methods that order effects, and that move data to the host and to other programs.

    Those that take no token follow each other, within one computation, in the order of the calls:
    each takes the token of the one before. Those named `.._with_token` are ordered by the token
    that they take, and by nothing else.
    """

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
