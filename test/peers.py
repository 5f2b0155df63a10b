"""
The optional programs that tests compare with: mlir-opt 22, JAX, and flax with optax; what runs
programs for RISC-V, and the runtime for several threads.

Away from CI a missing peer skips the tests that need it; in CI (`CI=true`) it is an error, so that
no comparison disappears unnoticed.
"""

import functools
import importlib.util
import os
import shutil
import subprocess

from lowerings.execution.openmp import runtime

MLIR_VERSION = 22
DEVICES = 4
"""How many devices JAX has on the CPU, for programs over several replicas."""
_MLIR_OPT_CANDIDATES = (
    f"mlir-opt-{MLIR_VERSION}",
    f"/usr/lib/llvm-{MLIR_VERSION}/bin/mlir-opt",
    "mlir-opt",
)


def in_ci() -> bool:
    """Whether a missing peer is an error."""
    return os.environ.get("CI", "").lower() in ("1", "true", "yes")


@functools.cache
def mlir_opt() -> str | None:
    """The path of an mlir-opt of the version that the project supports, or None."""
    for candidate in _MLIR_OPT_CANDIDATES:
        path = shutil.which(candidate)
        if path is None:
            continue
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if f"LLVM version {MLIR_VERSION}." in answer.stdout:
            return path
    return None


@functools.cache
def has_jax() -> bool:
    """Whether JAX can be imported."""
    return importlib.util.find_spec("jax") is not None


@functools.cache
def has_flax() -> bool:
    """Whether flax and optax can be imported."""
    return all(importlib.util.find_spec(name) is not None for name in ("jax", "flax", "optax"))


def has_riscv64() -> bool:
    """Whether programs for RISC-V can be linked and run."""
    packages = ("ziglang", "unicorn")
    return bool(shutil.which("qemu-riscv64")) and all(map(importlib.util.find_spec, packages))


def missing_peers() -> dict[str, str]:
    """The peers that are missing, each with what to install."""
    missing: dict[str, str] = {}
    if mlir_opt() is None:
        missing["mlir-opt"] = (
            f"no mlir-opt of LLVM {MLIR_VERSION} found: install mlir-{MLIR_VERSION}-tools "
            "(apt.llvm.org)"
        )
    if not has_jax():
        missing["jax"] = "JAX is not installed: pip install -e '.[peers]'"
    if not has_flax():
        missing["flax"] = "flax and optax are not installed: pip install -e '.[peers]'"
    if not has_riscv64():
        missing["riscv64"] = (
            "qemu-riscv64, ziglang or unicorn not found: apt install qemu-user, pip install -e '.[riscv]'"
        )
    if runtime() is None:
        missing["openmp"] = "no OpenMP runtime: apt install libgomp1, pip install -e '.[threads]'"
    return missing
