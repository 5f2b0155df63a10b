"""What replaces methods of xDSL does what they do."""

import subprocess
import sys

PROGRAM = """
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, func, memref, scf, test
from xdsl.dialects.builtin import (
    DenseArrayBase, FunctionType, IndexType, MemRefType, ModuleOp, TensorType, VectorType, i32, i64
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.utils.exceptions import VerifyException


def state(op):
    uses = [
        [(use.operation.name, use.index) for use in value.uses]
        for value in (*op.operands, *op.results)
    ]
    return (
        str(op), op.operand_types, op.properties, op.attributes, op.location, len(op.successors),
        uses, op.parent is None, op.next_op and op.next_op.name, op.prev_op and op.prev_op.name,
        len(op.regions), [(r.index, r.op is op) for r in op.results],
    )


def attempt(function, *arguments):
    try:
        return function(*arguments)
    except (AttributeError, IndexError, ValueError, VerifyException) as error:
        return type(error).__name__, str(error)


one = arith.ConstantOp.from_int_and_width(1, 32)
add = arith.AddiOp(one.result, one.result)
given = arith.AddiOp.create(operands=[add.result, one.result], result_types=[i32])
other = test.TestOp.create(
    operands=(value for value in (add.result,)),
    result_types=(type_ for type_ in (i32, i32)),
    attributes={"a": i32},
    regions=[Region(Block(arg_types=[i32]))],
)
for op in (one, add, given, other):
    print(state(op))

block = Block([one, add, given, other])
end = Block()
branch = test.TestTermOp.create(successors=[end, end])
block.add_op(branch)
region = Region([block, end])
print(state(branch), len(list(end.uses)))
print(attempt(block.add_op, one))
print(attempt(Block().add_op, one))
inner = other.regions[0].block
other.detach()
print(attempt(inner.add_op, other))
block.insert_op_before(other, branch)

print(attempt(one.result.erase))
print(attempt(given.result.erase), given.result.first_use is None)
print(attempt(block.erase_op, add))
block.erase_op(given)
print(state(one), state(add))
one.result.erase(safe_erase=False)
print(type(add.operands[0]).__name__, add.operands[0].owner.name)
print(len({one, add, one, add.result, add.result, block, region}), one == one, one == add)

implicit = Block()
with ImplicitBuilder(implicit):
    arith.ConstantOp.from_int_and_width(3, 32)
print([op.name for op in implicit.ops])


def function_of(*operations):
    return func.FuncOp("f", FunctionType.from_lists([i32], []), Region(Block(operations, arg_types=[i32])))


two = arith.ConstantOp.from_int_and_width(2, 32)
three = arith.ConstantOp.from_int_and_width(3, 32)
sums = [arith.AddiOp(two.result, two.result), arith.AddiOp(three.result, two.result)]
sequence = Block([two, three, *sums])
print([op.name for op in sequence.ops], [op.name for op in reversed(sequence.ops)])
print(sequence.first_op is two, sequence.last_op is sums[1], len(sequence.ops), bool(sequence.ops))
two.result.name_hint = "number"
two.result.replace_all_uses_with(three.result)
two.result.replace_all_uses_with(two.result)
print([state(op) for op in sequence.ops], three.result.name_hint)
sums[0].operands[1] = two.result
sums[1].operands[1] = two.result
print([state(op) for op in sequence.ops])
view = sums[0].operands
sums[0].operands = [two.result, two.result]
print(view == sums[0].operands, view[0] is two.result, list(view[1:]) == [two.result], len(view))
print(type(view[:1]).__name__, type(sums[0].results[:1]).__name__, sums[0].results[:1].types)
for op in sequence.ops:
    if isinstance(op, arith.AddiOp):
        op.detach()
        op.erase()
print([op.name for op in sequence.ops], attempt(lambda: sums[0].results[1]))
print([attempt(setattr, *wrong)[0] for wrong in ((two.result, "type", i32), (two, "next_op", two))])
for type_ in (TensorType(i32, [2, 3]), MemRefType(i32, []), VectorType(i32, [4])):
    print(type_.get_shape(), type_.get_shape(), type_ == type(type_)(i32, type_.get_shape()))

low, high, step = (arith.ConstantOp.from_int_and_width(n, IndexType()) for n in (0, 4, 1))
loop = scf.ForOp(low, high, step, [one], Region(Block([], arg_types=[IndexType(), i32])))
print(loop.lb.owner is low, loop.step.owner is step, len(loop.iter_args), len(loop.res), len(loop.body.block.args))
whether = scf.IfOp(one, [], [scf.YieldOp()])
print(len(whether.true_region.blocks), len(whether.false_region.blocks))
for size in (DenseArrayBase.from_list(i32, [1, 2]), DenseArrayBase.from_list(i64, [1, 2])):
    alloc = memref.AllocOp.build(
        operands=[[low], [high, step]], result_types=[MemRefType(i32, [-1])], properties={"operandSegmentSizes": size}
    )
    alloc.properties["operandSegmentSizes"] = size
    print(len(alloc.dynamic_sizes), len(alloc.symbol_operands), attempt(alloc.verify))
for wrong in (arith.AddiOp.create(operands=[one.result], result_types=[i32]),
              arith.AddiOp.create(operands=[one.result, one.result], result_types=[]),
              scf.ForOp.create(operands=[low.result], result_types=[], regions=[Region()]),
              scf.IfOp.create(operands=[one.result], result_types=[])):
    print(attempt(wrong.verify))


class Derived(arith.AddiOp):
    pass


print(isinstance(one, arith.ConstantOp), isinstance(one, (arith.AddiOp, Operation)), isinstance(one, Block))
print(issubclass(Derived, Operation), issubclass(Derived, arith.ConstantOp), isinstance(one.result, SSAValue))
print(isinstance(i32, Attribute), isinstance(i32, TypeAttribute), isinstance(3, Attribute))

outside = arith.ConstantOp.from_int_and_width(2, 32)
function = function_of(arith.AddiOp(outside.result, outside.result), func.ReturnOp())
print(attempt(ModuleOp([outside, function]).verify))
true = arith.ConstantOp.from_int_and_width(1, 1)
nested = scf.IfOp(true, [], [arith.AddiOp(true.result, true.result), scf.YieldOp()])
print(attempt(function_of(true, nested, func.ReturnOp()).verify))
loose = arith.ConstantOp.from_int_and_width(1, 1)
nested = scf.IfOp(loose, [], [arith.AddiOp(loose.result, loose.result), scf.YieldOp()])
print(attempt(function_of(nested, func.ReturnOp()).verify))
"""

INSTALLED = "from xla_dialect.xdsl.speed import install\ninstall()\ninstall()\n"


def output_of(program: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_the_same_operations_are_made_linked_and_erased() -> None:
    expected = output_of(PROGRAM)
    assert expected.count("IsolatedFromAbove") == 2
    assert output_of(INSTALLED + PROGRAM) == expected
