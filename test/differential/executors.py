"""Who runs random programs: XLA CPU, and all executors of ours."""

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, cast
from zlib import crc32

import numpy as np
from peers import has_jax
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness

from differential.draft import Array
from differential.judging import EXPLAINED_OF_XLA, Executor
from lowerings.compilation import Options, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program, parse_source
from lowerings.driver.source import Source
from lowerings.execution.emulator import Emulation
from lowerings.execution.function_signature import signature_of
from lowerings.ir.functions import functions_of
from lowerings.pipelines import LEVELS, NATIVE, pass_specs
from xla_dialect.hlo_text import print_hlo
from xla_dialect.mlir_text import print_mlir
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.elementwise import AndOp, OrOp
from xla_dialect.types import Array as ArrayType

if has_jax():
    import jax
    from jaxlib import xla_client
    from xla_cpu import hlo, mlir

OPTIONS = {
    "xla_backend_optimization_level": 0,  # quick to compile
    "xla_allow_excess_precision": False,  # narrow floats are rounded after every operation
}


def on_xla(module: ModuleOp, arguments: Sequence[Array]) -> list[Array]:
    """The results of XLA CPU for the module as HLO text."""
    parsed = hlo.hlo_module_from_text(print_hlo(module))
    computation = hlo.XlaComputation(parsed.as_serialized_hlo_module_proto())
    program = mlir.xla_computation_to_mlir_module(computation)
    device = jax.devices()[0]
    options: Any = xla_client.CompileOptions()
    options.env_option_overrides = list(OPTIONS.items())
    with jax.enable_x64(True):
        executable = device.client.compile_and_load(
            program, xla_client.DeviceList((device,)), options
        )
        inputs = [jax.device_put(array, device) for array in arguments]
        return [np.asarray(array) for array in executable.execute(inputs)]


def ends_xla(module: ModuleOp) -> bool:
    """
    Whether XLA CPU (jaxlib 0.10.2) may end the process: so it does for `and` and `or` of a signed
    integer that was converted to a narrower one, whatever stands between.
    """
    return any(isinstance(op, ConvertOp) and _narrows_signed(op) for op in module.walk()) and any(
        isinstance(op, AndOp | OrOp) for op in module.walk()
    )


def _narrows_signed(op: ConvertOp) -> bool:
    source, target = (cast(ArrayType, value.type).element_type for value in (op.operand, op.result))
    return (
        isinstance(source, IntegerType)
        and isinstance(target, IntegerType)
        and source.signedness.data == target.signedness.data == Signedness.SIGNLESS
        and source.width.data > target.width.data > 1
    )


def compiled(options: Options) -> Executor:
    """The program on one of our backends."""
    return Executor(lambda module, arguments: compile_module(module, options)(*arguments))


def on_text_with_layouts(module: ModuleOp, arguments: Sequence[Array]) -> Sequence[Array]:
    """Machine code of the program as HLO text in random layouts, verified after every pass."""
    source = Source(with_random_layouts(print_hlo(module)), "program.hlo", "hlo")
    PassManager(make_context()).run(parse_source(source), parse_passes("native"))
    return compile_module(parse_source(source))(*arguments)


def on_printed_level(module: ModuleOp, arguments: Sequence[Array]) -> Sequence[Array]:
    """The text of one level of the program in random layouts, run by itself."""
    text = with_random_layouts(print_hlo(module))
    lowered = parse_program(text, "program.hlo", "hlo")
    level = LEVELS[crc32(text.encode()) % len(LEVELS)]
    PassManager(make_context()).run(lowered, parse_passes(f"native{{to={level}}}"))
    printed = parse_program(print_mlir(lowered), f"{level}.mlir", "mlir", verified=True)
    program = compile_module(printed, Options(backend="interpreter"))
    # Below the xla level integers have no sign.
    signed = [
        array.view(spec.dtype) if array.dtype.itemsize == spec.dtype.itemsize else array
        for array, spec in zip(arguments, program.signature.parameters, strict=True)
    ]
    wanted = signature_of(functions_of(module)["main"]).results
    return [
        result.view(spec.dtype) if result.dtype.itemsize == spec.dtype.itemsize else result
        for result, spec in zip(program(*signed), wanted, strict=True)
    ]


def with_random_layouts(text: str) -> str:
    """HLO text, every other array of rank 2 and more in an order of its own; the same each time."""
    random = Random(crc32(text.encode()))

    def changed(shape: re.Match[str]) -> str:
        order = list(range(shape["sizes"].count(",") + 1))
        if random.random() < 0.5:
            random.shuffle(order)
        return f"{shape['array']}{{{','.join(map(str, reversed(order)))}}}"

    return _ARRAY.sub(changed, text)


_ARRAY = re.compile(r"(?P<array>\b(?:pred|b?[sufc]\d\w*)\[(?P<sizes>\d+(?:,\d+)+)\])\{[\d,]+\}")

XLA = Executor(on_xla, EXPLAINED_OF_XLA, flushes_subnormals=True)

TILED = ",".join(
    "linalg-tile-and-fuse{least_bytes=16 tile_bytes=16}" if each == "linalg-tile-and-fuse" else each
    for each in pass_specs(NATIVE, "tensors")
)
"""The passes to the level of tensors, with tiles so small that small programs have them."""

EXECUTORS: Mapping[str, Executor] = {
    "llvm": compiled(Options(backend="llvm")),
    "tiles": compiled(Options(backend="llvm", pipeline=TILED)),
    "tensors": compiled(Options(backend="interpreter", level="tensors")),
    "buffers": compiled(Options(backend="interpreter", level="buffers")),
    "loops": compiled(Options(backend="interpreter", level="loops")),
    "riscv64": compiled(Options(backend="riscv64", emulation=Emulation())),
    "riscv64_vectors": compiled(Options(backend="riscv64", emulation=Emulation("+v"))),
    "text": Executor(on_text_with_layouts),
    "printed": Executor(on_printed_level),
}
"""Ours; the reference is what they are compared with."""
OF_TEXT = ("text", "printed")
"""Those that print programs in random layouts and verify them after every pass."""
