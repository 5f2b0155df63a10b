"""A JAX function lowered for given arguments: its text at every level, and what runs it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from jax.extend import source_info_util
from xdsl.dialects.builtin import ModuleOp

from lowerings.compilation import Options, Program, compile_source, located_error
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_source
from lowerings.driver.source import Source
from lowerings.execution.declared_functions import outside_targets
from lowerings.execution.runnable import PartitionedProgram, SurroundedProgram
from lowerings.executors import ALL_LEVELS, SOURCE_LEVEL, level_of_name, text_at
from lowerings.ir.functions import functions_of
from lowerings.jax.interfaces import (
    jax,
    kept_arguments,
    kept_callbacks,
    mesh_of,
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
from lowerings.partitioning.costs import costs_of
from lowerings.pjrt.custom_calls import ffi_handlers, host_callbacks, with_custom_partitioning
from lowerings.pjrt.shardings import ArrayDivision, serialized
from xla_dialect.aliasing_attributes import ALIASING_OUTPUT
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.literals.arrays import Array
from xla_dialect.sharding.array_sharding import Shards

_CALLBACK = "calls back into Python, which an emulated program cannot"
_DEVICES = "runs on several devices, which an emulated program cannot"

ON_SEVERAL_DEVICES = frozenset({"shard_map", "xla_pmap"})
"""The primitives that say what each of several devices computes."""

REASONS = {
    "debug_callback": _CALLBACK,
    "debug_print": _CALLBACK,
    "io_callback": _CALLBACK,
    "infeed": "takes data from a device's queue",
    "outfeed": "gives data to a device's queue",
    "pallas_call": "is a kernel for an accelerator",
    **dict.fromkeys(ON_SEVERAL_DEVICES, _DEVICES),
}
"""By the name of the primitive: why it may have stopped us."""


def is_for_several_devices(jaxpr: Any) -> bool:
    """Whether a jaxpr says what each of several devices computes."""
    return any(equation.primitive.name in ON_SEVERAL_DEVICES for equation in _equations(jaxpr))


def unsupported_constructs(jaxpr: Any) -> list[str]:
    """A line for each primitive of a jaxpr that is in `REASONS`, with its place in the source."""
    lines: list[str] = []
    for equation in _equations(jaxpr):
        reason = REASONS.get(equation.primitive.name)
        if reason is not None:
            place = cast(Any, source_info_util).summarize(equation.source_info)
            lines.append(f"{place}: {equation.primitive.name} {reason}")
    return list(dict.fromkeys(lines))


def _equations(jaxpr: Any) -> Iterator[Any]:
    """The equations of a jaxpr and of those inside it."""
    waiting: list[Any] = [jaxpr]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple | list):
            waiting.extend(cast("Sequence[Any]", found))
            continue
        inner = getattr(found, "jaxpr", found)
        for equation in getattr(inner, "eqns", ()):
            yield equation
            waiting.extend(equation.params.values())


def sharding_on(mesh: Any, shards: Shards) -> Any:
    """
    The `jax.sharding.NamedSharding` on a mesh that cuts an array so.

    Where a dimension is cut along a part of an axis, which JAX has no name for, all devices have
    all of the array.
    """
    spec = partition_spec(serialized(ArrayDivision(shards)), mesh)
    return jax.sharding.NamedSharding(mesh, jax.P() if spec is None else spec)


_SAYS_HOW_SPLIT = ("sdy.mesh ", "mhlo.sharding ")
"""Words of programs that say how arrays are split, for Shardy and for GSPMD."""


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

    def __init__(self, program: Program, lowered: Lowered):
        super().__init__(program)
        self.process_counts = program.process_counts
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
        self,
        traced: Any,
        options: Options,
        writable: frozenset[int],
    ):
        """`writable`: the leaves of the arguments that are numpy arrays, not JAX's."""
        self.options = options
        self.name: str = traced.fun_name
        lowered = traced.lower(lowering_platforms=("cpu",))
        self._lowered = lowered
        self._jaxpr: Any = traced.jaxpr
        self.kept = kept_arguments(lowered)
        """Which leaves of the arguments the program takes: all, but for `keep_unused=False`."""
        in_avals: Sequence[Any] = traced.jaxpr.in_avals
        self.in_avals: tuple[Any, ...] = tuple(in_avals[number] for number in self.kept)
        """What the leaves of the arguments are that it takes, in order."""
        self.closed_refs, self.ref_of_result = written_refs(lowered)
        """The `Ref`s that it takes behind them, and those whose contents its results are."""
        self.out_avals: tuple[Any, ...] = results_of(lowered)
        """What the results are, in order: the leaves, and contents of `Ref`s."""
        self._has_devices = is_for_several_devices(traced.jaxpr)
        given = (leaf.donated for leaf in jax.tree.leaves(lowered.args_info))
        donated = frozenset(n for n, is_given in enumerate(given) if is_given) & writable
        places = (place for place, number in enumerate(self.kept) if number in donated)
        self.donated = frozenset(() if self._has_devices else places)
        """The parameters whose memory is given away, and can be used."""
        self.out_tree: Any = lowered.out_tree
        """How the leaves of the result are put together."""

    @cached_property
    def stablehlo(self) -> str:
        """The program as JAX prints it."""
        return self._lowered.as_text()

    @property
    def located_stablehlo(self) -> str:
        """The same, with the places in Python that operations are from."""
        return self._lowered.as_text(debug_info=True)

    def levels(self) -> tuple[str, ...]:
        """The levels that `as_text` knows, from JAX's own down to assembly."""
        return ALL_LEVELS

    def as_text(self, level: str = SOURCE_LEVEL) -> ShownProgram:
        """
        The program at one of `levels()`, or at the level of a dialect such as `linalg`.

        Raises XlaError for another level, or for a program that cannot be lowered so far.
        """
        level = level_of_name(level)
        if level == SOURCE_LEVEL:
            return ShownProgram(self.stablehlo)
        return ShownProgram(text_at(self._module(self._source), level, self.options))

    def diff(self, before: str, after: str) -> ShownDiff:
        """What changes from one level to another; raises XlaError as `as_text` does."""
        return program_diff(self.as_text(before), self.as_text(after))

    def _repr_html_(self) -> str:
        """The program as JAX prints it, for notebooks."""
        return in_colours(self.stablehlo, ProgramLexer())

    @property
    def _file_name(self) -> str:
        """How messages call the text of the program."""
        return f"jit({self.name})"

    @property
    def calls_python(self) -> bool:
        """Whether it calls functions of Python."""
        return bool(kept_callbacks(self._lowered))

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
        What a call costs, as `costs_of` counts it: `flops`, `transcendentals`, `bytes accessed`.

        Raises JaxProgramError for what this toolkit does not read.
        """
        module = self.module()
        PassManager(make_context()).run(module, parse_passes("xla-inline"))
        return costs_of(functions_of(module)[ENTRY_SYMBOL].body.block)

    def module(self) -> ModuleOp:
        """
        The verified program in the xla dialect, made anew.

        Raises JaxProgramError for what this toolkit does not read.
        """
        return self._module(replace(self._source, outlined=False))

    def _module(self, source: Source) -> ModuleOp:
        try:
            return parse_source(source)
        except XlaError as error:
            raise self._explained(error) from error

    @property
    def _source(self) -> Source:
        """The program as it is compiled: equal parts once, where no file names operations."""
        options = self.options
        files = (options.schedules, options.fusion, options.transform_script)
        is_outlined = not any(files) and not self.donated and ALIASING_OUTPUT not in self.stablehlo
        return Source(self.stablehlo, self._file_name, "stablehlo", outlined=is_outlined)

    def compile(self) -> CompiledFunction:
        """
        The program ready to run on its leaves as numpy arrays.

        Raises JaxProgramError for what cannot be compiled.
        """
        return CompiledFunction(self.program(), self)

    def program(self) -> Program:
        """What `compile` returns, without what is known of it: for calls in no more time."""
        for aval in self.out_avals:
            if not isinstance(aval, jax.core.ShapedArray):
                raise JaxProgramError(f"jit({self.name}): returns {aval}, which is no array")
        try:
            program = compile_source(with_custom_partitioning(self._source), self._compilation)
        except XlaError as error:
            raise self._explained(error) from error
        is_alone = program.process_counts == (1, 1) or not self._has_devices
        return program if is_alone else _OnAllDevices(program)

    @cached_property
    def _compilation(self) -> Options:
        """How it is compiled."""
        functions, targets = kept_callbacks(self._lowered), outside_targets(self.stablehlo)
        return replace(
            self.options,
            partitioned=any(word in self.stablehlo for word in _SAYS_HOW_SPLIT),
            donate=self.donated,
            custom_calls={**ffi_handlers(targets), **host_callbacks(functions)},
        )

    def result_shardings(self, program: Program) -> list[Any] | None:
        """Of what `program` made of this returns, where `jax.jit` has it; None on one device."""
        mesh = mesh_of(self._lowered)
        if mesh is None:
            return None
        shards = (
            program.shards.results
            if isinstance(program, PartitionedProgram)
            else [Shards.replicated(aval.ndim, mesh.size) for aval in self.out_avals]
        )
        return [sharding_on(mesh, each) for each in shards]

    def _explained(self, error: XlaError) -> JaxProgramError:
        """The error where JAX's source has it, and the constructs that may be behind it."""
        located = Source(self.located_stablehlo, self._file_name, "stablehlo")
        error = located_error(error, lambda: compile_source(located, self._compilation))
        found = unsupported_constructs(self._jaxpr)
        return JaxProgramError("\n".join((f"jit({self.name}): {error}", *found)))
