"""
Loads and stores, of `memref` and of `vector`: what each reads or writes, said once for printing it
and for checking it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref, vector
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from lowerings.dialects.vector_extension import GatherOp, ScatterOp
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler, View
from lowerings.targets.llvm.memref import address, from_memory, to_memory
from lowerings.targets.llvm.types import I1, I64, INDEX, UnsupportedType, ValueType
from lowerings.targets.llvm.vector import mask_below, splat, steps
from xla_dialect.xdsl.operation_table import OperationTable


@dataclass(frozen=True, slots=True)
class LaneAccess:
    """The elements of memory that an operation reads or writes."""

    memory: SSAValue
    indices: Sequence[SSAValue]
    """Of the first element; further ones follow along the last dimension."""
    value: SSAValue
    """What is read or written."""
    mask: SSAValue | None = None
    """The lanes that are; None for all."""
    otherwise: SSAValue | None = None
    """What the other lanes become, each or all."""
    distances: SSAValue | None = None
    """The lanes' distances from the first element, where they do not follow each other."""
    may_pass_end: bool = False
    """Whether lanes beyond the end of the last dimension are left out."""

    def lanes(self, e: FunctionEmitter) -> str | None:
        """The mask of the lanes that are read or written; None for all."""
        mask = None if self.mask is None else e.values[self.mask]
        if not self.may_pass_end:
            return mask
        type_, size = e.type_of(self.value), e.view(self.memory).sizes[-1]
        room = e.temporary(f"sub {INDEX.text} {size}, {e.values[self.indices[-1]]}")
        inside = mask_below(e, room, type_)
        if mask is None:
            return inside
        return e.temporary(f"and {type_.with_element(I1).text} {inside}, {mask}")


def _load(op: memref.LoadOp | vector.LoadOp) -> LaneAccess:
    source, *indices = op.operands
    return LaneAccess(source, indices, op.results[0])


def _store(op: memref.StoreOp | vector.StoreOp) -> LaneAccess:
    value, destination, *indices = op.operands
    return LaneAccess(destination, indices, value)


def _masked_load(op: vector.MaskedLoadOp) -> LaneAccess:
    source, *indices, mask, otherwise = op.operands
    return LaneAccess(source, indices, op.results[0], mask, otherwise)


def _masked_store(op: vector.MaskedStoreOp) -> LaneAccess:
    destination, *indices, mask, value = op.operands
    return LaneAccess(destination, indices, value, mask)


def _gather(op: GatherOp) -> LaneAccess:
    source, *indices, distances, mask, otherwise = op.operands
    return LaneAccess(source, indices, op.result, mask, otherwise, distances)


def _scatter(op: ScatterOp) -> LaneAccess:
    destination, *indices, distances, mask, value = op.operands
    return LaneAccess(destination, indices, value, mask, distances=distances)


def _transfer_read(op: vector.TransferReadOp) -> LaneAccess:
    beyond = _may_pass_end(op)
    return LaneAccess(op.source, op.indices, op.result, op.mask, op.padding, may_pass_end=beyond)


def _transfer_write(op: vector.TransferWriteOp) -> LaneAccess:
    return LaneAccess(op.source, op.indices, op.vector, op.mask, may_pass_end=_may_pass_end(op))


def _may_pass_end(op: vector.TransferReadOp | vector.TransferWriteOp) -> bool:
    """Raises UnsupportedType where the transfer permutes."""
    permutation = op.permutation_map.data
    if permutation.results != (AffineDimExpr(len(op.indices) - 1),):
        raise UnsupportedType(f"only transfers along the last dimension, not {permutation}")
    (in_bounds,) = op.in_bounds.data
    return not in_bounds.value.data


ACCESSES = (
    OperationTable[Callable[[Operation], LaneAccess]]()
    .add((memref.LoadOp, vector.LoadOp), _load)
    .add((memref.StoreOp, vector.StoreOp), _store)
    .add(vector.MaskedLoadOp, _masked_load)
    .add(vector.MaskedStoreOp, _masked_store)
    .add(GatherOp, _gather)
    .add(ScatterOp, _scatter)
    .add(vector.TransferReadOp, _transfer_read)
    .add(vector.TransferWriteOp, _transfer_write)
)
"""What each operation accesses."""


def _accessing(access_of: Callable[[Operation], LaneAccess]) -> Handler:
    def emit(e: FunctionEmitter, op: Operation) -> None:
        access = access_of(op)
        value, view = access.value, e.view(access.memory)
        type_, mask = e.type_of(value), access.lanes(e)
        pointer = address(e, view, access.indices)
        pointers = _scattered_addresses(e, access, view, pointer, type_)
        is_plain = mask is None and pointers is None
        where = f"ptr {pointer}, align {type_.element.alignment}"
        if not op.results:
            operand = f"{type_.memory} {to_memory(e, e.values[value], type_)}"
            if is_plain:
                e.emit(f"store {operand}, {where}")
            else:
                names = "store", "scatter"
                e.emit(_masked_call(names, "void", f"{operand}, ", pointer, pointers, mask, type_))
            e.mark_stored(view)
            return
        if is_plain:
            read = e.temporary(f"load {type_.memory}, {where}")
        else:
            names, otherwise = ("load", "gather"), _otherwise(e, access, type_)
            call = _masked_call(names, type_.memory, "", pointer, pointers, mask, type_)
            read = e.temporary(f"{call[:-1]}, {type_.memory} {otherwise})")
        e.values[value] = from_memory(e, read, type_)

    return emit


def _masked_call(
    names: tuple[str, str],
    result: str,
    first: str,
    pointer: str,
    pointers: str | None,
    mask: str | None,
    type_: ValueType,
) -> str:
    """
    A call of the first intrinsic for neighbours behind `pointer`, of the second for elements at
    `pointers`.
    """
    kind, address_type, suffix = names[0], "ptr", "p0"
    if pointers is not None:
        kind, address_type, suffix = names[1], f"<{type_.lanes} x ptr>", f"v{type_.lanes}p0"
    element = type_.element.memory if type_.text != type_.memory else type_.element.suffix
    return (
        f"call {result} @llvm.masked.{kind}.v{type_.lanes}{element}.{suffix}({first}"
        f"{address_type} align {type_.element.alignment} {pointers or pointer}, "
        f"{type_.with_element(I1).text} {mask or 'splat (i1 true)'})"
    )


def _otherwise(e: FunctionEmitter, access: LaneAccess, type_: ValueType) -> str:
    """What lanes become that are not read, as memory holds it."""
    if access.otherwise is None:
        return "poison"
    operand = e.values[access.otherwise]
    if e.type_of(access.otherwise).lanes is None:
        operand = splat(e, operand, type_)
    return to_memory(e, operand, type_)


def _scattered_addresses(
    e: FunctionEmitter, access: LaneAccess, view: View, pointer: str, type_: ValueType
) -> str | None:
    """
    The addresses of elements that are no neighbours, from `pointer` on; None for neighbours.
    Those of lanes that are masked off may be anything.
    """
    strides, sizes = view.strides, view.layout.shape
    stride = "1" if not strides or sizes[-1] == 1 else strides[-1]
    if access.distances is not None:
        distances, counters = e.values[access.distances], e.type_of(access.distances)
    elif type_.lanes is None or stride == "1":
        return None
    else:
        counters = type_.with_element(I64)
        distances = steps(counters)
    if stride != "1":
        distances, counters = widened(e, distances, counters)
        by = splat(e, stride, counters)
        distances = e.temporary(f"mul {counters.text} {distances}, {by}")
    element = view.layout.element.memory
    return e.temporary(f"getelementptr {element}, ptr {pointer}, {counters.text} {distances}")


def widened(e: FunctionEmitter, numbers: str, type_: ValueType) -> tuple[str, ValueType]:
    """Signed integers as i64."""
    wide = type_.with_element(I64)
    if type_ is wide:
        return numbers, wide
    return e.temporary(f"sext {type_.text} {numbers} to {wide.text}"), wide


HANDLERS = OperationTable[Handler]({kind: _accessing(of) for kind, of in ACCESSES.items()})
