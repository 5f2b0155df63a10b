"""Analyses of the computations (regions on scalars) of reductions, scatters and sorts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeGuard, cast

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
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region

from xla_dialect.analysis.comparators import sort_keys
from xla_dialect.op import decode
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.elementwise import AddOp, ElementwiseBinaryOp, MultiplyOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.reduction import ReduceOp, ReduceWindowOp, SelectAndScatterOp, only_operation
from xla_dialect.self_checking.interpreter import RunParallelOp
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
_RUNNERS = _CALLS | {RunParallelOp}


def is_call(op: Operation) -> TypeGuard[Call]:
    """Whether an operation calls a function."""
    return type(op) in _CALLS


def callee(call: Call) -> str:
    """The name of the function that is called."""
    symbol = call.to_apply if isinstance(call, CallOp) else call.callee
    return symbol.root_reference.data


def runs_functions(op: Operation) -> TypeGuard[Call | RunParallelOp]:
    """Whether an operation runs functions that it names."""
    return type(op) in _RUNNERS


def callees(op: Call | RunParallelOp) -> Iterable[str]:
    """The names of the functions that an operation runs."""
    return op.callees() if isinstance(op, RunParallelOp) else (callee(op),)


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
