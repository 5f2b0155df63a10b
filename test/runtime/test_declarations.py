"""What Python reads in the headers of the library in C: a compiler of C lays it out in the same way."""

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lowerings.runtime
from lowerings.pjrt.c_api import FUNCTIONS, arguments_of, required_size
from lowerings.runtime.declarations import constants, structs, structure

SOURCES = Path(lowerings.runtime.__file__).parent
HEADERS = ("runtime.h", "pjrt.h")


def assertions() -> Iterator[str]:
    for header in HEADERS:
        for name, number in constants(header).items():
            yield f"{name} == {number}"
        for name in structs(header):
            struct = structure(header, name)
            yield f"sizeof({name}) == {ctypes.sizeof(struct)}"
            yield from places(name, struct)
    for number, function in enumerate(FUNCTIONS):
        struct, name = arguments_of(function), f"PJRT_{function}_Args"
        yield f"NUMBER_{function} == {number}"
        yield f"offsetof({name}, end) == {required_size(struct)}"
        yield from places(name, struct)


def places(name: str, struct: Any) -> Iterator[str]:
    for field, *_ in struct._fields_:
        place = getattr(struct, field)
        yield f"offsetof({name}, {field}) == {place.offset}"
        yield f"sizeof((({name} *)0)->{field}) == {place.size}"


@pytest.mark.sanitizers
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_structs_of_both_sides(machine: str, tmp_path: Path) -> None:
    lines = [f'#include "{header}"' for header in HEADERS]
    lines += [f'_Static_assert({each}, "");' for each in assertions()]
    source = tmp_path / "layout.c"
    source.write_text("\n".join(lines))
    command = [*(sys.executable, "-m", "ziglang", "cc", "-std=c11", "-c")]
    command += ["-target", f"{machine}-linux-gnu.2.17", f"-I{SOURCES}", str(source)]
    command += ["-o", str(tmp_path / "layout.o")]
    subprocess.run(command, check=True, timeout=300)
