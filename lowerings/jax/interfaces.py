"""
JAX as this package sees it, and what it needs of JAX that has no public name (JAX 0.10).

JAX's annotations do not pass strict checking: `jax` is untyped for the rest of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

try:
    import jax as typed_jax
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "lowerings.jax needs JAX: pip install 'xla-dialect[jax]'", name=error.name
    ) from None

from jax._src import api_util, array, config, core, lib, linear_util, sharding_impls
from jax._src.interpreters import ad, mlir, partial_eval
from jax._src.state import discharge
from jax.extend import source_info_util
from numpy.typing import NDArray

jax = cast(Any, typed_jax)

# The places of a program are those of its author, not of what calls it.
cast(Any, source_info_util).register_exclusion(str(Path(__file__).parents[1]))

JaxArray: TypeAlias = Any
"""A `jax.Array`."""

Aval: TypeAlias = Any
"""What JAX knows of an array before it has its elements: shape, type, whether weakly typed."""

trace_context = cast(Callable[[], Hashable], cast(Any, config).trace_context)
"""All of JAX's settings that tracing depends on (64-bit types, matmul precision, ...)."""


def unwanted_values() -> Iterator[tuple[str, Callable[[Any], bool]]]:
    """What results may not have (`jax_debug_nans`, `jax_debug_infs`): its name, and a test."""
    settings: Any = config
    for name, setting, is_one in (
        ("nan", settings.debug_nans, np.isnan),
        ("inf", settings.debug_infs, np.isinf),
    ):
        if setting.value:
            yield name, partial(_has_floats_that, is_one)


def _has_floats_that(is_one: Callable[[Any], Any], array: Any) -> bool:
    return jax.dtypes.issubdtype(array.dtype, np.inexact) and bool(is_one(array).any())


_xla_client = cast(Any, lib).xla_client

_device_put = cast(
    Callable[[Aval, Any, Sequence[NDArray[Any]], Sequence[Any], bool], JaxArray],
    _xla_client.batched_device_put,
)


ArrayImpl: Any = cast(Any, array).ArrayImpl
"""The class of all JAX arrays that are no tracers."""

Ref: Any = cast(Any, core).Ref
"""The class of arrays that can be written to."""


def content_of(ref: Any) -> JaxArray:
    """The array that a `Ref` holds."""
    return ref._refs._buf


def set_content(ref: Any, content: JaxArray) -> None:
    """Makes a `Ref` hold another array."""
    ref._refs._buf._replace_with(content)


def kept_callbacks(lowered: Any) -> Sequence[Callable[..., Any]]:
    """The functions of Python that a lowered program calls; its custom calls count them."""
    return lowered._lowering.compile_args["host_callbacks"]


def is_tracer(value: Any) -> bool:
    """Whether a value stands for an array while JAX traces a function."""
    return isinstance(value, jax.core.Tracer)


@dataclass(frozen=True)
class DevicePlacement:
    """Where arrays are put that a program has made."""

    device: Any
    is_committed: bool
    """Whether they may go to no other device unasked."""

    def giver(self, aval: Aval) -> Callable[[NDArray[Any]], JaxArray]:
        """
        From a numpy array to a JAX array; on the CPU they share their memory if it is aligned well.

        `jax.device_put` does the same in ten times the time, and forgets about weak types. Of how
        the program divides the result among devices an array on one device knows nothing.
        """
        aval = aval.update(sharding=None)
        sharding = jax.sharding.SingleDeviceSharding(self.device)
        devices, is_committed = (self.device,), self.is_committed
        return lambda value: _device_put(aval, sharding, (value,), devices, is_committed)


def placement_of(leaves: Sequence[Any], device: Any = None) -> DevicePlacement:
    """Where `jax.jit` puts the results of a program with these arguments, unless it splits them."""
    if device is not None:
        return DevicePlacement(device, True)
    found: list[tuple[bool, Any]] = [
        (leaf.committed, next(iter(leaf.sharding.device_set)))
        for leaf in leaves
        if type(leaf) is ArrayImpl and len(leaf.sharding.device_set) == 1
    ]
    for is_committed, each in sorted(found, key=lambda one: not one[0]):
        return DevicePlacement(each, is_committed)
    return DevicePlacement(jax.config.jax_default_device or jax.devices("cpu")[0], False)


def words_of_keys(aval: Aval) -> Aval:
    """What random keys are to a program: words of 32 bits in one more dimension."""
    shape = (*aval.shape, *aval.dtype._impl.key_shape)
    return jax.core.ShapedArray(shape, np.dtype(np.uint32))


def keys_of_words(words: JaxArray, aval: Aval) -> JaxArray:
    """The random keys that consist of these words."""
    return jax.random.wrap_key_data(words, impl=aval.dtype._impl.name)


def results_of(lowered: Any) -> tuple[Any, ...]:
    """What the results of a lowered program are, with the contents of `Ref`s that it writes."""
    return tuple(lowered._lowering.compile_args["global_out_avals"])


def written_refs(lowered: Any) -> tuple[Sequence[Any], Sequence[int | None]]:
    """
    The `Ref`s that a lowered program takes behind its arguments, and for each of its results the
    number of the one whose content it is, among all that it takes.
    """
    found = lowered._lowering.compile_args["mut"]
    return ((), ()) if found is None else (found.in_mut, found.out_mut)


def kept_arguments(lowered: Any) -> tuple[int, ...]:
    """The arguments that a lowered program takes."""
    return tuple(sorted(lowered._lowering.compile_args["kept_var_idx"]))


def partition_spec(sharding: bytes, mesh: Any) -> Any:
    """What XLA's `OpSharding` says on a mesh; None where JAX has no names for its axes."""
    found = _xla_client.OpSharding()
    found.ParseFromString(sharding)
    try:
        return cast(Any, sharding_impls).parse_flatten_op_sharding(found, mesh)[0]
    except (AssertionError, KeyError, StopIteration, ValueError):
        return None  # It takes for granted that whole axes are meant.


def module_of(lowered: Any) -> Any:
    """A lowered program as a module of jaxlib."""
    return lowered._lowering.stablehlo()


def device_count(lowered: Any) -> int:
    """How many devices a lowered program is for."""
    return lowered._lowering.compile_args["num_devices"]


def mesh_of(lowered: Any) -> Any | None:
    """The mesh of a lowered program for several devices, on which `jax.jit` has its results."""
    if device_count(lowered) == 1:
        return None
    found = lowered._lowering.compile_args
    shardings = (*found["in_shardings"], *found["intermediate_shardings"])
    meshes = (each.mesh for each in shardings if isinstance(each, jax.sharding.NamedSharding))
    return next((mesh for mesh in meshes if isinstance(mesh, jax.sharding.Mesh)), None)


def call_primitive(name: str, implementation: Callable[..., Any]) -> Any:
    """
    A primitive of JAX that calls a function: `implementation(function, *arrays, **parameters)`.

    JAX transforms the function; who compiles a program around a call compiles it along.
    """
    primitive = cast(Any, core).CallPrimitive(name)
    primitive.def_impl(implementation)
    rules: Any = partial_eval
    core_call: Any = cast(Any, core).call_p
    transpose: Any = partial(cast(Any, ad).call_transpose_fancy, primitive)
    cast(Any, ad).fancy_transposes[primitive] = transpose
    rules.partial_eval_jaxpr_custom_rules[primitive] = rules.partial_eval_jaxpr_custom_rules[
        core_call
    ]
    rules.dce_rules[primitive] = rules.dce_jaxpr_call_rule
    cast(Any, discharge).register_discharge_rule(primitive)(
        partial(cast(Any, discharge)._call_primitive_discharge_rule, primitive)
    )

    def lower(context: Any, *operands: Any, call_jaxpr: Any, **_: Any) -> Any:
        return cast(Any, mlir).core_call_lowering(
            context, *operands, name=name, call_jaxpr=call_jaxpr
        )

    cast(Any, mlir).register_lowering(primitive, lower)
    return primitive


def wrapped(function: Callable[..., Any], *arguments: Any) -> Any:
    """A function as call primitives take it."""
    info = cast(Any, api_util).debug_info("jit", function, arguments, {})
    return cast(Any, linear_util).wrap_init(function, debug_info=info)


def traced_function(function: Any, arguments: Sequence[Any]) -> Callable[..., Any]:
    """What a call primitive is given, traced once for arrays like these."""
    avals = [jax.typeof(each) for each in arguments]
    jaxpr, _, consts = cast(Any, partial_eval).trace_to_jaxpr_dynamic(function, avals)
    return cast(Any, core).jaxpr_as_fun(cast(Any, core).ClosedJaxpr(jaxpr, consts))
