"""Programs on the ranks of MPI, one for each process. MPI is loaded where it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from lowerings.execution.compiled_code import CompiledCode
from lowerings.execution.runnable import Runnable, SurroundedProgram, run_as
from lowerings.targets.llvm.machine import host
from xla_dialect.devices.process_grid import Host
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array

if TYPE_CHECKING:
    from lowerings.execution import mpi_ranks

SILENCE = 600.0
"""Seconds that a rank waits for another one that says nothing, if there is no time limit."""

Ranks: TypeAlias = "mpi_ranks.Ranks"


def ranks_of(communicator: object, silence: float | None = None) -> Ranks:
    """
    The ranks of a communicator of mpi4py, or of all where it is None. To make them is collective.
    `silence`: seconds that a rank may say nothing while others wait for it, by default `SILENCE`.

    Raises XlaError for anything else, and where mpi4py or MPI cannot be loaded.
    """
    try:
        mpi = import_module("mpi4py.MPI")
        module = import_module("lowerings.execution.mpi_ranks")
    except (ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise XlaError(f"MPI cannot be used ({reason}): pip install 'xla-dialect[mpi]'") from error
    limit = SILENCE if silence is None else silence
    return module.Ranks.of(mpi.COMM_WORLD if communicator is None else communicator, limit)


def require_one_program(ranks: Ranks, text: str, options: Mapping[str, str]) -> None:
    """
    Compares the program and the options of all ranks, by a hash: rank 0 compiles for all of them.

    Raises the same XlaError on every rank where one has others than rank 0.
    """
    found = ranks.gather((sha256(text.encode()).hexdigest(), dict(options)))
    program, usual = found[0]
    for rank, (other, given) in enumerate(found):
        if other != program:
            raise XlaError(f"rank {rank} has another program than rank 0")
        for name, value in given.items():
            if value != usual[name]:
                raise XlaError(f"rank {rank} has another value of the option {name} than rank 0")


OnCompiled: TypeAlias = Callable[[CompiledCode], None]
"""Takes notice of code that other processes can load."""


def compiled_once(
    ranks: Ranks,
    compile_here: Callable[[OnCompiled | None], Runnable],
    load: Callable[[CompiledCode], Runnable],
) -> Runnable:
    """
    The program that rank 0 compiles; the others load it, unless their processors are of another
    kind, or it cannot be handed on: then they compile it too. Raises on all ranks what rank 0 does.
    """
    machine = host()
    kind = [machine.triple, machine.cpu, machine.features]
    if ranks.rank != 0:
        sent = ranks.broadcast(None)
        if sent is None or sent[0] != kind:
            return compile_here(None)
        return load(sent[1])
    kept: list[CompiledCode] = []
    try:
        program = compile_here(kept.append)
    except XlaError as error:
        ranks.broadcast(error)
        raise
    ranks.broadcast((kind, kept[0]) if kept else None)
    return program


class RankProgram(SurroundedProgram):
    """A program of which this rank runs one process: called with the arguments of that."""

    def __init__(self, program: Runnable, ranks: Ranks):
        super().__init__(program)
        self.ranks = ranks
        self.process_counts = program.process_counts

    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        """Raises XlaError where any rank fails, and where all wait forever."""
        return self.run(arrays)

    def run(self, arrays: Sequence[Any], host: Host | None = None) -> tuple[Array, ...]:
        """The results of this rank; `host` is what its infeeds read and its outfeeds write."""
        ((results, _),) = self._run(arrays, host, False)
        return results

    def run_processes(
        self, arguments: Sequence[Sequence[Any]], *, hosts: Sequence[Host] | None = None
    ) -> list[tuple[Array, ...]]:
        """
        The results of all processes, and what their outfeeds have written, on every rank. Of the
        arguments and of what hosts have ready a rank needs its own only.
        """
        if len(arguments) != self.ranks.size:
            raise XlaError(f"arguments for {len(arguments)} processes, there are {self.ranks.size}")
        number = self.ranks.rank
        own = None if hosts is None else hosts[number]
        found = self._run(arguments[number], own, True)
        if hosts is not None:
            for each, (_, outfeed) in zip(hosts, found, strict=True):
                each.outfeed[:] = outfeed
        return [results for results, _ in found]

    def _run(
        self, arrays: Sequence[Any], host: Host | None, is_for_all: bool
    ) -> list[tuple[tuple[Array, ...], list[Any]]]:
        process = self.ranks.process(*self.process_counts, host)

        def run() -> list[Any]:
            results = run_as(process, self.program, arrays), process.host.outfeed
            return process.gather(results) if is_for_all else [results]

        return process.run_alone(run)
