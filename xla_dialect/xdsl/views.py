# pyright: reportPrivateUsage=false
"""How xDSL 0.74 shows operations, blocks and values, in less time; put in place by `xdsl_speed`.

Passes mostly look, and each look is a call in Python, or two. These do what those of xDSL do:

- `SSAValue.type`, `Operation.next_op` and the like only pass on an attribute: C can do that.
- `Operation.operands` makes a view each time; one for each operation does.
- The sizes of an array type are attributes, of which `get_shape` makes a tuple.
- Iterators over a block are objects with a method where generators serve.
- The named operands and results of an operation (`op.lhs`) go through a view, a method and an
  enumeration.
- `isinstance` asks classes of xDSL for others that are registered to be like them, since they are
  abstract classes of Python. There are none.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from struct import unpack
from typing import Any

from xdsl.dialects.builtin import MemRefType, TensorType, VectorType, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.core import BlockOps, OpOperands, SSAValues
from xdsl.irdl.operations import (
    BaseAccessor,
    BaseAttrAccessor,
    BeforeVariadicSingleAccessor,
    VarIRConstruct,
    get_op_constructs,
)


def _operands(self: Operation) -> OpOperands:
    """As `Operation.operands`."""
    state = vars(self)
    view = state.get("_operands_view")
    if view is None:
        view = state["_operands_view"] = OpOperands(self)
    return view


def _replace_operand(op: Operation, index: int, value: SSAValue) -> None:
    use = op._operand_uses[index]
    operands = list(op._operands)
    operands[index].remove_use(use)
    value.add_use(use)
    operands[index] = value
    op._operands = SSAValues(operands)


def _set_operand(self: OpOperands, idx: int, operand: SSAValue) -> None:
    """As `OpOperands.__setitem__`."""
    _replace_operand(self._op, idx, operand)


def _replace_all_uses_with(self: SSAValue, value: SSAValue) -> None:
    """As `SSAValue.replace_all_uses_with`."""
    if value is self:
        return
    use = self.first_use
    while use is not None:
        # The use goes over to the other value.
        following = use._next_use
        _replace_operand(use._operation, use._index, value)
        use = following
    if value._name is None:
        value.name_hint = self._name


_at: Any = tuple.__dict__["__getitem__"]


def _item(self: SSAValues[Any], idx: Any) -> Any:
    """As `SSAValues.__getitem__`."""
    found = _at(self, idx)
    return SSAValues(found) if type(idx) is slice else found


def _forwards(self: BlockOps) -> Iterator[Operation]:
    """As `BlockOps.__iter__`."""
    op = self.block._first_op
    while op is not None:
        # The operation may be moved before the next one is asked for.
        following = op._next_op
        yield op
        op = following


def _backwards(self: BlockOps) -> Iterator[Operation]:
    """As `BlockOps.__reversed__`."""
    op = self.block._last_op
    while op is not None:
        following = op._prev_op
        yield op
        op = following


_OPERAND, _RESULT = VarIRConstruct.OPERAND, VarIRConstruct.RESULT


def _named(self: BaseAccessor, obj: Operation, objtype: Any = None) -> Any:
    """As `BaseAccessor.__get__`."""
    construct = self.construct
    if construct is _OPERAND:
        return self.index(obj._operands)
    if construct is _RESULT:
        return self.index(obj.results)
    return self.index(get_op_constructs(obj, construct))


def _named_single(self: BaseAccessor, obj: Operation, objtype: Any = None) -> Any:
    """As `BeforeVariadicSingleAccessor.__get__`."""
    construct = self.construct
    if construct is _OPERAND:
        return _at(obj._operands, self.idx)
    if construct is _RESULT:
        return _at(obj.results, self.idx)
    return get_op_constructs(obj, construct)[self.idx]


@lru_cache(4096)
def _numbers(packed: bytes) -> tuple[int, ...]:
    return unpack(f"<{len(packed) // 4}i", packed)


def _named_of_segment(self: BaseAttrAccessor, obj: Operation, objtype: Any = None) -> Any:
    """As `BaseAttrAccessor.__get__`."""
    sizes: Any = self.option.container(obj)[self.option.attribute_name]
    # What is no array of i32 is for the verifier to refuse.
    type_ = sizes.elt_type
    is_usual = type_ is i32 or type_ == i32
    values = _numbers(sizes.data.data) if is_usual else sizes.get_values()
    return self.index(values, get_op_constructs(obj, self.construct))


def _sizes(self: TensorType | MemRefType | VectorType) -> tuple[int, ...]:
    """As `get_shape`."""
    state = vars(self)
    sizes = state.get("_sizes")
    if sizes is None:
        sizes = state["_sizes"] = tuple([size.data for size in self.shape.data])
    return sizes


REPLACED: Mapping[type[Any], Mapping[str, Any]] = {
    SSAValue: {
        "type": property(attrgetter("_type")),
        "replace_all_uses_with": _replace_all_uses_with,
    },
    Operation: {
        "next_op": property(attrgetter("_next_op")),
        "prev_op": property(attrgetter("_prev_op")),
        "operands": property(_operands, Operation.operands.fset),
    },
    Block: {
        "first_op": property(attrgetter("_first_op")),
        "last_op": property(attrgetter("_last_op")),
    },
    OpOperands: {"__setitem__": _set_operand},
    SSAValues: {"__getitem__": _item},
    BlockOps: {"__iter__": _forwards, "__reversed__": _backwards},
    TensorType: {"get_shape": _sizes},
    MemRefType: {"get_shape": _sizes},
    VectorType: {"get_shape": _sizes},
    BaseAccessor: {"__get__": _named},
    BeforeVariadicSingleAccessor: {"__get__": _named_single},
    BaseAttrAccessor: {"__get__": _named_of_segment},
}
"""What is put into the classes of xDSL."""


class _PlainChecks(ABCMeta):
    """The metaclass of abstract classes that have no subclasses but those that derive from them."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


def check_plainly(*roots: type[Any]) -> None:
    """Makes `isinstance` look at what a class derives from, for all that derive from these."""
    pending, seen = list(roots), set[type[Any]]()
    while pending:
        class_ = pending.pop()
        if class_ in seen:
            continue
        seen.add(class_)
        pending += type.__subclasses__(class_)
        # Those to come have the metaclass of what they derive from.
        if type(class_) is ABCMeta:
            class_.__class__ = _PlainChecks
