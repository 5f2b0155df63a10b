"""The library in C by itself, with sanitizers and on AArch64: see the drivers in C beside this."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import lowerings.runtime

SOURCES = Path(lowerings.runtime.__file__).parent
DRIVERS = {
    "thread_pool": ("loops", "nested", "callers", "forks"),
    "pjrt": ("buffers", "calls", "ends"),
    "interrupts": ("programs",),
    "joint_runs": ("threads", "in_turn", "callers", "forks"),
}
"""The ways to run each."""


def check(
    folder: Path,
    compiler: Sequence[str | Path],
    runner: Sequence[str | Path] = (),
    without: Sequence[str] = (),
) -> None:
    """Compiles the library, every driver with it, and runs them in their ways."""
    environment = {**os.environ, "TSAN_OPTIONS": "die_after_fork=0 halt_on_error=1"}
    command = [*compiler, "-std=c11", "-g", f"-I{SOURCES}"]
    library = [*command, "-c", *sorted(SOURCES.glob("*.c"))]
    subprocess.run(library, cwd=folder, check=True, timeout=300)
    objects = sorted(folder.glob("*.o"))
    for name, ways in DRIVERS.items():
        source, made = Path(__file__).with_name(f"{name}_driver.c"), folder / name
        linked = [*command, source, *objects, "-o", made, "-lpthread"]
        subprocess.run(linked, check=True, timeout=300)
        for way in ways:
            if way in without:
                continue
            run = [*runner, made, way, "1"]
            found = subprocess.run(
                run, capture_output=True, text=True, env=environment, timeout=100, check=False
            )
            assert found.returncode == 0, (name, way, found.stderr)


@pytest.mark.full
@pytest.mark.sanitizers
@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_nothing_that_sanitizers_find(sanitizers: str, tmp_path: Path) -> None:
    options = ("-O1", f"-fsanitize={sanitizers}", "-fno-sanitize-recover")
    check(tmp_path, ["gcc", *options])


# It takes long: of zig's library of C for AArch64 nothing is there at first.
@pytest.mark.full
@pytest.mark.sanitizers
@pytest.mark.qemu
def test_on_aarch64(tmp_path: Path) -> None:
    qemu = shutil.which("qemu-aarch64")
    assert qemu is not None, "it comes with qemu-riscv64"
    # Emulated processes with threads cannot fork (qemu 7.2), and musl cannot switch stacks.
    without = ("forks", "in_turn")
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-musl", "-O2"]
    check(tmp_path, zig, [qemu], without)
