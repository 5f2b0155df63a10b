"""The extensions of the API: layouts of arrays, and how devices share them."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lowerings.pjrt.client import array_of
from lowerings.pjrt.executables import EXECUTABLES, kept_address
from lowerings.pjrt.functions import implements
from lowerings.pjrt.programs import CompiledProgram
from lowerings.pjrt.shapes import Shape, shape_from

if TYPE_CHECKING:
    from lowerings.pjrt.shardings import ArrayDivision


@implements("Layouts_PJRT_Client_GetDefaultLayout")
def client_default_layout(args: Any) -> None:
    """Row-major."""
    args.layout = shape_from(args.type, args.dims, args.num_dims).record.named_layout


@implements("Layouts_PJRT_Topology_GetDefaultLayout")
def topology_default_layout(args: Any) -> None:
    """Row-major."""
    args.layout = shape_from(args.type, args.dims, args.num_dims).record.named_layout


def _kept_layouts(compiled: CompiledProgram, what: str, shapes: Sequence[Shape]) -> int:
    if what not in compiled.kept_for_clients:
        return kept_address(
            compiled, what, array_of([shape.record.named_layout for shape in shapes])
        )
    return ctypes.addressof(compiled.kept_for_clients[what])


@implements("Layouts_PJRT_Executable_GetOutputLayouts")
def output_layouts(args: Any) -> None:
    """Of each result; the client does not give them back."""
    compiled = EXECUTABLES[args.executable]
    args.num_outputs = len(compiled.results)
    args.layouts = _kept_layouts(compiled, "result layouts", compiled.results)


@implements("Layouts_PJRT_Executable_GetParameterLayouts")
def parameter_layouts(args: Any) -> None:
    """Of each parameter; the client does not give them back."""
    compiled = EXECUTABLES[args.executable]
    args.num_parameters = len(compiled.parameters)
    args.layouts = _kept_layouts(compiled, "parameter layouts", compiled.parameters)


def _return_shardings(
    args: Any, compiled: CompiledProgram, what: str, divisions: Sequence[ArrayDivision] | None
) -> None:
    # A program without results is one with an empty tuple, for XLA.
    if not divisions:
        args.shardings = None
        return
    # Only programs for several devices have any.
    shardings = importlib.import_module("lowerings.pjrt.shardings")
    memories: list[bytes] = [shardings.serialized(each) for each in divisions]
    kept = [ctypes.create_string_buffer(data, len(data) or 1) for data in memories]
    compiled.kept_for_clients.setdefault(f"{what} bytes", kept)
    places = array_of(
        [ctypes.addressof(each) for each in compiled.kept_for_clients[f"{what} bytes"]]
    )
    sizes = (ctypes.c_size_t * max(len(memories), 1))(*map(len, memories))
    args.shardings = kept_address(compiled, what, places)
    args.sharding_sizes = kept_address(compiled, f"{what} sizes", sizes)


@implements("Shardings_PJRT_Executable_ParameterShardings")
def parameter_shardings(args: Any) -> None:
    """Of each parameter, where the program is for several devices."""
    compiled = EXECUTABLES[args.executable]
    args.num_parameters = len(compiled.parameters)
    _return_shardings(args, compiled, "parameter shardings", compiled.parameter_divisions)


@implements("Shardings_PJRT_Executable_OutputShardings")
def output_shardings(args: Any) -> None:
    """Of each result, where the program is for several devices."""
    compiled = EXECUTABLES[args.executable]
    args.num_outputs = len(compiled.results)
    _return_shardings(args, compiled, "result shardings", compiled.result_divisions)
