"""
Results in the memory of parameters that callers give away.

On entry such a result holds the content of its parameter, and the function uses the result instead
of the parameter from the first operation on; it does not touch the parameter's memory. So callers
decide at each call: to donate the array they pass it as the result as well, else they pass a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, MemRefType, i64
from xdsl.ir import Attribute

from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR

__all__ = [
    "ALIASED_PARAMETER",
    "alias_mark",
    "aliased_parameters",
    "aliases",
    "aliases_objection",
    "asks_for_aliases",
]

ALIASED_PARAMETER = "xla.aliased_parameter"
"""
On an argument for a result: the number of the argument whose content it has when the function is
called.
"""


def asks_for_aliases(function: func.FuncOp) -> bool:
    """Whether a parameter of a function may share its memory with a result."""
    return any(
        ALIASING_OUTPUT in each.data or BUFFER_DONOR in each.data
        for each in _argument_attributes(function)
    )


def aliases_objection(function: func.FuncOp) -> str | None:
    """Why results cannot be where the attributes of parameters say."""
    count = len(function.function_type.outputs)
    seen: dict[int, int] = {}
    for parameter, result in _aliasing_outputs(function):
        if not isinstance(result, IntegerAttr):
            return f"{ALIASING_OUTPUT} of argument {parameter} is {result}, not a result's number"
        number = cast("IntegerAttr", result).value.data
        if not 0 <= number < count:
            return f"{ALIASING_OUTPUT} of argument {parameter} is {number}, of {count} results"
        if number in seen:
            return f"{ALIASING_OUTPUT} is {number} for arguments {seen[number]} and {parameter}"
        seen[number] = parameter
    return None


def aliases(
    function: func.FuncOp, inputs: Sequence[Attribute], outputs: Sequence[Attribute]
) -> Mapping[int, int]:
    """
    The parameters of results that are in the memory of one, by the numbers of the results.

    `inputs` and `outputs` are their types at the buffers level: what differs in element type, sizes
    or strides does not share memory. A donor is for the first result of its type that is left.
    """
    found: dict[int, int] = {}
    for parameter, result in _aliasing_outputs(function):
        number = cast("IntegerAttr", result).value.data
        if isinstance(inputs[parameter], MemRefType) and inputs[parameter] == outputs[number]:
            found[number] = parameter
    taken = set(found.values())
    for parameter, attributes in enumerate(_argument_attributes(function)):
        if BUFFER_DONOR not in attributes.data or parameter in taken:
            continue
        if not isinstance(inputs[parameter], MemRefType):
            continue
        for number, type in enumerate(outputs):
            if number not in found and type == inputs[parameter]:
                found[number] = parameter
                break
    return found


def alias_mark(parameter: int | None) -> dict[str, Attribute]:
    """The attributes of the argument for a result that is in the memory of a parameter."""
    return {} if parameter is None else {ALIASED_PARAMETER: IntegerAttr(parameter, i64)}


def aliased_parameters(function: func.FuncOp) -> Mapping[int, int]:
    """
    At the buffers level and below: for the number of each argument whose content is that of another
    one when the function is called, the number of that.
    """
    return {
        number: cast("IntegerAttr", mark).value.data
        for number, attributes in enumerate(_argument_attributes(function))
        if isinstance(mark := attributes.data.get(ALIASED_PARAMETER), IntegerAttr)
    }


def _aliasing_outputs(function: func.FuncOp) -> Iterator[tuple[int, Attribute]]:
    for parameter, attributes in enumerate(_argument_attributes(function)):
        result = attributes.data.get(ALIASING_OUTPUT)
        if result is not None:
            yield parameter, result


def _argument_attributes(function: func.FuncOp) -> Sequence[DictionaryAttr]:
    return () if function.arg_attrs is None else function.arg_attrs.data
