"""Rewrite rules of the `xla` level as two functions of an `XlaBuilder`: before, and after."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, IRNode, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.utils.exceptions import DiagnosticException

from lowerings.rewriting.passes import differences_of
from lowerings.rewriting.passes_of_files import Rule, apply_rules
from lowerings.validation.validator import MeaningChanged, Validator
from xla_dialect.builder import BuildError, XlaBuilder, XlaValue
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.runtime.runs import entry_function
from xla_dialect.types import is_array, spell_all
from xla_dialect.verification import InvalidProgram


@dataclass(frozen=True)
class BuilderRulePass(ModulePass, ABC):
    """
    A pass whose class has `before` and `after`, functions of a builder and its values: what is
    computed as `before` does is computed as `after` does.

    ```python
    class DivideByRootPass(BuilderRulePass):
        name = "divide-by-root"
        examples = [("f32[4,6]", "f32[4,6]")]

        def before(b, x, y):
            return b.div(x, b.sqrt(y))

        def after(b, x, y):
            return b.mul(x, b.rsqrt(y))
    ```

    `examples` are types of the arguments. The rule applies to arrays of the element types of an
    example, of all shapes for which `before` makes the same operations. Before it is applied,
    `before` and `after` of each example are run on random inputs and have to agree, up to the
    `difference` that the class states as other passes do.
    """

    examples: ClassVar[Sequence[Sequence[Any]]]
    """Types as a builder takes them."""
    before: ClassVar[Callable[..., XlaValue]]
    after: ClassVar[Callable[..., XlaValue]]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites a module; raises XlaError for a rule that does not hold."""
        wanted = [name for name in ("examples", "before", "after") if not hasattr(self, name)]
        if wanted:
            raise XlaError(f"rule {self.name}: the class has no {' and no '.join(wanted)}")
        for types in self.examples:
            self._check(types)
        apply_rules([BuilderRule(type(self), types) for types in self.examples], op)

    def _check(self, types: Sequence[Any]) -> None:
        """Raises XlaError if `after` computes something else than `before`."""
        validator = Validator(StringIO())
        before, after = (built(each, types) for each in (type(self).before, type(self).after))
        made, wanted = (
            entry_function(each, ENTRY_SYMBOL).function_type.outputs.data
            for each in (after, before)
        )
        if made != wanted:
            raise XlaError(
                f"rule {self.name}: `after` makes {spell_all(made)}, `before` {spell_all(wanted)}"
            )
        validator.before(self, before)
        try:
            validator.after(self, after)
        except MeaningChanged as error:
            raise XlaError(f"the rule does not hold: {error}") from None
        # Where the pass rounds, it is said which inputs are left out.
        if not validator.compares or (validator.unchecked and not differences_of(self)):
            raise XlaError(f"rule {self.name} is not checked: {'; '.join(validator.unchecked)}")


def built(function: Callable[..., XlaValue], types: Sequence[Any]) -> ModuleOp:
    """The program that returns what a function makes of parameters; raises XlaError."""
    b = XlaBuilder(function.__name__)
    arguments = [b.parameter(place, type_) for place, type_ in enumerate(types)]
    try:
        inspect.signature(function).bind(b, *arguments)
    except TypeError as error:
        raise XlaError(
            f"`{function.__name__}` gets a builder and an argument for each type of an example: "
            f"{error}"
        ) from None
    return b.build(function(b, *arguments))


@dataclass(frozen=True)
class _Template:
    """What a function makes of arguments of some types."""

    block: Block
    root: SSAValue

    @staticmethod
    def of(function: Callable[..., XlaValue], types: Sequence[Any]) -> _Template:
        main, *others = built(function, types).ops
        if others:
            raise XlaError(f"`{function.__name__}` calls other programs, which no rule can")
        block = cast(FuncOp, main).body.block
        assert block.last_op is not None
        return _Template(block, block.last_op.operands[0])

    def bindings(self, found: SSAValue) -> dict[SSAValue, SSAValue] | None:
        """The values that a value is computed from by operations of the same names; else None."""
        bound: dict[SSAValue, SSAValue] = {}

        def binds(own: SSAValue, other: SSAValue) -> bool:
            if own in bound:
                return bound[own] is other
            bound[own] = other
            if isinstance(own, BlockArgument):
                return True
            return (
                isinstance(own, OpResult)
                and isinstance(other, OpResult)
                and own.op.name == other.op.name
                and own.index == other.index
                and len(own.op.operands) == len(other.op.operands)
                and all(map(binds, own.op.operands, other.op.operands))
            )

        return bound if binds(self.root, found) else None

    def is_spelled_by(self, bound: dict[SSAValue, SSAValue]) -> bool:
        """Whether the bound operations are those of the template, with all of their attributes."""
        same: dict[IRNode | SSAValue, IRNode | SSAValue] = {**bound}
        found = {own.owner: other.owner for own, other in bound.items()}
        for op in self.block.ops:
            other = found.get(op)
            if isinstance(other, Operation):
                assert other.parent is not None
                same[self.block] = other.parent
                if not op.is_structurally_equivalent(other, same):
                    return False
        return True


class BuilderRule(Rule):
    """A rule for the element types of one example."""

    def __init__(self, stated: type[BuilderRulePass], types: Sequence[Any]):
        super().__init__(stated.name)
        self._stated = stated
        self._example = _Template.of(stated.before, types)
        if not all(argument.uses for argument in self._example.block.args):
            raise XlaError(f"rule {self.name}: `before` has to use all of its arguments")
        if isinstance(self._example.root, BlockArgument):
            raise XlaError(f"rule {self.name}: `before` has to make an operation")

    def rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites what is computed as `before` does; raises DiagnosticException."""
        if len(op.results) != 1 or (bound := self._example.bindings(op.results[0])) is None:
            return
        arguments = self._example.block.args
        types = [bound[argument].type for argument in arguments]
        if not all(map(_has_elements_of, types, (each.type for each in arguments))):
            return
        try:
            template = _Template.of(self._stated.before, types)
        except (BuildError, InvalidProgram):
            return
        bound = template.bindings(op.results[0])
        if bound is None or not template.is_spelled_by(bound):
            return
        try:
            after = _Template.of(self._stated.after, types)
        except XlaError as error:
            raise DiagnosticException(f"rule {self.name} on {spell_all(types)}: {error}") from error
        if after.root.type != op.results[0].type:
            made, wanted = spell_all([after.root.type]), spell_all([op.results[0].type])
            raise DiagnosticException(f"rule {self.name}: `after` makes {made}, not {wanted}")
        values: dict[SSAValue, SSAValue] = {
            own: bound[argument]
            for own, argument in zip(after.block.args, template.block.args, strict=True)
        }
        made_ops = [each.clone(values) for each in list(after.block.ops)[:-1]]
        for made in made_ops:
            for inner in made.walk():
                inner.location = op.location
        rewriter.replace(op, made_ops, [values.get(after.root, after.root)])


def _has_elements_of(type_: Attribute, example: Attribute) -> bool:
    if is_array(type_) and is_array(example):
        return type_.element_type == example.element_type
    return type_ == example
