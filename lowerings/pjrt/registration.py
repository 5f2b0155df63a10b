"""What JAX is told of the plugin, with interfaces of JAX that have no public name."""

from __future__ import annotations

import functools
import os
import re
from typing import Any, cast

from jax._src import compiler, distributed, lib, xla_bridge
from jaxlib import xla_client

from lowerings.driver.collector import loading

_bridge = cast(Any, xla_bridge)
_client = cast(Any, xla_client)
_compiler = cast(Any, compiler)
_distributed = cast(Any, distributed)


_DEVICE_COUNT_FLAG = re.compile(r"--xla_force_host_platform_device_count=(\d+)")


def register(backend: str, priority: int) -> None:
    """
    Makes a backend known to JAX, once; nothing is loaded before JAX makes its client. An error in
    that ends no program that has not asked for the backend.
    """
    if backend in _bridge._backend_factories:
        return

    def make_client() -> Any:
        options: dict[str, Any] = {"num_devices": device_count()}
        job = _distributed.global_state
        if job.num_processes > 1:
            # Processes meet when their clients are made, so nobody does who may not want to.
            if backend not in (_bridge.config.jax_platforms.value or "").split(","):
                raise RuntimeError(
                    f"in a run of several processes JAX_PLATFORMS has to name '{backend}'"
                )
            options |= {
                "node_id": job.process_id,
                "num_nodes": job.num_processes,
                "coordinator_address": job.coordinator_address,
            }
        _load(backend)
        _hand_over_programs()
        options |= _bridge._options_from_jax_configs(backend)
        return _client.make_c_api_client(backend, options, job.client)

    _bridge.register_backend_factory(backend, make_client, priority=priority, fail_quietly=True)


def device_count() -> int:
    """As many devices as JAX is told to have CPUs: `jax_num_cpu_devices`, or the flag of XLA."""
    found = _bridge.num_cpu_devices.value
    if found >= 0:
        return found
    flag = _DEVICE_COUNT_FLAG.search(os.environ.get("XLA_FLAGS", ""))
    return int(flag[1]) if flag else 1


@functools.cache
@loading()
def _load(backend: str) -> None:
    """Tells jaxlib about the plugin."""
    from lowerings.pjrt.plugin import plugin  # noqa: PLC0415

    capsule = plugin().capsule()
    _client.load_pjrt_plugin_with_c_api(backend, capsule)
    _client.initialize_pjrt_plugin(backend)
    # JAX does so for plugins that are libraries. Once: twice would double all events.
    cast(Any, lib)._profiler.register_plugin_profiler(capsule)


@functools.cache
def _hand_over_programs() -> None:
    """
    Programs come to a plugin without the functions of Python that they call, which JAX keeps beside
    the module, and with formulas in the place of some operations, or with none where floats are
    small: we take them where JAX compiles.
    """
    from lowerings.pjrt.client import VERSION  # noqa: PLC0415

    original = _compiler.backend_compile_and_load

    @functools.wraps(original)
    def compile_and_load(
        client: Any, module: Any, executable_devices: Any, options: Any, host_callbacks: Any
    ) -> Any:
        if VERSION not in client.platform_version:
            return original(client, module, executable_devices, options, host_callbacks)
        from lowerings.pjrt.program_text import handed_over  # noqa: PLC0415

        with handed_over(module, host_callbacks) as stand_in:
            return original(client, stand_in, executable_devices, options, [])

    _compiler.backend_compile_and_load = compile_and_load
