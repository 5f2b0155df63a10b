"""The pass `xla-outline-kernels`: computations as functions of their own, equal ones once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from math import prod
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerType,
    LocationAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from lowerings.bufferize.liveness import written_operands
from lowerings.bufferize.storage import MemRef, memref_type, planned_extent
from lowerings.bufferize.strided import (
    Slice,
    element_bytes,
    has_identity_layout,
    slice_of,
    strides_and_offset,
    with_dynamic_offset,
)
from lowerings.bufferize.tensor_operands import (
    is_linalg_operation,
    is_permutation,
    linalg_inputs,
    linalg_outputs,
)
from lowerings.ir.equality import StructuralKeys
from lowerings.ir.functions import KERNEL, SymbolNames
from lowerings.ir.locations import fused
from lowerings.ir.memref_views import VIEWS, viewed_by
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.levels import ON_BUFFERS
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import free_values, operands_of, operations_in

NAMED_OPERATIONS = 3
"""A name lists so many different operations of the body at most, from the last to the first."""

_UNNAMED = {
    "arith.constant",
    "arith.index_cast",
    "linalg.index",
    "linalg.yield",
    "memref.load",
}
"""Operations that occur in most bodies and so do not distinguish kernels."""


def kernel_name(op: Operation) -> str:
    """A descriptive name for the kernel of which `op` is the main operation."""
    if isinstance(op, memref.CopyOp):
        return "copy"
    if not isinstance(op, linalg.GenericOp):
        return op.name.partition(".")[2]
    described = _body_operations(op)
    if any(kind.data is not IteratorType.PARALLEL for kind in op.iterator_types):
        is_contraction = len(op.inputs) == 2 and described[-2:] in (
            ["add", "mul"],
            ["addf", "mulf"],
            ["addi", "muli"],
        )
        return "contraction" if is_contraction else "_".join(["reduce", *described])
    loads = any(isinstance(inner, memref.LoadOp) for inner in operations_in(op.body.block))
    return "_".join((["gather"] if loads else []) + described) or _movement(op)


def _body_operations(op: linalg.GenericOp) -> list[str]:
    """
    The names of different operations of the body, without their dialects; the last one first.
    Where floats are computed, those that compute integers, which are positions, are left out.
    """
    block = op.body.block
    computes_floats = any(isinstance(type, AnyFloat) for type in block.arg_types)
    names: dict[str, None] = {}
    for inner in reversed(block.ops):
        is_position = computes_floats and any(
            isinstance(type, IntegerType | IndexType) for type in inner.result_types
        )
        if inner.name not in _UNNAMED and not is_position:
            names[inner.name.partition(".")[2]] = None
    return list(names)[:NAMED_OPERATIONS]


def _movement(op: linalg.GenericOp) -> str:
    """The name for an operation whose body only moves elements."""
    if not any(isinstance(value.type, MemRefType) for value in op.inputs):
        return "fill"
    source, target = op.indexing_maps.data[0].data, op.indexing_maps.data[-1].data
    if source == target:
        return "copy"
    if is_permutation(source) and is_permutation(target):
        return "transpose"
    return "broadcast" if len(source.results) < len(target.results) else "move"


FEWEST = 4
"""So many kernels have to be alike."""

_FLOATS, _INTEGERS = frozenset((f32, f64)), frozenset((i32, i64))

_USERS = frozenset(
    {
        *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.MaximumfOp, arith.MinimumfOp),
        *(arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp),
        *(arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp),
        *(arith.CmpfOp, arith.CmpiOp, arith.SelectOp),
    }
)
"""What takes as long for any number; to shift by one that is known takes less."""

_DIVISIONS = frozenset({arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp})
"""What LLVM multiplies instead, if it finds out that the divisor is a number."""


def alike_but_for_constants(
    kernels: Iterable[func.FuncOp], keys: StructuralKeys
) -> list[list[func.FuncOp]]:
    """The kernels that are equal but for constants, where they are enough."""
    alike: dict[Hashable, list[func.FuncOp]] = defaultdict(list)
    for function in kernels:
        key = keys.of([function.body], unnamed=_open_constants(function))
        alike[key].append(function)
    return [each for each in alike.values() if len(each) >= FEWEST]


def take_constants(
    alike: Sequence[func.FuncOp], calls: Mapping[func.FuncOp, Sequence[func.CallOp]]
) -> None:
    """Makes the first take the constants in which the others differ, and be called for all."""
    first = alike[0]
    columns = list(zip(*map(operations_in, alike), strict=True))
    for column in columns:
        column[0].location = fused(op.location for op in column)
    open_constants = _open_constants(first)
    columns = [
        column
        for column in columns
        if column[0] in open_constants
        and any(op.properties != column[0].properties for op in column)
    ]
    for function, *constants in zip(alike, *columns, strict=True):
        for call in calls[function]:
            made = [_copied_to(op, call) for op in constants]
            call.operands = (*call.operands, *made)
            call.properties["callee"] = SymbolRefAttr(first.sym_name)
    for op, *_ in columns:
        argument = first.body.block.insert_arg(op.results[0].type, len(first.body.block.args))
        replace_uses(op.results[0], argument)
        erase(op)
    first.update_function_type()
    for function in alike[1:]:
        erase(function)


def _copied_to(op: Operation, call: func.CallOp) -> SSAValue:
    types = [result.type for result in op.results]
    copy = create(type(op), result_types=types, properties=op.properties, location=op.location)
    return insert_before(copy, call).results[0]


def _open_constants(function: func.FuncOp) -> Set[Operation]:
    """The constants whose numbers do not matter to those that use them."""
    ops = operations_in(function.body)
    types = _FLOATS if any(type(op) in _DIVISIONS for op in ops) else _FLOATS | _INTEGERS
    return {
        op
        for op in ops
        if type(op) is arith.ConstantOp
        and op.result.type in types
        and all(type(use.operation) in _USERS for use in op.result.uses)
    }


_WITH_THE_SAME_START = tuple(each for each in VIEWS if each is not memref.ViewOp)
"""Views whose offsets count from where those of what they view do."""


@dataclass(frozen=True)
class Extent:
    """A range of bytes of one allocation."""

    base: object
    """What was allocated: a memref value, or the name of a global."""
    start: int
    end: int | None
    """None for: all from `start` on."""

    def meets(self, other: Extent) -> bool:
        """Whether the two may have a byte in common."""
        if self.base != other.base:
            return False
        ends_before = self.end is not None and self.end <= other.start
        return not ends_before and not (other.end is not None and other.end <= self.start)


@dataclass(eq=False)
class MemoryExtents:
    """
    The extents of the memrefs of a function.

    Its arguments are assumed not to alias, as the buffers level promises where one of
    them is written.
    """

    _extents: dict[SSAValue, Extent] = field(default_factory=dict[SSAValue, Extent])
    _slices: dict[SSAValue, tuple[SSAValue, Slice] | None] = field(
        default_factory=dict[SSAValue, "tuple[SSAValue, Slice] | None"]
    )

    def may_overlap(self, a: SSAValue, b: SSAValue) -> bool:
        """Whether two different memrefs may have a byte in common."""
        if not self.extent(a).meets(self.extent(b)):
            return False
        for value in (a, b):
            if value not in self._slices:
                self._slices[value] = _subview(value)
        slice_a, slice_b = self._slices[a], self._slices[b]
        if slice_a is None or slice_b is None or slice_a[0] is not slice_b[0]:
            return True
        return not slice_a[1].is_disjoint_from(slice_b[1])

    def extent(self, value: SSAValue) -> Extent:
        """The bytes that a memref is made of."""
        known = self._extents.get(value)
        if known is None:
            known = self._extents[value] = self._compute(value)
        return known

    def _compute(self, value: SSAValue) -> Extent:
        owner = value.owner
        if isinstance(owner, Block):
            return Extent(value, 0, None)
        if type(owner) is memref.GetGlobalOp:
            return Extent(owner.name_.string_value(), 0, None)
        if type(owner) is memref.ViewOp:
            arena = self.extent(owner.source)
            planned = planned_extent(owner)
            if planned is None:
                return arena
            start, end = planned
            return Extent(arena.base, arena.start + start, arena.start + end)
        if type(owner) in VIEWS:
            return self._view_extent(value, owner.operands[0])
        return Extent(value, 0, None)

    def _view_extent(self, value: SSAValue, source: SSAValue) -> Extent:
        whole = self.extent(viewed_by(source, _WITH_THE_SAME_START))
        try:
            _, offset = strides_and_offset(memref_type(value))
        except ValueError:
            return whole
        if offset is None:
            return (
                whole if isinstance(value.owner, memref.ReinterpretCastOp) else self.extent(source)
            )
        start, end = _span(memref_type(value), offset)
        return Extent(whole.base, whole.start + start, whole.start + end)


def _span(type: MemRef, offset: int) -> tuple[int, int]:
    """The bytes from the first to behind the last element of a memref at this offset."""
    size = element_bytes(type.element_type) or 0
    shape = type.get_shape()
    if 0 in shape:
        return offset * size, offset * size
    strides, _ = strides_and_offset(type)
    last = offset + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    return offset * size, (last + 1) * size


def _subview(value: SSAValue) -> tuple[SSAValue, Slice] | None:
    """The source and slice of a subview, also seen through casts of its type."""
    op = value.owner
    while isinstance(op, memref.CastOp):
        op = op.source.owner
    if not isinstance(op, memref.SubviewOp) or op.sizes or op.strides:
        return None
    return op.source, slice_of(op)


MAX_PENDING = 8
"""How many initializations may wait, at the same time, for the operation that continues them."""


@dataclass(frozen=True)
class XlaOutlineKernelsPass(ModulePass):
    """
    Makes each linalg operation and copy a function, and calls it in its place.

    ```mlir
    linalg.fill ins(%zero : f32) outs(%c : memref<8x8xf32>)
    linalg.generic {...} ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>)
    ```
    ->
    ```mlir
    func.call @contraction_kernel_0(%a, %b, %c)
        : (memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) -> ()
    ...
    func.func private @contraction_kernel_0(%a: ..., %b: ..., %c: ...) attributes {xla.kernel} {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%c : memref<8x8xf32>)
      linalg.generic {...} ins(%a, %b : ...) outs(%c : ...)
      func.return
    }
    ```

    What initializes the output of an operation, and reads no memory, belongs to its kernel. Kernels
    that do the same are one function: to have it so more often, the offsets of strided arguments
    are left to run time (`offset: ?`), and constants are made inside, in front of what uses them.
    Of four or more that differ in constants only, one is left, which takes these as arguments, if
    they are plain operands.
    Memrefs given to a kernel do not overlap if one of them is written; what cannot be shown to
    fulfil that stays where it is.

    Operations on single elements (counters and conditions of loops) stay too: a call would cost
    more than they do. So do operations that write no element at all. A private function that holds
    nothing but one operation and views is a kernel already.
    """

    name = "xla-outline-kernels"
    takes = ON_BUFFERS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [inner for inner in op.ops if isinstance(inner, func.FuncOp)]
        kernels = _Kernels(op)
        for function in functions:
            if _does_one_computation(function):
                function.attributes[KERNEL] = UnitAttr()
            if KERNEL not in function.attributes:
                outliner = _Outliner(kernels)
                for block in function.body.blocks:
                    outliner.outline_block(block)
        kernels.fuse_locations()
        kernels.join_alike()


@dataclass(eq=False)
class _Kernels:
    """The kernels of a module, by what they do."""

    module: ModuleOp
    _functions: dict[Hashable, func.FuncOp] = field(default_factory=dict[Hashable, func.FuncOp])
    _locations: dict[func.FuncOp, list[list[LocationAttr]]] = field(
        default_factory=dict[func.FuncOp, list[list[LocationAttr]]]
    )
    """Of the operations of each group that a kernel is for."""
    calls: dict[func.FuncOp, list[func.CallOp]] = field(
        default_factory=lambda: defaultdict[func.FuncOp, list[func.CallOp]](list)
    )
    _keys: StructuralKeys = field(default_factory=StructuralKeys)

    def __post_init__(self) -> None:
        self._names = SymbolNames(self.module)

    def function_for(self, group: _Group) -> func.FuncOp:
        """The kernel that does what the group does; a new one takes over the group's regions."""
        for each in group.operations:
            for region in each.regions:
                _order_constants(region.block)
        key = group.key(self._keys)
        function = self._functions.get(key)
        locations = [op.location for each in group.operations for op in operations_in(each)]
        if function is None:
            stem = kernel_name(group.operations[-1])
            names = (f"{stem}_kernel_{number}" for number in count(len(self._functions)))
            function = _make_kernel(self._names.take(names), group)
            self.module.body.block.add_op(function)
            self._functions[key] = function
            self._locations[function] = []
        self._locations[function].append(locations)
        return function

    def join_alike(self) -> None:
        """Has one kernel for those that differ in constants only."""
        for alike in alike_but_for_constants(self._functions.values(), self._keys):
            attempt(partial(take_constants, alike, self.calls))

    def fuse_locations(self) -> None:
        """Gives kernels that several groups share the locations of all of them."""
        for function, locations in self._locations.items():
            if len(locations) == 1:
                continue
            function.location = fused(own[0] for own in locations)
            # Constants are in front of the group, a return is behind it.
            ops = operations_in(function.body)[-1 - len(locations[0]) : -1]
            for op, own in zip(ops, zip(*locations, strict=True), strict=True):
                op.location = fused(own)


@dataclass(eq=False)
class _Group:
    """Operations that are to be one kernel, and what they use from outside."""

    operations: list[Operation]
    """The main operation is the last."""
    arguments: list[SSAValue] = field(default_factory=list[SSAValue])
    """The memrefs and scalars that the kernel takes; those of the main operation first."""
    types: list[Attribute] = field(default_factory=list[Attribute])
    """Their types in the kernel."""
    constants: dict[SSAValue, Attribute] = field(default_factory=dict[SSAValue, Attribute])
    """Scalar constants, which the kernel makes itself."""

    def __post_init__(self) -> None:
        seen: set[SSAValue] = set()
        for op in (self.operations[-1], *self.operations[:-1]):
            for value in free_values(op):
                if value in seen:
                    continue
                seen.add(value)
                owner = value.owner
                if isinstance(owner, arith.ConstantOp):
                    self.constants[value] = owner.value
                else:
                    self.arguments.append(value)
                    self.types.append(_argument_type(value.type))

    def key(self, keys: StructuralKeys) -> Hashable:
        """What is equal for groups that can be one kernel."""
        numbers: dict[SSAValue, Hashable] = {v: i for i, v in enumerate(self.arguments)}
        constants = self.constants.items()
        numbers.update((value, ("constant", keys.identity(each))) for value, each in constants)
        return tuple(map(keys.identity, self.types)), keys.of(self.operations, numbers)


def _order_constants(block: Block) -> None:
    """Puts constants in the order of their uses: fusion leaves them in one of its own."""
    ordered = set[Operation]()
    for op in tuple(block.ops):
        for operand in operands_of(op):
            owner = operand.owner
            if type(owner) is arith.ConstantOp and owner.parent is block and owner not in ordered:
                ordered.add(owner)
                owner.detach()
                insert_before(owner, op)


def _argument_type(type: Attribute) -> Attribute:
    if not isinstance(type, MemRefType):
        return type
    strided = cast(MemRef, type)
    return strided if has_identity_layout(strided) else with_dynamic_offset(strided)


def _make_kernel(name: str, group: _Group) -> func.FuncOp:
    block = Block(arg_types=group.types)
    values: dict[SSAValue, SSAValue] = {}
    for value, argument in zip(group.arguments, block.args, strict=True):
        values[value] = argument
        argument.name_hint = value.name_hint
    for value, constant in group.constants.items():
        owner = value.owner
        assert isinstance(owner, Operation)
        made = create(
            arith.ConstantOp,
            result_types=(value.type,),
            properties={"value": constant},
            location=owner.location,
        )
        block.add_op(made)
        values[value] = made.results[0]
    for op in group.operations:
        block.add_op(_moved(op, values))
    block.add_op(create(func.ReturnOp, location=group.operations[-1].location))
    function = func.FuncOp(name, (group.types, ()), Region(block), "private")
    function.attributes[KERNEL] = UnitAttr()
    function.location = group.operations[-1].location
    return function


def _moved(op: Operation, values: dict[SSAValue, SSAValue]) -> Operation:
    """A copy of an operation that takes over its regions, with `values` in the place of others."""
    copy = op.clone_without_regions(values)
    for region, new in zip(op.regions, copy.regions, strict=True):
        region.move_blocks(new)
    for inner in operations_in(copy):
        for index, operand in enumerate(inner.operands):
            value = values.get(operand)
            if value is not None:
                inner.operands[index] = value
    return copy


@dataclass(eq=False)
class _Outliner:
    """Outlines the operations of one function."""

    kernels: _Kernels
    extents: MemoryExtents = field(default_factory=MemoryExtents)
    _pending: list[Operation] = field(default_factory=list[Operation])
    """Operations that only initialize memory; what continues may follow."""

    def outline_block(self, block: Block) -> None:
        """Outlines the operations of a block and of the regions in it."""
        for op in tuple(block.ops):
            if type(op) is memref.CopyOp or is_linalg_operation(op):
                self._meet(op)
            elif op.regions:
                self._flush(self._pending)
                for region in op.regions:
                    for nested in region.blocks:
                        self.outline_block(nested)
            elif not _leaves_memory_alone(op):
                self._flush(self._pending)
        self._flush(self._pending)

    def _meet(self, op: Operation) -> None:
        if is_linalg_operation(op) and _is_initialization(op):
            # An initialization that another one overwrites does not belong to the same kernel.
            self._flush_overlapping(op)
            self._pending.append(op)
            if len(self._pending) > MAX_PENDING:
                self._flush(self._pending[:1])
            return
        mine: list[Operation] = []
        if is_linalg_operation(op):
            outputs = set(linalg_outputs(op))
            mine = [i for i in self._pending if outputs.issuperset(linalg_outputs(i))]
            self._pending = [i for i in self._pending if i not in mine]
        self._flush_overlapping(op)
        self._outline([*mine, op])

    def _flush_overlapping(self, op: Operation) -> None:
        """Outlines pending initializations that may alias memory of `op`, to keep their order."""
        if not self._pending:
            return
        touched = [v for v in free_values(op) if isinstance(v.type, MemRefType)]
        self._flush(
            [
                waiting
                for waiting in self._pending
                if any(
                    output is value or self.extents.may_overlap(output, value)
                    for output in linalg_outputs(waiting)
                    for value in touched
                )
            ]
        )

    def _flush(self, waiting: Iterable[Operation]) -> None:
        waiting = list(waiting)
        self._pending = [op for op in self._pending if op not in waiting]
        for op in waiting:
            self._outline([op])

    def _outline(self, operations: list[Operation]) -> None:
        group = _Group(operations)
        if not _is_tiny(group) and _are_disjoint(group, self.extents):
            attempt(partial(self._call_kernel, group, operations))

    def _call_kernel(self, group: _Group, operations: list[Operation]) -> None:
        function = self.kernels.function_for(group)
        op = operations[-1]
        arguments: list[SSAValue] = []
        for value, type in zip(group.arguments, group.types, strict=True):
            if value.type != type:
                cast_op = create(memref.CastOp, operands=(value,), result_types=(type,))
                value = insert_before(cast_op, op).results[0]
            arguments.append(value)
        call = create(
            func.CallOp, operands=arguments, properties={"callee": SymbolRefAttr(function.sym_name)}
        )
        self.kernels.calls[function].append(insert_before(call, op))
        for outlined in reversed(operations):
            erase(outlined)
        for constant in group.constants:
            made_by = constant.owner
            if constant.first_use is None and isinstance(made_by, Operation):
                erase(made_by)


def _is_initialization(op: Operation) -> bool:
    """Whether a linalg operation only writes memory, and reads none."""
    if any(isinstance(value.type, MemRefType) for value in linalg_inputs(op)):
        return False
    block = op.regions[0].block
    if any(isinstance(inner, memref.LoadOp) for inner in operations_in(block)):
        return False
    arguments = block.args[len(linalg_inputs(op)) :]
    return all(argument.first_use is None for argument in arguments)


def _is_tiny(group: _Group) -> bool:
    """Whether the group works on single elements only, or writes none."""
    sizes = {
        value: prod(memref_type(value).get_shape())
        for value in group.arguments
        if isinstance(value.type, MemRefType)
    }
    if all(size <= 1 for size in sizes.values()):
        return True
    return all(sizes[value] == 0 for op in group.operations for value in written_operands(op))


def _are_disjoint(group: _Group, extents: MemoryExtents) -> bool:
    """Whether no memref that a group writes overlaps another one that it uses."""
    memrefs = [value for value in group.arguments if isinstance(value.type, MemRefType)]
    found = dict.fromkeys(value for op in group.operations for value in written_operands(op))
    written, read = list(found), [value for value in memrefs if value not in found]
    return not any(
        extents.may_overlap(target, other)
        for number, target in enumerate(written, 1)
        for other in (*written[number:], *read)
    )


def _does_one_computation(function: func.FuncOp) -> bool:
    """Whether a private function is a kernel but for its name: views, and one linalg operation."""
    if function.sym_visibility != StringAttr("private") or len(function.body.blocks) != 1:
        return False
    *ops, _ = function.body.block.ops
    rest = [op for op in ops if type(op) not in (*VIEWS, arith.ConstantOp)]
    if len(rest) != 1 or not is_linalg_operation(rest[0]):
        return False
    group = _Group(rest)
    return not _is_tiny(group) and _are_disjoint(group, MemoryExtents())


def _leaves_memory_alone(op: Operation) -> bool:
    """Whether an operation without regions neither reads nor writes the elements of memrefs."""
    if type(op) in _WITHOUT_ACCESS:
        return True
    return not any(type(operand.type) is MemRefType for operand in operands_of(op))


_WITHOUT_ACCESS = frozenset((*VIEWS, memref.AllocOp, memref.GetGlobalOp))
