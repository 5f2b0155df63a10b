"""Passes and targets with options, as command lines have them: read, and made."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from difflib import get_close_matches
from inspect import formatannotation
from typing import Any, TypeVar, get_type_hints

from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, parse_pipeline
from xdsl.utils.hints import isa
from xdsl.utils.target import Target

from lowerings.universe import toolkit_universe, unloaded_packages
from xla_dialect.diagnostics import XlaError

_FEATURES = re.compile(r'("[^"]*")|(?<==)([+-][A-Za-z][^\s}"]*)')


Made = TypeVar("Made", bound=ArgSpecConvertible)


class SpecError(XlaError):
    """A text that is no list of passes or targets, or options that one does not have."""


def parse_specs(text: str) -> Sequence[ArgSpec]:
    """
    The passes or targets of a text such as `cse,riscv-asm{features=+v,+zvl256b}`.

    Features may stand without quotes, as in the description of a machine, though xDSL's grammar has
    no word with a sign. Raises SpecError.
    """
    quoted = _FEATURES.sub(lambda found: found[1] or f'"{found[2]}"', text)
    try:
        return tuple(parse_pipeline(quoted))
    except BaseException as error:  # xDSL 0.74's ArgSpecParseError is a bare BaseException
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise SpecError(f"'{text}': {error}") from None


def made_from(factory: Callable[[], type[Made]], spec: ArgSpec) -> Made:
    """A pass or a target with the options of a text; raises SpecError for one that is wrong."""
    made = factory()
    try:
        return made.from_spec(spec)
    except (ValueError, TypeError) as error:
        raise SpecError(_wrong_option(made, spec) or str(error)) from None


def _wrong_option(made: type[ArgSpecConvertible], spec: ArgSpec) -> str:
    """Which option is not there, or has a value of another type; empty if none is."""
    spelled = {
        each.name: each.type if isinstance(each.type, str) else formatannotation(each.type)
        for each in fields(made)
        if each.init
    }
    types = get_type_hints(made)
    for name, values in spec.normalize_parameter_names().parameters.items():
        if name not in spelled:
            known = f"it has: {', '.join(spelled)}" if spelled else "it has none"
            return f"there is no option '{name}' ({known})"
        if not _fits(values, types[name]):
            given = f"'{','.join(map(str, values))}'" if values else "nothing"
            return f"{name} is {given}, wanted {spelled[name]}"
    return ""


def _fits(values: tuple[object, ...], type_: Any) -> bool:
    """Whether an option takes these values: one or several of a type, or none where it may."""
    one = values[0] if len(values) == 1 else None
    return isa(values, type_) or (len(values) <= 1 and isa(one, type_))


def target_of_text(text: str) -> Target:
    """The target that a text names, with its options; raises SpecError."""
    try:
        specs = parse_specs(text)
    except SpecError as error:
        raise SpecError(f"target {error}") from None
    if len(specs) != 1:
        raise SpecError(f"target '{text}': one is printed at a time")
    targets = toolkit_universe().all_targets
    (spec,) = specs
    if spec.name not in targets:
        close = get_close_matches(spec.name, targets, 3)
        hint = f"; did you mean {' or '.join(close)}?" if close else " (see --list-targets)"
        raise SpecError(f"there is no target '{spec.name}'{hint}{unloaded_packages()}")
    try:
        return made_from(targets[spec.name], spec)
    except SpecError as error:
        raise SpecError(f"target {spec.name}: {error}") from None
