"""Options of compilation as arguments of command lines."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from lowerings.backends import Options, declared_options


def add_option(
    parser: argparse.ArgumentParser, name: str, *flags: str, **others: Any
) -> argparse.Action:
    """Adds a field of `Options`, by its own name unless `flags` are given."""
    (option,) = (each for each in fields(Options) if each.name == name)
    declared = declared_options()[name]
    kind = str(option.type).partition(" ")[0]
    given: dict[str, Any] = {"default": option.default, "help": declared.help}
    if kind == "bool":
        given["action"] = "store_true"
    elif declared.metavar is not None:
        given |= {"metavar": declared.metavar, "type": {"int": int}.get(kind, str)}
    flags = flags or (f"--{name.replace('_', '-')}",)
    return parser.add_argument(*flags, **(given | others))
