"""Programs of the buffers level compiled by MLIR's own passes, run on numpy arrays in this process."""

import ctypes
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp

from lowerings.bufferize.signatures import aliased_parameters
from lowerings.bufferize.strided import strides_and_offset
from lowerings.bufferize.xla_plan_buffers import ARENA_ATTRIBUTE
from lowerings.execution.arrays import allocate
from lowerings.execution.code import LoadedCode
from lowerings.execution.signature import Signature
from lowerings.targets.llvm.machine import host
from tools.xla_build import MlirTools, c_interface
from xla_dialect.mlir_text import print_mlir

_ENTRY_SYMBOL = "program"
"""The function that we add: it takes all descriptors in one table, as the code loader calls it."""


class MlirProgram:
    """A module of the buffers level that MLIR compiled; takes and returns arrays by position."""

    def __init__(
        self, module: ModuleOp, signature: Signature, mlir_opt: str, first: Sequence[str] = ()
    ):
        """
        `signature` is that of `@main`, whose arrays lie in memory as their types say; some passes
        of MLIR may run `first`.
        """
        self.signature = signature
        self._function = next(
            op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"
        )
        self._types = [cast("MemRefType[Any]", t) for t in self._function.function_type.inputs]
        machine = host()
        text = MlirTools.find(mlir_opt).llvm_ir(print_mlir(module), first) + c_interface(
            "main", len(self._types), _ENTRY_SYMBOL
        )
        symbols = {"memrefCopy": _MEMREF_COPY}
        self._code = LoadedCode((machine.object_code(text),), _ENTRY_SYMBOL, functions=symbols)

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """Runs the program."""
        inputs = [np.ascontiguousarray(a).reshape(a.shape) for a in arrays]
        results = [np.empty(spec.shape, spec.dtype) for spec in self.signature.results]
        for number, parameter in aliased_parameters(self._function).items():
            results[number - len(inputs)][...] = inputs[parameter]
        memory = [*inputs, *results]
        arena = self._function.attributes.get(ARENA_ATTRIBUTE)
        if isinstance(arena, IntegerAttr):
            memory.append(allocate(cast("IntegerAttr[Any]", arena).value.data))
        descriptors = [
            _descriptor(array, type_) for array, type_ in zip(memory, self._types, strict=True)
        ]
        table = (ctypes.c_void_p * len(descriptors))(*map(ctypes.addressof, descriptors))
        self._code.function(ctypes.addressof(table))
        return tuple(results)


def _descriptor(array: np.ndarray, type_: MemRefType[Any]) -> Any:
    """MLIR's descriptor of an array: allocated, aligned, offset, sizes, strides."""
    strides, _ = strides_and_offset(type_)
    address = array.__array_interface__["data"][0]
    numbers = (address, address, 0, *type_.get_shape(), *strides)
    return (ctypes.c_int64 * len(numbers))(*numbers)


@ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
def _MEMREF_COPY(size: int, source: int, target: int) -> None:
    """The function of MLIR's library that copies strided memrefs, given with their ranks."""
    _array_of(target, size)[...] = _array_of(source, size)


def _array_of(unranked: int, size: int) -> np.ndarray:
    rank, place = (ctypes.c_int64 * 2).from_address(unranked)
    numbers = list((ctypes.c_int64 * (3 + 2 * rank)).from_address(place))
    _, aligned, offset, *rest = numbers
    sizes, strides = rest[:rank], rest[rank:]
    if 0 in sizes:
        return np.empty(sizes, f"V{size}")
    reach = 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    memory: Any = (ctypes.c_char * (reach * size)).from_address(aligned + offset * size)
    return np.ndarray(sizes, f"V{size}", memory, 0, [s * size for s in strides])
