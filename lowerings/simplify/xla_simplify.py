"""The pass `xla-simplify`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from lowerings.ir.equality import KnownOperations, StructuralKeys
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.dead_code import remove_dead_code
from lowerings.rewriting.failure import rewrites_op
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import require_at_least
from lowerings.simplify import (
    control_flow_rules,
    data_movement_rules,
    elementwise_rules,
)
from lowerings.simplify.constant_folding import DEFAULT_LIMIT, ConstantFolder
from lowerings.simplify.purity import is_pure
from lowerings.simplify.rewriting import Replacement, Rule
from xla_dialect.op import XlaOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.sharding.attributes import SHARDING
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import operations_in

RULES: dict[type[Operation], list[Rule]] = defaultdict(list)
for _rules in (
    data_movement_rules.KEPT,
    elementwise_rules.RULES,
    elementwise_rules.CONSTANT_RULES,
    data_movement_rules.RULES,
    data_movement_rules.SPLATS,
    control_flow_rules.RULES,
    data_movement_rules.HOISTS,
):
    for _op_class, _rule in _rules.items():
        RULES[_op_class].append(_rule)


@cache
def _rules_of(op_class: type[XlaOp]) -> Sequence[Rule]:
    """Those of the class, and what is true of all elementwise operations."""
    return (
        *RULES.get(op_class, ()),
        *((data_movement_rules.sink,) if op_class.is_pointwise() else ()),
    )


PREDECESSORS = "xla.control_predecessors"
"""The names of operations that have to run before one that needs none of their results."""


@dataclass(frozen=True)
class XlaSimplifyPass(ModulePass):
    """
    Computes what is constant and leaves out what does nothing, without a change in any result.

    Constants are folded by the reference (up to `max_constant_bytes` each, 0 for none), identities
    are applied that are exact for the element type (the sign of a zero, NaN and rounding included),
    reshapes, transposes, slices and conversions are merged, equal operations are merged, and those
    that nobody needs are removed. Transposes, broadcasts and slices move through elementwise
    operations where that spares transposes or elements. What says how its results are split over
    devices stays as it is.

    ```
    %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = xla.transpose %0 {dimensions = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
    %2 = xla.multiply %1, %one : tensor<2x3xf32>
    %3 = xla.negate %2 : tensor<2x3xf32>
    // becomes
    %3 = xla.negate %x : tensor<2x3xf32>
    ```
    """

    name = "xla-simplify"
    takes = UNLOWERED

    max_constant_bytes: int = DEFAULT_LIMIT
    """The largest constant that folding may make; 0: none is folded."""

    def __post_init__(self) -> None:
        require_at_least(0, max_constant_bytes=self.max_constant_bytes)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplifies every function, each operation after those it depends on."""
        simplifier = Simplifier(ConstantFolder(op, self.max_constant_bytes), _pinned(op))
        pinned = simplifier.pinned
        for region in op.regions:
            for block in region.blocks:
                simplifier.block(block)
                remove_dead_code(block, lambda dead: dead not in pinned and is_pure(dead))


_NAME = re.compile(r"%?([\w.\-]+)")


def _pinned(module: ModuleOp) -> frozenset[Operation]:
    """Operations with shardings, those with control predecessors, and these predecessors."""
    kept = [op for op in operations_in(module) if {PREDECESSORS, SHARDING} & op.attributes.keys()]
    waiting = [op for op in kept if PREDECESSORS in op.attributes]
    if not waiting:
        return frozenset(kept)
    names = {
        name
        for op in waiting
        if isinstance(text := op.attributes[PREDECESSORS], StringAttr)
        for name in _NAME.findall(text.data)
    }
    named = (
        op for op in operations_in(module) if any(_hlo_name(op, r) in names for r in op.results)
    )
    return frozenset((*kept, *named))


def _hlo_name(op: Operation, result: SSAValue) -> str | None:
    kept = op.attributes.get("xla.name")
    return kept.data if isinstance(kept, StringAttr) else result.name_hint


@dataclass
class Simplifier:
    """Simplifies operations in the order of the program; an `Inserter` for the rules."""

    folder: ConstantFolder
    pinned: frozenset[Operation]
    _known: KnownOperations = field(
        default_factory=lambda: KnownOperations(StructuralKeys(), of_attributes=False)
    )
    """The operations of the block so far."""
    _anchor: Operation | None = None
    """The operation of the program in front of which rules insert."""

    def block(self, block: Block) -> None:
        """Simplifies the operations of a block, those in regions first."""
        outer = self._known, self._anchor
        # Regions of xla operations are isolated from above: nothing outside dominates into them.
        self._known = KnownOperations(self._known.keys, of_attributes=False)
        op = block.first_op
        while op is not None:
            following = op.next_op
            for region in op.regions:
                for inner in region.blocks:
                    self.block(inner)
            if isinstance(op, XlaOp):
                self._anchor = op
                self._simplify(op)
            op = following
        self._known, self._anchor = outer

    def insert(self, op: XlaOp) -> Sequence[SSAValue]:
        """Inserts an operation; returns its results, or what these were simplified to."""
        anchor = self._anchor
        assert anchor is not None
        return self._simplify(insert_before(op, anchor))

    def _simplify(self, op: XlaOp) -> Sequence[SSAValue]:
        """Simplifies an operation; returns what its results are now."""
        results = list(op.results)
        if op in self.pinned:
            return results
        found = attempt(
            partial(self._replace, op, results), is_made=lambda values: values is not None
        )
        return results if found is None else found

    def _replace(self, op: XlaOp, results: Sequence[SSAValue]) -> Sequence[SSAValue] | None:
        """What the results of an operation are now; None where it stays."""
        found = self._replacement(op)
        if found is None:
            return None
        for result, value in zip(results, found, strict=True):
            if value.name_hint is None:
                value.name_hint = result.name_hint
            replace_uses(result, value)
        erase(op)
        return found

    @rewrites_op
    def _replacement(self, op: XlaOp) -> Sequence[SSAValue] | None:
        for rule in _rules_of(type(op)):
            values = _as_values(rule(op, self))
            if values is not None and _have_types(values, op):
                return values
        if not is_pure(op):
            return None
        literals = self.folder.fold(op)
        if literals is not None:
            return [self._constant(literal) for literal in literals]
        return self._equal(op)

    def _constant(self, literal: Attribute) -> SSAValue:
        return self.insert(ConstantOp.make([], {"value": literal}))[0]

    def _equal(self, op: XlaOp) -> Sequence[SSAValue] | None:
        """The results of an equal operation before, None if this is the first."""
        equal = self._known.first_equal(op)
        if equal is op or equal.parent is not op.parent or equal in self.pinned:
            return None
        return list(equal.results)


def _as_values(replacement: Replacement) -> Sequence[SSAValue] | None:
    return (replacement,) if isinstance(replacement, SSAValue) else replacement


def _have_types(values: Sequence[SSAValue], op: Operation) -> bool:
    """Whether values can stand for the results: layouts are a part of their types."""
    return [value.type for value in values] == [result.type for result in op.results]
