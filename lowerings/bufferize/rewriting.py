"""
From tensors to memrefs, as the analysis has decided: nothing is decided here.

What the analysis wants in front of an operation is made there: allocations, views, copies. The
operation itself is replaced by one on the memrefs of its operands, if it has anything left to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeVar

from xdsl.dialects import arith, func, memref, scf, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from lowerings.bufferize.analysis import large_splat_element
from lowerings.bufferize.bufferization import (
    INPLACE_ATTRIBUTE,
    Bufferization,
    CopyStep,
    FillStep,
    Step,
)
from lowerings.bufferize.storage import Buffer, make_permuted, memref_type
from lowerings.bufferize.strided import buffer_type, descending_dimensions
from lowerings.bufferize.tensor_operands import (
    LINALG_OPERATIONS,
    captured_tensors,
    is_linalg_operation,
    is_permutation,
    is_tensor,
    linalg_inputs,
)
from lowerings.dialects.arith_extension import IndexCastUIOp
from lowerings.dialects.schedule import schedule_of
from lowerings.ir.functions import SymbolNames
from lowerings.ir.scalar_attributes import constant_integer
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before, set_arguments
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import operations_in, tensor_shape

OperationT = TypeVar("OperationT", bound=Operation)

_ALLOC_SEGMENTS = DenseArrayBase.from_list(i32, (0, 0))
_INDEX = IndexType()

CONSTANT_ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""


@dataclass(eq=False)
class ConstantPool:
    """The `memref.global` operations for the constant tensors of a module, one for equal ones."""

    module: ModuleOp
    _globals: dict[Attribute, tuple[SymbolRefAttr, Attribute]] = field(
        default_factory=dict[Attribute, tuple[SymbolRefAttr, Attribute]]
    )
    """The name and the type of the global for each constant."""

    def __post_init__(self) -> None:
        self._names = SymbolNames(self.module)
        self._anchor = self.module.body.block.first_op
        """The operation that globals go before."""

    def get_global(self, op: arith.ConstantOp) -> Operation:
        """`memref.get_global` of a constant tensor."""
        known = self._globals.get(op.value)
        if known is None:
            known = self._globals[op.value] = self._add(op)
        name, memref_type = known
        return create(memref.GetGlobalOp, result_types=(memref_type,), properties={"name": name})

    def _add(self, op: arith.ConstantOp) -> tuple[SymbolRefAttr, Attribute]:
        names = (f"constant_{number}" for number in count(len(self._globals)))
        name, memref_type = StringAttr(self._names.take(names)), buffer_type(op.result)
        new = create(
            memref.GlobalOp,
            properties={
                "sym_name": name,
                "sym_visibility": StringAttr("private"),
                "type": memref_type,
                "initial_value": op.value,
                "constant": UnitAttr(),
                "alignment": IntegerAttr(CONSTANT_ALIGNMENT, i64),
            },
            location=op.location,
        )
        assert self._anchor is not None
        self.module.body.block.insert_op_before(new, self._anchor)
        return SymbolRefAttr(name), memref_type


def rewrite_body(
    function: func.FuncOp, bufferization: Bufferization, constants: ConstantPool
) -> None:
    """Bufferizes the body of a function: each tensor result becomes one more memref argument."""
    block = function.body.block
    rewriter = _Rewriter(bufferization, constants, function)
    arguments: list[BlockArgument] = []
    for argument, buffer in zip(tuple(block.args), bufferization.arguments, strict=True):
        arguments.append(argument if buffer is None else rewriter.add_argument(block, buffer))
    arguments += [
        rewriter.add_argument(block, buffer)
        for buffer in bufferization.results
        if buffer is not None
    ]
    rewriter.rewrite_block(block)
    set_arguments(block, arguments)


@dataclass(eq=False)
class _Rewriter:
    """Rewrites the blocks of one function. New operations go before the anchor."""

    plan: Bufferization
    constants: ConstantPool
    anchor: Operation
    memrefs: dict[Buffer, SSAValue] = field(default_factory=dict[Buffer, SSAValue])
    """The buffers that have been made."""
    _scalars: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """What large constants consist of."""

    def rewrite_block(self, block: Block) -> None:
        """Rewrites the operations of a block, and erases what is replaced at the end."""
        outer = self.anchor
        replaced: list[Operation] = []
        for op in tuple(block.ops):
            self.anchor = op
            for step in self.plan.steps.get(op, ()):
                self._do(step)
            op.attributes.pop(INPLACE_ATTRIBUTE, None)
            touches = any(map(is_tensor, op.operands)) or any(map(is_tensor, op.results))
            rewrite = _TABLE.get(type(op))
            if op is block.last_op:
                if touches:
                    op.operands = [value for value in op.operands if not is_tensor(value)]
            elif rewrite is not None and (touches or op.regions):
                replaced.extend(rewrite(op, self))
            elif touches and not is_linalg_operation(op):
                replaced.append(op)
        for op in reversed(replaced):
            erase(op)
        self.anchor = outer

    def insert(self, op: OperationT) -> OperationT:
        """Inserts a new operation before the anchor, with the anchor's location."""
        return insert_before(op, self.anchor)

    def add_argument(self, block: Block, buffer: Buffer) -> BlockArgument:
        """A new argument of a block for a buffer."""
        made = block.insert_arg(buffer.type, len(block.args))
        made.name_hint = buffer.name_hint
        self.memrefs[buffer] = made
        return made

    def memref(self, op: Operation, value: SSAValue) -> SSAValue:
        """The memref that an operation finds a tensor in, or puts one of its results in."""
        plan = self.plan
        return self.memrefs[plan.reads.get((op, value)) or plan.places[value]]

    def bufferized(self, op: Operation, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Values of an operation, with memrefs for tensors."""
        return [self.memref(op, value) if is_tensor(value) else value for value in values]

    def make(self, buffer: Buffer, op: Operation) -> None:
        """Makes a buffer by an operation."""
        made = self.insert(op).results[0]
        if made.name_hint is None:
            made.name_hint = buffer.name_hint
        self.memrefs[buffer] = made

    def _do(self, step: Step) -> None:
        if isinstance(step, CopyStep):
            self._copy(self.memrefs[step.source], self.memrefs[step.target])
        elif isinstance(step, FillStep):
            self._fill(self._scalar_of(step.value), self.memrefs[step.target])
        elif step.source is not None and step.view is not None:
            self.make(step, step.view.make(self.memrefs[step.source], step.type))
        else:
            segments = {"operandSegmentSizes": _ALLOC_SEGMENTS}
            self.make(step, create(memref.AllocOp, result_types=(step.type,), properties=segments))

    def _copy(self, source: SSAValue, target: SSAValue) -> None:
        """Copies elements, in the order in which they are in memory on one side at least."""
        pair = (source, target)
        dimensions = descending_dimensions(memref_type(target)) or descending_dimensions(
            memref_type(source)
        )
        if dimensions is not None:
            views = [make_permuted(side, dimensions) for side in pair]
            if None not in views:
                first, second = (self.insert(view).results[0] for view in views if view)
                pair = (first, second)
        self.insert(create(memref.CopyOp, operands=pair))

    def _scalar_of(self, value: SSAValue) -> SSAValue:
        """What all elements of a tensor are, or those around the middle of one that is padded."""
        owner = value.owner
        if isinstance(owner, linalg.FillOp):
            return linalg_inputs(owner)[0]
        if isinstance(owner, tensor.SplatOp):
            return owner.input
        if isinstance(owner, tensor.PadOp):
            padding = padding_value(owner)
            assert padding is not None
            made = padding.owner
            if isinstance(made, Operation) and made.parent is owner.region.block:
                return self.insert(made.clone()).results[0]
            return padding
        if value not in self._scalars:
            assert isinstance(owner, arith.ConstantOp)
            element = large_splat_element(owner)
            assert element is not None
            self._scalars[value] = self.insert(arith.ConstantOp(element)).result
        return self._scalars[value]

    def _fill(self, scalar: SSAValue, target: SSAValue) -> None:
        """`linalg.fill`, or its `linalg.generic` where xDSL's verifier does not take the type."""
        if isinstance(scalar.type, AnyFloat | IntegerType):
            self.insert(linalg.FillOp((scalar,), (target,), ()))
            return
        rank = len(memref_type(target).get_shape())
        block = Block(arg_types=(scalar.type, scalar.type))
        block.add_op(linalg.YieldOp(block.args[0]))
        maps = (AffineMap(rank, 0, ()), AffineMap.identity(rank))
        self.insert(
            linalg.GenericOp(
                (scalar,),
                (target,),
                Region(block),
                [AffineMapAttr(map) for map in maps],
                [IteratorTypeAttr.parallel()] * rank,
            )
        )


def padding_value(op: tensor.PadOp) -> SSAValue | None:
    """The value that pads everywhere: from outside, or a constant; None if there is none such."""
    block = op.region.block
    terminator = block.last_op
    assert isinstance(terminator, tensor.YieldOp)
    value = terminator.operands[0]
    owner = value.owner
    if owner is block:
        return None
    if isinstance(owner, Operation) and owner.parent is block:
        return value if isinstance(owner, arith.ConstantOp) else None
    return value


def constant_dimension(op: tensor.DimOp) -> int | None:
    """The dimension that is asked for; None if it is not known, or there is none such."""
    dimension = constant_integer(op.index)
    return dimension if dimension in range(len(tensor_shape(op.source))) else None


# Linalg


def _rewrite_linalg(op: Operation, rewriter: _Rewriter) -> Sequence[Operation]:
    """
    ```mlir
    %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
    ```
    """
    if op in rewriter.plan.views or not op.results:
        return (op,) if op.results else ()
    inputs, merged = linalg_inputs(op), rewriter.plan.merged.get(op, {})
    extracts = captured_tensors(op.regions[0])
    loaded = [rewriter.memref(op, extract.tensor) for extract in extracts]
    properties = dict(op.properties)
    if merged:
        assert isinstance(op, linalg.GenericOp)
        properties.update(_merge_inputs(op, merged))
    kept = [value for index, value in enumerate(inputs) if index not in merged]
    new_op = create(
        type(op),
        operands=rewriter.bufferized(op, (*kept, *op.results)),
        properties=properties,
        attributes=dict(op.attributes),
        regions=[op.detach_region(region) for region in tuple(op.regions)],
    )
    _view_in_memory_order(new_op, rewriter)
    rewriter.insert(new_op)
    for extract, source in zip(extracts, loaded, strict=True):
        load = insert_before(_load(extract, source), extract)
        extract.result.replace_all_uses_with(load.results[0])
        erase(extract)
    return (op,)


def _merge_inputs(op: linalg.GenericOp, merged: Mapping[int, int]) -> Mapping[str, Attribute]:
    """Has the body read outputs in the place of inputs; returns the properties of what is left."""
    count, maps, block = len(op.inputs), op.indexing_maps.data, op.body.block
    for index in sorted(merged, reverse=True):
        argument = block.args[index]
        argument.replace_all_uses_with(block.args[count + merged[index]])
    for index in sorted(merged, reverse=True):
        block.erase_arg(block.args[index])
    kept = count - len(merged)
    return {
        "indexing_maps": ArrayAttr(map_ for i, map_ in enumerate(maps) if i not in merged),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, (kept, len(op.outputs))),
    }


def _view_in_memory_order(op: Operation, rewriter: _Rewriter) -> None:
    """
    Has an operation see memrefs whose strides do not fall in views in which they do, so that equal
    operations on arrays in other orders are one kernel.
    """
    if not isinstance(op, linalg.GenericOp):
        return
    maps = list(op.indexing_maps.data)
    for index, operand in enumerate(op.operands):
        if not isinstance(operand.type, MemRefType):
            continue
        dimensions = descending_dimensions(memref_type(operand))
        view = None if dimensions is None else make_permuted(operand, dimensions)
        if dimensions is None or view is None:
            continue
        op.operands[index] = rewriter.insert(view).results[0]
        map_ = maps[index].data
        results = tuple(map_.results[d] for d in dimensions)
        maps[index] = AffineMapAttr(AffineMap(map_.num_dims, map_.num_symbols, results))
    if maps != list(op.indexing_maps.data):
        op.properties["indexing_maps"] = ArrayAttr(_with_loops_as_written(op, maps))


def _with_loops_as_written(
    op: linalg.GenericOp, maps: Sequence[AffineMapAttr]
) -> Sequence[AffineMapAttr]:
    """The maps with loops renumbered so that the output map is the identity, where it permutes."""
    written = maps[len(op.inputs)].data
    has_reductions = any(kind != IteratorTypeAttr.parallel() for kind in op.iterator_types.data)
    has_indices = any(isinstance(inner, linalg.IndexOp) for inner in operations_in(op.body))
    # A schedule counts the loops as they are.
    is_fixed = has_reductions or has_indices or schedule_of(op) is not None
    if is_fixed or not is_permutation(written):
        return maps
    loops = [expr.position for expr in written.results if isinstance(expr, AffineDimExpr)]
    renumbered = [AffineExpr.dimension(loops.index(d)) for d in range(len(loops))]
    return [
        AffineMapAttr(map_.data.replace_dims_and_symbols(renumbered, (), len(loops), 0))
        for map_ in maps
    ]


# Tensors: views, slices and concatenations are there already


def _rewrite_constant(op: arith.ConstantOp, rewriter: _Rewriter) -> Sequence[Operation]:
    """`arith.constant dense<...>` -> `memref.get_global`, unless it has been filled in."""
    buffer = rewriter.plan.places[op.result]
    if buffer not in rewriter.memrefs:
        rewriter.make(buffer, rewriter.constants.get_global(op))
    return (op,)


def _load(op: tensor.ExtractOp, source: SSAValue) -> Operation:
    operands = (source, *op.indices)
    return create(
        memref.LoadOp, operands=operands, result_types=(op.result.type,), location=op.location
    )


def _rewrite_extract(op: tensor.ExtractOp, rewriter: _Rewriter) -> Sequence[Operation]:
    """`tensor.extract` -> `memref.load`."""
    load = rewriter.insert(_load(op, rewriter.memref(op, op.tensor)))
    op.result.replace_all_uses_with(load.results[0])
    return (op,)


def _rewrite_insert(op: tensor.InsertOp, rewriter: _Rewriter) -> Sequence[Operation]:
    """`tensor.insert` -> `memref.store`."""
    target = rewriter.memref(op, op.result)
    rewriter.insert(create(memref.StoreOp, operands=(op.scalar, target, *op.indices)))
    return (op,)


def _rewrite_from_elements(op: tensor.FromElementsOp, rewriter: _Rewriter) -> Sequence[Operation]:
    """`tensor.from_elements` -> one `memref.store` an element."""
    target, shape = rewriter.memref(op, op.result), tensor_shape(op.result)
    sizes = sorted({index for size in shape for index in range(size)})
    constants = {
        index: rewriter.insert(arith.ConstantOp(IntegerAttr(index, _INDEX))).result
        for index in sizes
    }
    for position, element in enumerate(op.elements):
        indices: list[SSAValue] = []
        for size in reversed(shape):
            position, index = divmod(position, size)
            indices.insert(0, constants[index])
        rewriter.insert(create(memref.StoreOp, operands=(element, target, *indices)))
    return (op,)


def _rewrite_dim(op: tensor.DimOp, rewriter: _Rewriter) -> Sequence[Operation]:
    """`tensor.dim` of a static shape, with a constant dimension -> `arith.constant`."""
    dimension = constant_dimension(op)
    assert dimension is not None
    size = arith.ConstantOp(IntegerAttr(tensor_shape(op.source)[dimension], _INDEX))
    op.result.replace_all_uses_with(rewriter.insert(size).result)
    return (op,)


# Functions and control flow


def _rewrite_call(op: func.CallOp, rewriter: _Rewriter) -> Sequence[Operation]:
    """`%r = func.call @f(%a)` -> `func.call @f(%a, %r)`, `%r` being memory for the result."""
    operands = (*op.arguments, *filter(is_tensor, op.res))
    _replace(op, type(op), rewriter.bufferized(op, operands), rewriter)
    return (op,)


def _rewrite_region_op(op: Operation, rewriter: _Rewriter) -> Sequence[Operation]:
    """
    ```mlir
    %r = scf.if %c -> tensor<4xf32> { ... scf.yield %a } else { ... scf.yield %b }
    ```
    becomes
    ```mlir
    scf.if %c { ... } else { ... }
    ```
    where `%a` and `%b` are computed in, or copied to, the memory of `%r`. Loops have no tensors in
    what they carry either.
    """
    kept = [value for value in op.operands if not is_tensor(value)]
    new_op = _replace(op, type(op), kept, rewriter)
    _rewrite_regions(new_op, rewriter)
    return (op,)


def _rewrite_for(op: scf.ForOp, rewriter: _Rewriter) -> Sequence[Operation]:
    """As others with regions; what runs once or not at all, if a condition holds, is `scf.if`."""
    condition = _condition_of(op)
    if condition is None:
        return _rewrite_region_op(op, rewriter)
    turns = op.ub.owner
    is_unused = op.ub.has_one_use() and isinstance(turns, Operation) and turns.parent is op.parent
    turn = op.body.block.args[0]
    turn.replace_all_uses_with(op.lb)
    op.body.block.erase_arg(turn)
    new_op = create(
        scf.IfOp,
        operands=(condition,),
        attributes=dict(op.attributes),
        regions=[op.detach_region(op.body), Region()],
    )
    _rewrite_regions(rewriter.insert(new_op), rewriter)
    return (turns, op) if is_unused and isinstance(turns, Operation) else (op,)


def _condition_of(op: scf.ForOp) -> SSAValue | None:
    """
    The i1 that is the trip count of a loop; None for other trip counts, and if it carries scalars.

    Such loops stand for conditional updates in place: the results of an `scf.if` are new tensors.
    """
    turns = op.ub.owner
    if (constant_integer(op.lb), constant_integer(op.step)) != (0, 1):
        return None
    if not isinstance(turns, IndexCastUIOp) or turns.input.type != i1:
        return None
    return turns.input if all(is_tensor(value) for value in op.iter_args) else None


def _replace(
    op: Operation,
    op_type: type[Operation],
    operands: Sequence[SSAValue],
    rewriter: _Rewriter,
) -> Operation:
    """The same operation with other operands and without tensors among its results."""
    scalars = [result for result in op.results if not is_tensor(result)]
    new_op = create(
        op_type,
        operands=operands,
        result_types=[result.type for result in scalars],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        regions=[op.detach_region(region) for region in tuple(op.regions)],
    )
    rewriter.insert(new_op)
    for old, new in zip(scalars, new_op.results, strict=True):
        old.replace_all_uses_with(new)
    return new_op


def _rewrite_regions(op: Operation, rewriter: _Rewriter) -> None:
    for region in op.regions:
        for block in region.blocks:
            rewriter.rewrite_block(block)
            for argument in reversed(block.args):
                if is_tensor(argument):
                    block.erase_arg(argument)


_TABLE = (
    OperationTable[Callable[[Operation, _Rewriter], Sequence[Operation]]]()
    .add(LINALG_OPERATIONS, _rewrite_linalg)
    .add(arith.ConstantOp, _rewrite_constant)
    .add(func.CallOp, _rewrite_call)
    .add(scf.ForOp, _rewrite_for)
    .add((scf.IfOp, scf.IndexSwitchOp, scf.WhileOp), _rewrite_region_op)
    .add(tensor.DimOp, _rewrite_dim)
    .add(tensor.ExtractOp, _rewrite_extract)
    .add(tensor.FromElementsOp, _rewrite_from_elements)
    .add(tensor.InsertOp, _rewrite_insert)
)
"""What becomes of operations of each class; returns those that are replaced."""
