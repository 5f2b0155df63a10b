"""
Custom calls that JAX leaves in programs: handlers that were registered with
`jax.ffi.register_ffi_target`, functions of Python, and functions of `jax.custom_partitioning`.

Functions of Python (`pure_callback`, `io_callback`, `debug.print`) JAX keeps beside the lowered
program, and puts their number into a custom call. For a function of `jax.custom_partitioning` it
leaves a call with the number of an object behind, and expects to be asked when it is known how
operands and results are split. The answer is a function of parts, which is what `jax.shard_map`
maps: the program that this makes takes the place of the call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, cast

import jax as typed_jax
from jax._src import custom_partitioning
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.execution.ffi import FfiHandler
from lowerings.ir.functions import functions_of
from lowerings.partitioning.mesh_atoms import MeshAtoms, ValueShardings
from lowerings.pipelines import PARTITIONING
from lowerings.pjrt.interfaces import XLA_CLIENT
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops.custom_calls import CALLBACK, PARTITIONED_CALLBACK, CustomCallOp
from xla_dialect.runtime.custom_calls import CustomCallFunction
from xla_dialect.sharding.attributes import MESHES
from xla_dialect.types import Array, sizes_of
from xla_dialect.violations import described
from xla_dialect.xdsl.linking import erase, insert_before
from xla_dialect.xdsl.traversal import operands_of

jax = cast(Any, typed_jax)

_OF_JAX = frozenset({CALLBACK, PARTITIONED_CALLBACK, "xla_buffer_python_cpu_callback", "dce_sink"})
"""Those that ask XLA's runtime for what is in no public API."""


def _registered_targets() -> Mapping[str, Mapping[str, Any]]:
    """The capsules of the handlers of XLA's FFI for the CPU, by the names of their stages."""
    found: dict[str, Mapping[str, Any]] = {}
    # Where JAX has made no CPU of its own they wait for one.
    waiting: Sequence[Any] = XLA_CLIENT._custom_callback.get("Host", ())
    for name, handler, version, *_ in waiting:
        if version == 1:
            found[name] = handler if isinstance(handler, dict) else {"execute": handler}
    return found | XLA_CLIENT.custom_call_targets("Host")


def ffi_handlers(targets: Set[str]) -> dict[str, FfiHandler]:
    """
    The registered handlers of targets that a program calls.

    Raises XlaError for handlers of other versions of the API.
    """
    registered = _registered_targets()
    found = sorted(targets & registered.keys() - _OF_JAX)
    return {name: FfiHandler(**registered[name]) for name in found}


TARGETS = (CALLBACK, PARTITIONED_CALLBACK)
"""The custom calls."""


def host_callbacks(functions: Sequence[Callable[..., Any]]) -> dict[str, CustomCallFunction]:
    """The functions for these custom calls, given those that JAX has kept, if any, in its order."""

    def call(op: CustomCallOp, *operands: Any) -> Any:
        found = functions[_number(op)](*operands)
        return found[0] if len(op.results) == 1 else tuple(found)

    return dict.fromkeys(TARGETS if functions else (), call)


def _number(op: CustomCallOp) -> int:
    configuration = op.attributes.get("mhlo.backend_config")
    number = configuration.data.get("index") if isinstance(configuration, DictionaryAttr) else None
    if not isinstance(number, IntegerAttr):
        raise XlaError(f"'{op.custom_call_target.data}' does not say which function it calls")
    return cast("IntegerAttr[Any]", number).value.data


_FLAT = 2


def _spec(value: SSAValue, shardings: ValueShardings | None) -> Sequence[Sequence[str]]:
    """The axes of each dimension of an array, as far as they divide it."""
    sizes = sizes_of(cast(Array, value.type))
    if shardings is None:
        return [()] * len(sizes)
    mesh: MeshAtoms = shardings.mesh
    sharding = mesh.sharding(shardings.spread(value))
    found: list[Sequence[str]] = []
    for size, axes in zip(sizes, sharding.axes, strict=True):
        names: list[str] = []
        for axis in axes:
            parts = math.prod(mesh.mesh.sizes[name] for name in (*names, axis.name))
            if axis.size_in(mesh.mesh.sizes) != mesh.mesh.sizes[axis.name] or size % parts:
                break
            names.append(axis.name)
        found.append(tuple(names))
    return found


def replace_call(op: Operation, module: ModuleOp, shardings: ValueShardings | None) -> None:
    """
    Puts what devices compute into the place of the call of a function of `jax.custom_partitioning`.

    Raises XlaError for a function that is gone, and for what its author's code raises.
    """
    specs = [_spec(value, shardings) for value in (*operands_of(op), *op.results)]
    key = op.attributes.get("xla.backend_config")
    found = _custom_partitioning_of(key.data.strip('"')) if isinstance(key, StringAttr) else None
    if found is None:
        raise XlaError(f"{described(op)}: the function that JAX left for it is not in this process")
    arrays = [
        jax.ShapeDtypeStruct(sizes_of(type_), numpy_dtype(type_.element_type))
        for type_ in cast("Sequence[Array]", (*op.operand_types, *op.result_types))
    ]
    try:
        text = _program(found, arrays, specs, len(op.operand_types))
    except Exception as error:
        raise XlaError(f"{described(op)}: {error}") from error
    made = parse_program(text, input_format="stablehlo")
    PassManager(make_context()).run(made, parse_passes(",".join(PARTITIONING[:_FLAT])))
    if module.attributes.setdefault(MESHES, made.attributes[MESHES]) != made.attributes[MESHES]:
        raise XlaError(f"{described(op)}: its function is for another mesh than the program")
    block = functions_of(made)[ENTRY_SYMBOL].body.block
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, operands_of(op), strict=True))
    *operations, last = block.ops
    for each in operations:
        insert_before(each.clone(values), op)
    for result, value in zip(op.results, operands_of(last), strict=True):
        result.replace_all_uses_with(values[value])
    erase(op)


def _custom_partitioning_of(key: str) -> Any:
    """What JAX keeps of a function of `jax.custom_partitioning`; None if it is gone."""
    return cast(Any, custom_partitioning)._sharding_callbacks.get(key.encode())


def _program(
    found: Any, arrays: Sequence[Any], specs: Sequence[Sequence[Sequence[str]]], count: int
) -> str:
    """What the function is on arrays of these shapes, the first `count` of which it takes."""

    def placed(array: Any, spec: Sequence[Sequence[str]]) -> Any:
        sharding = jax.sharding.NamedSharding(found.mesh, jax.P(*(axes or None for axes in spec)))
        return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=sharding)

    leaves = [placed(*each) for each in zip(arrays, specs, strict=True)]
    mesh, function, results, parameters = found.partition(
        *found.static_args,
        found.mesh,
        found.in_tree.unflatten(leaves[:count]),
        found.out_tree.unflatten(leaves[count:]),
    )

    def on_parts(*parts: Any) -> Any:
        return jax.tree.leaves(function(*found.in_tree.unflatten(parts)))

    mapped = jax.shard_map(
        on_parts,
        mesh=mesh,
        in_specs=tuple(each.spec for each in found.in_tree.flatten_up_to(parameters)),
        out_specs=[each.spec for each in found.out_tree.flatten_up_to(results)],
        check_vma=False,
    )
    return jax.jit(mapped).trace(*arrays[:count]).lower(lowering_platforms=("cpu",)).as_text()
