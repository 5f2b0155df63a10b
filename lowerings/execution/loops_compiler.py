"""Machine code for modules of the loops level, as programs, and what the types of an entry say."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, StridedLayoutAttr
from xdsl.ir import Attribute

from lowerings.bufferize.signatures import aliased_parameters
from lowerings.execution.callbacks import Callbacks
from lowerings.execution.compiled_code import CompiledCode
from lowerings.execution.declared_functions import (
    CustomCalls,
    declared_functions,
    spelled_declarations,
)
from lowerings.execution.executable import (
    Executable,
    checks_bounds,
    thread_count,
)
from lowerings.execution.signature import Signature
from lowerings.targets.llvm.machine import Machine, host
from lowerings.targets.llvm.module import EmittedModule, emit_module
from lowerings.targets.llvm.module_parts import ObjectParts
from lowerings.targets.llvm.types import layout_of
from xla_dialect.diagnostics import XlaError
from xla_dialect.runtime.observation import Observer

if TYPE_CHECKING:
    from lowerings.execution.profile import EventSink


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


def compile_loops_module(
    module: ModuleOp,
    signature: Signature,
    entry: str = "main",
    custom_calls: CustomCalls | None = None,
    observer: Observer | None = None,
    *,
    check_bounds: bool | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    num_threads: int | None = None,
    on_compiled: Callable[[CompiledCode], None] | None = None,
    on_step: Callable[[str], None] = lambda step: None,
    profile: bool = False,
    on_events: EventSink | None = None,
    machine: Machine | None = None,
    lower: Callable[[func.FuncOp], None] | None = None,
) -> Executable:
    """
    Compiles a module of the loops level, whose function `entry` carries `xla.entry` and takes
    the parameters, the results and (if it needs any) bytes for temporary results. `observer` gets
    what the program prints and probes; by default it prints to the standard output.

    With `check_bounds` (by default where the environment says `BOUNDS_VARIABLE`) every access to
    memory is checked. `time_limit` and `memory_limit` are those of `Executable`.

    LLVM and parallel loops use up to `num_threads` threads, and never more than there are
    processors. `on_compiled` gets what other processes can load that have the same functions for
    custom calls, and `on_step` the name of each step. With `profile` the executable measures the
    time of its kernels, and `on_events` gets when they ran. `machine` is the one that this process
    runs on, maybe without some features. `lower` is that of `emit_module`.

    Raises EmissionError, CompilationError, and XlaError where entry and signature disagree or a
    custom call has no function.
    """
    on_step("LLVM IR")
    functions = declared_functions(module, custom_calls or {}, observer or Observer())
    callbacks = Callbacks.of(functions)
    machine = machine or host()
    check_bounds = checks_bounds(check_bounds)
    with ObjectParts(machine, thread_count(num_threads)) as parts:
        emitted, arena_size = emit_entry(
            module,
            signature,
            entry,
            machine,
            interruptible=True,
            check_bounds=check_bounds,
            threads=True,
            profile=profile,
            lower=lower,
            take=parts.take,
        )
        on_step("LLVM")
        objects = parts.finish(emitted.text)
    compiled = CompiledCode(
        objects,
        entry,
        signature,
        arena_size,
        emitted.constants,
        emitted.guards,
        emitted.has_tasks,
        emitted.profile,
        spelled_declarations(module),
    )
    if on_compiled is not None:
        on_compiled(compiled)
    on_step("loading")
    return Executable(
        compiled,
        callbacks=callbacks,
        time_limit=time_limit,
        memory_limit=memory_limit,
        num_threads=num_threads,
        on_events=on_events,
    )


def emit_entry(
    module: ModuleOp,
    signature: Signature,
    entry: str,
    machine: Machine,
    *,
    inline_constants: bool = False,
    interruptible: bool = False,
    check_bounds: bool = False,
    threads: bool = False,
    profile: bool = False,
    lower: Callable[[func.FuncOp], None] | None = None,
    take: Callable[[str], None] | None = None,
) -> tuple[EmittedModule, int | None]:
    """
    The LLVM IR of a module with an entry for a machine, and the size of the arena that the entry
    takes, None if it takes none. The other options are those of `emit_module`.

    Raises EmissionError, and XlaError where entry and signature disagree.
    """
    arena_size = check_entry(module, signature, entry)
    emitted = emit_module(
        module,
        machine,
        inline_constants=inline_constants,
        interruptible=interruptible,
        check_bounds=check_bounds,
        threads=threads,
        profile=profile,
        lower=lower,
        take=take,
    )
    if entry not in emitted.entries:
        raise XlaError(f"function @{entry} carries no attribute `xla.entry`")
    return emitted, arena_size
