"""
Builds the library in C when the package is built: for a wheel, and in place for an editable one.

The compiler is zig's, which is a package: nothing of the system is needed, and what it builds for
Linux runs with any C library from glibc 2.17 on. `_PYTHON_HOST_PLATFORM` names another platform to
build for, as it does for other packages: `linux-aarch64`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("lowerings/runtime")
LIBRARY = FOLDER / "libxla_runtime.so.1"
GLIBC = (2, 17)
OPTIONS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-s")


class RuntimeBuildHook(BuildHookInterface[Any]):
    """Compiles the library, and says for which platform the wheel is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Is called before the package is put together; `version`: `standard` or `editable`."""
        machine = sysconfig.get_platform().removeprefix("linux-")
        target = f"{machine}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
        root = Path(self.root)
        if version == "editable":
            build(root, target, root / LIBRARY)
        else:
            build(root, target, self._beside_the_wheel)
            build_data["force_include"][str(self._beside_the_wheel)] = LIBRARY.as_posix()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Is called when the package is put together."""
        self._beside_the_wheel.unlink(missing_ok=True)

    @property
    def _beside_the_wheel(self) -> Path:
        return Path(self.directory) / LIBRARY.name


def build(root: Path, target: str, library: Path) -> None:
    """Compiles a library for a target of zig. Processes go on with the one that it replaces."""
    sources = sorted(str(path) for path in (root / FOLDER).glob("*.c"))
    library.parent.mkdir(parents=True, exist_ok=True)
    # Elsewhere: an interrupted build would leave the folder in the package.
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / library.name
        command = [sys.executable, "-m", "ziglang", "cc", "-target", target, *OPTIONS]
        environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}
        subprocess.run([*command, "-o", str(made), *sources], check=True, env=environment)
        # At once, so that others find the one before or this one, and whole.
        beside = library.with_name(f".{library.name}")
        shutil.copy(made, beside)
        beside.replace(library)
