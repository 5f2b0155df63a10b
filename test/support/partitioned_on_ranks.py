"""
Programs of JAX that are split over devices, for executors of any kind: files in a folder.

`python partitioned_on_ranks.py write N FOLDER [NAME ...]` writes the programs for N devices, their
arguments and what JAX and XLA make of them, `compile N FOLDER [NAME ...]` training steps of a GPT,
too large to be run, and what XLA's partitioner makes of them; `mpiexec -n N python partitioned_on_ranks.py run FOLDER`
runs them on ranks of MPI, and writes what comes out. `partitioned_outcomes.py` compares.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
PROGRAM, ARGUMENTS, EXPECTED, ON_RANKS = "program.mlir", "arguments", "expected", "on_ranks"
OF_XLA = "partitioned_by_xla.hlo"


def write_programs(count: int, folder: Path, names: Sequence[str]) -> None:
    """A folder for each program; all if none is named."""
    import jax  # noqa: PLC0415
    from jax_programs.sharded import PROGRAMS  # noqa: PLC0415

    programs = dict(PROGRAMS)
    if not names:
        from jax_programs.flax_step import FLAX_PROGRAMS  # noqa: PLC0415

        programs |= FLAX_PROGRAMS
    for name in names or programs:
        program = programs[name](count)
        target = _write_program(program, folder / name)
        write_arrays(target / ARGUMENTS, program.leaves())
        results = jax.tree.leaves(program.jitted()(*program.arguments))
        write_arrays(target / EXPECTED, [np.asarray(leaf) for leaf in results])


def write_gpts(count: int, folder: Path, names: Sequence[str]) -> None:
    """The same of training steps whose arguments have no elements."""
    from jax_programs.gpt import GPTS, Sizes  # noqa: PLC0415

    for name in names or GPTS:
        _write_program(GPTS[name](count, Sizes()), folder / name)


def _write_program(program: Any, target: Path) -> Path:
    """What JAX makes of a program, and what XLA's partitioner makes of that."""
    target.mkdir()
    lowered = program.jitted().lower(*program.arguments)
    (target / PROGRAM).write_text(lowered.as_text())
    (target / OF_XLA).write_text(lowered.compile().as_text())
    return target


def write_arrays(path: Path, arrays: Sequence[Any]) -> None:
    """Arrays in order."""
    np.savez(path, **{f"{number:04}": array for number, array in enumerate(arrays)})


def read_arrays(path: Path) -> list[Any]:
    """What was written."""
    with np.load(path.with_suffix(".npz")) as found:
        return [found[name] for name in sorted(found.files)]


def run_on_ranks(folder: Path) -> None:
    """All programs of a folder, one after the other."""
    sys.path.insert(0, str(ROOT))
    from mpi4py import MPI  # noqa: PLC0415

    import lowerings  # noqa: PLC0415

    world: Any = MPI.COMM_WORLD
    for each in sorted(folder.iterdir()):
        program = lowerings.compile(each / PROGRAM, partitioned=True, communicator=world)
        found = program(*read_arrays(each / ARGUMENTS))
        if world.rank == 0:
            write_arrays(each / ON_RANKS, found)


if __name__ == "__main__":
    action, *rest = sys.argv[1:]
    if action == "run":
        run_on_ranks(Path(rest[0]))
    else:
        os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={rest[0]}"
        sys.path[:0] = [str(ROOT), str(ROOT / "test"), str(ROOT / "test" / "support")]
        write = write_programs if action == "write" else write_gpts
        write(int(rest[0]), Path(rest[1]), rest[2:])
