"""A JAX function lowered for given arguments: its text at every level, and what runs it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from lowerings.backends import DUMP, Program
from lowerings.execution.runnable import PartitionedProgram, SurroundedProgram
from lowerings.executors import ALL_LEVELS, SOURCE_LEVEL
from lowerings.jax.interfaces import (
    device_count,
    jax,
    kept_arguments,
    kept_callbacks,
    mesh_of,
    module_of,
    partition_spec,
    results_of,
    written_refs,
)
from lowerings.notebook import (
    ProgramLexer,
    ShownDiff,
    ShownProgram,
    in_colours,
    program_diff,
)
from lowerings.pjrt.compiling import compile_program
from lowerings.pjrt.program_text import CompileOptions, ProgramText, bytecode
from lowerings.pjrt.shardings import ArrayDivision, serialized
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.sharding.array_sharding import Shards


def sharding_on(mesh: Any, shards: Shards) -> Any:
    """
    The `jax.sharding.NamedSharding` on a mesh that cuts an array so.

    Where a dimension is cut along a part of an axis, which JAX has no name for, all devices have
    all of the array.
    """
    spec = partition_spec(serialized(ArrayDivision(shards)), mesh)
    return jax.sharding.NamedSharding(mesh, jax.P() if spec is None else spec)


def _inspection() -> ModuleType:
    """What shows programs needs printers, which no program is compiled with."""
    from lowerings.pjrt import inspection  # noqa: PLC0415

    return inspection


class JaxProgramError(XlaError):
    """A function that JAX can trace, but this toolkit cannot compile."""


class _OnAllDevices(SurroundedProgram):
    """A program on several devices: all of them take all arguments, and have all results."""

    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        """Runs one thread for each device."""
        count = math.prod(self.program.process_counts)
        return self.program.run_processes([arrays] * count)[0]


class CompiledFunction(SurroundedProgram):
    """A program ready to run on its leaves as numpy arrays, and what is known of it."""

    def __init__(self, lowered: Lowered):
        super().__init__(lowered.program)
        self.process_counts = lowered.program.process_counts
        self.text_at = lowered.as_text
        self.cost_analysis = lowered.cost_analysis
        """What a call costs, see `Lowered.cost_analysis`."""
        self.out_info: Any = lowered.out_info
        """What the results are, as a pytree of `jax.ShapeDtypeStruct`."""

    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        """Runs the program."""
        return self.program(*arrays)


class Lowered:
    """
    A function that JAX traced and lowered for arguments of certain shapes and types.

    `lower` of a function made by `lowerings.jax.jit` returns it.
    """

    def __init__(
        self, traced: Any, named: Mapping[str, Any], writable: frozenset[int], *, profile: bool
    ):
        """
        `named`: options by the names that the device has for them; `writable`: the leaves of the
        arguments that are numpy arrays, not JAX's.
        """
        self.name: str = traced.fun_name
        lowered = traced.lower(lowering_platforms=("cpu",))
        self._lowered = lowered
        self.options = CompileOptions(b"", 1, device_count(lowered), (), named)
        """How it is compiled."""
        self.text = ProgramText.of(bytecode(module_of(lowered)), kept_callbacks(lowered))
        """The program as the device has it."""
        self._profile = profile
        self.kept = kept_arguments(lowered)
        """Which leaves of the arguments the program takes: all, but for `keep_unused=False`."""
        in_avals: Sequence[Any] = traced.jaxpr.in_avals
        self.in_avals: tuple[Any, ...] = tuple(in_avals[number] for number in self.kept)
        """What the leaves of the arguments are that it takes, in order."""
        self.closed_refs, self.ref_of_result = written_refs(lowered)
        """The `Ref`s that it takes behind them, and those whose contents its results are."""
        self.out_avals: tuple[Any, ...] = results_of(lowered)
        """What the results are, in order: the leaves, and contents of `Ref`s."""
        given = (leaf.donated for leaf in jax.tree.leaves(lowered.args_info))
        donated = frozenset(n for n, is_given in enumerate(given) if is_given) & writable
        places = (place for place, number in enumerate(self.kept) if number in donated)
        self.donated = frozenset(() if self.options.device_count > 1 else places)
        """The parameters whose memory is given away, and can be used."""
        self.out_tree: Any = lowered.out_tree
        """How the leaves of the result are put together."""

    @property
    def located_stablehlo(self) -> str:
        """The program as JAX prints it, with the places in Python that operations are from."""
        return self._lowered.as_text(debug_info=True)

    def levels(self) -> tuple[str, ...]:
        """The levels that `as_text` knows, from JAX's own down to assembly."""
        return ALL_LEVELS

    def as_text(self, level: str = SOURCE_LEVEL) -> ShownProgram:
        """
        The program at one of `levels()`, or at the level of a dialect such as `linalg`.

        Raises XlaError for another level, or for a program that cannot be lowered so far.
        """
        return ShownProgram(_inspection().level_text(self, level))

    def diff(self, before: str, after: str) -> ShownDiff:
        """What changes from one level to another; raises XlaError as `as_text` does."""
        return program_diff(self.as_text(before), self.as_text(after))

    def _repr_html_(self) -> str:
        """The program as JAX prints it, for notebooks."""
        return in_colours(self.as_text(), ProgramLexer())

    @property
    def out_info(self) -> Any:
        """What the results are, as a pytree of `jax.ShapeDtypeStruct`."""
        return self._lowered.out_info

    @property
    def args_info(self) -> Any:
        """What the arguments are, as a pytree of JAX's."""
        return self._lowered.args_info

    def cost_analysis(self) -> dict[str, float]:
        """
        What a call costs, as the device counts it: `flops`, `transcendentals`, `bytes accessed`.

        Raises XlaError for what this toolkit does not read.
        """
        return _inspection().costs(self)

    def module(self) -> ModuleOp:
        """
        The verified program in the xla dialect, made anew.

        Raises XlaError for what this toolkit does not read.
        """
        return _inspection().module_of(self)

    def compile(self) -> CompiledFunction:
        """
        The program ready to run on its leaves as numpy arrays.

        Raises JaxProgramError for what cannot be compiled.
        """
        return CompiledFunction(self)

    @property
    def program(self) -> Program:
        """What `compile` returns, without what is known of it: for calls in no more time."""
        return self._program

    @cached_property
    def _program(self) -> Program:
        for aval in self.out_avals:
            if not isinstance(aval, jax.core.ShapedArray):
                raise JaxProgramError(f"jit({self.name}): returns {aval}, which is no array")
        try:
            program, _ = compile_program(
                self.text, self.options, donate=self.donated, profile=self._profile
            )
        except XlaError as error:
            raise JaxProgramError(f"jit({self.name}): {error}") from error
        if DUMP in self.options.named:
            _inspection().dump(self, self.options.named[DUMP])
        return program if program.process_counts == (1, 1) else _OnAllDevices(program)

    def result_shardings(self) -> list[Any] | None:
        """Of what the program returns, where `jax.jit` has it; None on one device."""
        mesh = mesh_of(self._lowered)
        if mesh is None:
            return None
        shards = (
            self.program.shards.results
            if isinstance(self.program, PartitionedProgram)
            else [Shards.replicated(aval.ndim, mesh.size) for aval in self.out_avals]
        )
        return [sharding_on(mesh, each) for each in shards]
