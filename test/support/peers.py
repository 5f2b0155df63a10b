"""
The optional programs and packages that tests need: what they compare with, what runs programs for
RISC-V, and the runtime for several threads.

Away from CI a missing peer skips the tests that need it; in CI (`CI=true`) it is an error, so that
no comparison disappears unnoticed, but for the peers that `ABSENT_PEERS` names.
"""

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping

MLIR_VERSION = 22
DEVICES = 4
"""How many devices JAX has on the CPU, for programs over several replicas."""
_MLIR_OPT_CANDIDATES = (f"mlir-opt-{MLIR_VERSION}", "mlir-opt")


_LIBRARIES = (
    "blackjax brax diffrax distrax equinox flax haiku jraph lineax numpyro optax optimistix "
    "tensorflow_probability"
).split()
"""Their modules."""


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


def has_jax() -> bool:
    """Whether JAX can be imported."""
    return not _missing_packages("jax")


def has_flax() -> bool:
    """Whether flax and optax can be imported."""
    return not _missing_packages("jax", "flax", "optax")


def mpiexec() -> str | None:
    """The path of mpiexec, which a wheel puts beside Python; None without it."""
    return shutil.which("mpiexec", path=os.path.dirname(sys.executable)) or shutil.which("mpiexec")


def chromium() -> str | None:
    """The path of Chromium; None without it."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def producer(name: str) -> str:
    """The path of Python in the environment of a producer of programs, beside ours."""
    return os.path.join(sys.prefix, name, "bin", "python")


def _missing_producer(name: str) -> list[str]:
    return [] if os.path.exists(os.path.join(sys.prefix, f"with-{name}")) else [name]


def _missing_packages(*names: str) -> list[str]:
    return [name for name in names if importlib.util.find_spec(name) is None]


PEERS: Mapping[str, tuple[Callable[[], list[str]], str]] = {
    "jax": (lambda: _missing_packages("jax"), "pip install -e '.[jax]'"),
    "flax": (lambda: _missing_packages("jax", "flax", "optax"), "pip install -e '.[peers]'"),
    "libraries": (
        lambda: _missing_packages("jax", *_LIBRARIES),
        "pip install -e '.[libraries]'",
    ),
    "scipy": (lambda: _missing_packages("jaxlib", "scipy"), "pip install -e '.[jax]'"),
    "mlir-opt": (
        lambda: [] if mlir_opt() else [f"mlir-opt of LLVM {MLIR_VERSION}"],
        f"apt install mlir-{MLIR_VERSION}-tools (from apt.llvm.org)",
    ),
    "mpi": (
        lambda: _missing_packages("mpi4py") + ([] if mpiexec() else ["mpiexec"]),
        "pip install -e '.[mpi]'",
    ),
    "riscv64": (
        lambda: (
            _missing_packages("ziglang")
            + ([] if shutil.which("qemu-riscv64") else ["qemu-riscv64"])
        ),
        "pip install -e '.[riscv]', and apt install qemu-user",
    ),
    "qemu": (
        lambda: [] if shutil.which("qemu-riscv64") else ["qemu-riscv64"],
        "apt install qemu-user",
    ),
    "sanitizers": (
        lambda: _missing_packages("ziglang") + ([] if shutil.which("gcc") else ["gcc"]),
        "pip install -e '.[test]', and apt install gcc",
    ),
    "site": (
        lambda: _missing_packages("furo", "ipykernel", "myst_nb", "sphinx"),
        "pip install -e '.[docs]'",
    ),
    "tensorflow": (lambda: _missing_producer("tensorflow"), "make .venv/with-tensorflow"),
    "torch": (lambda: _missing_producer("torch"), "make .venv/with-torch"),
    "browser": (
        lambda: _missing_packages("playwright") + ([] if chromium() else ["chromium"]),
        "apt install chromium, and pip install -e '.[browser]'",
    ),
}
"""By name: what of it is missing, and how to have it. Tests are marked with the names."""


@functools.cache
def missing_peers() -> dict[str, str]:
    """The peers that are missing, each with what is missing of it and how to have it."""
    missing = {name: what() for name, (what, _) in PEERS.items()}
    return {
        name: f"{' and '.join(found)} not found: {PEERS[name][1]}"
        for name, found in missing.items()
        if found
    }


def unexpectedly_missing() -> dict[str, str]:
    """Of the missing peers those whose absence is an error: in CI all but `ABSENT_PEERS`."""
    if os.environ.get("CI", "").lower() not in ("1", "true", "yes"):
        return {}
    expected = os.environ.get("ABSENT_PEERS", "").split()
    if unknown := set(expected) - PEERS.keys():
        raise ValueError(f"ABSENT_PEERS: {min(unknown)} is none of {', '.join(PEERS)}")
    return {name: how for name, how in missing_peers().items() if name not in expected}
