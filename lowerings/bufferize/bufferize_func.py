"""
Functions and calls: destination passing.

Tensor arguments become memrefs that are never written; each tensor result becomes one more memref
argument, after the others, into which the function writes the result. Memrefs of one call do not
overlap where one of them is written, but for a parameter whose memory is a result's: the function
does not touch it, see `aliased_results.py`. Scalar arguments and results stay.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    MemRefType,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, BlockArgument, SSAValue

from lowerings.bufferize.aliased_results import alias_mark, aliases
from lowerings.bufferize.destinations import plan_destinations
from lowerings.bufferize.function_bufferizer import (
    BufferizeFunction,
    FunctionBufferizer,
    ModuleState,
    Move,
)
from lowerings.bufferize.liveness import NEVER, Liveness
from lowerings.bufferize.storage import Buffer, Storage, WholeDestination
from lowerings.bufferize.strided import buffer_type, has_identity_layout, laid_out_type
from lowerings.bufferize.tensor_operands import is_tensor
from lowerings.layouts.memory_order import BUFFER_LAYOUT
from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import set_arguments
from xla_dialect.xdsl.operation_table import OperationTable

__all__ = ["ENTRY_ATTRIBUTE", "RESULT_ATTRIBUTE", "TABLE", "bufferize_function"]

ENTRY_ATTRIBUTE = "xla.entry"
"""Unit attribute of the functions that are called from outside."""

RESULT_ATTRIBUTE = "bufferize.result"
"""
Unit attribute, as in MLIR, of an argument for a result that the function does not write, which is
how others are known.
"""


def bufferize_function(function: func.FuncOp, module: ModuleState) -> None:
    """
    ```mlir
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { ... func.return %r : tensor<4xf32> }
    ```
    becomes
    ```mlir
    func.func @main(%a: memref<4xf32>, %r: memref<4xf32>) attributes {xla.entry} {
      ... func.return }
    ```
    A private function does not get the attribute; a declaration gets the new type only. Strides
    that a parameter or result is given by `bufferization.buffer_layout` are those of its memref.
    Results of an entry that `tf.aliasing_output` or `jax.buffer_donor` put into the memory of a
    parameter are marked, see `aliased_results.py`; those without elements by `bufferize.result`.
    """
    aliased: Mapping[int, int] = {}
    unwritten: Collection[int] = ()
    if function.body.blocks:
        if is_public(function):
            function.attributes[ENTRY_ATTRIBUTE] = UnitAttr()
        aliased = module.aliases.get(function.sym_name.data, {})
        unwritten = _bufferize_body(function, aliased, module)
    _rewrite_signature(function, aliased, unwritten)


def is_public(function: func.FuncOp) -> bool:
    """Whether a function may be called from outside of its module."""
    return function.sym_visibility is None or function.sym_visibility == StringAttr("public")


def aliases_of(function: func.FuncOp) -> Mapping[int, int]:
    """The parameters of results that are in the memory of one, by the numbers of the results."""
    return aliases(function, *_laid_out(function))


def _bufferize_body(
    function: func.FuncOp, aliased: Mapping[int, int], module: ModuleState
) -> Collection[int]:
    """Returns the numbers of the results without anything to be written."""
    block = function.body.block
    terminator = block.last_op
    assert isinstance(terminator, func.ReturnOp)
    state = FunctionBufferizer(function, Liveness.of(block), module)
    parameters = tuple(block.args)
    inputs, outputs = _laid_out(function)
    arguments: list[BlockArgument] = []
    for type, argument in zip(inputs, parameters, strict=True):
        if not is_tensor(argument):
            arguments.append(argument)
            continue
        new = block.insert_arg(type, len(block.args))
        new.name_hint = argument.name_hint
        arguments.append(new)
        state.bind(argument, Buffer(new, Storage(writable=False, live_until=NEVER)))
    returned = tuple(terminator.arguments)
    targets: list[Buffer | None] = []
    for type, value in zip(outputs, returned, strict=True):
        target = None
        if is_tensor(value):
            new = block.insert_arg(type, len(block.args))
            new.name_hint = "result"
            arguments.append(new)
            target = Buffer(new, Storage(writable=True, live_until=NEVER))
        targets.append(target)
    for number, parameter in aliased.items():
        target = targets[number]
        assert target is not None
        state.bind(parameters[parameter], target)

    def finish() -> None:
        pairs = zip(returned, targets, strict=True)
        state.move_all(
            Move(state.buffers[value], target)
            for value, target in pairs
            if target is not None and value not in state.undefined
        )
        # Read from the terminator anew: operands of `returned` may have been replaced meanwhile.
        scalars = [value for value in terminator.arguments if not is_tensor(value)]
        state.insert(func.ReturnOp(*scalars))
        state.replaced(terminator)

    wanted = [
        (value, WholeDestination(target))
        for value, target in zip(returned, targets, strict=True)
        if target is not None
    ]
    plan_destinations(state, block, wanted)
    state.bufferize_block(block, finish)
    set_arguments(block, arguments)
    return {
        number
        for number, (type, value) in enumerate(zip(outputs, returned, strict=True))
        if isinstance(type, MemRefType) and (0 in type.get_shape() or value in state.undefined)
    }


def _rewrite_signature(
    function: func.FuncOp, aliased: Mapping[int, int], unwritten: Collection[int]
) -> None:
    laid_out, laid_out_results = _laid_out(function)
    inputs: list[Attribute] = list(laid_out)
    results: list[Attribute] = []
    type = function.function_type
    result_attributes = function.res_attrs or ArrayAttr([DictionaryAttr({}) for _ in type.outputs])
    argument_attributes = list(function.arg_attrs or [DictionaryAttr({}) for _ in type.inputs])
    kept_attributes: list[DictionaryAttr] = []
    for number, (output, buffer, attributes) in enumerate(
        zip(type.outputs, laid_out_results, result_attributes, strict=True)
    ):
        if buffer is not output:
            inputs.append(buffer)
            mark = alias_mark(aliased.get(number))
            if number in unwritten:
                mark[RESULT_ATTRIBUTE] = UnitAttr()
            argument_attributes.append(DictionaryAttr({**attributes.data, **mark}))
        else:
            results.append(output)
            kept_attributes.append(attributes)
    function.function_type = FunctionType.from_lists(inputs, results)
    argument_attributes = [_remaining(attributes) for attributes in argument_attributes]
    if function.arg_attrs is not None or any(a.data for a in argument_attributes):
        function.arg_attrs = ArrayAttr(argument_attributes)
    if function.res_attrs is not None:
        function.res_attrs = ArrayAttr(kept_attributes) if kept_attributes else None


def _laid_out(function: func.FuncOp) -> tuple[list[Attribute], list[Attribute]]:
    """The types of the parameters and results with memrefs for tensors."""
    type = function.function_type
    sides = ((type.inputs, function.arg_attrs), (type.outputs, function.res_attrs))
    inputs, outputs = (
        [
            _converted(each, None if attributes is None else attributes.data[number])
            for number, each in enumerate(types)
        ]
        for types, attributes in sides
    )
    return inputs, outputs


def _converted(type: Attribute, attributes: Attribute | None) -> Attribute:
    if not isinstance(type, TensorType):
        return type
    strides = None
    if isinstance(attributes, DictionaryAttr):
        strides = attributes.data.get(BUFFER_LAYOUT)
        assert strides is None or isinstance(strides, StridedLayoutAttr)
    return laid_out_type(cast(TensorType[Attribute], type), strides)


def strides_objection(function: func.FuncOp) -> str | None:
    """Why the strides that parameters or results are given cannot be those of a memref."""
    type = function.function_type
    sides = ((type.inputs, function.arg_attrs), (type.outputs, function.res_attrs))
    for types, attributes in sides:
        for each, given in zip(types, attributes or (), strict=False):
            strides = given.data.get(BUFFER_LAYOUT)
            if strides is None:
                continue
            if (
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


def _remaining(attributes: DictionaryAttr) -> DictionaryAttr:
    rest = {name: value for name, value in attributes.data.items() if name not in _FOLLOWED}
    return DictionaryAttr(rest)


def bufferize_call(op: func.CallOp, state: FunctionBufferizer) -> None:
    """
    `%r = func.call @f(%a)` -> `func.call @f(%a, %r)`, `%r` being memory for the result.

    Where the function takes a result for a parameter, that memory has the content of the argument:
    it is the same where the argument is used no more, else it gets a copy.
    """
    arguments: list[SSAValue] = []
    buffers: list[Buffer | None] = []
    for argument in op.arguments:
        buffer = None
        if is_tensor(argument):
            buffer = state.read(argument)
            if not has_identity_layout(buffer.type):
                buffer = state.copied(buffer)
            argument = buffer.memref
        arguments.append(argument)
        buffers.append(buffer)
    aliased = state.module.aliases.get(op.callee.string_value(), {})
    scalars: list[SSAValue] = []
    for number, result in enumerate(op.res):
        if is_tensor(result):
            given = buffers[aliased[number]] if number in aliased else None
            buffer = _result_of_call(result, given, buffers, state)
            state.bind(result, buffer)
            arguments.append(buffer.memref)
            buffers.append(buffer)
        else:
            scalars.append(result)
    call = create(
        func.CallOp,
        operands=arguments,
        result_types=[result.type for result in scalars],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    state.insert(call)
    for old, new in zip(scalars, call.results, strict=True):
        old.replace_all_uses_with(new)
    state.replaced(op)


def _result_of_call(
    result: SSAValue,
    given: Buffer | None,
    others: Sequence[Buffer | None],
    state: FunctionBufferizer,
) -> Buffer:
    """Memory for a result: with the content of `given`, which may be that of one of the others."""
    if given is not None and state.is_dying(given.storage):
        used = [each for each in others if each is not None and each.storage is given.storage]
        if used == [given]:
            return given
    buffer = state.claim(result, whole=True)
    if not has_identity_layout(buffer.type):
        buffer = state.allocate(buffer_type(result))
    if given is not None:
        state.copy(given, buffer)
    return buffer


TABLE = OperationTable[BufferizeFunction]().add(func.CallOp, bufferize_call)
