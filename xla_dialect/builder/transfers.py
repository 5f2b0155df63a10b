"""Tokens, and data that leaves or enters a program (operations.md, 1, 23, 36, 41, 55)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr

from xla_dialect.attributes import CustomCallApiVersion, CustomCallApiVersionAttr
from xla_dialect.builder.recorder import Recorder
from xla_dialect.builder.type_spelling import TypeLike, as_array_type, as_type
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.transfers import (
    TOKEN,
    U32,
    AddDependencyOp,
    AfterAllOp,
    InfeedOp,
    OutfeedOp,
    RecvDoneOp,
    RecvOp,
    SendDoneOp,
    SendOp,
)
from xla_dialect.types import array


class TransferMethods(Recorder):
    """Methods that order effects, and that move data to the host and to other programs."""

    def after_all(self, operands: Sequence[XlaValue] = ()) -> XlaValue:
        """A token after all these tokens. Example: `b.after_all([b.after_all()])`."""
        return self._append_one(AfterAllOp, self._all_ssa(operands))

    def add_dependency(self, operand: XlaValue, token: XlaValue) -> XlaValue:
        """The operand, not before the token. Example: `b.add_dependency(x, b.after_all())`."""
        return self._append_one(AddDependencyOp, self._ssa(operand), self._ssa(token, "token"))

    def infeed(self, shape: TypeLike, infeed_config: str | None = None) -> XlaValue:
        """The next item of the infeed. Example: `b.infeed("(f32[2], s32[])")`."""
        item, _ = self.infeed_with_token(self.after_all(), shape, infeed_config)
        return item

    def infeed_with_token(
        self, token: XlaValue, shape: TypeLike, infeed_config: str | None = None
    ) -> tuple[XlaValue, XlaValue]:
        """
        The next item of the infeed, read after the token, and a token after that.

        Example: `b.infeed_with_token(b.after_all(), "f32[2]")`.
        """
        item, after = self._append(
            InfeedOp,
            self._ssa(token, "token"),
            infeed_config=infeed_config,
            result_types=[as_type(shape), TOKEN],
        )
        return item, after

    def outfeed(
        self,
        operand: XlaValue,
        shape: TypeLike | None = None,
        outfeed_config: str | None = None,
        token: XlaValue | None = None,
    ) -> XlaValue:
        """
        A token after the operand, of this type, has been written to the outfeed.

        Example: `b.outfeed(x)`.
        """
        after = self.after_all() if token is None else token
        return self._append_one(
            OutfeedOp,
            [self._ssa(operand)],
            self._ssa(after, "token"),
            outfeed_shape=None if shape is None else as_type(shape),
            outfeed_config=outfeed_config,
        )

    def send(
        self,
        operand: XlaValue,
        channel_handle: int,
        token: XlaValue | None = None,
        *,
        is_host_transfer: bool = False,
    ) -> XlaValue:
        """
        A token after the operand has been sent to the `recv` with this channel, or to the host.

        Example: `b.send(x, 1)`.
        """
        after = self.after_all() if token is None else token
        context = self._append(
            SendOp,
            self._checked_array(operand),
            self._ssa(after, "token"),
            channel_id=channel_handle,
            is_host_transfer=is_host_transfer,
        )
        return self._append_one(
            SendDoneOp,
            self._all_ssa(context),
            channel_id=channel_handle,
            is_host_transfer=is_host_transfer,
        )

    def recv(
        self,
        shape: TypeLike,
        channel_handle: int,
        token: XlaValue | None = None,
        *,
        is_host_transfer: bool = False,
    ) -> XlaValue:
        """
        What the `send` with this channel sends, or the host.

        Example: `b.recv("f32[2]", 1)`.
        """
        after = self.after_all() if token is None else token
        context = self._append(
            RecvOp,
            self._ssa(after, "token"),
            channel_id=channel_handle,
            is_host_transfer=is_host_transfer,
            result_types=[as_array_type(shape), array(U32, ()), TOKEN],
        )
        data, _ = self._append(
            RecvDoneOp,
            self._all_ssa(context),
            channel_id=channel_handle,
            is_host_transfer=is_host_transfer,
        )
        return data

    def custom_call(
        self,
        target_name: str,
        args: Sequence[XlaValue],
        shape: TypeLike,
        *,
        has_side_effect: bool = False,
        backend_config: str | None = None,
        api_version: CustomCallApiVersion | str | None = None,
    ) -> XlaValue:
        """
        What the function of this name makes of the arguments; it is of the type `shape`.

        Example: `b.custom_call("myfunc", [x, v], "f32[3,3]")`.
        """
        version = None
        if api_version is not None:
            version = self._word("custom_call", CustomCallApiVersionAttr, api_version)
        config = None if backend_config is None else StringAttr(backend_config)
        return self._append_one(
            CustomCallOp,
            self._all_ssa(args),
            custom_call_target=target_name,
            custom_call_has_side_effect=has_side_effect,
            api_version=version,
            regions=[[]],
            attributes={} if config is None else {"xla.backend_config": config},
            result_types=[as_type(shape)],
        )
