"""Analyses of the computations (regions on scalars) of reductions, scatters and sorts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    BoolAttr,
    DenseArrayBase,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    i64,
)
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.op import decode
from xla_dialect.ops import elementwise
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.elementwise import AddOp, ElementwiseBinaryOp, MultiplyOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.reduction import ReduceOp, ReduceWindowOp, SelectAndScatterOp, only_operation
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.types import (
    BY_TYPE,
    Array,
    ElementClass,
    TokenType,
    as_array,
    element_class,
    element_count,
    flatten,
    sizes_of,
)

if TYPE_CHECKING:
    from xla_dialect.self_checking import RunParallelOp


@dataclass(frozen=True)
class SortKey:
    """One key of a comparator's lexicographic order."""

    value: SSAValue
    """A function of one of the two places."""
    order: ComparisonType
    is_descending: bool


def sort_keys(comparator: Region) -> list[SortKey] | None:
    """
    The keys by which a comparator orders lexicographically, None if it is not known to.

    Keys are computed by operations without regions; the comparator's must be without effects.
    """
    last = comparator.block.last_op
    assert last is not None
    (returned,) = last.operands
    keys: list[SortKey] = []
    rest: SSAValue | None = returned
    while rest is not None:
        before, rest = _first_and_rest(rest, comparator.block)
        key = _key_of(before, comparator.block)
        if key is None:
            return None
        keys.append(key)
    return keys


def _first_and_rest(value: SSAValue, block: Block) -> tuple[SSAValue, SSAValue | None]:
    """`before` and `rest` of `before or (equal and rest)`, where equal compares as before does."""
    for before, other in _factors(value, elementwise.OrOp):
        for equal, rest in _factors(other, elementwise.AndOp):
            if _compares_the_same(before, equal, block):
                return before, rest
    return value, None


def _factors(value: SSAValue, op_type: type[Operation]) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Both orders of the operands of an operation of this type; nothing for any other."""
    if isinstance(value.owner, op_type):
        left, right = value.owner.operands
        yield left, right
        yield right, left


def _compares_the_same(before: SSAValue, equal: SSAValue, block: Block) -> bool:
    mine, theirs = before.owner, equal.owner
    return (
        isinstance(mine, elementwise.CompareOp)
        and isinstance(theirs, elementwise.CompareOp)
        and theirs.direction.data == ComparisonDirection.EQ
        and mine.order == theirs.order
        and any(
            all(_corresponds(a, b, block, 0) for a, b in zip(mine.operands, pair, strict=True))
            for pair in (theirs.operands, reversed(theirs.operands))
        )
    )


def _key_of(value: SSAValue, block: Block) -> SortKey | None:
    """The key of `f(place) < f(other place)` or `>`."""
    compare = value.owner
    if not isinstance(compare, elementwise.CompareOp) or compare.direction.data not in _ASCENDING:
        return None
    sides = {argument.index % 2 for argument in _arguments(compare.lhs, block)}
    if len(sides) > 1 or not _corresponds(compare.lhs, compare.rhs, block, 1):
        return None
    reads_second = sides == {1}
    return SortKey(compare.lhs, compare.order, _ASCENDING[compare.direction.data] == reads_second)


_ASCENDING = {ComparisonDirection.LT: True, ComparisonDirection.GT: False}


def _arguments(value: SSAValue, block: Block) -> list[BlockArgument]:
    """The arguments of the block that a value is computed from."""
    needed = needed_operations(value, block)
    used = [value, *(operand for op in needed for operand in op.operands)]
    return [v for v in used if isinstance(v, BlockArgument) and v.owner is block]


def needed_operations(value: SSAValue, block: Block) -> set[Operation]:
    """The operations of the block that a value is computed by."""
    found: set[Operation] = set()
    stack = [value]
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, Operation) and owner.parent is block and owner not in found:
            found.add(owner)
            stack.extend(owner.operands)
    return found


def _corresponds(a: SSAValue, b: SSAValue, block: Block, swap: int) -> bool:
    """Whether two values are computed alike, from the same places or (swap = 1) opposite ones."""
    seen: set[tuple[SSAValue, SSAValue]] = set()
    stack = [(a, b)]
    while stack:
        pair = stack.pop()
        if pair in seen:
            continue
        seen.add(pair)
        mine, theirs = pair
        if isinstance(mine, BlockArgument) and mine.owner is block:
            if not isinstance(theirs, BlockArgument) or theirs.owner is not block:
                return False
            if theirs.index != mine.index ^ swap:
                return False
        elif isinstance(mine.owner, Operation) and mine.owner.parent is block:
            left, right = mine.owner, theirs.owner
            if not isinstance(right, Operation) or type(left) is not type(right):
                return False
            if left.properties != right.properties or mine.type != theirs.type or left.regions:
                return False
            stack.extend(zip(left.operands, right.operands, strict=True))
        elif mine is not theirs:
            return False
    return True


UPDATES_IN_ORDER = 16
"""So many terms, for each sum, are added one after the other."""

Reducing: TypeAlias = ReduceOp | ReduceWindowOp | ScatterOp | SelectAndScatterOp


def accumulates(computation: Block) -> bool:
    """
    Whether a computation is one addition or one multiplication: floats are accumulated in at least
    f32 by it, and rounded to their type once ((RC4)).
    """
    return only_operation(computation) in (AddOp, MultiplyOp)


def reducer_of(op: Reducing) -> Block:
    """The computation that an operation combines elements by."""
    return (op.scatter if isinstance(op, SelectAndScatterOp) else op.to_apply).block


def accumulates_in_f32(op: Reducing) -> bool:
    """
    Whether an operation is to accumulate narrow floats in f32.

    A scatter that combines no element with several updates rounds once anyway.
    """
    if len(op.results) != 1 or not accumulates(reducer_of(op)):
        return False
    row = BY_TYPE[cast(Array, op.results[0].type).element_type]
    if row.element_class != ElementClass.FLOAT or row.bits >= 32:
        return False
    if not isinstance(op, ScatterOp):
        return True
    updates = sizes_of(cast(Array, op.updates[0].type))
    scattered = without(range(len(updates)), decode(op.update_window_dims))
    return not op.unique_indices.value.data and element_count([updates[d] for d in scattered]) != 1


def adds_long_sums(computation: Block, updates: int, targets: int) -> bool:
    """
    Whether a computation adds so many updates to so many elements that rounding after each of them
    would tell: sums are kept in more digits then, and rounded once ((RC4)).
    """
    return updates > UPDATES_IN_ORDER * targets and only_operation(computation) is AddOp


def scatters_long_sums(op: ScatterOp) -> bool:
    """Whether a scatter into one array does."""
    arrays = [cast(Array, operand.type) for operand in (*op.updates, *op.inputs)]
    sizes = [element_count(sizes_of(array)) for array in arrays]
    return len(sizes) == 2 and adds_long_sums(op.to_apply.block, *sizes)


_FLOATS = (BFloat16Type, Float16Type, Float32Type, Float64Type)
"""The float types with -0.0 and infinities."""


def neutral_element(computation: Block, element_type: Attribute) -> float | int | None:
    """
    The neutral element of a computation; None for those that are not known to have one.

    Complex numbers have none: in a product with 1 + 0i, infinities become NaN. Neither have the
    smallest floats, some of which lack infinities and -0.0.
    """
    operation = only_operation(computation)
    kind = element_class(element_type)
    if operation is None or not issubclass(operation, ElementwiseBinaryOp):
        return None
    if operation.NEUTRAL is None or kind == ElementClass.COMPLEX:
        return None
    if kind == ElementClass.FLOAT and not isinstance(element_type, _FLOATS):
        return None
    return operation.NEUTRAL(element_type)


# Call-like operations: `xla.call`, `func.call`, and `run_parallel` of whole programs.

Call: TypeAlias = CallOp | FuncCallOp

# Looked up by class: `isinstance` of classes of operations costs as much as a small verifier.
_CALLS = frozenset((CallOp, FuncCallOp))
RUN_PARALLEL = "interpreter.run_parallel"
"""Its class is known by name: few programs have it, and those alone load its dialect."""


def is_call(op: Operation) -> TypeGuard[Call]:
    """Whether an operation calls a function."""
    return type(op) in _CALLS


def callee(call: Call) -> str:
    """The name of the function that is called."""
    symbol = call.to_apply if isinstance(call, CallOp) else call.callee
    return symbol.root_reference.data


def runs_functions(op: Operation) -> TypeGuard[Call | RunParallelOp]:
    """Whether an operation runs functions that it names."""
    return type(op) in _CALLS or op.name == RUN_PARALLEL


def callees(op: Call | RunParallelOp) -> Iterable[str]:
    """The names of the functions that an operation runs."""
    return (callee(op),) if is_call(op) else cast("RunParallelOp", op).callees()


# Custom calls whose token operands and results were removed.
#
# Compiled calls are carried out in the order of the program, which needs no tokens. But the
# function of a call takes and gives them, so the call says where they were:
#
#     xla.custom_call %x {custom_call_target = "f", custom_call_has_side_effect = true}
#         attributes {xla.token_operands = array<i64: 0>, xla.token_results = array<i64: 0>}
#         : (tensor<f32>) -> ()

_OPERANDS = "xla.token_operands"
_RESULTS = "xla.token_results"


def note_tokens(op: CustomCallOp) -> None:
    """
    Notes at a call which of its operands and results are tokens, before they are taken away.

    A call that is ordered by tokens has an effect: what follows no longer depends on it.
    """
    for name, types in ((_OPERANDS, op.operand_types), (_RESULTS, op.result_types)):
        places = [place for place, type_ in enumerate(types) if isinstance(type_, TokenType)]
        if places:
            op.attributes[name] = DenseArrayBase.from_list(i64, places)
            op.properties["custom_call_has_side_effect"] = BoolAttr.from_bool(True)


def with_tokens(op: CustomCallOp) -> CustomCallOp:
    """The call as it was before its tokens were taken away, on operands of its own."""
    attributes = dict(op.attributes)
    operands = _completed(op.operand_types, attributes.pop(_OPERANDS, None))
    results = _completed(op.result_types, attributes.pop(_RESULTS, None))
    block = Block(arg_types=operands)
    whole = CustomCallOp.make(
        tuple(block.args),
        op.properties,
        [region.clone() for region in op.regions],
        result_types=results,
        attributes=attributes,
    )
    whole.location = op.location
    block.add_op(whole)
    return whole


def lacks_tokens(op: CustomCallOp) -> bool:
    """Whether tokens were taken away from a call."""
    return _OPERANDS in op.attributes or _RESULTS in op.attributes


def _completed(types: Sequence[Attribute], places: Attribute | None) -> list[Attribute]:
    """The types with tokens at their places."""
    found = list(types)
    if places is not None:
        for place in cast("DenseArrayBase[IntegerType]", places).get_values():
            found.insert(place, TokenType())
    return found


# Custom calls that stand for operations of the dialect, as XLA expands them.

TOP_K = "TopK"
"""
The target of calls that return the first elements of lines and their places, as many as the result
has, in the order of a comparator; in descending order without one. (XLA's CPU looks at none.)
"""


def top_k_properties(op: CustomCallOp) -> Mapping[str, Attribute] | None:
    """Those of the `topk` of the operand that a call stands for; None for other calls."""
    results = flatten(op.result_types)
    if op.custom_call_target.data != TOP_K or len(op.inputs) != 1 or len(results) != 2:
        return None
    values = as_array(results[0])
    descends = is_descending(op.called_computations[0]) if op.called_computations else True
    if descends is None or values is None or not sizes_of(values):
        return None
    return {"k": IntegerAttr(sizes_of(values)[-1], i64), "largest": BoolAttr.from_bool(descends)}


def is_descending(comparator: Region) -> bool | None:
    """
    Whether a comparator puts greater elements of the first array first, or lesser ones; None for
    one that compares something else.
    """
    keys = sort_keys(comparator)
    if keys is None or len(keys) != 1:
        return None
    value = keys[0].value
    is_first = isinstance(value, BlockArgument) and value.index < 2
    return keys[0].is_descending if is_first else None
