"""
What passes say of themselves besides their levels, and how one is run.

The class attribute `difference` says that the last bits of floats may change, `require_option` what
is asked of options. A `ReportingPass` says whether it changed the module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lowerings.rewriting.failure import with_origin

Numbers: TypeAlias = Literal["plain", "special", "limits"]
"""What the numbers of an input are like: `lowerings.validation.inputs.InputKind` describes them."""


def _any(op: Operation) -> bool:
    return True


@dataclass(frozen=True)
class ResultDifference:
    """
    The class attribute `difference` of a pass that may change the last bits of floats; all others
    keep every bit. `--validate-each` compares results as it says.
    """

    epsilons: float
    """
    The largest error, as a multiple of the largest finite magnitude of the array and of the
    distance from 1 to the next float (of f32, where the type has fewer bits).
    """
    reason: str
    """Why results may differ."""
    inputs: tuple[Numbers, ...] = ("plain", "special")
    """The inputs on which results are compared."""
    complex_inputs: tuple[Numbers, ...] = ("plain",)
    """The same for programs with complex numbers."""
    where: Callable[[Operation], bool] = _any
    """Whose results it is that may differ: a module without such operations keeps every bit."""


def differences_of(module_pass: object) -> tuple[ResultDifference, ...]:
    """
    What a pass, or its class, says that it may change: one difference, or several in a tuple. The
    class of an operation says as `DIFFERENCE` what passes may change of its results.
    """
    found: object = getattr(module_pass, "difference", getattr(module_pass, "DIFFERENCE", ()))
    stated = cast("tuple[object, ...]", found) if isinstance(found, tuple) else (found,)
    return tuple(each for each in stated if isinstance(each, ResultDifference))


def require_option(holds: bool, name: str, value: object, wanted: str) -> None:
    """Raises ValueError for an option that is not as wanted, e.g. `at least 0`."""
    if not holds:
        raise ValueError(f"{name} is {value}, wanted {wanted}")


def require_at_least(least: int, **options: int) -> None:
    """Raises ValueError for the first option that is below a number."""
    for name, value in options.items():
        require_option(value >= least, name, value, f"at least {least}")


class ReportingPass(ModulePass, ABC):
    """
    A pass that says whether it changed a module.

    What was verified before, and was not changed since, need not be verified again: like a pass of
    MLIR that preserves all analyses.
    """

    @abstractmethod
    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Does the work of the pass; whether anything is different then."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Does the work of the pass."""
        self.change(ctx, op)


class FunctionPass(ReportingPass, ABC):
    """
    A pass that works on each function by itself: the next passes may be run on one function before
    this one has seen another. It may add functions to the module, which no later pass has to see.
    """

    @abstractmethod
    def on_functions(self, module: ModuleOp) -> Callable[[FuncOp], bool]:
        """What works on functions of a module, and tells of each whether it changed anything."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Works on all functions with a body."""
        work = self.on_functions(op)
        functions = [each for each in op.ops if isinstance(each, FuncOp) and each.body.blocks]
        changed = [work(each) for each in functions]
        return any(changed)


def run_pass(module_pass: ModulePass, ctx: Context, module: ModuleOp) -> bool:
    """
    Runs a pass; whether it may have changed the module.

    What it raises that is no diagnostic of the program has notes that say where it comes from.
    """
    if isinstance(module_pass, ReportingPass):
        return run_work(module_pass, partial(module_pass.change, ctx, module))
    run_work(module_pass, partial(module_pass.apply, ctx, module))
    return True


def run_work(module_pass: ModulePass, work: Callable[[], Any]) -> Any:
    """Does a part of the work of a pass; what it raises has the notes of `run_pass`."""
    try:
        return work()
    except Exception as error:
        origin = with_origin(error, module_pass)
        if origin is error:
            raise
        raise origin from None
