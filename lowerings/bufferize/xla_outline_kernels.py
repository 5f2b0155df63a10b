"""The pass `xla-outline-kernels`: computations as functions of their own, equal ones once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    LocationAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from lowerings.bufferize.constant_arguments import alike_but_for_constants, take_constants
from lowerings.bufferize.kernel_names import kernel_name
from lowerings.bufferize.memory_extent import MemoryExtents
from lowerings.bufferize.memory_liveness import VIEW_OPERATIONS
from lowerings.bufferize.storage import MemRef, memref_type
from lowerings.bufferize.strided import has_identity_layout, with_dynamic_offset
from lowerings.bufferize.tensor_operands import (
    is_linalg_operation,
    linalg_inputs,
    linalg_outputs,
)
from lowerings.ir.equality import StructuralKeys
from lowerings.ir.locations import fused
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.levels import ON_BUFFERS
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import free_values, operands_of, operations_in

__all__ = ["KERNEL_ATTRIBUTE", "XlaOutlineKernelsPass"]

KERNEL_ATTRIBUTE = "xla.kernel"
"""Unit attribute of the functions that the pass makes, and of those that need none made."""

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
    are left to run time (`offset: ?`), and constants are made inside. Of four or more that differ
    in constants only, one is left, which takes these as arguments, if they are plain operands.
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
                function.attributes[KERNEL_ATTRIBUTE] = UnitAttr()
            if KERNEL_ATTRIBUTE not in function.attributes:
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
    _names: set[str] = field(default_factory=set[str])
    _keys: StructuralKeys = field(default_factory=StructuralKeys)

    def __post_init__(self) -> None:
        symbols = (op.properties.get("sym_name") for op in self.module.ops)
        self._names.update(symbol.data for symbol in symbols if isinstance(symbol, StringAttr))

    def function_for(self, group: _Group) -> func.FuncOp:
        """The kernel that does what the group does; a new one takes over the group's regions."""
        key = group.key(self._keys)
        function = self._functions.get(key)
        locations = [op.location for each in group.operations for op in operations_in(each)]
        if function is None:
            function = _make_kernel(self._new_name(group.operations[-1]), group)
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

    def _new_name(self, op: Operation) -> str:
        stem, number = kernel_name(op), len(self._functions)
        while (name := f"{stem}_kernel_{number}") in self._names:
            number += 1
        self._names.add(name)
        return name


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
    function.attributes[KERNEL_ATTRIBUTE] = UnitAttr()
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
        block = op.parent
        assert block is not None
        arguments: list[SSAValue] = []
        for value, type in zip(group.arguments, group.types, strict=True):
            if value.type != type:
                cast_op = create(memref.CastOp, operands=(value,), result_types=(type,))
                block.insert_op_before(cast_op, op)
                value = cast_op.results[0]
            arguments.append(value)
        call = create(
            func.CallOp, operands=arguments, properties={"callee": SymbolRefAttr(function.sym_name)}
        )
        call.location = op.location
        block.insert_op_before(call, op)
        self.kernels.calls[function].append(call)
        for outlined in reversed(operations):
            erase(outlined)
        for constant in group.constants:
            made_by = constant.owner
            if constant.first_use is None and isinstance(made_by, Operation):
                erase(made_by)


def _written(op: Operation) -> Sequence[SSAValue]:
    return (op.destination,) if isinstance(op, memref.CopyOp) else linalg_outputs(op)


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
    return all(sizes[value] == 0 for op in group.operations for value in _written(op))


def _are_disjoint(group: _Group, extents: MemoryExtents) -> bool:
    """Whether no memref that a group writes overlaps another one that it uses."""
    memrefs = [value for value in group.arguments if isinstance(value.type, MemRefType)]
    written = {value for op in group.operations for value in _written(op)}
    return not any(
        extents.may_overlap(target, other)
        for target in written
        for other in memrefs
        if other is not target
    )


def _does_one_computation(function: func.FuncOp) -> bool:
    """Whether a private function is a kernel but for its name: views, and one linalg operation."""
    if function.sym_visibility != StringAttr("private") or len(function.body.blocks) != 1:
        return False
    *ops, _ = function.body.block.ops
    rest = [op for op in ops if not isinstance(op, (*VIEW_OPERATIONS, arith.ConstantOp))]
    if len(rest) != 1 or not is_linalg_operation(rest[0]):
        return False
    group = _Group(rest)
    return not _is_tiny(group) and _are_disjoint(group, MemoryExtents())


def _leaves_memory_alone(op: Operation) -> bool:
    """Whether an operation without regions neither reads nor writes the elements of memrefs."""
    if type(op) in _WITHOUT_ACCESS:
        return True
    return not any(type(operand.type) is MemRefType for operand in operands_of(op))


_WITHOUT_ACCESS = frozenset((*VIEW_OPERATIONS, memref.AllocOp, memref.GetGlobalOp))
