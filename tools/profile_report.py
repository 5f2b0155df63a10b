"""`xla-run --profile`: the time of a program's kernels, beside what this machine can do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from rich.table import Table
from rich.text import Text

from lowerings.execution.profile import KernelProfile, Profile
from lowerings.execution.roofline import MeasuredRoofline
from lowerings.profiling.source_operations import SourceOperation
from xla_dialect.diagnostics import XlaError

from .command_line import write_output
from .tables import console_of, table_with

SHOWN_OPERATIONS = 4
DEFAULT_RUNS = 10


def add_profile_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a command line."""
    add = parser.add_argument
    add(
        "--profile",
        action="store_true",
        help="measure the kernels of compiled code and print a table of them (stderr)",
    )
    add("--profile-json", metavar="FILE", help="measure them, and write the profile as JSON")
    add(
        "--profile-runs",
        type=int,
        default=DEFAULT_RUNS,
        metavar="N",
        help="runs that are measured, after one that is not; 0 measures that one "
        f"(default {DEFAULT_RUNS})",
    )


def is_profiled(args: argparse.Namespace) -> bool:
    """Whether a profile is asked for; raises XlaError for options that do not fit each other."""
    if args.profile_json is not None and args.split_input_file:
        raise XlaError("--profile-json is for one program, not with --split-input-file")
    if args.profile_runs < 0:
        raise XlaError(f"--profile-runs is {args.profile_runs}")
    return args.profile or args.profile_json is not None


def report_profiles(
    profiles: Mapping[str, Profile], args: argparse.Namespace, output: IO[str]
) -> None:
    """Prints and writes the profiles of functions, as asked for; raises XlaError."""
    found = {
        name: (profile, MeasuredRoofline(profile.threads)) for name, profile in profiles.items()
    }
    if args.profile:
        console = console_of(output)
        for name, (profile, roofline) in found.items():
            console.print(_table(name, profile, roofline))
    if args.profile_json is not None:
        content = {name: profile.as_json(roofline) for name, (profile, roofline) in found.items()}
        write_output(args.profile_json, json.dumps(content, indent=1) + "\n")


def _table(name: str, profile: Profile, roofline: MeasuredRoofline) -> Table:
    runs, total = profile.runs, profile.seconds
    each = total / runs if runs else 0.0
    outside = profile.seconds_outside / total if total else 0.0
    table = table_with(
        ("kernel",),
        ("calls", "time", "mean µs", "best µs", "GFLOP/s", "GB/s", "of roof", "balance"),
        title=f"Profile of @{name}: {each * 1e6:,.1f} µs in each of {runs} runs, "
        f"{profile.threads} thread{'s' if profile.threads > 1 else ''}",
        caption=f"{outside:.1%} outside of kernels and loops; roof: "
        f"{roofline.flops('float') / 1e9:,.0f} GFLOP/s in f32, "
        f"bandwidth as measured for the bytes of each kernel",
    )
    table.add_column("operations", overflow="fold")
    for kernel in profile.kernels:
        table.add_row(
            Text(kernel.name),
            f"{kernel.calls:,}",
            f"{kernel.seconds / total:.1%}" if total else "",
            f"{kernel.seconds / kernel.calls * 1e6:,.1f}",
            f"{kernel.shortest_seconds * 1e6:,.1f}",
            _number(kernel.flops / 1e9),
            _number(kernel.bandwidth / 1e9),
            _share(kernel.roofline_share(roofline)),
            _share(kernel.balance),
            Text(_operations(kernel)),
        )
    return table


def _number(value: float) -> str:
    return f"{value:,.1f}" if value else "-"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _operations(kernel: KernelProfile) -> str:
    """One operation a line, the file without its folder."""
    found = kernel.operations
    lines = [
        str(SourceOperation(each.name, Path(each.file).name, each.line))
        for each in found[:SHOWN_OPERATIONS]
    ]
    more = len(found) - SHOWN_OPERATIONS
    return "\n".join([*lines, f"and {more} more"] if more > 0 else lines)
