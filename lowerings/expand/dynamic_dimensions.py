"""The walk through a function: operations by their rules, loops and branches with sizes beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lowerings.expand.dynamic_dimension_rules import (
    NOT_COMPILED,
    RULES,
    Rules,
    Sized,
    dynamic,
    irregularity,
    may_fail,
    regular,
)
from lowerings.expand.xla_expand_compound import is_compound
from lowerings.layouts.memory_order import in_layout
from lowerings.rewriting.conversion import IllegalOp, illegal_op
from xla_dialect.attributes import ComparisonDirection, ComparisonDirectionAttr
from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.literals.arrays import from_numpy
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import ConditionalOp, ReturnOp, WhileOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.dynamic_shapes import GetDimensionSizeOp, SetDimensionSizeOp, undefined
from xla_dialect.ops.elementwise import AndOp, CompareOp
from xla_dialect.types import S32, Array, array, extents, flatten, is_array, without_bounds
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import insert_before
from xla_dialect.xdsl.traversal import operations_in

SCALAR = array(S32, ())


class Counted(NamedTuple):
    """What a value with dynamic dimensions has become."""

    data: SSAValue
    counts: Mapping[int, SSAValue]


class Status(NamedTuple):
    """Which check failed first at run time, from 1, 0 for none; and the number it failed for."""

    number: SSAValue
    value: SSAValue


def is_dynamic_type(type_: Attribute) -> bool:
    """Whether a type is an array with a bounded dynamic dimension."""
    return is_array(type_) and bool(dynamic(extents(type_)))


def concerns(op: Operation) -> bool:
    """Whether an operation itself has to do with dynamic dimensions."""
    if isinstance(op, GetDimensionSizeOp | SetDimensionSizeOp):
        return True
    return any(map(is_dynamic_type, (*op.operand_types, *op.result_types)))


@dataclass(eq=False)
class DynamicDimensionExpansion:
    """What has become of values with dynamic dimensions, function by function."""

    known: dict[SSAValue, Counted] = field(default_factory=dict[SSAValue, Counted])
    checks: list[DictionaryAttr] = field(default_factory=list[DictionaryAttr])
    """What may go wrong in the function: operation, message, location; the first has number 1."""
    status: Status | None = None
    """Where the walk is; None in functions that cannot go wrong."""
    dead: list[Operation | BlockArgument] = field(default_factory=list["Operation | BlockArgument"])
    """Operations that were replaced, and parameters; each may be used by those that follow."""

    def function(self, function: func.FuncOp) -> None:
        """Static arrays for the parameters and results, then their sizes, then the status."""
        block = function.body.block
        places = _places(zip(block.arg_types, function.function_type.inputs.data, strict=True))
        self._take(block, places)
        checked = any(may_fail(op) for op in operations_in(block))
        first = cast(Operation, block.first_op)
        self.status = Status(_constant(0, first), _constant(0, first)) if checked else None
        outputs = function.function_type.outputs.data
        returned = cast(func.ReturnOp, block.last_op)
        self.block(block)
        added = _places(zip(returned.operand_types, outputs, strict=True))
        operands = self._given(returned, returned.operands, added)
        insert_before(func.ReturnOp(*operands), returned)
        block.erase_op(returned)
        for dead in reversed(self.dead):
            if isinstance(dead, Operation):
                dead.detach()
                dead.erase()
            else:
                dead.block.erase_arg(dead)
        function.properties["function_type"] = FunctionType.from_lists(
            [argument.type for argument in block.args], [value.type for value in operands]
        )

    def block(self, block: Block) -> None:
        """Every operation of a block but its last."""
        for op in list(block.ops):
            if isinstance(op, ReturnOp | func.ReturnOp):
                continue
            if isinstance(op, WhileOp | ConditionalOp):
                if any(map(concerns, operations_in(op))) or self._carries(op):
                    self._while(op) if isinstance(op, WhileOp) else self._conditional(op)
            elif concerns(op):
                self._by_rule(op)

    def _carries(self, op: Operation) -> bool:
        """Whether a computation of an operation has parameters with dynamic dimensions."""
        return any(is_dynamic_type(a.type) for r in op.regions for a in r.block.args)

    def _by_rule(self, op: Operation) -> None:
        assert isinstance(op, XlaOp)
        b = XlaBuilder(op.name, before=op)
        operands = [
            Sized(XlaValue(b, data), {d: XlaValue(b, count) for d, count in counts.items()})
            for data, counts in map(self._counted, op.operands)
        ]
        rules = Rules(b, op, operands)
        found = RULES.get(type(op), regular)(rules, op, operands)
        for i, (result, (value, known)) in enumerate(zip(op.results, found, strict=True)):
            bounds = rules.result_bounds(i)
            counts = {
                d: (known[d] if d in known else rules.number(int(bounds[d]))).ssa
                for d in dynamic(bounds)
            }
            self._replace(result, in_layout(value.ssa, without_bounds(result.type), op), counts)
        self._check(rules)
        self.dead.append(op)

    def _check(self, rules: Rules) -> None:
        """Brings the status behind the checks of an operation."""
        b = rules.b
        for check in rules.checks:
            assert self.status is not None
            number, value = (XlaValue(b, each) for each in self.status)
            operation, message = StringAttr(rules.op.name), StringAttr(check.message)
            self.checks.append(
                DictionaryAttr(
                    {"operation": operation, "message": message, "location": rules.op.location}
                )
            )
            fails = ~check.holds & (number == 0)
            count = rules.number(len(self.checks))
            self.status = Status(
                b.select(fails, count, number).ssa, b.select(fails, check.value, value).ssa
            )

    def _counted(self, value: SSAValue) -> Counted:
        return self.known.get(value) or Counted(value, {})

    def _count(self, value: SSAValue, dimension: int, op: Operation) -> SSAValue:
        """How many elements of a value are there along a dimension, where `op` stands."""
        found = self._counted(value).counts.get(dimension)
        return _constant(_extent(value, dimension), op) if found is None else found

    def _replace(self, old: SSAValue, data: SSAValue, counts: Mapping[int, SSAValue]) -> None:
        hint = old.name_hint
        if hint is not None and data.name_hint is None:
            data.name_hint = hint
        if not counts:
            old.replace_all_uses_with(data)
            return
        self.known[old] = Counted(data, counts)
        for count in counts.values():
            if hint is not None and count.name_hint is None:
                count.name_hint = f"{hint}_size"

    def _take(self, block: Block, places: Sequence[tuple[int, int]]) -> None:
        """Static arrays for the parameters of a block, and new ones for their sizes."""
        counts: dict[int, dict[int, SSAValue]] = {}
        for i, d in places:
            counts.setdefault(i, {})[d] = block.insert_arg(SCALAR, len(block.args))
        for i, of_argument in sorted(counts.items(), reverse=True):
            old = block.args[i]
            self._replace(old, block.insert_arg(without_bounds(old.type), i), of_argument)
            self.dead.append(old)

    def _given(
        self, op: Operation, values: Sequence[SSAValue], places: Sequence[tuple[int, int]]
    ) -> list[SSAValue]:
        """The arrays for values, and then the sizes at these places, and the status."""
        found = [self._counted(value).data for value in values]
        found += [self._count(values[i], d, op) for i, d in places]
        return found + list(self.status or ())

    def _while(self, op: WhileOp) -> None:
        """Sizes and the status are carried beside the values; a loop ends where a check fails."""
        places = _places(edge.types for edge in op.data_flow_edges())
        outside = self.status
        self.status = outside if _checks(op) else None
        operands = self._given(op, op.operands, places)
        carries_status = self.status is not None
        for region in op.regions:
            self.status = None
            self._take(region.block, places)
            if carries_status:
                end = len(region.block.args)
                self.status = Status(
                    region.block.insert_arg(SCALAR, end), region.block.insert_arg(SCALAR, end + 1)
                )
            number = None if self.status is None else self.status.number
            self.block(region.block)
            last = cast(ReturnOp, region.block.last_op)
            if region is op.body:
                last.operands = self._given(last, last.operands, places)
            elif number is not None:
                last.operands = [_while_right(last, number)]
        self.status = outside
        new = create(
            WhileOp,
            operands=operands,
            result_types=[operand.type for operand in operands],
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        self._take_over(op, new, places, carries_status)

    def _conditional(self, op: ConditionalOp) -> None:
        """Branches return the sizes and the status beside the values."""
        outside = self.status
        returns_status = outside is not None and _checks(op)
        index, *rest = op.operands
        operands = [index]
        edges = list(op.data_flow_edges())
        of_operands, of_results = edges[: len(rest)], edges[len(rest) :]
        places = _places(edge.types for edge in of_results)
        for region in op.branch:
            block, count = region.block, len(region.block.args)
            given, rest = rest[:count], rest[count:]
            of_branch = _places(edge.types for edge in of_operands[:count])
            of_operands = of_operands[count:]
            self.status = None
            operands += self._given(op, given, of_branch)
            self._take(block, of_branch)
            self.status = outside
            self.block(block)
            last = cast(ReturnOp, block.last_op)
            if not returns_status:
                self.status = None
            last.operands = self._given(last, last.operands, places)
        self.status = outside
        added = [SCALAR] * (len(places) + 2 * returns_status)
        new = create(
            ConditionalOp,
            operands=operands,
            result_types=[*map(without_bounds, op.result_types), *added],
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        self._take_over(op, new, places, returns_status)

    def _take_over(
        self, op: Operation, new: Operation, places: Sequence[tuple[int, int]], has_status: bool
    ) -> None:
        """Puts an operation in the place of one with fewer results."""
        counts = insert_before(new, op).results[len(op.results) :]
        for i, result in enumerate(op.results):
            of_result = {d: counts[n] for n, (j, d) in enumerate(places) if j == i}
            self._replace(result, new.results[i], of_result)
        if has_status:
            self.status = Status(new.results[-2], new.results[-1])
        self.dead.append(op)


def _checks(op: Operation) -> bool:
    """Whether an operation in the computations of another may go wrong."""
    return any(may_fail(inner) for inner in operations_in(op))


def _extent(value: SSAValue, dimension: int) -> int:
    return int(extents(cast(Array, value.type))[dimension])


def _places(values: Iterable[Iterable[Attribute]]) -> list[tuple[int, int]]:
    """The values, and their dimensions, that are dynamic in one of the types given for each."""
    found = {
        (i, d)
        for i, types in enumerate(values)
        for type_ in types
        if is_dynamic_type(type_)
        for d in dynamic(extents(cast(Array, type_)))
    }
    return sorted(found)


def _constant(number: int, before: Operation) -> SSAValue:
    """A scalar, as a constant in front of an operation."""
    value = from_numpy(np.array(number, np.int32))
    constant = ConstantOp.make([], {"value": value}, result_types=[SCALAR])
    return insert_before(constant, before).result


def _while_right(last: ReturnOp, number: SSAValue) -> SSAValue:
    """What a condition returns, or false where a check has failed: a loop might never end then."""
    direction = {"direction": ComparisonDirectionAttr(ComparisonDirection.EQ)}
    zero = _constant(0, last)
    is_right = insert_before(CompareOp.make([number, zero], direction), last).result
    return insert_before(AndOp.make([last.operands[0], is_right], {}), last).result


def illegal_ops(module: ModuleOp) -> list[IllegalOp]:
    """The operations that have no rule for dynamic dimensions, and why."""
    found: list[IllegalOp] = []
    for op in operations_in(module):
        types = (*op.operand_types, *op.result_types)
        if any(is_dynamic_type(t) for each in types for t in flatten([each]) if each is not t):
            found.append(illegal_op(op, "tuples have to be flattened before"))
        elif concerns(op):
            reason = _reason(op)
            if reason is not None:
                found.append(illegal_op(op, reason))
    return found


def _reason(op: Operation) -> str | None:
    if isinstance(op, ReturnOp | func.ReturnOp | WhileOp | ConditionalOp):
        if isinstance(op, WhileOp) and any(map(may_fail, operations_in(op.condition))):
            return "its condition sets sizes, which may go wrong"
        return None
    reason = undefined(op) or _irregularity(op)
    if reason is not None:
        return reason
    parent = op.parent_op()
    if not isinstance(parent, func.FuncOp | WhileOp | ConditionalOp):
        place = "outside of functions" if parent is None else f"in a computation of {parent.name}"
        return f"sizes are not dynamic {place}"
    return None


def _irregularity(op: Operation) -> str | None:
    """Why there is no rule for an operation."""
    if type(op) in RULES:
        return None
    return irregularity(op) if isinstance(op, XlaOp) else NOT_COMPILED


def has_parts(op: XlaOp) -> bool:
    """Whether an operation has to be expanded before, for the sizes of what it is made of."""
    return concerns(op) and is_compound(op) and not undefined(op) and bool(_irregularity(op))
