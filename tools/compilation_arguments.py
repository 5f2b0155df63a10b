"""Options of compilation as arguments of command lines."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from lowerings.backends import Options, facts_of_options


def add_option(
    parser: argparse.ArgumentParser, name: str, *flags: str, **others: Any
) -> argparse.Action:
    """Adds a field of `Options`, by its own name unless `flags` are given."""
    (declared,) = (each for each in fields(Options) if each.name == name)
    facts = facts_of_options()[name]
    kind = str(declared.type).partition(" ")[0]
    given: dict[str, Any] = {"default": declared.default, "help": facts.help}
    if kind == "bool":
        given["action"] = "store_true"
    elif facts.metavar is not None:
        given |= {"metavar": facts.metavar, "type": {"int": int}.get(kind, str)}
    flags = flags or (f"--{name.replace('_', '-')}",)
    return parser.add_argument(*flags, **(given | others))
