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
ZIG = (sys.executable, "-m", "ziglang", "cc")


each_driver = pytest.mark.parametrize("name", DRIVERS)


def driver(name: str, folder: Path, compiler: Sequence[str], *options: str) -> Path:
    """A driver, compiled with the library."""
    made = folder / "driver"
    sources = [
        *map(str, sorted(SOURCES.glob("*.c"))),
        str(Path(__file__).with_name(f"{name}_driver.c")),
    ]
    command = [*compiler, "-std=c11", "-g", *options, f"-I{SOURCES}", *sources, "-o", str(made)]
    subprocess.run([*command, "-lpthread"], check=True, timeout=300)
    return made


def check(command: Sequence[str | Path], ways: Sequence[str]) -> None:
    environment = {**os.environ, "TSAN_OPTIONS": "die_after_fork=0 halt_on_error=1"}
    for way in ways:
        found = subprocess.run(
            [*command, way, "1"], capture_output=True, text=True, env=environment, timeout=100
        )
        assert found.returncode == 0, (way, found.stderr)


@pytest.mark.sanitizers
@each_driver
def test_threads_race_for_nothing(name: str, tmp_path: Path) -> None:
    check([driver(name, tmp_path, ZIG, "-O1", "-fsanitize=thread")], DRIVERS[name])


@pytest.mark.sanitizers
@each_driver
def test_memory_and_arithmetic(name: str, tmp_path: Path) -> None:
    options = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover")
    check([driver(name, tmp_path, ("gcc",), *options)], DRIVERS[name])


@pytest.mark.sanitizers
@pytest.mark.qemu
@each_driver
def test_on_aarch64(name: str, tmp_path: Path) -> None:
    # Emulated processes with threads cannot fork (qemu 7.2), and musl cannot switch stacks.
    made = driver(name, tmp_path, ZIG, "-target", "aarch64-linux-musl", "-O2")
    qemu = shutil.which("qemu-aarch64")
    assert qemu is not None, "it comes with qemu-riscv64"
    check([qemu, made], [way for way in DRIVERS[name] if way not in ("forks", "in_turn")])
