"""What a function says of its parameters and results, as attributes of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

Said: TypeAlias = list[dict[str, Attribute]]
"""The attributes of each value; empty ones where nothing is said."""


def said_by(function: FuncOp) -> tuple[Said, Said]:
    """What is said of the parameters and of the results: copies, to be changed at will."""
    type_ = function.function_type
    return _said(function.arg_attrs, type_.inputs), _said(function.res_attrs, type_.outputs)


def _said(said: ArrayAttr[DictionaryAttr] | None, types: Iterable[Attribute]) -> Said:
    return [dict(each.data) for each in said] if said else [{} for _ in types]


def say(
    function: FuncOp,
    parameters: Sequence[Mapping[str, Attribute]],
    results: Sequence[Mapping[str, Attribute]],
) -> None:
    """Has a function say this of its parameters and results, and nothing else."""
    function.arg_attrs, function.res_attrs = (
        ArrayAttr(map(DictionaryAttr, said)) if any(said) else None
        for said in (parameters, results)
    )
