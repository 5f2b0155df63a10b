"""What HLO says of how a tuple is split, said of its leaves."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, OpResult

from xla_dialect.sharding.hlo_sharding import HloShardingAttr, HloShardingKind
from xla_dialect.spelling import SpellingError, shortened

_NAMES = ("xla.sharding", "mhlo.sharding")


def leaf_attributes(attributes: DictionaryAttr, count: int) -> Sequence[DictionaryAttr]:
    """
    The attributes of each of the leaves of a value.

    Raises SpellingError for a sharding that has another number of elements.
    """
    found: list[dict[str, Attribute]] = [dict(attributes.data) for _ in range(count)]
    for name in _NAMES:
        said = attributes.data.get(name)
        if not isinstance(said, HloShardingAttr) or said.data.kind is not HloShardingKind.TUPLE:
            continue
        leaves = said.data.leaves
        # XLA writes one element for a tuple without any.
        if count and len(leaves) != count:
            raise SpellingError(
                f"sharding {shortened(said.data.text)} has {len(leaves)} elements "
                f"for {count} arrays"
            )
        for number, entries in enumerate(found):
            entries[name] = HloShardingAttr(leaves[number])
    return [DictionaryAttr(entries) for entries in found]


def note_root(function: FuncOp) -> None:
    """
    Lets a function say of its result what the operation says that makes it.

    In HLO the result of a computation is that of its root, which may be a tuple that disappears.
    """
    blocks = function.body.blocks
    last = blocks[0].last_op if len(blocks) == 1 else None
    if function.res_attrs is not None or not isinstance(last, ReturnOp):
        return
    entries: list[DictionaryAttr] = []
    for value in last.operands:
        attributes = value.op.attributes if isinstance(value, OpResult) else {}
        said = {name: attributes[name] for name in _NAMES if name in attributes}
        is_one = isinstance(value, OpResult) and len(value.op.results) == 1
        entries.append(DictionaryAttr(said if is_one else {}))
    if any(entry.data for entry in entries):
        function.res_attrs = ArrayAttr(entries)
