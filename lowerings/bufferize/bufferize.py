"""The pass `xla-bufferize`: from tensors to memrefs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, NoneAttr, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from lowerings.bufferize import bufferize_func, bufferize_linalg, bufferize_scf, bufferize_tensor
from lowerings.bufferize.bufferize_func import bufferize_function
from lowerings.bufferize.bufferize_tensor import padding_value
from lowerings.bufferize.constant_pool import ConstantPool
from lowerings.bufferize.function_bufferizer import BufferizeTable, ModuleState
from lowerings.conversion import ConversionFailed, Leftover, leftover

__all__ = ["XlaBufferizePass"]

_TABLE: BufferizeTable = {
    **bufferize_func.TABLE,
    **bufferize_linalg.TABLE,
    **bufferize_scf.TABLE,
    **bufferize_tensor.TABLE,
}
_TERMINATORS = ("func.return", "scf.yield", "scf.condition", "tensor.yield", "linalg.yield")
_SLICED = (tensor.ExtractSliceOp, tensor.InsertSliceOp)


@dataclass(frozen=True)
class XlaBufferizePass(ModulePass):
    """
    Gives every tensor a place in memory.

    ```mlir
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %c = linalg.sqrt ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      func.return %c : tensor<4xf32>
    }
    ```
    ->
    ```mlir
    func.func @main(%a: memref<4xf32>, %c: memref<4xf32>) attributes {xla.entry} {
      %b = memref.alloc() : memref<4xf32>
      linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
      linalg.sqrt ins(%b : memref<4xf32>) outs(%c : memref<4xf32>)
      func.return
    }
    ```

    Values are computed where they have to be in the end, in place where nothing else uses the
    memory any more; slices and reshapes are views; constants are globals. Arguments are never
    written. Memory is allocated and not freed: `xla-plan-buffers` gives all of it a place in one
    arena.
    """

    name = "xla-bufferize"

    in_place_bytes: int = 1 << 18
    """
    Results of at least this size are written over an input that is used no more, where each element
    is computed from that very element: that saves memory traffic. Smaller ones stay in the cache
    anyway; there it is better that equal operations look equal, and are one kernel.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [inner for inner in op.ops if isinstance(inner, func.FuncOp)]
        leftovers = [found for function in functions for found in _unsupported(function)]
        if leftovers:
            raise ConversionFailed(self.name, leftovers)
        module = ModuleState(ConstantPool(op), _TABLE, self.in_place_bytes)
        for function in functions:
            bufferize_function(function, module)


def _unsupported(function: func.FuncOp) -> list[Leftover]:
    """The operations of a function that cannot be bufferized, with the reasons."""
    types: dict[Attribute, str | None] = {}
    found: list[Leftover] = []
    if len(function.body.blocks) > 1:
        return [leftover(function, "it has several blocks: control flow must be structured")]
    for op in function.walk():
        reason = _objection(op, types)
        if reason is not None:
            found.append(leftover(op, reason))
    return found


def _objection(op: Operation, types: dict[Attribute, str | None]) -> str | None:
    touches_tensors = False
    for value in (*op.operands, *op.results):
        type = value.type
        if isinstance(type, TensorType):
            touches_tensors = True
            if type not in types:
                types[type] = _type_objection(cast(TensorType[Attribute], type))
            if types[type] is not None:
                return types[type]
    if not touches_tensors:
        return None
    if type_is_unknown(op):
        return "no bufferization is known for it"
    if isinstance(op, _SLICED):
        return "sizes and strides must be static" if op.sizes or op.strides else None
    if isinstance(op, tensor.PadOp):
        static = not (op.low or op.high) and min((0, *op.static_low.get_values())) >= 0
        if not static or min((0, *op.static_high.get_values())) < 0:
            return "padding must be static and not negative"
        if padding_value(op) is None:
            return "padding must not depend on the position"
    if isinstance(op, arith.ConstantOp) and not isinstance(op.value, DenseIntOrFPElementsAttr):
        return "only dense constants are supported"
    return None


def type_is_unknown(op: Operation) -> bool:
    return type(op) not in _TABLE and op.name not in _TERMINATORS


def _type_objection(type: TensorType[Attribute]) -> str | None:
    if any(size < 0 for size in type.get_shape()):
        return f"{type} has dynamic dimensions"
    if not isinstance(type.encoding, NoneAttr):
        return f"{type} has an encoding"
    return None
