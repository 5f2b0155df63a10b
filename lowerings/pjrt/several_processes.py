"""Runs of several processes, which our devices take no part in."""

from __future__ import annotations


def refusal(processes: int) -> str:
    """What somebody is told who asks for the devices in such a run."""
    return (
        f"the devices 'xdsl' are those of one process, and `jax.distributed` was initialized for "
        f"{processes}: they take no part (JAX_PLATFORMS=cpu has devices of all processes)"
    )
