"""Passes that know whether they changed anything."""

from __future__ import annotations

from abc import ABC, abstractmethod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.rewriting.failure import with_origin


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


def run_pass(module_pass: ModulePass, ctx: Context, module: ModuleOp) -> bool:
    """
    Runs a pass; whether it may have changed the module.

    What it raises that is no diagnostic of the program has notes that say where it comes from.
    """
    try:
        if isinstance(module_pass, ReportingPass):
            return module_pass.change(ctx, module)
        module_pass.apply(ctx, module)
        return True
    except Exception as error:
        origin = with_origin(error, module_pass)
        if origin is error:
            raise
        raise origin from None
