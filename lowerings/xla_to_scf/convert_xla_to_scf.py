"""The pass `convert-xla-to-scf`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    TupleType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lowerings.rewriting.conversion import ConversionBuilder, ConversionPass, conversion_table
from lowerings.rewriting.levels import ON_TENSORS
from xla_dialect.ops.control_flow import ConditionalOp, ScanOp, WhileOp
from xla_dialect.types import PRED, Array, sizes_of
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before

FLATTEN_FIRST = "it carries tuples; xla-flatten-tuples takes them apart"


def has_tuples(op: Operation) -> bool:
    """Whether tuples go into an operation or come out of it."""
    return any(isinstance(t, TupleType) for t in (*op.operand_types, *op.result_types))


def _terminate(block: Block, terminator: Operation) -> None:
    """Puts a terminator in the place of the `xla.return`."""
    last = block.last_op
    assert last is not None
    insert_before(terminator, last)
    erase(last)


def _returned(block: Block) -> Sequence[SSAValue]:
    last = block.last_op
    assert last is not None
    return list(last.operands)


def convert_while(op: WhileOp, builder: ConversionBuilder) -> str | None:
    """`scf.while` that carries the values that change; loop-invariant ones are captured."""
    if has_tuples(op):
        return FLATTEN_FIRST
    condition, body = op.condition.block, op.body.block
    carried = _carried(op)
    (predicate,) = _returned(condition)
    extracted = create(tensor.ExtractOp, operands=(predicate,), result_types=(i1,))
    last = condition.last_op
    assert last is not None
    insert_before(extracted, last)
    _terminate(
        condition,
        create(scf.ConditionOp, operands=(extracted.results[0], *condition.args)),
    )
    returned = _returned(body)
    _terminate(body, create(scf.YieldOp, operands=[returned[i] for i in carried]))
    loop = builder.insert(
        create(
            scf.WhileOp,
            operands=[op.operands[i] for i in carried],
            result_types=[op.results[i].type for i in carried],
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
    )
    results: list[SSAValue] = list(op.operands)
    for i, result in zip(carried, loop.results, strict=True):
        results[i] = result
    builder.replace(results)
    return None


def _carried(op: WhileOp) -> list[int]:
    """
    The numbers of the values that a loop has to carry, i.e. that are not loop-invariant.

    A value that the body returns unchanged is replaced by its initial value in both regions, and
    is no parameter any more.
    """
    condition, body = op.condition.block, op.body.block
    carried: list[int] = []
    for i, returned in enumerate(_returned(body)):
        if returned is not body.args[i]:
            carried.append(i)
            continue
        for argument in (condition.args[i], body.args[i]):
            argument.replace_all_uses_with(op.operands[i])
    for i in reversed(range(len(op.operands))):
        if i not in carried:
            for block in (condition, body):
                block.erase_arg(block.args[i])
    return carried


def convert_conditional(op: ConditionalOp, builder: ConversionBuilder) -> str | None:
    """`scf.if` for a pred; for an s32 `scf.index_switch`, whose default is the last branch."""
    if has_tuples(op):
        return FLATTEN_FIRST
    element_type = cast(Array, op.branch_index.type).element_type
    branches = _branches(op)
    chosen = builder.insert(
        create(tensor.ExtractOp, operands=(op.branch_index,), result_types=(element_type,))
    ).results[0]
    if element_type == PRED:
        converted: Operation = create(
            scf.IfOp, operands=(chosen,), result_types=op.result_types, regions=branches
        )
    else:
        index = builder.insert(
            create(arith.IndexCastOp, operands=(chosen,), result_types=(IndexType(),))
        ).results[0]
        converted = create(
            scf.IndexSwitchOp,
            operands=(index,),
            result_types=op.result_types,
            properties={"cases": DenseArrayBase.from_list(i64, range(len(branches) - 1))},
            regions=[branches[-1], *branches[:-1]],
        )
    builder.replace(builder.insert(converted).results)
    return None


def _branches(op: ConditionalOp) -> list[Region]:
    """The branches without parameters: they use their operands directly."""
    branches = [op.detach_region(region) for region in list(op.branch)]
    operands: Sequence[SSAValue] = op.branch_operands
    for region in branches:
        block = region.block
        arguments = list(block.args)
        given, operands = operands[: len(arguments)], operands[len(arguments) :]
        for argument, value in zip(arguments, given, strict=True):
            argument.replace_all_uses_with(value)
            block.erase_arg(argument)
        _terminate(block, create(scf.YieldOp, operands=_returned(block)))
    return branches


_INDEX = IndexType()


def convert_scan(op: ScanOp, builder: ConversionBuilder) -> str | None:
    """`scf.for` over the steps: it slices the inputs and inserts slices of the outputs."""
    if has_tuples(op):
        return FLATTEN_FIRST
    carries = op.num_carries.value.data
    count, produced = len(op.arguments) - carries, len(op.outputs) - carries
    inputs, types = op.arguments[:count], [result.type for result in op.outputs[:produced]]
    scanned = cast(Array, types[0] if types else inputs[0].type)
    length = sizes_of(scanned)[op.dimension.value.data]
    bounds = [builder.insert(_index_constant(number)).results[0] for number in (0, length, 1)]
    starts = [builder.insert(create(tensor.EmptyOp, result_types=(t,))).results[0] for t in types]
    _make_body(op, inputs, types, length)
    initial = [*starts, *op.arguments[count:]]
    loop = create(
        scf.ForOp,
        operands=(*bounds, *initial),
        result_types=[value.type for value in initial],
        regions=[op.detach_region(op.to_apply)],
    )
    builder.replace(builder.insert(loop).results)
    return None


def _make_body(
    op: ScanOp, inputs: Sequence[SSAValue], types: Sequence[Attribute], length: int
) -> None:
    """Makes the computation the loop's body; arguments are step, outputs of `types`, carries."""
    block, dimension = op.to_apply.block, op.dimension.value.data
    first, last = block.first_op, block.last_op
    assert first is not None
    assert last is not None
    place: SSAValue = block.insert_arg(_INDEX, 0)
    if op.is_reverse.value.data:
        end = insert_before(_index_constant(length - 1), first)
        place = insert_before(arith.SubiOp(end.results[0], place), first).result
    for argument, value in zip(block.args[1 : len(inputs) + 1], inputs, strict=True):
        taken = _slice(value, place, dimension, argument.type)
        argument.replace_all_uses_with(insert_before(taken, first).results[0])
    for argument in block.args[1 : len(inputs) + 1]:
        block.erase_arg(argument)
    returned = list(last.operands)
    for number, type_ in enumerate(types):
        output = block.insert_arg(type_, 1 + number)
        put = _put_slice(returned[number], output, place, dimension)
        returned[number] = insert_before(put, last).results[0]
    _terminate(block, create(scf.YieldOp, operands=returned))


def _index_constant(number: int) -> Operation:
    return arith.ConstantOp(IntegerAttr(number, _INDEX))


def _bounds(array: Attribute, dimension: int, operands: int) -> dict[str, Attribute]:
    """The properties of a slice at one index along a dimension, and whole along all others."""
    sizes = list(sizes_of(cast(Array, array)))
    offsets = [0] * len(sizes)
    sizes[dimension], offsets[dimension] = 1, DYNAMIC_INDEX
    return {
        "static_offsets": DenseArrayBase.from_list(i64, offsets),
        "static_sizes": DenseArrayBase.from_list(i64, sizes),
        "static_strides": DenseArrayBase.from_list(i64, [1] * len(sizes)),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [*[1] * operands, 1, 0, 0]),
    }


def _slice(value: SSAValue, place: SSAValue, dimension: int, type_: Attribute) -> Operation:
    return create(
        tensor.ExtractSliceOp,
        operands=(value, place),
        result_types=(type_,),
        properties=_bounds(value.type, dimension, 1),
    )


def _put_slice(value: SSAValue, output: SSAValue, place: SSAValue, dimension: int) -> Operation:
    return create(
        tensor.InsertSliceOp,
        operands=(value, output, place),
        result_types=(output.type,),
        properties=_bounds(output.type, dimension, 2),
    )


class ConvertXlaToScfPass(ConversionPass):
    """
    Lowers loops, scans and branches to scf; what they carry stays arrays of the xla dialect.

    ```
    %r = xla.while %init : tensor<i32>
         condition (%i: tensor<i32>) { ... xla.return %c : tensor<i1> }
         body (%i: tensor<i32>) { ... xla.return %n : tensor<i32> }
    // becomes
    %r = scf.while (%i = %init) : (tensor<i32>) -> tensor<i32> {
      ...
      %p = tensor.extract %c[] : tensor<i1>
      scf.condition(%p) %i : tensor<i32>
    } do {
    ^bb0(%i: tensor<i32>):
      ...
      scf.yield %n : tensor<i32>
    }
    ```
    """

    name = "convert-xla-to-scf"
    takes = ON_TENSORS
    illegal: ClassVar[Sequence[str | type[Operation]]] = (WhileOp, ConditionalOp, ScanOp)
    conversions = conversion_table(convert_while, convert_conditional, convert_scan)
