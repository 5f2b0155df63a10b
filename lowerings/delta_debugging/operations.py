"""Operations, regions, functions and results: leaving them out, inlining them, passing on less."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import ConstantLike, IsTerminator

from lowerings.delta_debugging.edits import (
    Edit,
    body_of,
    constant_before,
    function_around,
    is_attached,
    new_parameter,
    sign,
)
from lowerings.ir.functions import defined_functions, references
from lowerings.rewriting.passes import run_pass
from lowerings.simplify.xla_flatten_tuples import XlaFlattenTuplesPass
from lowerings.simplify.xla_inline import XlaInlinePass
from xla_dialect.analysis.computations import callee, is_call
from xla_dialect.ops.control_flow import FusionOp, WhileOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.ops.sorting import SortOp
from xla_dialect.types import flatten
from xla_dialect.xdsl.linking import erase, replace_uses
from xla_dialect.xdsl.traversal import operations_in

Choice = Callable[[Operation, SSAValue], SSAValue | None]
"""What stands for the result of an operation that is left out; None where nothing can."""


def _left_out(module: ModuleOp) -> Iterator[Operation]:
    """The operations that may go, in the order of the program."""
    for op in operations_in(module):
        if op is not module and not isinstance(op, FuncOp) and not op.has_trait(IsTerminator):
            yield op


def _is_used(op: Operation) -> bool:
    return any(result.first_use is not None for result in op.results)


def replace(op: Operation, module: ModuleOp, choose: Choice) -> bool:
    """Leaves out an operation; whether something could stand for each result that is used."""
    if not is_attached(op, module):
        return False
    chosen: list[SSAValue | None] = []
    for result in op.results:
        chosen.append(None if result.first_use is None else choose(op, result))
        if chosen[-1] is None and result.first_use is not None:
            return False
    Rewriter.replace_op(op, (), chosen)
    return True


def drop_unused(module: ModuleOp) -> list[Edit]:
    """Operations whose results nobody uses, once those are gone that used them."""

    def drop(op: Operation) -> bool:
        if not is_attached(op, module) or _is_used(op):
            return False
        erase(op)
        return True

    edits: list[Edit] = []
    unused: set[Operation] = set()
    for op in reversed(list(_left_out(module))):
        users = {use.operation for result in op.results for use in result.uses}
        if op.results and users <= unused:
            unused.add(op)
            edits.append(partial(drop, op))
    return edits[::-1]


def drop_effects(module: ModuleOp) -> list[Edit]:
    """Operations without results: stores, copies into memory, loops over them."""
    return [
        partial(replace, op, module, lambda op, result: None)
        for op in _left_out(module)
        if not op.results
    ]


def to_parameters(module: ModuleOp) -> list[Edit]:
    """Operations in the bodies of functions that nothing calls become parameters."""
    called = set(references(module))

    def parameter(op: Operation, result: SSAValue) -> SSAValue | None:
        function = function_around(op)
        return None if function is None else new_parameter(function, result.type)

    return [
        partial(replace, op, module, parameter)
        for op in _left_out(module)
        if (function := function_around(op)) is not None and function.sym_name.data not in called
    ]


def to_operands(module: ModuleOp) -> list[Edit]:
    """An operand of the same type stands for a result; each of them is tried."""

    def operand(number: int, op: Operation, result: SSAValue) -> SSAValue | None:
        value = op.operands[number]
        return value if value.type == result.type else None

    edits: list[Edit] = []
    for op in _left_out(module):
        types = {result.type for result in op.results}
        fitting = {v: n for n, v in enumerate(op.operands) if v.type in types}
        # The last is tried first.
        for number in sorted(fitting.values(), reverse=True):
            edits.append(partial(replace, op, module, partial(operand, number)))
    return edits


def to_constants(module: ModuleOp) -> list[Edit]:
    """Operations that are no constants become some: zeros."""
    return [
        partial(replace, op, module, lambda op, result: constant_before(op, result.type))
        for op in _left_out(module)
        if op.results and not op.has_trait(ConstantLike) and op.name != "xla.tuple"
    ]


def drop_functions(module: ModuleOp) -> list[Edit]:
    """Functions go with their calls, for whose results parameters stand, or constants."""

    def drop(function: FuncOp) -> bool:
        if not is_attached(function, module) or len(list(module.ops)) == 1:
            return False
        name = function.sym_name.data
        called = set(references(module))
        for op in operations_in(module):
            if is_call(op) and callee(op) == name and op.parent_op() is not function:
                around = function_around(op)
                is_free = around is not None and around.sym_name.data not in called
                for result in op.results:
                    if around is not None and is_free:
                        replace_uses(result, new_parameter(around, result.type))
                    else:
                        _become_zero(result, op)
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
    called = set(references(module))
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


def inline_regions(module: ModuleOp) -> list[Edit]:
    """A loop, a branch or a computation becomes what it does once."""
    return [
        partial(_inline, op, number, module)
        for op in operations_in(module)
        if not isinstance(op, FuncOp | ModuleOp)
        for number, region in enumerate(op.regions)
        if region.first_block is not None
        and region.first_block.next_block is None
        and _yields_for(region.first_block, op)
    ]


def _yields_for(body: Block, op: Operation) -> bool:
    """Whether what a body ends with has the types of the results."""
    last = body.last_op
    return last is not None and [v.type for v in last.operands] == list(op.result_types)


def _inline(op: Operation, number: int, module: ModuleOp) -> bool:
    """Each parameter of the body is the first operand of its type that is left, or a constant."""
    if not is_attached(op, module):
        return False
    body, left = op.regions[number].block, list(op.operands)
    values: list[SSAValue] = []
    for argument in body.args:
        place = next((n for n, value in enumerate(left) if value.type == argument.type), None)
        value = constant_before(op, argument.type) if place is None else left.pop(place)
        if value is None:
            return False
        values.append(value)
    Rewriter.inline_block(body, InsertPoint.before(op), values)
    last = op.prev_op
    assert last is not None
    Rewriter.replace_op(op, (), last.operands)
    erase(last)
    return True


def drop_carried(module: ModuleOp) -> list[Edit]:
    """A loop carries one value less; a reduction or a sort has one array less."""
    return [
        partial(_drop_carried, op, number, module)
        for op in operations_in(module)
        if isinstance(op, WhileOp | ReduceOp | SortOp) and len(op.results) > 1
        for number in range(len(op.results))
    ]


def _drop_carried(op: WhileOp | ReduceOp | SortOp, number: int, module: ModuleOp) -> bool:
    count = len(op.results)
    if not is_attached(op, module) or op.parent is None or number >= count or count == 1:
        return False
    is_reduction = isinstance(op, ReduceOp)
    operands = _all_but(op.operands, (number, number + count) if is_reduction else (number,))
    per_region = _arguments(op, number)
    for region, numbers in zip(op.regions, per_region, strict=True):
        body = region.block
        first, last = body.first_op, body.last_op
        assert first is not None and last is not None
        for argument in [body.args[n] for n in numbers]:
            if not _become_zero(argument, first):
                return False
            body.erase_arg(argument)
        if len(last.operands) == count:
            last.operands = _all_but(last.operands, (number,))
    if not _become_zero(op.results[number], op):
        return False
    types = [each for n, each in enumerate(op.result_types) if n != number]
    regions = [op.detach_region(region) for region in list(op.regions)]
    new = type(op).make(operands, op.properties, regions, types, op.attributes)
    Rewriter.replace_op(op, new, [*new.results[:number], None, *new.results[number:]])
    return True


def _become_zero(value: SSAValue, anchor: Operation) -> bool:
    """Puts a zero in front of an operation into the place of a value, unless nothing uses it."""
    if value.first_use is None:
        return True
    zero = constant_before(anchor, value.type)
    if zero is not None:
        replace_uses(value, zero)
    return zero is not None


def _all_but(values: Sequence[SSAValue], numbers: Sequence[int]) -> list[SSAValue]:
    return [value for n, value in enumerate(values) if n not in numbers]


def _arguments(op: WhileOp | ReduceOp | SortOp, number: int) -> list[tuple[int, ...]]:
    """By region, the parameters that a value is."""
    count = len(op.results)
    if isinstance(op, WhileOp):
        return [(number,), (number,)]
    if isinstance(op, ReduceOp):
        return [(number, number + count)]
    return [(2 * number, 2 * number + 1)]


def _returns(module: ModuleOp) -> list[tuple[FuncOp, Block, ReturnOp]]:
    """The functions that nothing calls, with their block and what they return."""
    return [
        (function, body, body.last_op)
        for function, body in _free_bodies(module)
        if isinstance(body.last_op, ReturnOp)
    ]


def _return(function: FuncOp, body: Block, values: Sequence[SSAValue]) -> None:
    last = body.last_op
    assert last is not None
    body.insert_op_before(ReturnOp(*values), last)
    erase(last)
    sign(function)


def drop_results(module: ModuleOp) -> list[Edit]:
    """A function returns less, and at least one value."""

    def drop(function: FuncOp, body: Block, number: int) -> bool:
        last = body.last_op
        assert last is not None
        if len(last.operands) == 1:
            return False
        values = [value for n, value in enumerate(last.operands) if n != number]
        _return(function, body, values)
        return True

    return [
        partial(drop, function, body, number)
        for function, body, last in _returns(module)
        if len(last.operands) > 1
        # Edits are made from the last to the first: numbers stay what they are.
        for number in range(len(last.operands))
    ]


def cut(module: ModuleOp) -> list[Edit]:
    """A function ends earlier: it returns what the rest of it would use, the shortest first."""

    def end_after(function: FuncOp, body: Block, number: int) -> bool:
        rest = list(body.ops)[number + 1 :]
        used = dict.fromkeys(v for each in rest for inner in each.walk() for v in inner.operands)
        kept = [
            value
            for value in used
            if isinstance(value.owner, Operation)
            and value.owner.parent is body
            and value.owner not in rest
            and not value.owner.has_trait(ConstantLike)
        ]
        if not kept:
            return False
        _return(function, body, kept)
        for each in reversed(rest[:-1]):
            erase(each)
        return True

    return [
        partial(end_after, function, body, number)
        for function, body, _ in _returns(module)
        for number in _halving(len(body.ops) - 2)
    ]


def _halving(count: int) -> list[int]:
    """Numbers below a count that end up close to it: the half, three quarters and so on."""
    if count < 1:
        return []
    steps = (count >> shift for shift in range(1, count.bit_length()))
    return list(dict.fromkeys([*(count - step for step in steps), count - 1]))
