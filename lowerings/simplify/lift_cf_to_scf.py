"""The pass `lift-cf-to-scf`: functions of several blocks become ones of a single block."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import cf, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from lowerings.rewriting.change import ReportingPass
from lowerings.rewriting.conversion import ConversionFailed, illegal_op
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.simplify.structured_blocks import CannotBeStructured, Flow, Structurer, edges_of
from xla_dialect.xdsl.dominance import reverse_postorder


class LiftCfToScfPass(ReportingPass):
    """
    Replaces branches between blocks by structured control flow, as the pass of MLIR does.

    ```
    func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
      cf.cond_br %c, ^bb1, ^bb2(%x : tensor<4xf32>)
    ^bb1:
      %y = xla.negate %x : tensor<4xf32>
      cf.br ^bb2(%y : tensor<4xf32>)
    ^bb2(%z: tensor<4xf32>):
      func.return %z : tensor<4xf32>
    }
    // becomes
    func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
      %z = scf.if %c -> (tensor<4xf32>) {
        %y = xla.negate %x : tensor<4xf32>
        scf.yield %y : tensor<4xf32>
      } else {
        scf.yield %x : tensor<4xf32>
      }
      func.return %z : tensor<4xf32>
    }
    ```

    No operation is duplicated. Loops may have several entries and exits: a number says which one
    was taken. Blocks that are never reached are left out.
    """

    name = "lift-cf-to-scf"
    takes = ON_TENSORS

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Raises ConversionFailed for terminators that are not of `cf`, and for values no default
        of whose type is known where a way through the function leaves them undefined."""
        functions = [
            each for each in op.ops if isinstance(each, func.FuncOp) and len(each.body.blocks) > 1
        ]
        for function in functions:
            try:
                _structure(function)
            except CannotBeStructured as error:
                raise ConversionFailed(self.name, [illegal_op(function, str(error))]) from error
        return bool(functions)


def _structure(function: func.FuncOp) -> None:
    """Leaves a function one block."""
    entry = function.body.blocks[0]
    reached = reverse_postorder(entry)
    for block in set(function.body.blocks).difference(reached):
        function.body.detach_block(block)
        block.drop_all_references()
    end = _common_end(function, reached)
    body = Block(arg_types=entry.arg_types)
    for old, new in zip(entry.args, body.args, strict=True):
        new.name_hint = old.name_hint
    structurer = Structurer(reached, end)
    flow = structurer.run(body, Flow({entry: list(body.args)}), set(reached))
    values = structurer.defined(body, flow.targets[end], end.arg_types)
    returned = func.ReturnOp(*values)
    returned.location = structurer.location
    body.add_op(returned)
    for block in reached:
        function.body.detach_block(block)
    function.body.add_block(body)


def _common_end(function: func.FuncOp, blocks: list[Block]) -> Block:
    """A block that all returns of a function go to, with what is returned as its arguments."""
    end = Block(arg_types=function.function_type.outputs.data)
    for block in blocks:
        last = block.last_op
        if edges_of(last) is not None:
            continue
        if not isinstance(last, func.ReturnOp):
            name = "a block without a terminator" if last is None else last.name
            raise CannotBeStructured(f"{name} ends a block: only cf branches and func.return may")
        branch = cf.BranchOp(end, *last.arguments)
        branch.location = last.location
        block.insert_op_before(branch, last)
        block.erase_op(last)
    return end
