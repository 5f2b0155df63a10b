"""Functions that return what they compute, and functions cut into their operations."""

from collections.abc import Collection, Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from differential.draft import Array
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.reference import run
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import array, is_array, sizes_of


def main_of(module: ModuleOp) -> FuncOp:
    """The function that runs."""
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def block_of(module: ModuleOp) -> Block:
    """The only block of the function that runs."""
    return main_of(module).body.block


def end_of(block: Block) -> Operation:
    """What ends a block."""
    end = block.last_op
    assert end is not None
    return end


def returned(module: ModuleOp) -> list[OpResult]:
    """What the function returns: results of operations only."""
    values = end_of(block_of(module)).operands
    assert all(isinstance(value, OpResult) for value in values)
    return [value for value in values if isinstance(value, OpResult)]


def return_values(module: ModuleOp, values: Sequence[SSAValue]) -> None:
    """Makes the function return these."""
    end_of(block_of(module)).operands = values
    _adapt_type(module)


def return_all(module: ModuleOp) -> None:
    """Makes the function return every array that it computes."""
    return_values(module, list(computed_arrays(module)))


def operations(module: ModuleOp) -> list[Operation]:
    """What the function computes with; not constants."""
    block = block_of(module)
    return [op for op in block.ops if op is not end_of(block) and not isinstance(op, ConstantOp)]


def computed_arrays(module: ModuleOp) -> Iterator[OpResult]:
    """The arrays that the operations of the function compute; not constants."""
    for op in operations(module):
        yield from (result for result in op.results if is_array(result.type))


def cut(module: ModuleOp, values: Collection[OpResult]) -> None:
    """Makes values that the function computes parameters for all who use them, but not returns."""
    block = block_of(module)
    end = end_of(block)
    kept = list(end.operands)
    for value in values:
        argument = block.insert_arg(value.type, len(block.args))
        value.replace_all_uses_with(argument)
    end.operands = kept
    _adapt_type(module)


def erase_unused(module: ModuleOp, arguments: Sequence[Array]) -> list[Array]:
    """Erases operations and parameters that nothing needs; returns the arguments that are left."""
    block = block_of(module)
    for op in reversed(list(block.ops)):
        if op is not end_of(block) and not any(result.uses for result in op.results):
            block.erase_op(op)
    left: list[Array] = []
    for argument, given in zip(list(block.args), arguments, strict=True):
        if argument.uses:
            left.append(given)
        else:
            block.erase_arg(argument)
    called = {op.properties["to_apply"] for op in module.walk() if op.name == "xla.call"}
    names = {name.string_value() for name in called}  # pyright: ignore[reportAttributeAccessIssue]
    for op in list(module.ops):
        if isinstance(op, FuncOp) and op.sym_name.data not in {"main", *names}:
            op.detach()
            op.erase()
    _adapt_type(module)
    return left


def _adapt_type(module: ModuleOp) -> None:
    main, block = main_of(module), block_of(module)
    outputs = [value.type for value in end_of(block).operands]
    main.properties["function_type"] = FunctionType.from_lists(
        [argument.type for argument in block.args], outputs
    )
    main.properties.pop("arg_attrs", None)


def without(
    module: ModuleOp, arguments: Sequence[Array], removed: Collection[int]
) -> tuple[ModuleOp, list[Array]]:
    """The program without some of its `operations`: what they compute becomes arguments."""
    module = module.clone()
    gone = [op for number, op in enumerate(operations(module)) if number in removed]
    values = returned(module)
    arrays = flatten_results(run(module, arguments))
    chosen = [number for number, value in enumerate(values) if value.op in gone]
    cut(module, [values[number] for number in chosen])
    return_values(module, [value for value in values if value.op not in gone])
    inputs = [*arguments, *(arrays[number] for number in chosen)]
    return module, erase_unused(module, inputs)


def resize(
    module: ModuleOp, arguments: Sequence[Array], old: int, kept: range
) -> tuple[ModuleOp, list[Array]]:
    """
    The program with every dimension of one size made smaller, and these parts of the arguments.

    It may have become invalid: where attributes speak of sizes, and constants of elements.
    """
    module = module.clone()
    for op in main_of(module).walk():
        arguments_inside = [a for region in op.regions for b in region.blocks for a in b.args]
        for value in (*op.results, *arguments_inside):
            if is_array(value.type):
                type_ = cast(ArrayType, value.type)
                sizes = [len(kept) if size == old else size for size in sizes_of(type_)]
                Rewriter.replace_value_with_new_type(value, array(type_.element_type, sizes))
    _adapt_type(module)
    parts = [
        whole[tuple(slice(kept.start, kept.stop) if n == old else slice(n) for n in whole.shape)]
        for whole in arguments
    ]
    return module, parts
