"""`--list-passes` and `--list-targets`: what there is, with a line of text and its options."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from textwrap import dedent
from typing import IO, TYPE_CHECKING

from xdsl.passes import get_pass_option_infos
from xdsl.utils.arg_spec import ArgSpecConvertible

from lowerings.pipelines import PIPELINES
from lowerings.universe import REPLACED_TARGETS, UNIVERSE, toolkit_universe
from xla_dialect.extensions import ExtensionError

if TYPE_CHECKING:
    from lowerings.targets.llvm.machine import NamedMachine


@dataclass(frozen=True)
class Option:
    """One option as pages and listings show it."""

    name: str
    kind: str
    default: str | None
    """None where it has to be given."""
    description: str
    """Empty where the class says nothing."""

    @property
    def shown_default(self) -> str:
        """The default as it is written, `""` for an empty text."""
        return self.default or repr(self.default)


def options_of(owner: type[ArgSpecConvertible]) -> Iterator[Option]:
    """The options of a pass or a target, in the order of their declaration."""
    described = _described(owner)
    for info in get_pass_option_infos(owner):  # pyright: ignore[reportArgumentType]
        kind = info.expected_type.strip("'").removesuffix(" | None")
        yield Option(info.name, kind, info.default_value, described.get(info.name, ""))


def _described(owner: type) -> Mapping[str, str]:
    """The descriptions of the fields of a class, of its bases, and of what it says it is like."""
    found: dict[str, str] = {}
    for each in (*getattr(owner, "described_by", ()), *reversed(owner.__mro__)):
        found.update(descriptions(each))
    return found


@cache
def descriptions(owner: type) -> Mapping[str, str]:
    """By field, the text below its declaration, on one line."""
    try:
        tree = ast.parse(dedent(inspect.getsource(owner)))
    except (OSError, TypeError):
        return {}
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


Rows = Mapping[str, Callable[[], type[ArgSpecConvertible]]]


def list_passes(output: IO[str]) -> None:
    """Prints every pipeline and pass as one can write it after `--passes`, with a line of text."""
    passes = toolkit_universe().all_passes
    ours = {name: passes[name] for name in UNIVERSE.all_passes}
    others = {name: passes[name] for name in sorted(passes.keys() - ours.keys())}
    print(
        "Pipelines: from the level that a module is at, `from`, to another one, `to`, for the\n"
        "machine `target` (see --list-targets):",
        file=output,
    )
    for name, stages in PIPELINES.items():
        levels = "|".join(stage.level for stage in stages)
        print(f"  {name}{{from=<{levels}> to=<{levels}> target=MACHINE}}", file=output)
        for stage in stages:
            print(f"      {stage.level}: {', '.join(stage.passes)}", file=output)
    print("\nPasses:", file=output)
    _print_rows(ours, output)
    print("\nPasses of xDSL and of other packages:", file=output)
    _print_rows(others, output)


def list_targets(output: IO[str]) -> None:
    """Prints every target as one can write it after `--target`, and the machines, with a line."""
    targets = toolkit_universe().all_targets
    ours = {name: targets[name] for name in sorted(targets) if _is_ours(name)}
    others = {name: targets[name] for name in sorted(targets.keys() - ours.keys())}
    print("Targets:", file=output)
    _print_rows(ours, output)
    print("\nTargets of xDSL and of other packages:", file=output)
    _print_rows(others, output)
    # They need LLVM, which takes long to load.
    machines: Mapping[str, NamedMachine] = import_module("lowerings.targets.llvm.machine").MACHINES
    print("\nMachines, each NAME or NAME{cpu=... features=...}:", file=output)
    for name, machine in machines.items():
        print(f"  {name}\n      {machine.summary}", file=output)


def _is_ours(name: str) -> bool:
    return name in UNIVERSE.all_targets or name in REPLACED_TARGETS


def _print_rows(rows: Rows, output: IO[str]) -> None:
    for name, factory in rows.items():
        print(f"  {name}", file=output)
        try:
            owner = factory()
        except ExtensionError as error:
            print(f"      cannot be loaded: {error}", file=output)
            continue
        if summary := first_sentence(owner):
            print(f"      {summary}", file=output)
        for option in options_of(owner):
            default = "" if option.default is None else f" (default {option.shown_default})"
            print(f"      {{{option.name}: {option.kind}}}{default}", file=output)
            if option.description:
                print(f"          {option.description}", file=output)


def text_of(owner: type[ArgSpecConvertible]) -> str:
    """
    The documentation of a pass or a target; empty without it, in whose place dataclass puts the
    signature.
    """
    text = inspect.cleandoc(owner.__doc__ or "")
    return "" if text.startswith(f"{owner.__name__}(") else text


def first_sentence(owner: type[ArgSpecConvertible]) -> str:
    """The first sentence of the documentation of a pass or a target, on one line."""
    paragraph = " ".join(text_of(owner).partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return sentence + "." if stop else paragraph
