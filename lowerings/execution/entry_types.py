"""What the type of an entry of the loops level says of the arrays that it is given."""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, StridedLayoutAttr
from xdsl.ir import Attribute

from lowerings.bufferize.aliased_results import aliased_parameters
from lowerings.execution.signature import Signature
from lowerings.targets.llvm.types import layout_of
from xla_dialect.diagnostics import XlaError


def aliased_results(function: func.FuncOp, parameters: int) -> tuple[tuple[int, int], ...]:
    """
    What a function with so many parameters says of its results in the memory of one, as
    `Signature.aliases` has it; nothing above the buffers level.
    """
    aliased = aliased_parameters(function)
    return tuple((number - parameters, parameter) for number, parameter in aliased.items())


def check_entry(module: ModuleOp, signature: Signature, entry: str) -> int | None:
    """
    The size of the arena that the entry takes, None if it takes none. Machine code trusts the
    types of the entry, so the arrays must be as large as these say. Raises XlaError.
    """
    function = next(
        (
            op
            for op in module.body.block.ops
            if isinstance(op, func.FuncOp) and op.sym_name.data == entry
        ),
        None,
    )
    if function is None:
        raise XlaError(f"there is no function @{entry} to compile")
    specs = (*signature.parameters, *signature.results)
    types = tuple(function.function_type.inputs)
    if len(types) not in (len(specs), len(specs) + 1):
        raise XlaError(
            f"function @{entry} takes {len(types)} arguments, the signature has {len(specs)} "
            f"parameters and results: {signature}"
        )
    for number, (spec, type_) in enumerate(zip(specs, types, strict=False)):
        if type(type_) is not MemRefType:
            raise XlaError(f"argument {number} of @{entry} is {type_}, not a memref")
        if not _fits(type_, spec.byte_size):
            raise XlaError(f"argument {number} of @{entry} is {type_}, the signature says {spec}")
    if aliased_results(function, len(signature.parameters)) != signature.aliases:
        raise XlaError(
            f"the results of @{entry} in the memory of parameters are not those of {signature}"
        )
    return None if len(types) == len(specs) else _dense_bytes(types[-1])


def _fits(type_: Attribute, byte_size: int) -> bool:
    """Whether a memref is an array of so many bytes, or elements at places of their own in one."""
    layout = layout_of(type_)
    strided = cast("MemRefType[Attribute]", type_).layout
    if isinstance(strided, StridedLayoutAttr) and layout.is_static and layout.offset == 0:
        steps = zip(layout.shape, layout.strides, strict=True)
        if all(size == 1 or (stride or 0) > 0 for size, stride in steps):
            return layout.span() <= byte_size
    return _dense_bytes(type_) == byte_size


def _dense_bytes(type_: Attribute) -> int:
    """Bytes of a dense array of known sizes."""
    layout = layout_of(type_)
    if None in layout.shape:
        raise XlaError(f"an entry takes memrefs of known sizes, not {type_}")
    size = math.prod(cast("tuple[int, ...]", layout.shape)) * layout.element.size
    if not layout.is_dense or layout.offset != 0:
        raise XlaError(f"an entry takes dense memrefs, not {type_}")
    return size
