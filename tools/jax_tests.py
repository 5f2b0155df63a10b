"""
JAX's own tests on our device and on XLA's CPU, from a checkout of JAX's repository of the version
that is installed: what passes there and here, in a table.

    python -m tools.jax_tests ~/jax lax_test nn_test --cases 3

Each file runs in a process of its own, which is started again behind a test that ends it.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

PLATFORMS = {"xla": "cpu", "xdsl": "xdsl,cpu"}
"""What `JAX_PLATFORMS` is for each column."""

FILES = """
    api_test array_test array_interoperability_test batching_test checkify_test
    compilation_cache_test custom_api_test debug_nans_test debugging_primitives_test dtypes_test
    export_test fft_test image_test jet_test layout_test lax_autodiff_test lax_control_flow_test
    lax_numpy_einsum_test lax_numpy_indexing_test lax_numpy_operators_test lax_numpy_reducers_test
    lax_numpy_setops_test lax_numpy_test lax_numpy_ufuncs_test lax_numpy_vectorize_test
    lax_scipy_sparse_test lax_scipy_special_functions_test lax_scipy_test lax_test lax_vmap_op_test
    lax_vmap_test linalg_test memories_test multi_device_test mutable_array_test nn_test ode_test
    pjit_test polynomial_test python_callback_test random_impl_test random_lax_test random_test
    scipy_fft_test scipy_interpolate_test scipy_ndimage_test scipy_optimize_test scipy_signal_test
    scipy_spatial_test scipy_stats_test shard_map_test sparse_bcoo_bcsr_test sparse_test
    transfer_guard_test
""".split()
"""The files that concern a backend."""

_RESULT = re.compile(r"^(\S+?::.+?) (PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)\b")
_STARTED = re.compile(r"^(\S+?::.+?) (?=$|PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)")
_SHORT = re.compile(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - (.*))?$")
_MAX_RESTARTS = 20


@dataclass
class FileOutcome:
    """What became of the tests of a file on one platform."""

    results: dict[str, str] = field(default_factory=dict[str, str])
    """By the test: how pytest calls it, or `CRASHED` or `TIMEOUT`."""
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    """The first line of what went wrong."""
    seconds: float = 0.0

    def with_result(self, *names: str) -> set[str]:
        """The tests that ended so."""
        return {test for test, result in self.results.items() if result in names}


def run_tests(
    checkout: Path, tests: list[str], platform: str, options: argparse.Namespace
) -> FileOutcome:
    """Runs tests, again without those that are done when the process ends early."""
    outcome = FileOutcome()
    deadline = time.monotonic() + options.limit
    for _ in range(_MAX_RESTARTS):
        left = deadline - time.monotonic()
        ended = left > 0 and _run_process(checkout, tests, platform, options, outcome, left)
        if ended:
            break
    outcome.seconds = options.limit - (deadline - time.monotonic())
    return outcome


def collected(checkout: Path, file: str, options: argparse.Namespace) -> list[str]:
    """The tests of a file: all, or a sample by a fixed seed."""
    if options.sample is None:
        return [f"tests/{file}.py"]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    environment = _environment("xla", options)
    found = subprocess.run(
        [*command, f"tests/{file}.py"],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
    )
    tests = [line for line in found.stdout.splitlines() if "::" in line]
    return random.Random(0).sample(tests, min(options.sample, len(tests)))


def _environment(platform: str, options: argparse.Namespace) -> dict[str, str]:
    return {
        **os.environ,
        "JAX_PLATFORMS": PLATFORMS[platform],
        "JAX_NUM_GENERATED_CASES": str(options.cases),
        "JAX_NUM_CPU_DEVICES": str(options.devices),
        "PYTHONFAULTHANDLER": "1",
    }


def _run_process(
    checkout: Path,
    tests: list[str],
    platform: str,
    options: argparse.Namespace,
    outcome: FileOutcome,
    limit: float,
) -> bool:
    """Whether the process has run all tests that are left."""
    environment = _environment(platform, options)
    with tempfile.TemporaryDirectory() as folder:
        done = Path(folder, "done")
        skipped = [f"--deselect={test}" for test in outcome.results]
        done.write_text("\n".join([*skipped, *tests]))
        command = [sys.executable, "-m", "pytest", "-v", "--no-header", "--tb=line", "-rfE"]
        command += ["-p", "no:cacheprovider", "-p", "no:xdist", f"@{done}"]
        log = Path(folder, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=checkout, env=environment, stdout=output, stderr=subprocess.STDOUT
            )
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                code = None
        lines = log.read_text(errors="replace").splitlines()
    running = _read(lines, outcome)
    if code is None or code < 0:
        if running is None:
            outcome.reasons[""] = "\n".join(lines[-5:])
            return True
        outcome.results[running] = "TIMEOUT" if code is None else "CRASHED"
        outcome.reasons[running] = f"the process ended with {code}"
        return code is None
    if code > 1 and not outcome.results:
        outcome.reasons[""] = "\n".join(lines[-5:])
    return True


def _read(lines: list[str], outcome: FileOutcome) -> str | None:
    """Notes the results in the output of pytest; returns the test that has none."""
    running = None
    for line in lines:
        if found := _RESULT.match(line):
            outcome.results[found[1]] = found[2]
            running = None
        elif found := _STARTED.match(line):
            running = found[1]
        elif running is not None and (found := re.match(r"(PASSED|FAILED|SKIPPED|ERROR)\b", line)):
            outcome.results[running] = found[1]
            running = None
        if found := _SHORT.match(line):
            outcome.reasons[found[1]] = found[2] or ""
    return running


def table_row(
    file: str, xla: FileOutcome, xdsl: FileOutcome
) -> tuple[str, list[str], Counter[str]]:
    """
    A line of the table, the tests that pass there and not here, and the counts. A test that runs
    when the time of its file is over is unfinished: it may hang.
    """
    passing = xla.with_result("PASSED")
    ours = xdsl.with_result("PASSED")
    skipped = xdsl.with_result("SKIPPED") & passing
    tried = passing & set(xdsl.results)
    unfinished = xdsl.with_result("TIMEOUT")
    missed = sorted(tried - ours - skipped - unfinished)
    counts = Counter(passing=len(tried), ours=len(tried & ours), skipped=len(skipped))
    counts["crashed"] = len(xdsl.with_result("CRASHED"))
    counts["unfinished"] = len(unfinished)
    row = (
        f"| {file} | {counts['passing']} | {counts['ours']} | {counts['skipped']} | {len(missed)} "
        f"| {counts['crashed']} | {counts['unfinished']} | {xla.seconds:.0f} | {xdsl.seconds:.0f} |"
    )
    return row, missed, counts


def main() -> None:
    """Runs the files and prints the table, and each exception with its reason."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("checkout", type=Path, help="of jax-ml/jax, at the installed version")
    parser.add_argument("files", nargs="*", default=FILES, help="names in `tests`, without .py")
    parser.add_argument("--cases", type=int, default=1, help="random cases of each property")
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--limit", type=float, default=1200, help="seconds for a file")
    parser.add_argument("--sample", type=int, help="so many tests of a file, by a fixed seed")
    options = parser.parse_args()
    columns = (
        "file, pass on XLA, of these here, skipped, failed, crashed, unfinished, s XLA, s here"
    )
    print(f"| {columns.replace(', ', ' | ')} |")
    print(f"|{' --- |' * len(columns.split(', '))}", flush=True)
    total: Counter[str] = Counter()
    exceptions: list[str] = []
    for file in options.files:
        tests = collected(options.checkout, file, options)
        xdsl = run_tests(options.checkout, tests, "xdsl", options)
        xla = run_tests(options.checkout, tests, "xla", options)
        row, missed, counts = table_row(file, xla, xdsl)
        total += counts
        print(row, flush=True)
        exceptions += [f"{test}: {xdsl.reasons.get(test, '')}" for test in missed]
        for outcome in (xla, xdsl):
            if not outcome.results:
                exceptions.append(f"{file}: {outcome.reasons.get('', '')}")
    share = total["ours"] / max(total["passing"] - total["skipped"], 1)
    print(f"\n{total['ours']} of {total['passing']} ({share:.2%} of those not skipped here)\n")
    print("\n".join(exceptions))


if __name__ == "__main__":
    main()
