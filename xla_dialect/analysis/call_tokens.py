"""Custom calls whose token operands and results were removed.

Compiled calls are carried out in the order of the program, which needs no tokens. But the function
of a call takes and gives them, so the call says where they were:

    xla.custom_call %x {custom_call_target = "f", custom_call_has_side_effect = true}
      attributes {xla.token_operands = array<i64: 0>, xla.token_results = array<i64: 0>}
      : (tensor<f32>) -> ()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerType, i64
from xdsl.ir import Attribute, Block

from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.types import TokenType

_OPERANDS = "xla.token_operands"
_RESULTS = "xla.token_results"


def note_tokens(op: CustomCallOp) -> None:
    """
    Notes at a call which of its operands and results are tokens, before they are taken away.

    A call that is ordered by tokens has an effect: what follows no longer depends on it.
    """
    for name, types in ((_OPERANDS, op.operand_types), (_RESULTS, op.result_types)):
        places = [place for place, type_ in enumerate(types) if isinstance(type_, TokenType)]
        if places:
            op.attributes[name] = DenseArrayBase.from_list(i64, places)
            op.properties["custom_call_has_side_effect"] = BoolAttr.from_bool(True)


def with_tokens(op: CustomCallOp) -> CustomCallOp:
    """The call as it was before its tokens were taken away, on operands of its own."""
    attributes = dict(op.attributes)
    operands = _completed(op.operand_types, attributes.pop(_OPERANDS, None))
    results = _completed(op.result_types, attributes.pop(_RESULTS, None))
    block = Block(arg_types=operands)
    whole = CustomCallOp.make(
        tuple(block.args),
        op.properties,
        [region.clone() for region in op.regions],
        result_types=results,
        attributes=attributes,
    )
    whole.location = op.location
    block.add_op(whole)
    return whole


def lacks_tokens(op: CustomCallOp) -> bool:
    """Whether tokens were taken away from a call."""
    return _OPERANDS in op.attributes or _RESULTS in op.attributes


def _completed(types: Sequence[Attribute], places: Attribute | None) -> list[Attribute]:
    """The types with tokens at their places."""
    found = list(types)
    if places is not None:
        for place in cast("DenseArrayBase[IntegerType]", places).get_values():
            found.insert(place, TokenType())
    return found
