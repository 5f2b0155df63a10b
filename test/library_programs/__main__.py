"""
Programs of libraries on our device and on XLA's CPU: whether the results agree, and the ratios of
the processor time of compiling and of the shortest time of a call. On a busy machine `taskset -c 0`
gives both one processor: XLA then waits for no thread.

    pip install -e '.[libraries]'
    PYTHONPATH=test python -m library_programs equinox optax --turns 5
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from statistics import geometric_mean
from threading import Timer

from library_programs.device_comparison import DeviceComparison, of_line
from lowerings.execution.compile_cache import CACHE_VARIABLE

LIBRARIES = (
    "blackjax brax diffrax distrax equinox flax_linen flax_nnx haiku jraph lineax numpyro optax "
    "optimistix tfp"
).split()
SHORT_CALL = 300e-6
"""Seconds below which it is the call that counts, not what is computed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the programs, each library in a process; 1 if something is not as on XLA's CPU."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("libraries", nargs="*", default=LIBRARIES, metavar="LIBRARY")
    parser.add_argument("--turns", type=int, default=0, help="turns of timing; 0: no calls timed")
    parser.add_argument("--sample", type=int, default=0, help="programs of a library; 0: all")
    parser.add_argument("--limit", type=float, default=1200, help="seconds for a library")
    options = parser.parse_args(arguments)
    if unknown := set(options.libraries) - set(LIBRARIES):
        parser.error(f"{min(unknown)} is none of {', '.join(LIBRARIES)}")
    found: dict[str, list[DeviceComparison]] = {}
    print("| program | call, XLA µs | ratio | ratio of compiling | difference |")
    print("| --- | --- | --- | --- | --- |")
    for library in options.libraries:
        for line in _of_process(library, options):
            outcome = of_line(line)
            found.setdefault(library, []).append(outcome)
            print(_row(library, outcome), flush=True)
    everything = list(chain.from_iterable(found.values()))
    print(_of_libraries(found | {"all": everything}), _summary(everything), sep="\n")
    return int(any(each.difference for each in everything))


def _of_process(library: str, options: argparse.Namespace) -> Iterable[str]:
    module = f"{__spec__.parent}.measuring"
    command = [sys.executable, "-W", "ignore", "-m", module, library]
    command += [str(options.turns), str(options.sample)]
    environment = {**os.environ, "JAX_PLATFORMS": "xdsl,cpu", CACHE_VARIABLE: "0"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        timer = Timer(options.limit, process.kill)
        timer.start()
        yield from (line for line in process.stdout if line.startswith("{"))
        timer.cancel()
    if process.returncode:
        raise SystemExit(f"{library}: the process ended with {process.returncode}")


def _row(library: str, outcome: DeviceComparison) -> str:
    cells = (
        f"{library}: {outcome.name}",
        f"{outcome.xla_call * 1e6:.0f}" if outcome.xla_call else "",
        f"{outcome.call_ratio:.2f}" if outcome.xla_call else "",
        f"{outcome.compile_ratio:.2f}" if outcome.compile_ratio else "",
        outcome.difference,
    )
    return f"| {' | '.join(cells)} |"


def _of_libraries(found: Mapping[str, Sequence[DeviceComparison]]) -> str:
    lines = ["\n| library | programs | ratio of calls | ratio of compiling |", "|" + " --- |" * 4]
    for library, outcomes in found.items():
        calls = _mean(each.call_ratio for each in outcomes)
        compiling = _mean(each.compile_ratio for each in outcomes)
        lines.append(f"| {library} | {len(outcomes)} | {calls} | {compiling} |")
    return "\n".join(lines)


def _mean(ratios: Iterable[float]) -> str:
    """The geometric mean of what was measured."""
    known = [each for each in ratios if each]
    return f"{geometric_mean(known):.2f}" if known else ""


def _summary(found: Sequence[DeviceComparison]) -> str:
    right = [each for each in found if not each.difference]
    lines = [f"\n{len(right)} of {len(found)} as on XLA's CPU."]
    timed = [each for each in found if each.xla_call]
    for title, rows in (
        ("calls", timed),
        ("calls of 300 µs and more", [x for x in timed if x.xla_call >= SHORT_CALL]),
        ("shorter calls", [x for x in timed if x.xla_call < SHORT_CALL]),
    ):
        if rows:
            worst = max(rows, key=lambda each: each.call_ratio)
            mean = _mean(each.call_ratio for each in rows)
            largest = f"largest {worst.call_ratio:.2f} ({worst.name})"
            lines.append(f"{len(rows)} {title}: geometric mean {mean}, {largest}")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
