"""Every operation, of every element type that it allows, on every executor: the files of test/run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias

import ml_dtypes
import numpy as np
import pytest
from mlir_acceptance import assert_mlir_takes
from run_files import ALL, ASK_THEIR_PROCESS, COMPUTED_ALIKE, RunFile, Together, run_files, together

from lowerings.compilation import (
    INTERPRETED_LEVELS,
    Lowering,
    Options,
    compile_module,
    interpreted_program,
    native_program,
)
from lowerings.driver.context import make_context
from lowerings.driver.entry import isolate_entry
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.execution.emulator import Emulation, EmulationError
from lowerings.pipelines import LEVELS, NATIVE
from lowerings.targets.llvm.machine import host
from tools import xla_run
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import bits_of
from xla_dialect.mlir_text import print_mlir
from xla_dialect.ops import OPERATIONS
from xla_dialect.runtime.comparison import is_inexact, ulps_between
from xla_dialect.types import ELEMENT_TYPES

AnyArray = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Bound:
    """How far floats may be from those of the reference. By default the bits are equal."""

    levels: int = 0
    """ULP, interpreted at the tensors and buffers levels."""
    machine: int = 0
    """ULP, at the loops level and as machine code."""
    of_largest: bool = False
    """Whether it is the last place of the largest finite number of the array that is meant."""
    complex_only: bool = False
    """Whether real numbers have to be equal all the same."""
    reason: str = ""


POLYNOMIALS = Bound(0, 4, reason="polynomials at the loops level")
FORMULAS = Bound(4, 4, reason="formulas of other functions, and polynomials")
PARTS = Bound(4, 4, complex_only=True, reason="formulas of the parts of complex numbers")
EXPANDED = Bound(16, 16, True, reason="expanded into other formulas, whose sums cancel elsewhere")
BOUNDS: Mapping[str, Bound] = {
    **dict.fromkeys(("cbrt", "erf"), POLYNOMIALS),
    **dict.fromkeys(
        (
            *("abs", "acos", "acosh", "asin", "asinh", "atanh", "cosine", "cosh", "exponential"),
            *("exponential_minus_one", "log", "log_plus_one", "logistic", "power", "rsqrt"),
            *("sine", "sinh", "tan", "tanh"),
        ),
        FORMULAS,
    ),
    **dict.fromkeys(("divide", "multiply", "sign", "sqrt"), PARTS),
    "atan2": Bound(4, 4, True, reason="the part of a complex angle that cancels is noise"),
    **dict.fromkeys(
        (
            *("batch_norm_grad", "batch_norm_inference", "batch_norm_training"),
            *("cholesky", "fft", "triangular_solve"),
        ),
        EXPANDED,
    ),
}
"""How far each operation's results may be off; those that are not here, by no bit."""


def of_levels(bound: Bound) -> int:
    return bound.levels


def of_machine(bound: Bound) -> int:
    return bound.machine


Types: TypeAlias = Literal["as written", "every kind", "every type"]
"""For which element types functions are repeated: see `RunFile`."""


@dataclass(frozen=True)
class Executor:
    """How programs are run, and which they are."""

    options: Options
    ulps: Callable[[Bound], int]
    types: Types = "every type"

    @property
    def level(self) -> str:
        """Where programs are compiled or interpreted."""
        return self.options.level or LEVELS[-1]

    @property
    def is_emulated(self) -> bool:
        return self.options.emulation is not None

    def types_in(self, file: RunFile) -> Types:
        """For which element types it gets the functions of a file."""
        is_inner = self.options.level in ("buffers", "loops")
        if file.runs_others and is_inner and self.types == "every kind":
            return "as written"  # What they run is lowered for each executor anew.
        return self.types


def interpreter(level: str) -> Options:
    return Options(backend="interpreter", level=level, entry=ALL)


def riscv64(features: str = "") -> Options:
    return Options(backend="riscv64", entry=ALL, emulation=Emulation(features))


REFERENCE = Options(backend="reference", entry=ALL)
LLVM = Options(backend="llvm", entry=ALL)

EXECUTORS: Mapping[str, Executor] = {
    "tensors": Executor(interpreter("tensors"), of_levels, "every kind"),
    "buffers": Executor(interpreter("buffers"), of_levels, "every kind"),
    "loops": Executor(interpreter("loops"), of_machine, "every kind"),
    "llvm": Executor(LLVM, of_machine, "every kind"),
    "riscv64": Executor(riscv64(), of_machine, "as written"),
    "tensors_every_type": Executor(interpreter("tensors"), of_levels),
    "buffers_every_type": Executor(interpreter("buffers"), of_levels),
    "loops_every_type": Executor(interpreter("loops"), of_machine),
    "llvm_every_type": Executor(LLVM, of_machine),
    "riscv64_every_type": Executor(riscv64(), of_machine),
    "riscv64_vectors": Executor(riscv64("+v"), of_machine),
}
"""By name; those that get every type run with `--full` only."""

WITHOUT_FILE: Mapping[str, str] = {
    "all_gather_done": "what all_gather_start begins",
    "all_reduce_done": "what all_reduce_start begins",
    "async_done": "what async_start begins",
    "async_update": "what async_start begins",
    "collective_permute_done": "what collective_permute_start begins",
    "copy_done": "what copy_start begins",
    "recv": "where send goes",
    "recv_done": "where send goes",
    "send_done": "what send begins",
}
"""Operations that no file is about: what files they are in, or why in none."""


@cache
def program(operation: str, types: Types) -> tuple[Together, tuple[AnyArray, ...]]:
    """All functions of a file as one program, and what the reference returns for it."""
    file = RunFile(operation)
    texts = {
        "as written": lambda: file.text,
        "every kind": lambda: file.of_every_kind,
        "every type": lambda: file.of_every_type,
    }
    whole = together(texts[types](), str(file.path))
    return whole, run_on(whole, REFERENCE)


def run_on(whole: Together, options: Options) -> tuple[AnyArray, ...]:
    return compile_module(whole.module.clone(), options)()


@lru_cache(maxsize=1)
def lowering_of(operation: str, types: Types) -> Lowering:
    return Lowering(program(operation, types)[0].module.clone(), ALL, host())


def run_at_its_level(operation: str, executor: Executor) -> tuple[AnyArray, ...]:
    """As `run_on`; a file is lowered once for executors that get it from the highest level down."""
    lowering = lowering_of(operation, executor.types)
    if lowering.level is not None and LEVELS.index(lowering.level) > LEVELS.index(executor.level):
        lowering_of.cache_clear()
        lowering = lowering_of(operation, executor.types)
    finish = native_program if executor.options is LLVM else interpreted_program
    return finish(lowering, executor.options)()


def differing(found: AnyArray, expected: AnyArray, ulps: int, of_largest: bool) -> AnyArray:
    """Where floats are farther apart than `ulps`, or zeros have other signs; NaNs are equal."""
    if found.dtype.kind == "c":
        parts = [(f(found), f(expected)) for f in (np.real, np.imag)]
        return np.logical_or(*(differing(a, b, ulps, of_largest) for a, b in parts))
    if not is_inexact(found.dtype):
        return np.asarray(found != expected)
    if not ulps:
        same = bits_of(found) == bits_of(expected)
        return ~(same | ((found != found) & (expected != expected)))
    far = ulps_between(found, expected) > ulps
    with np.errstate(all="ignore"):
        mine, theirs = found.astype(np.float64), expected.astype(np.float64)
        if of_largest:
            largest = np.max(np.abs(theirs), where=np.isfinite(theirs), initial=0)
            unit = float(ml_dtypes.finfo(expected.dtype).eps) * largest
            return far & ~(np.abs(mine - theirs) <= ulps * unit)
        other_zero = (mine == 0) & (theirs == 0) & (np.signbit(mine) != np.signbit(theirs))
    return far | other_zero


def compare(
    whole: Together,
    found: Sequence[AnyArray],
    expected: Sequence[AnyArray],
    bound: Bound,
    ulps: Callable[[Bound], int],
) -> None:
    """Fails with every result that differs: where first, and both values."""
    wrong: list[str] = []
    assert len(found) == len(expected)
    for owner, mine, theirs in zip(whole.owners, found, expected, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), owner
        is_exact = bound.complex_only and mine.dtype.kind != "c"
        places = differing(mine, theirs, 0 if is_exact else ulps(bound), bound.of_largest)
        if places.any():
            index = tuple(map(int, np.argwhere(places)[0]))
            distance = ulps_between(mine, theirs).max() if is_inexact(mine.dtype) else None
            wrong.append(
                f"{owner} {list(index)}: {mine[index]}, the reference has {theirs[index]} "
                f"(largest distance {distance} ULP)"
            )
    assert not wrong, "\n".join(wrong)


def executors() -> list[Any]:
    """The names of the executors, marked with what they need."""
    marks = {
        name: [
            *([pytest.mark.full] if executor.types == "every type" else []),
            *([pytest.mark.riscv64] if executor.is_emulated else []),
            *([pytest.mark.qemu] if name == "riscv64_vectors" else []),
        ]
        for name, executor in EXECUTORS.items()
    }
    return [pytest.param(name, marks=marks[name]) for name in EXECUTORS]


FILES = [file.operation for file in run_files()]


@pytest.mark.parametrize("executor", executors())
@pytest.mark.parametrize("operation", FILES)
def test_every_executor_agrees_with_the_reference(operation: str, executor: str) -> None:
    how, file = EXECUTORS[executor], RunFile(operation)
    whole, expected = program(operation, how.types_in(file))
    if how.is_emulated and operation in ASK_THEIR_PROCESS:
        with pytest.raises(XlaError, match="outside of it"):
            run_on(whole, how.options)
        return
    try:
        if how.is_emulated or file.runs_others:
            found = run_on(whole, how.options)
        else:
            found = run_at_its_level(operation, how)
    except EmulationError as error:
        if "qemu before 8.0 cannot execute vfcvt.rtz" in str(error):
            pytest.skip(str(error))
        raise
    compare(whole, found, expected, BOUNDS.get(operation, Bound()), how.ulps)


def test_every_operation_has_a_file() -> None:
    names = {operation.name.removeprefix("xla.") for operation in OPERATIONS}
    assert set(FILES) <= names
    assert names - set(FILES) == WITHOUT_FILE.keys()
    assert BOUNDS.keys() | set(ASK_THEIR_PROCESS) <= set(FILES)


def test_every_element_type_has_its_turn() -> None:
    names = [name for group in COMPUTED_ALIKE for name in group]
    assert sorted(names) == sorted(str(each.type) for each in ELEMENT_TYPES)
    texts = [file.of_every_kind for file in run_files()]
    turns = {name: sum(f"x{name}>" in text for text in texts) for name in names}
    assert min(turns.values()) > 10, turns


@pytest.mark.parametrize(
    "backend",
    ["reference", "llvm", "interpreter", pytest.param("riscv64", marks=pytest.mark.riscv64)],
)
def test_files_run_by_hand(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(RunFile("dynamic_slice").path)
    assert xla_run.main([path, "--all-functions", "--backend", backend]) == 0
    # One function for each group of arrays that is returned; @worked returns none.
    assert capsys.readouterr().out.count("[") > 6


@pytest.mark.full
@pytest.mark.mlir_opt
@pytest.mark.parametrize(
    # What runs programs is taken out before the first pass, with what it runs.
    "operation",
    [file.operation for file in run_files() if not file.runs_others],
)
def test_mlir_takes_every_level(operation: str, mlir_opt_path: str) -> None:
    file = RunFile(operation)
    module = together(file.of_every_type, str(file.path)).module
    isolate_entry(module, ALL)
    texts: list[str] = []
    for stage in NATIVE:
        PassManager(make_context()).run(module, parse_passes(",".join(stage.passes)))
        if stage.level in INTERPRETED_LEVELS:
            texts.append(print_mlir(module))
    assert_mlir_takes(mlir_opt_path, *texts)
