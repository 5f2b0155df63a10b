"""Printing modules, whole or as what a pass changed: `--print-ir-before`, `--print-ir-after`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from dataclasses import dataclass
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.xdsl.text import MlirPrinter


@dataclass(frozen=True)
class PrintingFlags:
    """How operations are printed."""

    generic: bool = False
    locations: bool = False

    def text(self, module: ModuleOp) -> str:
        """The module as MLIR text."""
        return print_mlir(module, generic=self.generic, locations=self.locations) + "\n"

    def steady_printer(self) -> SteadyPrinter:
        """A printer with these flags for several states of one module."""
        return SteadyPrinter(print_generic_format=self.generic, print_debuginfo=self.locations)


class SteadyPrinter(MlirPrinter):
    """
    Prints a module again and again; what was there before keeps its name.

    Otherwise one operation more or less would give all values after it another number, and hide
    in a diff what was really changed. Names are those of the whole module, for values may move
    from one function to another.
    """

    def enter_scope(self) -> None:
        """Does nothing: the names of a scope are not counted from 0 again."""

    def exit_scope(self) -> None:
        """Does nothing: the names of a scope stay reserved."""

    def text(self, module: ModuleOp) -> str:
        """The module as MLIR text."""
        self.stream = output = StringIO()
        self.print_op(module)
        return output.getvalue() + "\n"


@dataclass(frozen=True)
class Wanted:
    """Before or after which passes the module is printed."""

    names: Collection[str] = ()
    all: bool = False

    def __contains__(self, module_pass: ModulePass) -> bool:
        return self.all or module_pass.name in self.names

    def __bool__(self) -> bool:
        return self.all or bool(self.names)


@dataclass
class IrPrinting:
    """What `--print-ir-*` ask for, as events of a pass manager."""

    output: IO[str]
    flags: PrintingFlags
    wanted_before: Wanted
    wanted_after: Wanted
    only_changes: bool = False
    as_diff: bool = False
    folder: Path | None = None
    """Where each text becomes a file, instead of the output."""
    _printed: int = 0
    _last: str | None = None
    """The text before the pass that runs, if changes are looked for."""

    def __post_init__(self) -> None:
        printer = self.flags.steady_printer() if self.as_diff else self.flags
        self._text: Callable[[ModuleOp], str] = printer.text

    @staticmethod
    def of(args: argparse.Namespace, flags: PrintingFlags, output: IO[str]) -> IrPrinting:
        """What the arguments of the command line ask for; raises XlaError for unknown passes."""
        before = Wanted(_pass_names(args.print_ir_before), args.print_ir_before_all)
        after = Wanted(_pass_names(args.print_ir_after), args.print_ir_after_all)
        only_changes = args.print_ir_after_change or args.print_ir_diff
        if only_changes and not after:
            after = Wanted(all=True)
        folder = None if args.print_ir_tree_dir is None else Path(args.print_ir_tree_dir)
        if folder is not None and not (before or after):
            after = Wanted(all=True)
        return IrPrinting(output, flags, before, after, only_changes, args.print_ir_diff, folder)

    def __bool__(self) -> bool:
        """Whether anything is to be printed."""
        return bool(self.wanted_before) or bool(self.wanted_after)

    def before(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Before a pass."""
        if self.only_changes and self._last is None:
            self._last = self._text(module)
        if module_pass in self.wanted_before:
            text = self._last if self._last is not None else self._text(module)
            self._print(f"Before {module_pass.name}", text)

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """After a pass."""
        is_wanted = module_pass in self.wanted_after
        if not self.only_changes:
            if is_wanted:
                self._print(f"After {module_pass.name}", self._text(module))
            return
        old, new = self._last or "", self._text(module)
        self._last = new
        if not is_wanted or old == new:
            return
        if self.as_diff:
            name = module_pass.name
            self._print(f"Diff After {name}", diff(old, new, f"before {name}", f"after {name}"))
        else:
            self._print(f"After {module_pass.name}", new)

    def _print(self, title: str, text: str) -> None:
        """Prints a text under a heading as MLIR has it, or writes it as the next file."""
        text = f"// -----// IR Dump {title} //----- //\n{text}"
        if self.folder is None:
            print(text, file=self.output)
            return
        path = self.folder / f"{self._printed}_{title.lower().replace(' ', '_')}.mlir"
        self._printed += 1
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise XlaError(f"{path}: error: {error.strerror}") from None


def diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """The unified diff of two texts."""
    lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    return "".join(unified_diff(*lines, old_name, new_name))


def _pass_names(argument: str) -> tuple[str, ...]:
    """The names in a list with commas; raises XlaError for one that no pass has."""
    names = tuple(filter(None, (name.strip() for name in argument.split(","))))
    for name in names:
        if name not in toolkit_universe().all_passes:
            raise XlaError(f"--print-ir-...: there is no pass '{name}' (see --list-passes)")
    return names
