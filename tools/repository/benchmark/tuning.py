"""
Tuned against default schedules, on kernels of odd shapes:
`python -m tools.repository.benchmark.tuning`.

Each kernel is tuned for its share of the time. Afterwards its program is compiled as users do, with
and without the file of schedules, and both run by turns on one thread: a ratio is the median of the
ratios of single turns, tuned over default, and 1 where no schedule was better.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import lowerings
from lowerings.driver.program import load_program
from lowerings.scheduling.schedule_file import ScheduleFile
from lowerings.targets.llvm.machine import host
from lowerings.tuning.program_search import Limits, ProgramSearch
from lowerings.validation.inputs import InputKind, make_input

from ...command_line import guarded


def _type(*shape: int) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def _program(operation: str, result: str, *parameters: str) -> str:
    named = ", ".join(f"%{name}: {type_}" for name, type_ in zip("ab", parameters, strict=False))
    return f"""
        func.func @main({named}) -> {result} {{
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %r = {operation}
          return %r : {result}
        }}
    """


def _product(m: int, k: int, n: int, *batch: int, turned: bool = False) -> str:
    """A matrix product; `turned`: the second factor has its summed dimension last."""
    b = len(batch)
    lhs, rhs = _type(*batch, m, k), _type(*batch, *((n, k) if turned else (k, n)))
    result = _type(*batch, m, n)
    leading = list(range(b))
    batching = f"batching_dims = {leading} x {leading}, " if b else ""
    summed = f"contracting_dims = [{b + 1}] x [{b + int(turned)}]"
    return _program(
        f"stablehlo.dot_general %a, %b, {batching}{summed} : ({lhs}, {rhs}) -> {result}",
        result,
        lhs,
        rhs,
    )


def _convolution(size: Sequence[int], window: int, features: int, groups: int = 1) -> str:
    n, h, w, c = size
    rest = window - 1
    x, kernel = _type(n, h, w, c), _type(window, window, c // groups, features)
    result = _type(n, h - rest, w - rest, features)
    return _program(
        "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
        "window = {} {batch_group_count = 1 : i64, "
        f"feature_group_count = {groups} : i64}} : ({x}, {kernel}) -> {result}",
        result,
        x,
        kernel,
    )


def _transpose(order: Sequence[int], *shape: int) -> str:
    result = _type(*(shape[d] for d in order))
    return _program(
        f"stablehlo.transpose %a, dims = {list(order)} : ({_type(*shape)}) -> {result}",
        result,
        _type(*shape),
    )


def _sum(dimension: int, *shape: int) -> str:
    result = _type(*(n for d, n in enumerate(shape) if d != dimension))
    return _program(
        f"stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [{dimension}]"
        f" : ({_type(*shape)}, tensor<f32>) -> {result}",
        result,
        _type(*shape),
    )


ODD_SHAPES: dict[str, str] = {
    "product of primes": _product(97, 389, 211),
    "tall product": _product(4099, 17, 23),
    "flat product": _product(7, 1021, 509),
    "product with a transpose": _product(127, 257, 131, turned=True),
    "small products": _product(11, 13, 19, 53),
    "matrix times vectors": _product(769, 1021, 3),
    "convolution, batch of one": _convolution((1, 19, 23, 13), 5, 29),
    "depthwise convolution": _convolution((1, 29, 31, 37), 3, 37, 37),
    "5-D transpose": _transpose((4, 2, 0, 3, 1), 7, 11, 13, 17, 19),
    "5-D transpose, last kept": _transpose((3, 1, 0, 2, 4), 13, 11, 17, 19, 5),
    "column sums": _sum(0, 1999, 61),
    "sums in the middle": _sum(1, 23, 211, 47),
}
"""Programs in StableHLO by what they compute."""


TURNS = 61
TURN_SECONDS = 0.002
"""What each program runs in a turn."""


def main(argv: Sequence[str] | None = None) -> int:
    """Tunes, measures and prints a table in Markdown; returns the exit code."""
    return guarded("tuning", lambda: run(argv))


def run(argv: Sequence[str] | None) -> int:
    """Parses the arguments, tunes all kernels, and measures them."""
    parser = argparse.ArgumentParser(prog="tuning", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="for all kernels together")
    parser.add_argument("-o", "--output-file", type=Path, default=Path("odd_shapes.schedules"))
    arguments = parser.parse_args(argv)
    processor, file = host().processor, ScheduleFile()
    improved: set[str] = set()
    for name, text in ODD_SHAPES.items():
        print(name, file=sys.stderr, flush=True)
        limits = Limits(arguments.seconds / len(ODD_SHAPES))
        result = ProgramSearch(limits).run(load_program(text))
        file = file.updated(each.entry(processor) for each in result.kernels if each.is_better)
        file.write(arguments.output_file)
        improved.update([name] if any(each.is_better for each in result.kernels) else [])
        if result.interrupted:
            raise KeyboardInterrupt
    ratios: list[float] = []
    print("| kernel | default, µs | tuned, µs | ratio |\n| --- | --- | --- | --- |")
    for name, text in ODD_SHAPES.items():
        if name not in improved:
            # The same code twice: there is no ratio to measure.
            ratios.append(1.0)
            print(f"| {name} | | the default | 1 |", flush=True)
            continue
        default, tuned, ratio = measured(text, arguments.output_file)
        ratios.append(ratio)
        print(f"| {name} | {1e6 * default:.4g} | {1e6 * tuned:.4g} | {ratio:.3f} |", flush=True)
    mean = exp(sum(map(log, ratios)) / len(ratios))
    print(f"| geometric mean | | | {mean:.3f} |")
    return 0


def measured(text: str, schedules: Path) -> tuple[float, float, float]:
    """Seconds of one call by default and tuned, and the ratio of tuned to default."""
    programs = [lowerings.compile(text, num_threads=1, schedules=s) for s in (None, schedules)]
    arrays = make_input(programs[0].signature, InputKind.PLAIN, np.random.default_rng(0))
    calls = max(1, round(TURN_SECONDS / _seconds(programs[0], arrays, 1)))
    times: list[list[float]] = [[], []]
    for turn in range(TURNS):
        for which in (0, 1) if turn % 2 else (1, 0):
            times[which].append(_seconds(programs[which], arrays, calls))
    ratio = median(b / a for a, b in zip(*times, strict=True))
    return median(times[0]), median(times[1]), ratio


def _seconds(program: Callable[..., Any], arrays: Sequence[Any], calls: int) -> float:
    program(*arrays)
    start = time.perf_counter()
    for _ in range(calls):
        program(*arrays)
    return (time.perf_counter() - start) / calls


if __name__ == "__main__":
    sys.exit(main())
