"""Functions: leaving them out, inlining them, fewer parameters."""

from __future__ import annotations

from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass

from lowerings.ir.functions import defined_functions
from lowerings.reduction.edit import Edit
from lowerings.reduction.operations import replace
from lowerings.reduction.values import (
    body_of,
    called_names,
    constant_before,
    function_around,
    is_attached,
    new_parameter,
    sign,
)
from lowerings.rewriting.change import run_pass
from lowerings.simplify.xla_flatten_tuples import XlaFlattenTuplesPass
from lowerings.simplify.xla_inline import XlaInlinePass
from xla_dialect.analysis.computations import callee, is_call
from xla_dialect.ops.control_flow import FusionOp
from xla_dialect.types import flatten
from xla_dialect.xdsl.linking import replace_uses
from xla_dialect.xdsl.traversal import operations_in


def drop_functions(module: ModuleOp) -> list[Edit]:
    """Functions go with their calls, for whose results parameters stand, or constants."""

    def drop(function: FuncOp) -> bool:
        if not is_attached(function, module) or len(list(module.ops)) == 1:
            return False
        name = function.sym_name.data
        called = called_names(module)
        for op in operations_in(module):
            if is_call(op) and callee(op) == name and op.parent_op() is not function:
                around = function_around(op)
                is_free = around is not None and around.sym_name.data not in called
                for result in op.results:
                    stand_in: SSAValue | None = (
                        new_parameter(around, result.type)
                        if around is not None and is_free
                        else constant_before(op, result.type)
                    )
                    if stand_in is not None:
                        replace_uses(result, stand_in)
                if not replace(op, module, lambda op, result: None):
                    return False
        function.detach()
        function.erase()
        return True

    return [partial(drop, op) for op in module.ops if isinstance(op, FuncOp)]


def _by_pass(module: ModuleOp, module_pass: ModulePass) -> Edit:
    def run() -> bool:
        return run_pass(module_pass, Context(), module)

    return run


def inline_calls(module: ModuleOp) -> list[Edit]:
    """All calls and fusions become what they compute."""
    ops = operations_in(module)
    if any(is_call(op) or isinstance(op, FusionOp) for op in ops):
        return [_by_pass(module, XlaInlinePass())]
    return []


def flatten_tuples(module: ModuleOp) -> list[Edit]:
    """All tuples become values of their own."""
    if any(len(flatten(op.result_types)) != len(op.results) for op in operations_in(module)):
        return [_by_pass(module, XlaFlattenTuplesPass())]
    return []


def _free_bodies(module: ModuleOp) -> list[tuple[FuncOp, Block]]:
    """The functions that nothing calls, with their blocks."""
    called = called_names(module)
    return [
        (function, body)
        for function in defined_functions(module)
        if function.sym_name.data not in called and (body := body_of(function)) is not None
    ]


def _without(function: FuncOp, body: Block, argument: SSAValue) -> bool:
    numbers = [number for number, each in enumerate(body.args) if each is not argument]
    if len(numbers) == len(body.args) or argument.first_use is not None:
        return False
    body.erase_arg(next(each for each in body.args if each is argument))
    sign(function, numbers)
    return True


def drop_parameters(module: ModuleOp) -> list[Edit]:
    """Parameters that are not used go."""
    return [
        partial(_without, function, body, argument)
        for function, body in _free_bodies(module)
        for argument in body.args
        if argument.first_use is None
    ]


def merge_parameters(module: ModuleOp) -> list[Edit]:
    """Of parameters of one type, the first stands for the others."""

    def merge(function: FuncOp, body: Block, first: SSAValue, argument: SSAValue) -> bool:
        replace_uses(argument, first)
        return _without(function, body, argument)

    edits: list[Edit] = []
    for function, body in _free_bodies(module):
        first: dict[Attribute, SSAValue] = {}
        for argument in body.args:
            kept = first.setdefault(argument.type, argument)
            if kept is not argument:
                edits.append(partial(merge, function, body, kept, argument))
    return edits
