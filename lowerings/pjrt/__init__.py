"""
A device for JAX: `jax.devices("xdsl")`, a plugin of PJRT's C API in Python and C.

JAX calls `initialize` when it looks for devices, which costs nothing until it makes a client.
"""

from __future__ import annotations

BACKEND = "xdsl"
"""The name of the backend, for `jax.devices` and `JAX_PLATFORMS`."""

PRIORITY = -100
"""Below that of JAX's own CPU backend: only who asks for the devices gets them."""


def initialize() -> None:
    """Tells JAX of the backend."""
    from lowerings.pjrt.registration import register  # noqa: PLC0415

    register(BACKEND, PRIORITY)
