"""The pass `xla-annotate-work`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import arith, complex, func, math, memref, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    Float64Type,
    MemRefType,
    ModuleOp,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.passes import ModulePass

from lowerings.bufferize.strided import element_bytes
from lowerings.bufferize.tensor_operands import is_linalg_operation, linalg_inputs, linalg_outputs
from lowerings.ir.functions import KERNEL
from lowerings.ir.scalar_attributes import constant_integer, number_of_iterations
from lowerings.profiling.work import WORK_ATTRIBUTE, Work
from lowerings.rewriting.levels import ON_BUFFERS
from xla_dialect.xdsl.traversal import operations_in

__all__ = ["XlaAnnotateWorkPass", "work_of"]

_COMPLEX_OPERATIONS: dict[type[Operation], int] = {
    complex.AddOp: 2,
    complex.SubOp: 2,
    complex.MulOp: 6,
    complex.DivOp: 11,
}
"""Operations on real numbers that the textbook's formula for complex ones takes."""

_MOVEMENT = (
    arith.ConstantOp,
    arith.SelectOp,
    arith.BitcastOp,
    arith.ExtFOp,
    arith.TruncFOp,
    arith.SIToFPOp,
    arith.UIToFPOp,
)
"""Operations of `arith` with floats as results that compute none."""


@dataclass(frozen=True)
class XlaAnnotateWorkPass(ModulePass):
    """
    Says on each kernel how much work it is: floating-point operations, and bytes of memory.

    Counted are the operations in the bodies of linalg operations, once for each point of the
    iteration space: an fma is two, a function of `math` one, and comparisons, conversions and
    integers are none. An element of memory counts once if it is read, and once if it is written,
    however often that happens; so the bytes are the least that a cache of any size leaves.

    ```mlir
    func.func private @addf_kernel_0(...) attributes {xla.kernel} {
    ```
    ->
    ```mlir
    func.func private @addf_kernel_0(...) attributes {xla.kernel,
        xla.work = {bytes = 96 : i64, f32_operations = 8 : i64, f64_operations = 0 : i64}} {
    ```
    """

    name = "xla-annotate-work"
    takes = ON_BUFFERS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Goes through all kernels."""
        for function in op.ops:
            if isinstance(function, func.FuncOp) and KERNEL in function.attributes:
                function.attributes[WORK_ATTRIBUTE] = work_of(function).attribute()


def work_of(function: func.FuncOp) -> Work:
    """The work of a function whose loops are linalg operations, as `XlaAnnotateWorkPass` says."""
    count = _Count()
    for op in operations_in(function):
        if isinstance(op, memref.CopyOp):
            points = _elements(op.source)
            count.access(count.read, op.source, points)
            count.access(count.written, op.destination, points)
        elif is_linalg_operation(op):
            count.add_linalg(op)
    return Work(
        sum(count.read.values()) + sum(count.written.values()),
        count.operations["f32"],
        count.operations["f64"],
    )


@dataclass
class _Count:
    operations: Counter[str] = field(default_factory=Counter[str])
    read: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Bytes by memref."""
    written: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def access(self, kind: dict[SSAValue, int], value: SSAValue, times: int) -> None:
        """Notes that elements of a memref are read or written so many times."""
        size = element_bytes(cast("MemRefType[Attribute]", value.type).element_type) or 0
        kind[value] = max(kind.get(value, 0), size * min(times, _elements(value)))

    def add_linalg(self, op: Operation) -> None:
        points = _points(op)
        block = op.regions[0].block
        inputs, outputs = linalg_inputs(op), linalg_outputs(op)
        # An operand of which only the shape counts is not read.
        for value, argument in zip((*inputs, *outputs), block.args, strict=False):
            is_new = value not in self.written
            if isinstance(value.type, MemRefType) and argument.first_use is not None and is_new:
                self.access(self.read, value, points)
        for value in outputs:
            self.access(self.written, value, points)
        self._add_block(block, points)

    def _add_block(self, block: Block, times: int) -> None:
        for op in block.ops:
            if isinstance(op, memref.LoadOp):
                self._access_whole(self.read, op.memref, times)
            elif isinstance(op, memref.StoreOp):
                self._access_whole(self.written, op.memref, times)
            for kind, number in _floating_point_operations(op):
                self.operations[kind] += number * times
            inside = times * _trip_count(op) if isinstance(op, scf.ForOp) else times
            for region in op.regions:
                for nested in region.blocks:
                    self._add_block(nested, inside)

    def _access_whole(self, kind: dict[SSAValue, int], value: SSAValue, times: int) -> None:
        """An access at an index that is computed, unless to memory of the body itself."""
        if isinstance(value, BlockArgument):
            self.access(kind, value, times)


def _floating_point_operations(op: Operation) -> Iterator[tuple[str, int]]:
    """The type and number of the floating-point operations that an operation is."""
    if not op.results:
        return
    type_ = op.results[0].type
    number = _COMPLEX_OPERATIONS.get(type(op), 1)
    if isinstance(op, math.FmaOp):
        number = 2
    if isinstance(type_, ComplexType):
        type_ = cast("ComplexType[Any]", type_).element_type
    name = op.name.partition(".")[0]
    if not isinstance(type_, AnyFloat) or isinstance(op, _MOVEMENT):
        return
    if name in ("arith", "math") or (name == "complex" and type(op) in _COMPLEX_OPERATIONS):
        yield ("f64" if isinstance(type_, Float64Type) else "f32"), number


def _points(op: Operation) -> int:
    """The size of the iteration space of a linalg operation on memrefs of known sizes."""
    extents: dict[int, int] = {}
    operation = cast(linalg.GenericOp, op)
    for value, map_ in zip(op.operands, operation.get_indexing_maps(), strict=False):
        if isinstance(value.type, MemRefType):
            for expression, size in zip(map_.data.results, _shape(value), strict=True):
                if isinstance(expression, AffineDimExpr):
                    extents[expression.position] = size
    return prod(extents.values())


def _shape(value: SSAValue) -> tuple[int, ...]:
    return cast("MemRefType[Attribute]", value.type).get_shape()


def _elements(value: SSAValue) -> int:
    return prod(_shape(value))


def _trip_count(loop: scf.ForOp) -> int:
    """How many iterations a loop has; 1 where that is not known."""
    found = number_of_iterations(*map(constant_integer, (loop.lb, loop.ub, loop.step)))
    return 1 if found is None else found
