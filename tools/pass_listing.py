"""`--list-passes`: the pipelines with their levels, then all passes with their options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import IO

from xdsl.passes import ModulePass, get_pass_option_infos

from lowerings.pipelines import PIPELINES
from lowerings.universe import UNIVERSE, toolkit_universe


def list_passes(output: IO[str]) -> None:
    """Prints every pipeline and pass as one can write it after `--passes`, with a line of text."""
    passes = toolkit_universe().all_passes
    ours = {name: passes[name] for name in UNIVERSE.all_passes}
    others = {name: passes[name] for name in sorted(passes.keys() - ours.keys())}
    print("Pipelines, which stop after a level with the option `to`:", file=output)
    for name, stages in PIPELINES.items():
        print(f"  {name}{{to=<{'|'.join(stage.level for stage in stages)}>}}", file=output)
        for stage in stages:
            print(f"      {stage.level}: {', '.join(stage.passes)}", file=output)
    print("\nPasses:", file=output)
    _print_passes(ours, output)
    print("\nPasses of xDSL and of other packages:", file=output)
    _print_passes(others, output)


def _print_passes(passes: Mapping[str, Callable[[], type[ModulePass]]], output: IO[str]) -> None:
    for name, factory in passes.items():
        module_pass = factory()
        print(f"  {name}", file=output)
        if summary := first_sentence(module_pass):
            print(f"      {summary}", file=output)
        for option in get_pass_option_infos(module_pass):
            default = option.default_value
            shown = "" if default is None else f" (default {default or repr(default)})"
            kind = option.expected_type.strip("'")
            print(f"      {{{option.name}: {kind}}}{shown}", file=output)


def first_sentence(module_pass: type[ModulePass]) -> str:
    """
    The first sentence of a pass's documentation, on one line.

    Empty without documentation, in whose place dataclass puts the signature.
    """
    text = inspect.cleandoc(module_pass.__doc__ or "")
    if text.startswith(f"{module_pass.__name__}("):
        return ""
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence, stop, _ = paragraph.partition(". ")
    return sentence + "." if stop else paragraph
