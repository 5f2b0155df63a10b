"""
Checks of what operations do with memory, for `--check-bounds`.

Every access must lie inside of the memref that it names, and every view inside of what it is a view
of, as their types and sizes say; so no access leaves its buffer. `CHECKS` has a function for each
operation that reads or writes memory or makes a view; `UNCHECKED` says why others need none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise

from xdsl.dialects import func, memref
from xdsl.ir import Operation, SSAValue

from lowerings.ir.memref_views import viewed_by
from lowerings.targets.llvm.accesses import ACCESSES, LaneAccess, widened
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler
from lowerings.targets.llvm.memref import add, groups, mixed, multiply, slice_numbers, subtract
from lowerings.targets.llvm.types import I1, I64, INDEX, layout_of
from lowerings.targets.llvm.vector import splat, steps
from xla_dialect.xdsl.operation_table import OperationTable

# ---- conditions, which are operands of type i1: a register, or a word where they are known


def _compare(e: FunctionEmitter, predicate: str, lhs: str, rhs: str) -> str:
    """A comparison of two operands of type i64, of signed integers but for `eq` and `ult`."""
    if lhs.startswith("%") or rhs.startswith("%"):
        return e.temporary(f"icmp {predicate} i64 {lhs}, {rhs}")
    a, b = int(lhs), int(rhs)
    holds = {"eq": a == b, "sge": a >= b, "sle": a <= b, "ult": 0 <= a < b}[predicate]
    return "true" if holds else "false"


def _equal(e: FunctionEmitter, lhs: str, rhs: str) -> str:
    return "true" if lhs == rhs else _compare(e, "eq", lhs, rhs)


def _all(e: FunctionEmitter, *conditions: str) -> str:
    return _joined(e, "and", "true", "false", conditions)


def _any(e: FunctionEmitter, *conditions: str) -> str:
    return _joined(e, "or", "false", "true", conditions)


def _joined(
    e: FunctionEmitter, opcode: str, neutral: str, decisive: str, conditions: Sequence[str]
) -> str:
    if decisive in conditions:
        return decisive
    unknown = [each for each in conditions if each != neutral] or [neutral]
    return reduce(lambda lhs, rhs: e.temporary(f"{opcode} i1 {lhs}, {rhs}"), unknown)


def _within(e: FunctionEmitter, number: str, least: str, most: str) -> str:
    """Whether a number is between two others, or one of them."""
    return _all(e, _compare(e, "sge", number, least), _compare(e, "sle", number, most))


def _is_empty(e: FunctionEmitter, sizes: Sequence[str]) -> str:
    return _any(e, *(_compare(e, "eq", size, "0") for size in sizes))


# ---- accesses


def _check_access(access_of: Callable[[Operation], LaneAccess]) -> Handler:
    def check(e: FunctionEmitter, op: Operation) -> None:
        access = access_of(op)
        mask, numbers = access.lanes(e), [e.values[index] for index in access.indices]
        if mask is None:
            _check_run(e, op, access.memory, numbers, e.type_of(access.value).lanes or 1)
        else:
            _check_lanes(e, op, access, numbers, mask)

    return check


def _check_index(
    e: FunctionEmitter,
    op: Operation,
    memory: SSAValue,
    dimension: int,
    inside: str,
    found: str,
    what: str = "index {found}",
) -> None:
    """An index in a dimension of a memref is inside, as a condition says."""
    message = f"{what} in dimension {dimension} of {memory.type}, whose size is {{limit}}"
    sizes = e.view(memory).sizes
    e.require(op, inside, message, found, sizes[dimension] if sizes else "1")


def _check_leading(
    e: FunctionEmitter,
    op: Operation,
    memory: SSAValue,
    indices: Sequence[str],
    unless: str = "false",
) -> None:
    """The indices of the dimensions before the last are inside, unless nothing is accessed."""
    for dimension, index in enumerate(indices[:-1]):
        inside = _compare(e, "ult", index, e.view(memory).sizes[dimension])
        _check_index(e, op, memory, dimension, _any(e, unless, inside), index)


def _check_run(
    e: FunctionEmitter, op: Operation, memory: SSAValue, indices: Sequence[str], lanes: int
) -> None:
    """So many elements from an index on along the last dimension are inside."""
    if not indices:
        e.require(op, "true" if lanes == 1 else "false", f"{lanes} elements of {memory.type}")
        return
    _check_leading(e, op, memory, indices)
    last, what = len(indices) - 1, f"{lanes} elements from index {{found}}"
    room = subtract(e, e.view(memory).sizes[last], str(lanes))
    inside = _within(e, indices[last], "0", room)
    what = "index {found}" if lanes == 1 else what
    _check_index(e, op, memory, last, inside, indices[last], what)


def _check_lanes(
    e: FunctionEmitter, op: Operation, access: LaneAccess, indices: Sequence[str], mask: str
) -> None:
    """The lanes of a mask are inside."""
    memory = access.memory
    type_ = e.type_of(access.value).with_element(I64)
    distances = steps(type_)
    if access.distances is not None:
        distances, _ = widened(e, e.values[access.distances], e.type_of(access.distances))
    lanes, flags = type_.lanes or 1, type_.with_element(I1)
    first, size = (indices[-1], e.view(memory).sizes[-1]) if indices else ("0", "1")

    def any_of(lanes_of_mask: str) -> str:
        call = f"@llvm.vector.reduce.or.{flags.suffix}({flags.text} {lanes_of_mask})"
        return e.temporary(f"call i1 {call}")

    none = e.temporary(f"xor i1 {any_of(mask)}, true")
    _check_leading(e, op, memory, indices, none)
    places = e.temporary(f"add {type_.text} {distances}, {splat(e, first, type_)}")
    outside = e.temporary(f"icmp uge {type_.text} {places}, {splat(e, size, type_)}")
    wrong = e.temporary(f"and {flags.text} {outside}, {mask}")
    inside = e.temporary(f"xor i1 {any_of(wrong)}, true")
    # The first lane that is outside; any where there is none.
    bits = e.temporary(f"bitcast {flags.text} {wrong} to i{lanes}")
    lane = e.temporary(f"call i{lanes} @llvm.cttz.i{lanes}(i{lanes} {bits}, i1 false)")
    bounded = e.temporary(f"urem i{lanes} {lane}, {lanes}") if lanes > 1 else "0"
    found = e.temporary(f"extractelement {type_.text} {places}, i{lanes} {bounded}")
    last = max(len(indices), 1) - 1
    _check_index(e, op, memory, last, inside, found, "index {found} of a lane")


def _check_copy(e: FunctionEmitter, op: memref.CopyOp) -> None:
    source, destination = (e.view(operand) for operand in op.operands)
    _check_same(e, op, source.sizes, destination.sizes)


def _check_same(
    e: FunctionEmitter,
    op: Operation,
    found: Sequence[str],
    stated: Sequence[str],
    what: str = "size",
) -> None:
    for dimension, (lhs, rhs) in enumerate(zip(found, stated, strict=True)):
        message = f"{what} {{found}} of dimension {dimension}, where {{limit}} is stated"
        e.require(op, _equal(e, lhs, rhs), message, lhs, rhs)


# ---- views


def _check_subview(e: FunctionEmitter, op: memref.SubviewOp) -> None:
    """Each dimension, unless the view has no elements."""
    offsets, sizes, strides = slice_numbers(e, op)
    empty = _is_empty(e, sizes)
    for dimension, (offset, size, step, whole) in enumerate(
        zip(offsets, sizes, strides, e.view(op.source).sizes, strict=True)
    ):
        last = add(e, offset, multiply(e, subtract(e, size, "1"), step))
        ends = (_compare(e, "ult", each, whole) for each in (offset, last))
        # Sizes in range: then sums do not overflow.
        inside = _any(e, empty, _all(e, *ends, _within(e, size, "0", whole)))
        _check_index(e, op, op.source, dimension, inside, last, "element {found}")


def _check_view(e: FunctionEmitter, op: memref.ViewOp) -> None:
    """The bytes from the shift on are as many as a dense array takes."""
    (whole,) = e.view(op.source).sizes
    shift = e.values[op.byte_shift]
    layout = layout_of(op.results[0].type)
    unknown = iter(op.sizes)
    sizes = [e.values[next(unknown)] if n is None else str(n) for n in layout.shape]
    needed = str(layout.element.size)
    fits: list[str] = []
    for size in sizes:
        if size.startswith("%"):
            fits.append(_within(e, size, "0", whole))
        needed, exact = _product(e, needed, size)
        fits.append(exact)
    room = subtract(e, whole, shift)
    fits += [_compare(e, "sge", shift, "0"), _compare(e, "sge", room, "0")]
    inside = _all(e, *fits, _compare(e, "sle", needed, room))
    message = f"byte {{found}} as the first of {op.results[0].type} in {{limit}} bytes"
    e.require(op, inside, message, shift, whole)


def _product(e: FunctionEmitter, lhs: str, rhs: str) -> tuple[str, str]:
    """The product of two numbers that are not negative, and whether it is below 2^63."""
    if not lhs.startswith("%") and not rhs.startswith("%"):
        product = int(lhs) * int(rhs)
        return (str(product), "true") if product < 1 << 63 else ("0", "false")
    pair = e.temporary(f"call {{ i64, i1 }} @llvm.smul.with.overflow.i64(i64 {lhs}, i64 {rhs})")
    wraps = e.temporary(f"extractvalue {{ i64, i1 }} {pair}, 1")
    return (
        e.temporary(f"extractvalue {{ i64, i1 }} {pair}, 0"),
        e.temporary(f"xor i1 {wraps}, true"),
    )


def _extent(e: FunctionEmitter, sizes: Sequence[str], strides: Sequence[str]) -> tuple[str, str]:
    """The places of the lowest and the highest element, counted from the first."""
    lowest, highest = "0", "0"
    for size, stride in zip(sizes, strides, strict=True):
        way = multiply(e, subtract(e, size, "1"), stride)
        if way.startswith("%"):
            below, above = (e.call(name, INDEX, way, "0") for name in ("smin", "smax"))
        else:
            below, above = str(min(int(way), 0)), str(max(int(way), 0))
        lowest, highest = add(e, lowest, below), add(e, highest, above)
    return lowest, highest


_STRIDED_VIEWS = (memref.SubviewOp, memref.CastOp, memref.ReinterpretCastOp)
"""Views whose offsets count from where those of their source do."""


def _check_reinterpret_cast(e: FunctionEmitter, op: memref.ReinterpretCastOp) -> None:
    """The new view stays between the lowest and the highest element of the underlying memref."""
    owner = op.source.owner
    if isinstance(owner, memref.ExtractStridedMetaDataOp):
        # Its offset counts from the first element.
        base_value, known = owner.source, 0
    else:
        base_value = viewed_by(op.source, _STRIDED_VIEWS)
        known = e.view(base_value).layout.offset
    base = e.view(base_value)
    if known is None:
        # Such an operation cannot be printed as LLVM IR either.
        return
    (offset,), sizes, strides = slice_numbers(e, op)
    empty = _is_empty(e, sizes)
    first = subtract(e, offset, str(known))
    lowest, highest = (add(e, first, way) for way in _extent(e, sizes, strides))
    start, end = _extent(e, base.sizes, base.strides)
    positive = [_compare(e, "sge", size, "0") for size in sizes]
    ends = _compare(e, "sge", lowest, start), _compare(e, "sle", highest, end)
    message = f"an element at {{found}}, the last of {base_value.type} is at {{limit}}"
    e.require(op, _any(e, empty, _all(e, *positive, *ends)), message, highest, end)


def _check_cast(e: FunctionEmitter, op: memref.CastOp) -> None:
    """What the result's type states that the source's leaves open."""
    source, stated = e.view(op.operands[0]), layout_of(op.results[0].type)
    for what, found, numbers in (
        ("size", source.sizes, stated.shape),
        ("stride", source.strides, stated.strides),
    ):
        wanted = [f if n is None else str(n) for f, n in zip(found, numbers, strict=True)]
        _check_same(e, op, found, wanted, what)


def _check_collapse(e: FunctionEmitter, op: memref.CollapseShapeOp) -> None:
    """The dimensions that become one follow each other without a gap."""
    source = e.view(op.src)
    for group in groups(op):
        moving = [d for d in group if source.sizes[d] != "1"]
        for outer, inner in pairwise(moving):
            step = multiply(e, source.strides[inner], source.sizes[inner])
            found = source.strides[outer]
            single = (_compare(e, "eq", source.sizes[d], "1") for d in (outer, inner))
            same = _any(e, _equal(e, found, step), *single, _is_empty(e, source.sizes))
            message = f"stride {{found}} of dimension {outer}, where {{limit}} is needed"
            e.require(op, same, message, found, step)


def _check_expand(e: FunctionEmitter, op: memref.ExpandShapeOp) -> None:
    """As many elements as there were."""
    source = e.view(op.src)
    sizes = mixed(e, op.static_output_shape, op.output_shape)
    for dimension, group in enumerate(groups(op)):
        product = "1"
        for inner in group:
            product = multiply(e, product, sizes[inner])
        whole = source.sizes[dimension]
        message = f"{{found}} elements for dimension {dimension}, which has {{limit}}"
        e.require(op, _equal(e, product, whole), message, product, whole)


CHECKS = (
    OperationTable[Handler]({kind: _check_access(of) for kind, of in ACCESSES.items()})
    .add(memref.CopyOp, _check_copy)
    .add(memref.SubviewOp, _check_subview)
    .add(memref.ViewOp, _check_view)
    .add(memref.ReinterpretCastOp, _check_reinterpret_cast)
    .add(memref.CastOp, _check_cast)
    .add(memref.CollapseShapeOp, _check_collapse)
    .add(memref.ExpandShapeOp, _check_expand)
)
"""What prints the checks before each operation."""

UNCHECKED: dict[type[Operation], str] = {
    memref.AllocOp: "makes memory",
    memref.AllocaOp: "makes memory",
    memref.GetGlobalOp: "has the type of the global",
    memref.DeallocOp: "accesses no element",
    memref.DimOp: "accesses no element",
    memref.AssumeAlignmentOp: "accesses no element",
    memref.ExtractStridedMetaDataOp: "accesses no element",
    func.CallOp: "passes memrefs of the types that the function has",
}
"""Operations on memrefs that need no check, and why."""
