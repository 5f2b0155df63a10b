"""Functions of tensors that several operations call: code for what they compute is there once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, count

from xdsl.dialects import func
from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from lowerings.ir.functions import SymbolNames
from lowerings.rewriting.conversion import ConversionBuilder
from xla_dialect.xdsl.creation import create

COMPUTES = "xla.computes"
"""What a shared function computes: for equal argument types it is the same function."""


def shared_call(
    builder: ConversionBuilder,
    computes: str,
    arguments: Sequence[SSAValue],
    make: Callable[[ConversionBuilder, Sequence[SSAValue]], Sequence[SSAValue]],
) -> Sequence[SSAValue]:
    """
    The results of a function of tensors; `make` builds it unless the module has it already.

    `computes` names it, and says all that it depends on but the types of the arguments.
    """
    types = [argument.type for argument in arguments]
    functions = [op for op in builder.module.body.block.ops if isinstance(op, func.FuncOp)]
    mark = StringAttr(computes)
    found = next(
        (
            function
            for function in functions
            if function.attributes.get(COMPUTES) == mark
            and list(function.function_type.inputs) == types
        ),
        None,
    )
    if found is None:
        names = chain([computes], (f"{computes}.{number}" for number in count(1)))
        name = SymbolNames(builder.module).take(names)
        found = _made(builder, name, types, make)
        found.attributes[COMPUTES] = mark
    call = create(
        func.CallOp,
        operands=arguments,
        result_types=list(found.function_type.outputs),
        properties={"callee": SymbolRefAttr(found.sym_name)},
    )
    return builder.insert(call).results


def _made(
    builder: ConversionBuilder,
    name: str,
    types: Sequence[Attribute],
    make: Callable[[ConversionBuilder, Sequence[SSAValue]], Sequence[SSAValue]],
) -> func.FuncOp:
    block = Block(arg_types=types)
    end = func.ReturnOp()
    end.location = builder.op.location
    block.add_op(end)
    results = make(ConversionBuilder(builder.module, end), block.args)
    end.operands = results
    function = func.FuncOp(
        name, (types, [value.type for value in results]), Region(block), "private"
    )
    function.location = builder.op.location
    builder.module.body.block.add_op(function)
    return function
