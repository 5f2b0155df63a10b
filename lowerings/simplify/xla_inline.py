"""The pass `xla-inline`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from graphlib import CycleError
from itertools import chain

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from lowerings.ir.functions import (
    INLINED_CALL,
    NO_INLINE,
    callees_first,
    functions_of,
    references,
)
from lowerings.layouts.memory_order import in_layout
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from lowerings.simplify.purity import computes_only
from xla_dialect.analysis.computations import Call, callee, is_call
from xla_dialect.ops.control_flow import FusionOp
from xla_dialect.types import compatible, is_array
from xla_dialect.xdsl.creation import call_site
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import inventory, operations_in

MAX_OPERATIONS = 1_000_000
"""Calls that call twice grow without bound in their depth; a module stays below this size."""

MAX_COPIED, MAX_COPIES = 8192, 8
"""How many operations a module may get, and how many times its own, before calls stay."""

SMALL = 32
"""Functions of so many operations are always inlined: a call would cost more than it saves."""


@dataclass(frozen=True)
class XlaInlinePass(ReportingPass):
    """
    Puts the computations of calls (`xla.call` and `func.call`) and of fusions in their place,
    nested ones and those in regions too.

    What is inlined is at `loc(callsite(callee at caller))`. Private functions that nothing refers
    to any more are removed. Calls of functions without a body stay, and where copies would make the
    module many times as large, so do those of large functions that are called more than once and
    have no effects. So do those of functions that are `no_inline`, unless sizes are not known.
    Raises PassFailedException for recursive calls.

    ```
    func.func private @square(%x: tensor<f32>) -> tensor<f32> {
      %0 = xla.multiply %x, %x : tensor<f32>
      func.return %0 : tensor<f32>
    }
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = xla.call %x {to_apply = @square} : tensor<f32>
      func.return %0 : tensor<f32>
    }
    // becomes
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = xla.multiply %x, %x : tensor<f32>
      func.return %0 : tensor<f32>
    }
    ```
    """

    name = "xla-inline"
    takes = UNLOWERED

    everything: bool = False
    """
    Inlines every call, however large the module becomes. Operations of functions that are
    `no_inline` say of which call they are.
    """

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Inlines callees before callers, so that every body is finished when it is copied."""
        graph = CallGraph.of(op)
        order = graph.callees_first()
        graph.choose(order, everything=self.everything)
        inlines = any(map(graph.is_inlined, chain.from_iterable(graph.sites.values())))
        for function in order:
            graph.inline_into(function)
        return graph.remove_unused() or inlines


@dataclass(eq=False)
class CallGraph:
    """The functions of a module, with the calls that each holds and how often each is named."""

    functions: dict[str, func.FuncOp]
    uses: Counter[str]
    sites: dict[str, list[Call | FusionOp]] = field(
        default_factory=dict[str, "list[Call | FusionOp]"]
    )
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    effects: set[str] = field(default_factory=set[str])
    """Functions with operations of their own that have effects."""
    kept: set[str] = field(default_factory=set[str])
    """Functions whose calls stay."""
    marks: bool = False
    """Whether operations of functions that are `no_inline` say of which call they are."""
    _calls: int = 0

    @staticmethod
    def of(module: ModuleOp) -> CallGraph:
        """Collects functions, calls and fusions."""
        graph = CallGraph(functions_of(module), Counter(references(module)))
        for name, function in graph.functions.items():
            _, *inside = operations_in(function)
            graph.sizes[name] = 1 + len(inside)
            graph.sites[name] = [op for op in inside if is_call(op) or isinstance(op, FusionOp)]
            others = set(inside).difference(graph.sites[name])
            if not all(map(computes_only, others)):
                graph.effects.add(name)
        return graph

    def callees_first(self) -> list[func.FuncOp]:
        """The functions in an order in which callees precede their callers."""
        try:
            order = callees_first({name: self._callees(name) for name in self.functions})
        except CycleError as error:
            cycle = " -> ".join(f"@{name}" for name in reversed(error.args[1]))
            raise PassFailedException(f"xla-inline: functions call each other: {cycle}") from None
        return [self.functions[name] for name in order]

    def _callees(self, name: str) -> list[str]:
        called = (callee(site) for site in self.sites[name] if is_call(site))
        return [c for c in dict.fromkeys(called) if c in self.functions]

    def choose(self, order: Sequence[func.FuncOp], *, everything: bool) -> None:
        """
        Decides which calls stay: those of large functions, where their copies outgrow the module.

        Raises PassFailedException if a function would grow beyond MAX_OPERATIONS nevertheless.
        """
        self.marks = everything
        if not everything:
            self.kept = {
                function.sym_name.data
                for function in order
                if NO_INLINE in function.attributes and _can_be_called(function)
            }
        sizes = self._inlined_sizes(order, ())
        limit = max(MAX_COPIED, MAX_COPIES * sum(self.sizes.values()))
        if not everything and max(sizes.values(), default=0) > limit:
            shared = self._shared(order)
            sizes = self._inlined_sizes(order, shared)
            self.kept |= {name for name in shared if sizes[name] > SMALL}
        for name, size in sizes.items():
            if size > MAX_OPERATIONS:
                raise PassFailedException(
                    f"xla-inline: @{name} would have more than {MAX_OPERATIONS} operations"
                )

    def _shared(self, order: Sequence[func.FuncOp]) -> set[str]:
        """The functions that are called more than once, and do no more than to compute results."""
        called = map(callee, filter(is_call, chain.from_iterable(self.sites.values())))
        counts = Counter(called)
        for function in order:
            name = function.sym_name.data
            if not self.effects.isdisjoint(self._callees(name)):
                self.effects.add(name)
        shared = {name for name, count in counts.items() if count > 1} - self.effects
        return {
            name for name in shared & self.functions.keys() if _can_be_called(self.functions[name])
        }

    def _inlined_sizes(
        self, order: Sequence[func.FuncOp], shared: Collection[str]
    ) -> dict[str, int]:
        """By function, its operations once all are inlined but large ones among the shared."""
        sizes = dict[str, int]()
        for function in order:
            name = function.sym_name.data
            callees = (callee(site) for site in self.sites[name] if is_call(site))
            inlined = (
                sizes.get(c, 0)
                for c in callees
                if c not in self.kept and (c not in shared or sizes[c] <= SMALL)
            )
            sizes[name] = self.sizes[name] + sum(inlined)
        return sizes

    def is_inlined(self, site: Call | FusionOp) -> bool:
        """Whether what a call or fusion runs is put in its place."""
        return isinstance(site, FusionOp) or callee(site) not in self.kept

    def inline_into(self, function: func.FuncOp) -> None:
        """Inlines all calls and fusions of a function whose callees are finished."""
        for site in filter(self.is_inlined, self.sites[function.sym_name.data]):
            attempt(partial(self._inline, site), is_made=bool)

    def _inline(self, site: Call | FusionOp) -> bool:
        """Inlines a call or a fusion; whether there is what it runs."""
        if isinstance(site, FusionOp):
            body = site.calls.block
        else:
            target = self.functions.get(callee(site))
            if target is None or len(target.body.blocks) != 1:
                return False
            body = self._body_for(target)
            if NO_INLINE in target.attributes and self.marks:
                self._calls += 1
                for op in body.ops:
                    op.attributes[INLINED_CALL] = IntegerAttr(self._calls, i64)
        inline_block(body, site)
        return True

    def _body_for(self, target: func.FuncOp) -> Block:
        """The body of a callee: itself for the last use of a private function, else a copy."""
        name = target.sym_name.data
        self.uses[name] -= 1
        if self.uses[name] == 0 and is_private(target):
            return target.body.block
        return target.body.clone().block

    def remove_unused(self) -> bool:
        """Removes private functions that nothing refers to; whether there were any."""
        named = self.functions.items()
        unused = [each for name, each in named if is_private(each) and not self.uses[name]]
        for function in unused:
            erase(function)
        return bool(unused)


def is_private(function: func.FuncOp) -> bool:
    """Whether a function is visible in its module only."""
    return function.sym_visibility == StringAttr("private")


def _can_be_called(function: func.FuncOp) -> bool:
    """Whether there is a body, whose sizes are known: dynamic ones are expanded with the caller."""
    types = inventory(function).types
    return bool(function.body.blocks) and all(
        type_.has_static_shape() for type_ in types if isinstance(type_, TensorType)
    )


def inline_block(body: Block, site: Operation) -> None:
    """Moves the operations of a block of one terminator in front of `site` and replaces that."""
    for argument, operand in zip(body.args, site.operands, strict=True):
        argument.replace_all_uses_with(_in_layout(operand, argument.type, site))
    terminator = body.last_op
    block = site.parent
    assert terminator is not None and block is not None
    results: Sequence[SSAValue] = list(terminator.operands)
    erase(terminator)
    operations = list(body.ops)
    for op in operations_in(body):
        op.location = call_site(op.location, site.location)
    for op in operations:
        op.detach()
    block.insert_ops_before(operations, site)
    for result, value in zip(site.results, results, strict=True):
        result.replace_all_uses_with(_in_layout(value, result.type, site))
    erase(site)


def _in_layout(value: SSAValue, type_: Attribute, site: Operation) -> SSAValue:
    """The value, copied where the computation has it in another layout than its caller."""
    is_same = is_array(type_) and compatible(value.type, type_)
    return in_layout(value, type_, site) if is_same else value
