"""Passes and targets with the options of a text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from inspect import formatannotation
from typing import Any, TypeVar, get_type_hints

from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible
from xdsl.utils.hints import isa

from xla_dialect.diagnostics import XlaError

Made = TypeVar("Made", bound=ArgSpecConvertible)


class SpecError(XlaError):
    """A text that is no list of passes or targets, or options that one does not have."""


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
