"""What replaces methods of xDSL does what they do."""

import subprocess
import sys

PROGRAM = """
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, func, scf, test
from xdsl.dialects.builtin import FunctionType, ModuleOp, i32
from xdsl.ir import Block, Region
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
    except (ValueError, VerifyException) as error:
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

INSTALLED = "from xla_dialect.xdsl_speed import install\ninstall()\ninstall()\n"


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
