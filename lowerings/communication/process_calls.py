"""Operations that machine code leaves to the process that runs it, as custom calls.

Machine code computes. What concerns other processes, the host, or what the process keeps from one
operation to the next, it asks of the process that runs it. At the xla level such a call is a custom
call; its target is the name of an operation, and the properties of that are its attributes:

    %all, %count = xla.custom_call %x {custom_call_target = "xla.all_reduce",
        custom_call_has_side_effect = true} attributes {replica_groups = "{{0,1}}", site = 0 : i64}
      : (tensor<4xf32>) -> (tensor<2x4xf32>, tensor<i32>)

A call does what the operation does, but for

- tokens, which it neither takes nor gives: calls are carried out in the order of the program;
- `all_reduce` and `reduce_scatter`, which give what all members bring, along a new dimension 0 as
  long as the largest group, and how many members there are: the program folds. Of a large operand
  of an `all_reduce` that is only the piece that this process folds (`devices/exchange.py`), of one
  dimension; then `all_reduce_of_pieces` comes next, which takes folded pieces and gives the wholes;
- `rng`, which takes how many numbers are wanted too, as u64, and gives the state, as of Philox,
  from which the program makes them;
- starts (`..._start` of any collective, `recv`), which give a number that a done waits with.

`site` tells operations apart: collectives without a channel meet only where it is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import OptPropertyDef, VerificationContext
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import RandomDistribution, RandomDistributionAttr, SpelledAttribute
from xla_dialect.devices.replica_groups import ReplicaGroupsAttr, SourceTargetPairsAttr
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.ops import asynchronous, collectives, random, transfers
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.spelling import SpellingError
from xla_dialect.types import BY_NAME, array
from xla_dialect.xdsl.creation import create

START = "_start"
"""The suffix of the target of a start."""
DONE = "_done"
"""The suffix of the target that waits for a start."""
GATHER = "_of_pieces"
"""The suffix of the target of what gathers folded pieces."""
SITE = "site"
HANDLE: Final = array(BY_NAME["u64"].type, ())
"""The type of the number that a start gives."""

_COLLECTIVES: tuple[type[XlaOp], ...] = (
    collectives.AllGatherOp,
    collectives.AllReduceOp,
    collectives.AllToAllOp,
    collectives.CollectiveBroadcastOp,
    collectives.CollectivePermuteOp,
    collectives.RaggedAllToAllOp,
    collectives.ReduceScatterOp,
)
_OTHERS: tuple[type[XlaOp], ...] = (
    asynchronous.AllGatherStartOp,
    asynchronous.AllReduceStartOp,
    asynchronous.CollectivePermuteStartOp,
    asynchronous.AllGatherDoneOp,
    asynchronous.AllReduceDoneOp,
    asynchronous.AsyncDoneOp,
    asynchronous.CollectivePermuteDoneOp,
    collectives.PartitionIdOp,
    collectives.ReplicaIdOp,
    random.RngGetAndUpdateStateOp,
    random.RngOp,
    transfers.InfeedOp,
    transfers.OutfeedOp,
    transfers.RecvDoneOp,
    transfers.RecvOp,
    transfers.SendOp,
)
TARGETS: Mapping[str, type[XlaOp]] = {
    # `async_start` of a computation that is one collective calls `<collective>_start`, whether or
    # not the dialect has an operation of that name.
    **{op_class.name + START: op_class for op_class in _COLLECTIVES},
    collectives.AllReduceOp.name + GATHER: collectives.AllReduceOp,
    **{op_class.name: op_class for op_class in (*_COLLECTIVES, *_OTHERS)},
}
"""The operation that a call with this target stands for."""

_PAIRS = "source_target_pairs"
"""A property of collectives; a transfer has it among its frontend attributes."""
_SPELLED: Mapping[str, type[SpelledAttribute[Any]]] = {
    "replica_groups": ReplicaGroupsAttr,
    _PAIRS: SourceTargetPairsAttr,
}
"""The properties whose attributes belong to the dialect; in a call they are text."""


def process_call(
    op: XlaOp,
    site: int,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    target: str | None = None,
) -> CustomCallOp:
    """
    The call that stands for an operation, on operands without tokens. `target`: its name, where
    that is not the operation's.
    """
    attributes: dict[str, Attribute] = {SITE: IntegerAttr(site, i64)}
    for name, definition in op.get_irdl_definition().properties.items():
        value = op.properties.get(name)
        if value is not None and value != definition.default_value:
            attributes[name] = _spelled(value)
    if isinstance(op, transfers.TransferStartOp) and op.pairs_text is not None:
        attributes[_PAIRS] = StringAttr(op.pairs_text)
    call = CustomCallOp.make(
        tuple(operands),
        {
            "custom_call_target": StringAttr(target or op.name),
            "custom_call_has_side_effect": BoolAttr.from_bool(True),
        },
        result_types=tuple(result_types),
        attributes=attributes,
    )
    call.location = op.location
    return call


@dataclass(frozen=True, eq=False)
class ProcessCall:
    """A call, as the process sees it."""

    operation: XlaOp
    """The operation, with its properties and on the arrays of the call; it is not verified."""
    result_types: tuple[Attribute, ...]
    begins: bool
    """Whether it gives a number to wait with, instead of results."""
    waits: bool
    """Whether it takes such a number."""
    gathers: bool
    """Whether it gathers what was folded."""


def read_process_call(call: CustomCallOp) -> ProcessCall:
    """Parses a call; raises XlaError where its attributes are not those of the operation."""
    target = call.custom_call_target.data
    op_class = TARGETS[target]
    properties: dict[str, Attribute] = {}
    for name, definition in op_class.get_irdl_definition().properties.items():
        value = call.attributes.get(name)
        found = definition.default_value if value is None else _read(name, value)
        if found is not None:
            properties[name] = found
            try:
                definition.constr.verify(found, VerificationContext())
            except VerifyException as error:
                raise XlaError(f"the attribute {name} of the call is {value}") from error
        elif not isinstance(definition, OptPropertyDef):
            raise XlaError(f"the call has no attribute {name}")
    regions = [Region() for _ in op_class.get_irdl_definition().regions]
    block = Block(arg_types=call.operand_types)
    operation = create(
        op_class,
        operands=block.args,
        result_types=call.result_types,
        properties=properties,
        regions=regions,
        attributes=_kept(call),
    )
    operation.location = call.location
    begins = target.endswith(START) or op_class is transfers.RecvOp
    return ProcessCall(
        operation,
        tuple(call.result_types),
        begins,
        target.endswith(DONE),
        target.endswith(GATHER),
    )


def _kept(call: CustomCallOp) -> dict[str, Attribute]:
    """The discardable attributes of the operation."""
    kept = {name: value for name, value in call.attributes.items() if name == SITE}
    pairs = call.attributes.get(_PAIRS)
    target = TARGETS[call.custom_call_target.data]
    if pairs is not None and issubclass(target, transfers.TransferStartOp):
        kept[transfers.KEPT_IN[0]] = DictionaryAttr({transfers.PAIRS: pairs})
    return kept


def _spelled(value: Attribute) -> Attribute:
    """A property as a builtin attribute."""
    if isinstance(value, SpelledAttribute):
        return StringAttr(str(cast("SpelledAttribute[Any]", value).data))
    return StringAttr(value.data) if isinstance(value, RandomDistributionAttr) else value


def _read(name: str, value: Attribute) -> Attribute:
    """The property that `_spelled` has spelled; raises XlaError for an unknown spelling."""
    if not isinstance(value, StringAttr):
        return value
    try:
        if name in _SPELLED:
            return _SPELLED[name](_SPELLED[name].read(value.data))
        if name == "distribution":
            return RandomDistributionAttr(RandomDistribution(value.data))
    except (SpellingError, ValueError) as error:
        raise XlaError(f"the attribute {name} of the call: {error}") from error
    return value
