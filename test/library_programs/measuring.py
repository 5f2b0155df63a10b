"""The programs of a library on both devices: whether results agree, and what calls take."""

from __future__ import annotations

import gc
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from library_programs.device_comparison import DeviceComparison, as_line
from tools.comparison import mismatches
from tools.measuring_times import Call, alternate

Made: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function of arrays that JAX traces, and its arguments."""
Maker: TypeAlias = Callable[[], Made]
"""Makes the same every time; runs on the default device."""


TOLERANCE = 1e-3
"""
Of floats, relative to the largest magnitude of an array. The programs are in f32, and solvers and
samplers take steps that follow from what was rounded before.
"""

TURN_SECONDS = 0.001
"""Turns are short, and the shortest count: on a busy machine some are not interrupted."""

ROUNDED = 1e-6
"""What may be left of a sum of numbers near 1 that is 0, as of a gradient by nothing."""


def outcomes(programs: dict[str, Maker], turns: int) -> Iterator[DeviceComparison]:
    """Program by program; one that fails does not end the others."""
    for platform in ("cpu", "xdsl"):  # What a process compiles first loads the compiler.
        with jax.default_device(jax.devices(platform)[0]):
            jnp.ones(2).sum().block_until_ready()
    for name, make in programs.items():
        try:
            with jax.default_device(jax.devices("cpu")[0]):
                made = make()
            yield _outcome(name, made, turns)
        except Exception as error:  # Whatever a library raises is said.
            last = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{type(error).__name__}: {error}".replace("\n", " ")
            yield DeviceComparison(name, f"{text} ({last.filename}:{last.lineno})")


def _outcome(name: str, made: Made, turns: int) -> DeviceComparison:
    seconds: list[float] = []
    calls: list[Call] = []
    results: list[Any] = []
    for platform in ("cpu", "xdsl"):
        device = jax.devices(platform)[0]
        took, call = _compiled(made, device)
        seconds.append(took)
        calls.append(call)
        results.append(call())
    difference = _difference(*results)
    del results
    compile_ratio = seconds[1] / seconds[0]
    if not turns:
        return DeviceComparison(name, difference, compile_ratio)
    xla, ours = map(min, alternate(calls, turns, TURN_SECONDS))
    return DeviceComparison(name, difference, compile_ratio, ours / xla, xla)


def _compiled(made: Made, device: Any) -> tuple[float, Call]:
    """The processor time that compiling takes, and what calls the program."""
    function, arguments = made
    placed = jax.device_put(arguments, device)
    with jax.default_device(device):
        lowered = jax.jit(function).lower(*placed)
        gc.collect()
        start = time.process_time()
        compiled = lowered.compile()
        seconds = time.process_time() - start
    return seconds, lambda: jax.block_until_ready(compiled(*placed))


def _difference(expected: Any, found: Any) -> str:
    wanted, structure = jax.tree.flatten(expected)
    leaves, other = jax.tree.flatten(found)
    if structure != other:
        return f"structure {other} instead of {structure}"
    for number, (a, b) in enumerate(zip(leaves, wanted, strict=True)):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"result {number}: {a.dtype}{a.shape} instead of {b.dtype}{b.shape}"
        ours, theirs = _numbers(a), _numbers(b)
        wrong = mismatches(ours, theirs, TOLERANCE)
        if ours.dtype.kind not in "biu":
            with np.errstate(all="ignore"):
                wrong &= ~(abs(ours.astype(complex) - theirs.astype(complex)) < ROUNDED)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            return f"result {number} at {place}: {ours[place]} instead of {theirs[place]}"
    return ""


def _numbers(array: Any) -> Any:
    is_key = jnp.issubdtype(array.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(array) if is_key else array)


def main(library: str, turns: str, sample: str = "0") -> None:
    """Prints what so many programs of a library come to, a line of JSON each; 0: all of them."""
    programs = import_module(f"library_programs.programs.of_{library}").PROGRAMS
    if 0 < int(sample) < len(programs):
        names = random.Random(0).sample(list(programs), int(sample))
        programs = {name: programs[name] for name in names}
    for outcome in outcomes(programs, int(turns)):
        print(as_line(outcome), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
