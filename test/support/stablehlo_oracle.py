"""What jaxlib's own StableHLO says about a text."""

import functools
import io
from importlib import import_module
from typing import Any

import numpy as np
from peers import has_jax

if has_jax():
    import jax
    from jax._src.interpreters import mlir
    from jaxlib import xla_client
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir.dialects import mhlo, stablehlo

    # These modules of jaxlib have no type stubs.
    _hlo, _jax = (import_module(f"jaxlib.{name}") for name in ("_hlo", "_jax"))
    stablehlo.register_stablehlo_passes()


@functools.cache
def _context() -> Any:
    """One with the dialect `quant`, which reading a portable artifact loads."""
    context = mlir.make_ir_context()
    with context:
        artifact = stablehlo.serialize_portable_artifact_str("func.func @f() { return }", "1.9.0")
        stablehlo.deserialize_portable_artifact(context, artifact)
    return context


def printed_attribute(text: str) -> str:
    """An attribute as MLIR prints it."""
    with _context():
        return str(ir.Attribute.parse(text))


@functools.cache
def _lenient_context() -> Any:
    """One that takes operations of any dialect."""
    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    return context


def rejection(text: str) -> str | None:
    """Why jaxlib rejects a module, or None where it parses and verifies it."""
    with _context() as context:
        try:
            ir.Module.parse(text, context)
        except ir.MLIRError as error:
            return "; ".join(diagnostic.message for diagnostic in error.error_diagnostics)
    return None


def printed(text: str, **options: bool) -> str:
    """A module as jaxlib prints it, in custom form where the options do not say another one."""
    with _context() as context:
        return str(ir.Module.parse(text, context).operation.get_asm(**options))


@functools.cache
def _mhlo_context() -> Any:
    context = mlir.make_ir_context()
    mhlo.register_mhlo_dialect(context)
    return context


def mhlo_printed(text: str, generic: bool) -> str | None:
    """A module with MHLO as jaxlib prints it, in either form; None where jaxlib rejects it."""
    with _mhlo_context() as context:
        try:
            module = ir.Module.parse(text, context)
        except ir.MLIRError:
            return None
        return str(module.operation.get_asm(print_generic_op_form=generic))


def of_hlo_text(text: str) -> str | None:
    """
    What XLA's converter makes of HLO text: StableHLO, and MHLO for what that does not have; None
    where XLA does not read or convert it.
    """
    try:
        made = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        code = _jax.mlir.hlo_to_stablehlo(made)
        with _mhlo_context() as context:
            return str(ir.Module.parse(code, context))
    except (RuntimeError, ValueError, ir.MLIRError):
        return None


def with_sharding_rules(text: str) -> str | None:
    """A module with Shardy's rule on each operation; None where jaxlib rejects it."""
    with _lenient_context() as context:
        pass_ = "sdy-populate-op-sharding-rules{conservative-propagation=false}"
        passes = passmanager.PassManager.parse(f"builtin.module(func.func({pass_}))")
        try:
            module = ir.Module.parse(text, context)
            passes.run(module.operation)
        except ir.MLIRError:
            return None
        # Of a dynamic_slice of a scalar the custom form does not parse again.
        return str(module.operation.get_asm(print_generic_op_form=True))


def legalized(text: str, *passes: str) -> str:
    """A module after passes of StableHLO's on its functions."""
    with _context() as context:
        module = ir.Module.parse(text, context)
        for name in passes:
            passmanager.PassManager.parse(f"builtin.module(func.func({name}))").run(
                module.operation
            )
        return str(module)


def made_local(text: str) -> str:
    """The program of one device, for a module of Shardy whose reshards are collectives."""
    with _context() as context:
        module = ir.Module.parse(text, context)
        passes = passmanager.PassManager.parse("builtin.module(sdy-convert-global-to-local)")
        passes.run(module.operation)
        return str(module)


def bytecode_of(text: str) -> bytes | None:
    """A module as MLIR bytecode; None where jaxlib rejects it."""
    with _lenient_context() as context:
        try:
            module = ir.Module.parse(text, context)
        except ir.MLIRError:
            return None
        output = io.BytesIO()
        module.operation.write_bytecode(output)
        return output.getvalue()


def artifact_of(text: str, version: str) -> bytes | None:
    """The portable artifact of a module; None where the version has no such program."""
    with _lenient_context() as context:
        try:
            module = ir.Module.parse(text, context)
            return stablehlo.serialize_portable_artifact(module, version, True)
        except (ir.MLIRError, ValueError):
            return None


def vhlo_of(text: str) -> str | None:
    """A module as text in VHLO; None where something in it is not StableHLO."""
    with _lenient_context() as context:
        try:
            module = ir.Module.parse(text, context)
            passes = passmanager.PassManager.parse("builtin.module(stablehlo-legalize-to-vhlo)")
            passes.run(module.operation)
        except ir.MLIRError:
            return None
        return str(module)


def text_of_artifact(artifact: bytes) -> str:
    """The program of a portable artifact as text."""
    with _lenient_context() as context:
        return str(stablehlo.deserialize_portable_artifact(context, artifact))


def results(text: str, *arguments: Any) -> list[np.ndarray]:
    """What XLA's CPU computes for a module; raises an error where it does not take it."""
    client = jax.devices("cpu")[0].client
    devices = xla_client.DeviceList((jax.devices("cpu")[0],))
    with _lenient_context() as context:
        module = ir.Module.parse(text, context)
        executable = client.compile_and_load(module, devices, xla_client.CompileOptions())
    with jax.enable_x64(True):
        placed = [jax.device_put(np.asarray(argument)) for argument in arguments]
        return [np.asarray(result) for result in executable.execute(placed)]
