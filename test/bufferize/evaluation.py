"""
A small evaluator in numpy for integer programs at the tensors and the buffers level.

Tensors are arrays that are never changed; memrefs are strided windows on memory, with the strides
of their types, checked against the bounds of the memory. Fresh memory holds arbitrary values. It
insists on what the buffers level promises: an operation that writes a memref, and a call of a
kernel, has no other operand that overlaps it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import arith, func, memref, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from lowerings.bufferize.aliased_results import aliased_parameters
from lowerings.bufferize.strided import strides_and_offset

DTYPES = {1: np.bool_, 8: np.int8, 32: np.int32, 64: np.int64}


def dtype_of(type: Attribute) -> np.dtype[Any]:
    if isinstance(type, IndexType):
        return np.dtype(np.int64)
    assert isinstance(type, IntegerType)
    return np.dtype(DTYPES[type.width.data])


@dataclass(eq=False)
class Window:
    """A memref: one-dimensional memory, an offset into it in elements, and the type."""

    memory: np.ndarray
    offset: int
    type: MemRefType

    def array(self) -> np.ndarray:
        """The elements, sharing memory; fails if the type reaches beyond it."""
        strides, offset = strides_and_offset(self.type)
        assert offset in (None, self.offset), f"{self.type} is at {self.offset}"
        shape = self.type.get_shape()
        if 0 not in shape:
            last = self.offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
            assert 0 <= self.offset <= last < len(self.memory), f"{self.type} is out of bounds"
        itemsize = self.memory.itemsize
        return np.lib.stride_tricks.as_strided(
            self.memory[self.offset :], shape, [s * itemsize for s in strides]
        )

    def addresses(self) -> set[int]:
        array = self.array()
        start = array.__array_interface__["data"][0]
        steps = [[i * s for i in range(n)] for n, s in zip(array.shape, array.strides, strict=True)]
        return {
            start + sum(parts) + byte
            for parts in itertools.product(*steps)
            for byte in range(array.itemsize)
        }


def assert_disjoint(written: Sequence[Window], others: Sequence[Window], op: Operation) -> None:
    for index, window in enumerate(written):
        addresses = window.addresses()
        for other in (*written[index + 1 :], *others):
            assert not addresses & other.addresses(), f"operands overlap: {op}"


def trip_limit(count: int) -> None:
    assert count < 1000, "a loop does not end"


class Evaluator:
    """Evaluates the functions of one module."""

    def __init__(self, module: ModuleOp, seed: int = 0):
        self.functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
        self.constants = {
            op.sym_name.data: op for op in module.ops if isinstance(op, memref.GlobalOp)
        }
        self.garbage = np.random.default_rng(seed)
        self.allocated = 0

    # Entry points

    def call_tensors(self, name: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Calls a function at the tensors level."""
        return [np.array(value) for value in self.call(name, list(arguments))]

    def call_buffers(self, name: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Calls an entry function at the buffers level: allocates results, and the arena if any."""
        function = self.functions[name]
        types = list(function.function_type.inputs)
        windows: list[Any] = []
        for type, value in zip(types, arguments, strict=False):
            assert isinstance(type, MemRefType)
            windows.append(Window(np.array(value).reshape(-1), 0, type))
        results = [self.fresh(type) for type in types[len(windows) :]]
        for number, parameter in aliased_parameters(function).items():
            results[number - len(windows)].memory[:] = windows[parameter].memory
        assert self.call(name, [*windows, *results]) == []
        for window, value in zip(windows, arguments, strict=True):
            np.testing.assert_array_equal(window.array(), value, "an input was written")
        arena = "xla.arena_bytes" in function.attributes
        return [window.array().copy() for window in (results[:-1] if arena else results)]

    def fresh(self, type: Attribute) -> Window:
        """New memory with arbitrary content."""
        assert isinstance(type, MemRefType)
        dtype = dtype_of(type.element_type)
        size = int(np.prod(type.get_shape(), dtype=np.int64))
        memory = np.empty(size + 64 // dtype.itemsize, dtype)
        start = -memory.__array_interface__["data"][0] % 64 // dtype.itemsize
        memory = memory[start : start + size]
        if dtype == np.bool_:
            memory[:] = self.garbage.integers(0, 2, size)
        else:
            info = np.iinfo(dtype)
            memory[:] = self.garbage.integers(info.min, info.max, size, dtype)
        self.allocated += 1
        return Window(memory, 0, type)

    # Execution

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        function = self.functions[name]
        assert len(arguments) == len(function.function_type.inputs)
        return self.run(function.body.block, arguments, {})

    def run(self, block: Block, arguments: Sequence[Any], outer: dict[SSAValue, Any]) -> list[Any]:
        """Runs a block and returns the operands of its terminator."""
        values = outer
        for argument, value in zip(block.args, arguments, strict=True):
            values[argument] = value
        for op in block.ops:
            operands = [values[operand] for operand in op.operands]
            if op is block.last_op and not op.results and op.name in TERMINATORS:
                return operands
            results = HANDLERS[op.name](self, op, operands, values)
            for result, value in zip(op.results, results, strict=True):
                values[result] = value
        return []


def wrap(value: int, type: Attribute) -> int:
    if isinstance(type, IndexType):
        return int(value)
    assert isinstance(type, IntegerType)
    width = type.width.data
    if width == 1:
        return int(value) & 1
    return (int(value) + (1 << width - 1)) % (1 << width) - (1 << width - 1)


def arithmetic(function: Callable[..., int]):
    def run(e: Evaluator, op: Operation, operands: list[Any], values: dict[SSAValue, Any]):
        return [wrap(function(*map(int, operands)), op.results[0].type)]

    return run


def run_constant(e: Evaluator, op: arith.ConstantOp, operands: list[Any], values: Any):
    if isinstance(op.value, IntegerAttr):
        return [op.value.value.data]
    return [dense(op.value)]


def dense(value: Attribute) -> np.ndarray:
    assert isinstance(value, DenseIntOrFPElementsAttr)
    shape = value.get_shape()
    elements = np.array(list(value.get_values()), dtype_of(value.get_element_type()))
    return np.full(shape, elements[0]) if elements.size == 1 else elements.reshape(shape)


def run_cmpi(e: Evaluator, op: arith.CmpiOp, operands: list[Any], values: Any):
    left, right = map(int, operands)
    predicates = [left == right, left != right, left < right, left <= right, left > right]
    return [int(predicates[op.predicate.value.data])]


def offsets_of(op: Any, operands: Sequence[Any]) -> list[int]:
    dynamic = iter(operands)
    return [
        int(next(dynamic)) if offset == DYNAMIC_INDEX else offset
        for offset in op.static_offsets.get_values()
    ]


def slices(op: Any, offsets: Sequence[int]) -> tuple[slice, ...]:
    return tuple(
        slice(o, o + (n - 1) * s + 1, s) if n else slice(0, 0)
        for o, n, s in zip(
            offsets, op.static_sizes.get_values(), op.static_strides.get_values(), strict=True
        )
    )


# Tensors


def shape_of(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def run_tensor_empty(e: Evaluator, op: tensor.EmptyOp, operands: list[Any], values: Any):
    type = op.tensor.type
    assert isinstance(type, TensorType)
    return [e.fresh(MemRefType(type.element_type, type.shape)).array().copy()]


def run_extract_slice(e: Evaluator, op: tensor.ExtractSliceOp, operands: list[Any], values: Any):
    found = np.array(operands[0][slices(op, offsets_of(op, operands[1:]))])
    return [found.reshape(shape_of(op.result))]


def run_insert_slice(e: Evaluator, op: tensor.InsertSliceOp, operands: list[Any], values: Any):
    result = operands[1].copy()
    place = slices(op, offsets_of(op, operands[2:]))
    result[place] = operands[0].reshape(result[place].shape)
    return [result]


def run_insert(e: Evaluator, op: tensor.InsertOp, operands: list[Any], values: Any):
    result = operands[1].copy()
    result[tuple(operands[2:])] = operands[0]
    return [result]


def run_reshape(e: Evaluator, op: Operation, operands: list[Any], values: Any):
    return [operands[0].reshape(shape_of(op.results[0])).copy()]


def run_from_elements(e: Evaluator, op: Operation, operands: list[Any], values: Any):
    type = op.results[0].type
    assert isinstance(type, TensorType)
    return [np.array(operands, dtype_of(type.element_type)).reshape(type.get_shape())]


def run_splat(e: Evaluator, op: Operation, operands: list[Any], values: Any):
    type = op.results[0].type
    assert isinstance(type, TensorType)
    return [np.full(type.get_shape(), operands[0], dtype_of(type.element_type))]


def run_pad(e: Evaluator, op: tensor.PadOp, operands: list[Any], values: dict[SSAValue, Any]):
    low, high = op.static_low.get_values(), op.static_high.get_values()
    padding = e.run(op.region.block, [0] * len(low), dict(values))[0]
    width = list(zip(low, high, strict=True))
    padded = np.pad(operands[0], width, constant_values=padding) if width else operands[0]
    return [padded.copy()]


# Memrefs


def run_alloc(e: Evaluator, op: memref.AllocOp, operands: list[Any], values: Any):
    return [e.fresh(op.memref.type)]


def run_get_global(e: Evaluator, op: memref.GetGlobalOp, operands: list[Any], values: Any):
    constant = e.constants[op.name_.root_reference.data]
    assert constant.type == op.memref.type
    return [Window(dense(constant.initial_value).reshape(-1).copy(), 0, constant.type)]


def run_subview(e: Evaluator, op: memref.SubviewOp, operands: list[Any], values: Any):
    source: Window = operands[0]
    assert isinstance(op.result.type, MemRefType)
    strides, _ = strides_and_offset(source.type)
    offsets = offsets_of(op, operands[1:])
    start = source.offset + sum(o * s for o, s in zip(offsets, strides, strict=True))
    return [Window(source.memory, start, op.result.type)]


def run_memref_reshape(e: Evaluator, op: Operation, operands: list[Any], values: Any):
    source: Window = operands[0]
    type = op.results[0].type
    assert isinstance(type, MemRefType)
    view = Window(source.memory, source.offset, type)
    if 0 not in type.get_shape():
        expected = source.array().reshape(type.get_shape())
        np.testing.assert_array_equal(view.array(), expected, f"wrong strides: {op}")
    return [view]


def run_cast(e: Evaluator, op: memref.CastOp, operands: list[Any], values: Any):
    source: Window = operands[0]
    assert isinstance(op.dest.type, MemRefType)
    view = Window(source.memory, source.offset, op.dest.type)
    np.testing.assert_array_equal(view.array(), source.array())
    return [view]


def run_reinterpret_cast(
    e: Evaluator, op: memref.ReinterpretCastOp, operands: list[Any], values: Any
):
    (offset,) = op.static_offsets.get_values()
    assert isinstance(op.result.type, MemRefType)
    return [Window(operands[0].memory, offset, op.result.type)]


def run_view(e: Evaluator, op: memref.ViewOp, operands: list[Any], values: Any):
    arena, start = operands[0], int(operands[1])
    type = op.result.type
    assert isinstance(type, MemRefType)
    dtype = dtype_of(type.element_type)
    size = int(np.prod(type.get_shape(), dtype=np.int64)) * dtype.itemsize
    assert start % 64 == 0
    assert start + size <= len(arena.memory)
    return [Window(arena.memory[start : start + size].view(dtype), 0, type)]


def run_load(e: Evaluator, op: memref.LoadOp, operands: list[Any], values: Any):
    return [int(operands[0].array()[tuple(operands[1:])])]


def run_store(e: Evaluator, op: memref.StoreOp, operands: list[Any], values: Any):
    operands[1].array()[tuple(operands[2:])] = operands[0]
    return []


def run_copy(e: Evaluator, op: memref.CopyOp, operands: list[Any], values: Any):
    source, target = operands
    assert_disjoint([target], [source], op)
    target.array()[...] = source.array()
    return []


# Linalg


def extents(maps: Sequence[AffineMap], shapes: Sequence[tuple[int, ...]]) -> list[int]:
    found: dict[int, int] = {}
    for affine_map, shape in zip(maps, shapes, strict=True):
        for expr, size in zip(affine_map.results, shape, strict=True):
            if isinstance(expr, AffineDimExpr):
                found[expr.position] = size
    return [found[d] for d in range(maps[0].num_dims)]


def run_generic(
    e: Evaluator, op: linalg.GenericOp, operands: list[Any], values: dict[SSAValue, Any]
):
    count = len(op.inputs)
    if not op.results:
        captured = [
            values[load.memref]
            for load in op.body.block.walk()
            if isinstance(load, memref.LoadOp) and load.memref in values
        ]
        inputs = [operand for operand in operands[:count] if isinstance(operand, Window)]
        assert_disjoint(operands[count:], [*inputs, *captured], op)
        arrays = [o.array() if isinstance(o, Window) else np.array(o) for o in operands]
    else:
        arrays = [np.array(operand) for operand in operands]
    maps = [attribute.data for attribute in op.indexing_maps]
    block = op.body.block
    for point in itertools.product(
        *(range(n) for n in extents(maps, [array.shape for array in arrays]))
    ):
        places = [tuple(affine_map.eval(point, [])) for affine_map in maps]
        elements = [int(a[place]) for a, place in zip(arrays, places, strict=True)]
        scope = values | {INDICES: point}
        for array, place, value in zip(
            arrays[count:], places[count:], e.run(block, elements, scope), strict=True
        ):
            array[place] = value
    return arrays[count:] if op.results else []


INDICES: Any = object()


def run_index(e: Evaluator, op: linalg.IndexOp, operands: list[Any], values: dict[Any, Any]):
    return [values[INDICES][op.dim.value.data]]


def run_fill(e: Evaluator, op: linalg.FillOp, operands: list[Any], values: Any):
    if op.results:
        return [np.full_like(operands[1], operands[0])]
    operands[1].array()[...] = operands[0]
    return []


# Control flow


def run_if(e: Evaluator, op: scf.IfOp, operands: list[Any], values: dict[SSAValue, Any]):
    region = op.true_region if operands[0] else op.false_region
    return e.run(region.block, [], values) if region.blocks else []


def run_switch(e: Evaluator, op: scf.IndexSwitchOp, operands: list[Any], values: Any):
    cases = list(op.cases.get_values())
    index = int(operands[0])
    region = op.case_regions[cases.index(index)] if index in cases else op.default_region
    return e.run(region.block, [], values)


def run_for(e: Evaluator, op: scf.ForOp, operands: list[Any], values: dict[SSAValue, Any]):
    lower, upper, step, *carried = operands
    for index in range(int(lower), int(upper), int(step)):
        carried = e.run(op.body.block, [index, *carried], values)
    return carried


def run_while(e: Evaluator, op: scf.WhileOp, operands: list[Any], values: dict[SSAValue, Any]):
    carried = operands
    for count in itertools.count():
        trip_limit(count)
        condition, *passed = e.run(op.before_region.block, carried, values)
        if not condition:
            return passed
        carried = e.run(op.after_region.block, passed, values)
    raise AssertionError


def run_call(e: Evaluator, op: func.CallOp, operands: list[Any], values: Any):
    name = op.callee.root_reference.data
    if "xla.kernel" in e.functions[name].attributes:
        check_kernel_call(e.functions[name], operands, op)
    return e.call(name, operands)


def check_kernel_call(function: func.FuncOp, operands: Sequence[Any], op: Operation) -> None:
    """A kernel's arguments do not overlap if any of them is written."""
    written = written_arguments(function)
    windows = [operand for operand in operands if isinstance(operand, Window)]
    targets = [operands[index] for index in sorted(written)]
    others = [window for window in windows if all(window is not t for t in targets)]
    assert len(set(map(id, windows))) == len(windows), f"an operand is passed twice: {op}"
    assert_disjoint(targets, others, op)


def written_arguments(function: func.FuncOp) -> set[int]:
    arguments: dict[SSAValue, int] = {
        argument: index for index, argument in enumerate(function.body.block.args)
    }
    found: set[int] = set()
    for op in function.walk():
        targets: Sequence[SSAValue] = ()
        if isinstance(op, linalg.GenericOp | linalg.FillOp):
            targets = op.outputs
        elif isinstance(op, memref.CopyOp):
            targets = (op.destination,)
        elif isinstance(op, memref.StoreOp):
            targets = (op.memref,)
        found.update(arguments[target] for target in targets if target in arguments)
    return found


TERMINATORS = {
    "func.return",
    "scf.yield",
    "scf.condition",
    "linalg.yield",
    "tensor.yield",
}

HANDLERS: dict[str, Callable[..., Any]] = {
    "arith.constant": run_constant,
    "arith.addi": arithmetic(lambda a, b: a + b),
    "arith.subi": arithmetic(lambda a, b: a - b),
    "arith.muli": arithmetic(lambda a, b: a * b),
    "arith.remsi": arithmetic(lambda a, b: int(np.fmod(a, b))),
    "arith.remui": arithmetic(lambda a, b: a % b),
    "arith.andi": arithmetic(lambda a, b: a & b),
    "arith.index_cast": arithmetic(lambda a: a),
    "arith.extui": arithmetic(lambda a: a),
    "arith.trunci": arithmetic(lambda a: a),
    "arith.select": arithmetic(lambda c, a, b: a if c else b),
    "arith.cmpi": run_cmpi,
    "tensor.empty": run_tensor_empty,
    "tensor.extract_slice": run_extract_slice,
    "tensor.insert_slice": run_insert_slice,
    "tensor.extract": lambda e, op, operands, values: [operands[0][tuple(operands[1:])]],
    "tensor.insert": run_insert,
    "tensor.collapse_shape": run_reshape,
    "tensor.expand_shape": run_reshape,
    "tensor.reshape": run_reshape,
    "tensor.cast": run_reshape,
    "tensor.concat": lambda e, op, operands, values: [np.concatenate(operands, op.dim.value.data)],
    "tensor.from_elements": run_from_elements,
    "tensor.splat": run_splat,
    "tensor.pad": run_pad,
    "memref.alloc": run_alloc,
    "memref.get_global": run_get_global,
    "memref.subview": run_subview,
    "memref.collapse_shape": run_memref_reshape,
    "memref.expand_shape": run_memref_reshape,
    "memref.cast": run_cast,
    "memref.view": run_view,
    "memref.reinterpret_cast": run_reinterpret_cast,
    "memref.load": run_load,
    "memref.store": run_store,
    "memref.copy": run_copy,
    "linalg.generic": run_generic,
    "linalg.index": run_index,
    "linalg.fill": run_fill,
    "scf.if": run_if,
    "scf.index_switch": run_switch,
    "scf.for": run_for,
    "scf.while": run_while,
    "func.call": run_call,
}
