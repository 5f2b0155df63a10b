"""The pass `xla-bufferize`: from tensors to memrefs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from lowerings.bufferize.analysis import TABLE, analyse
from lowerings.bufferize.bufferization import INPLACE_ATTRIBUTE, print_decisions, wish
from lowerings.bufferize.rewriting import ConstantPool, constant_dimension, padding_value
from lowerings.bufferize.signatures import (
    aliases_objection,
    aliases_of,
    asks_for_aliases,
    buffer_types,
    bufferize_function,
    is_public,
    strides_objection,
)
from lowerings.bufferize.tensor_operands import is_linalg_operation
from lowerings.ir.functions import calls_of, functions_of
from lowerings.rewriting.conversion import (
    SEVERAL_BLOCKS,
    ConversionFailed,
    IllegalOp,
    illegal_op,
)
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.rewriting.passes import require_at_least
from xla_dialect.xdsl.dense_literals import LEFT_OUT, is_elided
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import (
    AttributeMemo,
    ancestors,
    operands_of,
    operations_in,
    segment_sizes,
)

_TERMINATORS = ("func.return", "scf.yield", "scf.condition", "tensor.yield", "linalg.yield")


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
    written: a result that a parameter with `tf.aliasing_output` gives its memory to is an argument
    of its own, whose content is that of the parameter when the function is called. Memory is
    allocated and not freed: `xla-plan-buffers` gives all of it a place in one arena.

    An analysis decides first, for all functions, which operands are copied; `print-decisions` shows
    that, and why. `__inplace_operands_attr__ = ["none", "false"]` on an operation, as MLIR has it,
    forces a copy of an operand; with "true" it is an error where one is needed.
    """

    name = "xla-bufferize"
    takes = ON_TENSORS
    gives = "buffers"

    in_place_bytes: int = 1 << 18
    """
    Results of at least this size are written over an input that is used no more, where each element
    is computed from that very element: that saves memory traffic. Smaller ones stay in the cache
    anyway; there it is better that equal operations look equal, and are one kernel.
    """

    print_decisions: bool = False
    """Prints which operands are copied, why, and which are in place (stderr)."""

    def __post_init__(self) -> None:
        require_at_least(0, in_place_bytes=self.in_place_bytes)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [inner for inner in op.ops if isinstance(inner, func.FuncOp)]
        illegal_ops = [found for function in functions for found in _unsupported(function)]
        if illegal_ops:
            raise ConversionFailed(self.name, illegal_ops)
        # Callees matter to aliases only, so call sites are not collected without any.
        asking = list(filter(asks_for_aliases, functions))
        called = set(chain(*calls_of(functions_of(op)).values())) if asking else set[str]()
        aliases = {
            function.sym_name.data: aliases_of(function)
            for function in asking
            # Callers inside of the module do not call a public function as those outside do.
            if not is_public(function) or function.sym_name.data not in called
        }
        found = {
            function: analyse(function, buffer_types(function), self.in_place_bytes, aliases)
            for function in functions
            if function.body.blocks
        }
        if self.print_decisions:
            for function, (plan, liveness) in found.items():
                print_decisions(function, plan.decisions, liveness)
        refused = [
            illegal_op(each.op, f"operand {each.operand} cannot be in place: {each.reason}")
            for plan, _ in found.values()
            for each in plan.decisions
            if each.reason and wish(each.op, each.operand) == "true"
        ]
        if refused:
            raise ConversionFailed(self.name, refused)
        constants = ConstantPool(op)
        for function in functions:
            plan = found[function][0] if function in found else None
            aliased = aliases.get(function.sym_name.data, {})
            bufferize_function(function, plan, constants, aliased)


def _unsupported(function: func.FuncOp) -> list[IllegalOp]:
    """The operations of a function that cannot be bufferized, with the reasons."""
    objection_to = AttributeMemo(_type_objection)
    found: list[IllegalOp] = []
    if len(function.body.blocks) > 1:
        return [illegal_op(function, SEVERAL_BLOCKS)]
    reason = strides_objection(function) or aliases_objection(function)
    if reason is not None:
        return [illegal_op(function, reason)]
    for op in operations_in(function):
        reason = _objection(op, objection_to)
        if reason is not None:
            found.append(illegal_op(op, reason))
    return found


def _objection(op: Operation, objection_to: AttributeMemo[str | None]) -> str | None:
    """Why an operation cannot be bufferized; `objection_to` says why a type cannot."""
    touches_tensors = False
    for value in (*operands_of(op), *op.results):
        type_ = value.type
        if type(type_) is TensorType:
            touches_tensors = True
            if (reason := objection_to(value.type)) is not None:
                return reason
    if not touches_tensors:
        return None
    if INPLACE_ATTRIBUTE in op.attributes and not _are_wishes(op):
        return f'{INPLACE_ATTRIBUTE} is not one of "true", "false", "none" for each operand'
    if type(op) not in TABLE and op.name not in _TERMINATORS:
        return "no bufferization is known for it"
    if type(op) is not tensor.ExtractOp and any(map(is_linalg_operation, ancestors(op))):
        return "the body of a linalg operation can only extract elements of tensors"
    objection = _OBJECTIONS.get(type(op))
    return None if objection is None else objection(op)


def _are_wishes(op: Operation) -> bool:
    given = op.attributes[INPLACE_ATTRIBUTE]
    if not isinstance(given, ArrayAttr):
        return False
    wishes = cast("ArrayAttr[Attribute]", given).data
    return len(wishes) == len(op.operands) and _WISHES.issuperset(wishes)


_WISHES = frozenset[Attribute](map(StringAttr, ("true", "false", "none")))


def _slice_objection(op: tensor.ExtractSliceOp | tensor.InsertSliceOp) -> str | None:
    *_, sizes, strides = segment_sizes(op)
    return "sizes and strides must be static" if sizes or strides else None


def _pad_objection(op: tensor.PadOp) -> str | None:
    static = (*op.static_low.get_values(), *op.static_high.get_values())
    if op.low or op.high or any(amount < 0 for amount in static):
        return "padding must be static and not negative"
    return "padding must not depend on the position" if padding_value(op) is None else None


def _dim_objection(op: tensor.DimOp) -> str | None:
    known = constant_dimension(op) is not None
    return None if known else "the dimension must be a constant, and exist"


def _constant_objection(op: arith.ConstantOp) -> str | None:
    if is_elided(op.value):
        return LEFT_OUT
    is_dense = isinstance(op.value, DenseIntOrFPElementsAttr)
    return None if is_dense else "only dense constants are supported"


_OBJECTIONS = (
    OperationTable[Callable[[Operation], str | None]]()
    .add(arith.ConstantOp, _constant_objection)
    .add(tensor.DimOp, _dim_objection)
    .add(tensor.ExtractSliceOp, _slice_objection)
    .add(tensor.InsertSliceOp, _slice_objection)
    .add(tensor.PadOp, _pad_objection)
)
"""What is asked of operations beyond the types of their operands."""


def _type_objection(type_: Attribute) -> str | None:
    type = cast(TensorType[Attribute], type_)
    if any(size < 0 for size in type.get_shape()):
        return f"{type} has dynamic dimensions"
    if not isinstance(type.encoding, NoneAttr):
        return f"{type} has an encoding"
    return None
