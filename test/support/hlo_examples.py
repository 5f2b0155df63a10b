"""Small programs of HLO text, on the reference and on XLA CPU."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from peers import has_jax

from xla_dialect.hlo_text import read_hlo
from xla_dialect.literals.arrays import element_type_of, flatten_results
from xla_dialect.reference import run
from xla_dialect.runtime.runs import nest_arguments
from xla_dialect.types import element_name
from xla_dialect.verification import verify

if has_jax():
    import jax
    from jax.extend import backend as jax_backend

    # These modules of jaxlib have no type stubs.
    _hlo, _jax = (import_module(f"jaxlib.{name}") for name in ("_hlo", "_jax"))

Operands = Mapping[str, np.ndarray]
"""The parameters of a program by name."""


def spelled(array: np.ndarray) -> str:
    """The shape of an array in HLO text."""
    return f"{element_name(element_type_of(array.dtype))}[{','.join(map(str, array.shape))}]"


def binary(opcode: str, name: str = "f32", attributes: str = "", result: str = "") -> str:
    """A computation, named as its one operation, of two scalars of the element type `name`."""
    return (
        f"{opcode.replace('-', '_')} {{\n  a = {name}[] parameter(0)\n  b = {name}[] parameter(1)\n"
        f"  ROOT c = {result or name}[] {opcode}(a, b){attributes}\n}}\n"
    )


def relation(direction: str, name: str = "f32", order: str = "") -> str:
    """A computation, named by its direction in small letters, that compares two scalars."""
    type_ = f", type={order}" if order else ""
    text = binary("compare", name, f", direction={direction}{type_}", "pred")
    return text.replace("compare {", f"{direction.lower()} {{", 1)


def last_of_two(name: str = "f32") -> str:
    """The computation `second`: its second parameter."""
    return f"second {{\n  a = {name}[] parameter(0)\n  ROOT b = {name}[] parameter(1)\n}}\n"


def program(instructions: str | Sequence[str], operands: Operands, before: str = "") -> str:
    """
    A module whose entry computes one instruction of the operands, or a tuple of several.

    `before`: the computations that they call.
    """
    parameters = [
        f"  {name} = {spelled(value)} parameter({i})"
        for i, (name, value) in enumerate(operands.items())
    ]
    if isinstance(instructions, str):
        body = [f"  ROOT result = {instructions}"]
    else:
        body = [f"  r{i} = {text}" for i, text in enumerate(instructions)]
        names = ", ".join(f"r{i}" for i in range(len(instructions)))
        body.append(f"  ROOT result = tuple({names})")
    lines = "\n".join([*parameters, *body])
    return f"HloModule example\n\n{before}\nENTRY main {{\n{lines}\n}}\n"


def on_reference(text: str, operands: Operands, **options: Any) -> tuple[np.ndarray, ...]:
    """The arrays that a program gives on the reference, tuples taken apart."""
    module = read_hlo(text, "example.hlo")
    verify(module, {"example.hlo": text})
    return flatten_results(run(module, nest_arguments(module, list(operands.values())), **options))


def on_xla(text: str, operands: Operands) -> tuple[np.ndarray, ...]:
    """The arrays that a program gives on XLA CPU."""
    module = _hlo.hlo_module_from_text(text)
    stablehlo = _jax.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
    client = jax_backend.get_backend("cpu")
    devices = _jax.DeviceList(tuple(client.local_devices()[:1]))
    executable = client.compile_and_load(stablehlo, devices, _jax.CompileOptions())
    with jax.enable_x64(True):
        arguments = [jax.device_put(value) for value in operands.values()]
        found = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
    return tuple(np.asarray(shards[0]) for shards in found)


def of_jax(
    function: Callable[..., Any], *arguments: Any
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """What a JAX function gives: its HLO text on the reference, and on XLA CPU."""
    with jax.enable_x64(True):
        lowered = jax.jit(function).lower(*arguments)
        expected = jax.tree.leaves(lowered.compile()(*arguments))
    text = lowered.as_text(dialect="hlo")
    assert text is not None
    operands = {f"p{i}": argument for i, argument in enumerate(arguments)}
    return on_reference(text, operands), tuple(np.asarray(leaf) for leaf in expected)
