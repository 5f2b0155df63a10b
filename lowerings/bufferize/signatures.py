"""
Functions and calls: destination passing.

Tensor arguments become memrefs that are never written; each tensor result becomes one more memref
argument, after the others, into which the function writes the result. Memrefs of one call do not
overlap where one of them is written, but for a parameter whose memory is a result's: the function
does not touch it. Scalar arguments and results stay.

On entry a result in the memory of a parameter that callers give away holds the content of that, and
the function uses the result instead of the parameter from the first operation on. So callers decide
at each call: to donate the array they pass it as the result as well, else they pass a copy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute

from lowerings.bufferize.bufferization import Bufferization
from lowerings.bufferize.rewriting import ConstantPool, rewrite_body
from lowerings.bufferize.strided import laid_out_type
from lowerings.ir.functions import ENTRY
from lowerings.layouts.memory_order import BUFFER_LAYOUT
from lowerings.rewriting.value_attributes import Said, said_by, say
from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR

ALIASED_PARAMETER = "xla.aliased_parameter"
"""
On an argument for a result: the number of the argument whose content it has when the function is
called.
"""


def asks_for_aliases(function: func.FuncOp) -> bool:
    """Whether a parameter of a function may share its memory with a result."""
    return any(ALIASING_OUTPUT in each or BUFFER_DONOR in each for each in said_by(function)[0])


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
    for parameter, attributes in enumerate(said_by(function)[0]):
        if BUFFER_DONOR not in attributes or parameter in taken:
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
        for number, attributes in enumerate(said_by(function)[0])
        if isinstance(mark := attributes.get(ALIASED_PARAMETER), IntegerAttr)
    }


def _aliasing_outputs(function: func.FuncOp) -> Iterator[tuple[int, Attribute]]:
    for parameter, attributes in enumerate(said_by(function)[0]):
        result = attributes.get(ALIASING_OUTPUT)
        if result is not None:
            yield parameter, result


RESULT_ATTRIBUTE = "bufferize.result"
"""
Unit attribute, as in MLIR, of an argument for a result that the function does not write, which is
how others are known.
"""


def bufferize_function(
    function: func.FuncOp,
    found: Bufferization | None,
    constants: ConstantPool,
    aliased: Mapping[int, int],
) -> None:
    """
    ```mlir
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { ... func.return %r : tensor<4xf32> }
    ```
    becomes
    ```mlir
    func.func @main(%a: memref<4xf32>, %r: memref<4xf32>) attributes {xla.entry} {
      ... func.return }
    ```
    A private function does not get the attribute; a declaration, for which nothing is found, gets
    the new type only. Strides that a parameter or result is given by `bufferization.buffer_layout`
    are those of its memref. Results of an entry that `tf.aliasing_output` or `jax.buffer_donor` put
    into the memory of a parameter, by `aliased`, are marked; those
    without elements by `bufferize.result`.
    """
    unwritten: Collection[int] = ()
    if found is not None:
        if is_public(function):
            function.attributes[ENTRY] = UnitAttr()
        unwritten = _unwritten(function, found)
        rewrite_body(function, found, constants)
    _rewrite_signature(function, aliased if found is not None else {}, unwritten)


def is_public(function: func.FuncOp) -> bool:
    """Whether a function may be called from outside of its module."""
    return function.sym_visibility is None or function.sym_visibility == StringAttr("public")


def aliases_of(function: func.FuncOp) -> Mapping[int, int]:
    """The parameters of results that are in the memory of one, by the numbers of the results."""
    return aliases(function, *buffer_types(function))


def _unwritten(function: func.FuncOp, found: Bufferization) -> Collection[int]:
    """The numbers of the results without anything to be written."""
    terminator = function.body.block.last_op
    assert terminator is not None
    return {
        number
        for number, (target, value) in enumerate(
            zip(found.results, terminator.operands, strict=True)
        )
        if target is not None and (0 in target.type.get_shape() or value in found.undefined)
    }


def _rewrite_signature(
    function: func.FuncOp, aliased: Mapping[int, int], unwritten: Collection[int]
) -> None:
    laid_out, laid_out_results = buffer_types(function)
    inputs: list[Attribute] = list(laid_out)
    results: list[Attribute] = []
    parameters, said = said_by(function)
    kept: Said = []
    outputs = function.function_type.outputs
    for number, (output, buffer, attributes) in enumerate(
        zip(outputs, laid_out_results, said, strict=True)
    ):
        if buffer is not output:
            inputs.append(buffer)
            mark = alias_mark(aliased.get(number))
            if number in unwritten:
                mark[RESULT_ATTRIBUTE] = UnitAttr()
            parameters.append(attributes | mark)
        else:
            results.append(output)
            kept.append(attributes)
    function.function_type = FunctionType.from_lists(inputs, results)
    for attributes in parameters:
        for name in _FOLLOWED:
            attributes.pop(name, None)
    say(function, parameters, kept)


def buffer_types(function: func.FuncOp) -> tuple[list[Attribute], list[Attribute]]:
    """The types of the parameters and results with memrefs for tensors."""
    type, (parameters, results) = function.function_type, said_by(function)
    inputs = list(map(_converted, type.inputs, parameters))
    return inputs, list(map(_converted, type.outputs, results))


def _converted(type: Attribute, attributes: Mapping[str, Attribute]) -> Attribute:
    if not isinstance(type, TensorType):
        return type
    strides = attributes.get(BUFFER_LAYOUT)
    assert strides is None or isinstance(strides, StridedLayoutAttr)
    return laid_out_type(cast(TensorType[Attribute], type), strides)


def strides_objection(function: func.FuncOp) -> str | None:
    """Why the strides that parameters or results are given cannot be those of a memref."""
    type = function.function_type
    types = (*type.inputs, *type.outputs)
    for each, given in zip(types, chain(*said_by(function)), strict=True):
        strides = given.get(BUFFER_LAYOUT)
        if strides is not None and (
            not isinstance(each, TensorType)
            or not isinstance(strides, StridedLayoutAttr)
            or None in (*strides.get_strides(), strides.get_offset())
            or len(strides.strides) != each.get_num_dims()
            or strides.get_offset() != 0
        ):
            return f"{BUFFER_LAYOUT} of {each} is {strides}, not a known stride per dimension"
    return None


_FOLLOWED = (BUFFER_LAYOUT, ALIASING_OUTPUT, BUFFER_DONOR)
"""Attributes of arguments and results that this pass has acted on and removes."""
