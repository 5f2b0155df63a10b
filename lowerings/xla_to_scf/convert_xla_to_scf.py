"""The pass `convert-xla-to-scf`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    DenseArrayBase,
    ModuleOp,
    TupleType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lowerings.rewriting.conversion import ConversionBuilder, ConversionPass, conversion_table
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX
from lowerings.xla_to_linalg.structured import array_type, constant, extract_slice, insert_slice
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
            create(arith.IndexCastOp, operands=(chosen,), result_types=(INDEX,))
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


def convert_scan(op: ScanOp, builder: ConversionBuilder) -> str | None:
    """`scf.for` over the steps: it slices the inputs and inserts slices of the outputs."""
    if has_tuples(op):
        return FLATTEN_FIRST
    carries = op.num_carries.value.data
    count, produced = len(op.arguments) - carries, len(op.outputs) - carries
    inputs, types = op.arguments[:count], [result.type for result in op.outputs[:produced]]
    scanned = cast(Array, types[0] if types else inputs[0].type)
    length = sizes_of(scanned)[op.dimension.value.data]
    bounds = [constant(builder, number, INDEX) for number in (0, length, 1)]
    starts = [builder.insert(create(tensor.EmptyOp, result_types=(t,))).results[0] for t in types]
    _make_body(op, builder.module, types, length)
    initial = [*starts, *op.arguments[count:]]
    loop = create(
        scf.ForOp,
        operands=(*bounds, *initial),
        result_types=[value.type for value in initial],
        regions=[op.detach_region(op.to_apply)],
    )
    builder.replace(builder.insert(loop).results)
    return None


def _make_body(op: ScanOp, module: ModuleOp, types: Sequence[Attribute], length: int) -> None:
    """Makes the computation the loop's body; arguments are step, outputs of `types`, carries."""
    block, dimension = op.to_apply.block, op.dimension.value.data
    assert block.first_op is not None
    assert block.last_op is not None
    start, end = (ConversionBuilder(module, each) for each in (block.first_op, block.last_op))
    place: SSAValue = block.insert_arg(INDEX, 0)
    count = len(op.arguments) - op.num_carries.value.data
    if op.is_reverse.value.data:
        last = constant(start, length - 1, INDEX)
        place = start.insert(arith.SubiOp(last, place)).result

    def row(value: SSAValue) -> tuple[list[SSAValue | int], list[int]]:
        """Offsets and sizes of a slice at one index along the dimension, and whole elsewhere."""
        sizes = list(sizes_of(array_type(value)))
        offsets: list[SSAValue | int] = [0] * len(sizes)
        offsets[dimension], sizes[dimension] = place, 1
        return offsets, sizes

    for argument, value in zip(block.args[1 : count + 1], op.arguments, strict=False):
        taken = extract_slice(start, value, *row(value), dropped=(dimension,))
        argument.replace_all_uses_with(taken)
    for argument in block.args[1 : count + 1]:
        block.erase_arg(argument)
    returned = list(end.op.operands)
    for number, type_ in enumerate(types):
        output = block.insert_arg(type_, 1 + number)
        offsets, sizes = row(output)
        returned[number] = insert_slice(end, returned[number], output, offsets, sizes=sizes)
    _terminate(block, create(scf.YieldOp, operands=returned))


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
