"""The thread pool by itself, as it is and with sanitizers: see `thread_pool_driver.c`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import lowerings.runtime

SOURCES = Path(lowerings.runtime.__file__).parent
WAYS = ("loops", "nested", "callers", "forks")
ZIG = (sys.executable, "-m", "ziglang", "cc")


def driver(folder: Path, compiler: Sequence[str], *options: str) -> Path:
    """The driver, compiled with the library."""
    made = folder / "driver"
    sources = [
        *map(str, sorted(SOURCES.glob("*.c"))),
        str(Path(__file__).with_name("thread_pool_driver.c")),
    ]
    command = [*compiler, "-std=c11", "-g", *options, f"-I{SOURCES}", *sources, "-o", str(made)]
    subprocess.run([*command, "-lpthread"], check=True, timeout=300)
    return made


def check(command: Sequence[str | Path], ways: Sequence[str] = WAYS) -> None:
    environment = {**os.environ, "TSAN_OPTIONS": "die_after_fork=0 halt_on_error=1"}
    for way in ways:
        found = subprocess.run(
            [*command, way, "1"], capture_output=True, text=True, env=environment, timeout=100
        )
        assert found.returncode == 0, (way, found.stderr)


@pytest.mark.sanitizers
def test_threads_race_for_nothing(tmp_path: Path) -> None:
    check([driver(tmp_path, ZIG, "-O1", "-fsanitize=thread")])


@pytest.mark.sanitizers
def test_memory_and_arithmetic(tmp_path: Path) -> None:
    options = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover")
    check([driver(tmp_path, ("gcc",), *options)])


@pytest.mark.sanitizers
@pytest.mark.qemu
def test_on_aarch64(tmp_path: Path) -> None:
    # Emulated processes with threads cannot fork (qemu 7.2).
    made = driver(tmp_path, ZIG, "-target", "aarch64-linux-musl", "-O2")
    qemu = shutil.which("qemu-aarch64")
    assert qemu is not None, "it comes with qemu-riscv64"
    check([qemu, made], [way for way in WAYS if way != "forks"])
